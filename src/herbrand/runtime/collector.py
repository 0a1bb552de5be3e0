"""Suspend the cyclic garbage collector.

A full collection stops all threads while it traverses all objects, which takes a tenth of a second with a
large game in memory: too long for a player with a clock, and useless where new objects have no cycles.
"""

from __future__ import annotations

import gc
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["suspend_collector", "suspend_full_collections"]

_NEVER = 1 << 30


@dataclass
class _Setting:
    """A setting of the collector, changed as long as any thread is inside `changed`."""

    read: Callable[[], Any]
    write: Callable[[Any], object]
    change: Callable[[Any], Any]
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: int = 0
    original: Any = None

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self.lock:
            if not self.users:
                self.original = self.read()
                self.write(self.change(self.original))
            self.users += 1
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if not self.users:
                    self.write(self.original)


_enabled = _Setting(gc.isenabled, lambda on: gc.enable() if on else gc.disable(), lambda _: False)
_thresholds = _Setting(gc.get_threshold, lambda values: gc.set_threshold(*values), lambda t: (*t[:2], _NEVER))

suspend_collector = _enabled.changed
"""Suspend all collections: for code that creates many permanent objects."""
suspend_full_collections = _thresholds.changed
"""Suspend collections of the oldest generation; also a decorator, `@suspend_full_collections()`."""

"""Suspend the cyclic garbage collector.

A full collection stops all threads while it traverses all objects, which takes a tenth of a second with a
large game in memory: too long for a player with a clock, and useless where new objects have no cycles.
"""

from __future__ import annotations

import gc
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["suspend_collector", "suspend_full_collections"]

_NEVER = 1 << 30


class _Setting:
    """A setting of the collector, changed as long as any thread is inside `changed`."""

    def __init__(
        self, read: Callable[[], Any], write: Callable[[Any], object], change: Callable[[Any], Any]
    ) -> None:
        self._read, self._write, self._change = read, write, change
        self._lock = threading.Lock()
        self._users = 0
        self._original: Any = None

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self._lock:
            if not self._users:
                self._original = self._read()
                self._write(self._change(self._original))
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._write(self._original)


_enabled = _Setting(gc.isenabled, lambda on: gc.enable() if on else gc.disable(), lambda _: False)
_thresholds = _Setting(gc.get_threshold, lambda values: gc.set_threshold(*values), lambda t: (*t[:2], _NEVER))

suspend_collector = _enabled.changed
"""Suspend all collections: for code that creates many permanent objects."""
suspend_full_collections = _thresholds.changed
"""Suspend collections of the oldest generation; also a decorator, `@suspend_full_collections()`."""

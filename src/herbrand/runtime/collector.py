"""Python's search for cycles kept away for a while.

Everything else in a process waits while it looks through all objects, a tenth of a second where a large game
is held: too long for somebody with a clock, and for nothing where what is made has no cycles, which counting
references frees at once.
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
    """A setting of the collector that is another one while somebody, in any thread, wants that."""

    def __init__(
        self, read: Callable[[], Any], write: Callable[[Any], object], meanwhile: Callable[[Any], Any]
    ) -> None:
        self._read, self._write, self._meanwhile = read, write, meanwhile
        self._lock = threading.Lock()
        self._inside = 0
        self._before: Any = None

    @contextmanager
    def changed(self) -> Iterator[None]:
        with self._lock:
            if not self._inside:
                self._before = self._read()
                self._write(self._meanwhile(self._before))
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._write(self._before)


_on = _Setting(gc.isenabled, lambda on: gc.enable() if on else gc.disable(), lambda _: False)
_thresholds = _Setting(gc.get_threshold, lambda those: gc.set_threshold(*those), lambda t: (*t[:2], _NEVER))

suspend_collector = _on.changed
"""Have no cycles looked for meanwhile: for what makes many objects that stay."""
suspend_full_collections = _thresholds.changed
"""Have them looked for among new objects only; also a decorator, `@suspend_full_collections()`."""

"""Daemon threads of players, which end before the process does.

Libraries for linear algebra have threads of their own, which OpenBLAS joins when the process ends.  One that
is at work for a thread of Python at that moment may never be told to end, and the process waits for ever.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["start_thread"]

_PATIENCE: Final = 0.5
"""How long threads have to end by themselves; an exception amid an import would be reported."""
_EXIT_SECONDS: Final = 5.0
"""How long the end of the process waits for the others."""
_running: Final[dict[threading.Thread, Callable[[], object]]] = {}
"""The threads that have not ended, each with the function that asks it to."""


def start_thread(work: Callable[[], object], stop: Callable[[], object] = lambda: None) -> threading.Thread:
    """Start a daemon thread and return it; `stop` is called when the process ends, to end `work` soon."""

    def run() -> None:
        try:
            work()
        finally:
            _running.pop(thread, None)

    thread = threading.Thread(target=run, daemon=True)
    _running[thread] = stop
    thread.start()
    return thread


@atexit.register
def _end_threads() -> None:
    """End all threads: by their stop functions, and where they compute without looking, by an exception."""
    threads = dict(_running)
    for stop in threads.values():
        stop()
    _join(threads, _PATIENCE)
    for thread in threads:
        if thread.is_alive():
            identity = ctypes.c_ulong(thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(identity, ctypes.py_object(SystemExit))
    _join(threads, _EXIT_SECONDS)


def _join(threads: Iterable[threading.Thread], seconds: float) -> None:
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))

"""`watch`: limits on the memory and the time of any block of code.

Computations have budgets of their own (`herbrand.runtime.limits`) and usually end by them, with a better
answer.  This is the net below: a thread of the core looks at the resident memory of the process and its
descendants, and at the clock.  Beyond a limit it interrupts the main thread, which raises `BudgetExceeded`;
if that does not help, because Python is inside one long operation, it ends the process with a message.
"""

from __future__ import annotations

import math
import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import seconds_left, time_limit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from herbrand.core import Watchdog

__all__ = ["has_overrun", "watch"]

SIGNAL: Final = getattr(signal, "SIGXCPU", signal.SIGINT)
DELAY: Final = 0.1
"""Seconds after which watching begins: most computations are over by then and need not load the core."""
MORE_MEMORY: Final = 1.15
"""Times the limit at which the process ends."""
PATIENCE: Final = (1.1, 0.5)
"""The block is interrupted after this multiple of the limit plus these seconds, ..."""
LAST_PATIENCE: Final = (1.15, 0.9)
"""... and the process ends after these."""


_overrun = False


def has_overrun() -> bool:
    """Whether a block of `watch` in this process was over its limits: its other threads may go on."""
    return _overrun


def _forget_overrun() -> None:
    """In a forked process only the thread that forked goes on: none is left to wait for."""
    global _overrun
    _overrun = False


if hasattr(os, "register_at_fork"):  # missing on Windows
    os.register_at_fork(after_in_child=_forget_overrun)


@contextmanager
def watch(
    *,
    megabytes: float = math.inf,
    seconds: float = math.inf,
    memory_hint: str = "",
    time_hint: str = "",
    status: int = 3,
) -> Iterator[None]:
    """Limit a block of code: resident memory of this process and its descendants, and wall-clock time.

    Raises `BudgetExceeded` in the block beyond `megabytes`, and some time after `seconds`, by when the block
    should have ended by itself.  Where Python cannot raise it, the process ends with the exit status
    `status`, as soon as memory is 15 % over the limit, or time 15 % and 0.9 seconds: with starting and ending
    the process, at most 20 % and a second.  Hints are added to the messages.  The block runs in the main
    thread; in other threads nothing is watched.
    """
    if threading.current_thread() is not threading.main_thread() or megabytes == seconds == math.inf:
        yield
        return
    global _overrun
    messages = {
        "memory": (f"{megabytes:g} MB of memory", memory_hint),
        "time": (f"{seconds:g} seconds", time_hint),
    }
    watchdogs: list[Watchdog] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        global _overrun
        if watchdogs and watchdogs[0].excess:
            _overrun = True
            raise BudgetExceeded(*messages[watchdogs[0].excess])
        if callable(previous):  # that of a block around this one
            previous(number, frame)

    def begin() -> None:
        from herbrand.core import Watchdog

        texts = {f"{kind}_text": f"error: {BudgetExceeded(*message)}\n" for kind, message in messages.items()}
        watchdogs.append(
            Watchdog(
                soft=(megabytes, PATIENCE[0] * seconds + PATIENCE[1] - DELAY),
                hard=(MORE_MEMORY * megabytes, LAST_PATIENCE[0] * seconds + LAST_PATIENCE[1] - DELAY),
                signal=SIGNAL,
                status=status,
                **texts,
            )
        )

    previous = signal.signal(SIGNAL, interrupt)
    timer = threading.Timer(DELAY, begin)
    timer.daemon = True
    timer.start()
    try:
        with time_limit(seconds, shared=True):
            try:
                yield
            except BudgetExceeded as error:
                _overrun = _overrun or not seconds_left()
                if not error.reached and error.spent == messages["time"][0]:
                    raise BudgetExceeded(*messages["time"]) from error  # with the hint
                raise
    finally:
        timer.cancel()
        timer.join()
        for watchdog in watchdogs:
            watchdog.stop()
        signal.signal(SIGNAL, previous)

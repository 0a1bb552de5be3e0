"""`watch`: limits on the memory and the time of a block, whatever it computes.

Computations have budgets of their own (`herbrand.runtime.limits`) and usually end by them, with a better
answer.  This is the net below: a thread of the core looks at the resident memory of the process and its
descendants, and at the clock.  Beyond a limit it interrupts the main thread, which raises `BudgetExceeded`;
if that does not help, because Python is inside one long operation, it ends the process with a message.
"""

from __future__ import annotations

import math
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from herbrand.core import Watchdog

__all__ = ["watch"]

SIGNAL: Final = getattr(signal, "SIGXCPU", signal.SIGINT)
DELAY: Final = 0.1
"""Seconds after which watching begins: most computations are over by then and need not load the core."""
MORE_MEMORY: Final = 1.15
"""Times the limit at which the process ends."""
MORE_TIME: Final = 1.1
GRACE: Final = 0.4
"""`MORE_TIME` times the limit and so many seconds are interrupted; twice as much of both ends the process."""


@contextmanager
def watch(
    *,
    megabytes: float = math.inf,
    seconds: float = math.inf,
    memory_hint: str = "",
    time_hint: str = "",
    status: int = 3,
) -> Iterator[None]:
    """Limit what a block takes: resident memory of this process and its descendants, and wall-clock time.

    Raises `BudgetExceeded` in the block: beyond `megabytes`, or a tenth and 0.4 seconds after `seconds`, by
    when the block should have ended by itself.  Where Python cannot raise it, the process ends with the exit
    status `status`, before memory is more than 15 % over the limit, or time 20 % and 0.8 seconds.  Hints are
    added to the messages.  The block runs in the main thread; in other threads nothing is watched.
    """
    if threading.current_thread() is not threading.main_thread() or megabytes == seconds == math.inf:
        yield
        return
    messages = {
        "memory": (f"{megabytes:g} MB of memory", memory_hint),
        "time": (f"{seconds:g} seconds", time_hint),
    }
    watchdogs: list[Watchdog] = []

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if watchdogs and watchdogs[0].excess:
            raise BudgetExceeded(*messages[watchdogs[0].excess])

    def begin() -> None:
        from herbrand.core import Watchdog

        texts = {kind: f"error: {BudgetExceeded(*message)}\n" for kind, message in messages.items()}
        watchdogs.append(
            Watchdog(
                soft=(megabytes, MORE_TIME * seconds + GRACE - DELAY),
                hard=(MORE_MEMORY * megabytes, (2 * MORE_TIME - 1) * seconds + 2 * GRACE - DELAY),
                signal=SIGNAL,
                status=status,
                memory_text=texts["memory"],
                time_text=texts["time"],
            )
        )

    previous = signal.signal(SIGNAL, interrupt)
    timer = threading.Timer(DELAY, begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        for watchdog in watchdogs:
            watchdog.stop()
        signal.signal(SIGNAL, previous)

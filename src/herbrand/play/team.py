"""Threads that think about one move at the same time, until its clock runs out."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.core import Stop

__all__ = ["MARGIN", "PATIENCE", "Team", "cores"]

MARGIN = 0.01
"""Seconds before the end of a clock at which thinking is stopped."""
PATIENCE = 0.02
"""Seconds that a thread is given to stop, unless more is said."""


def cores() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1


class Team:
    """Runs work in threads of their own, so that nothing it does can make an answer late."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._stops: Sequence[Stop] = ()

    def begin(self, works: Sequence[Callable[[], bool]], stops: Sequence[Stop]) -> threading.Event:
        """Start the works; the event is set when all have ended, or one returned True.

        Each of `stops` is cleared then, and set by `halt`, which the works must heed.
        """
        for stop in stops:
            stop.clear()
        self._stops = stops
        settled = threading.Event()
        ended: list[bool] = []

        def run(work: Callable[[], bool]) -> None:
            found = True
            try:
                found = work()
            finally:
                ended.append(found)
                if found or len(ended) == len(works):
                    settled.set()

        self._threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
        for thread in self._threads:
            thread.start()
        return settled

    def halt(self) -> None:
        """Tell the works to end, from any thread; does not wait for them."""
        for stop in self._stops:
            stop.set()

    def end(self, patience: float = PATIENCE) -> bool:
        """Tell the works to end, wait for them so many seconds at most, and return whether all have ended."""
        self.halt()
        until = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        return not self._threads

    def think(
        self,
        works: Sequence[Callable[[], bool]],
        stops: Sequence[Stop],
        may_go_on: Callable[[float], bool],
        deadline: float,
    ) -> bool:
        """Run the works until all have ended, one returns True, or `may_go_on(deadline)` says no.

        Returns whether all have ended.
        """
        if not may_go_on(deadline):
            return True
        settled = self.begin(works, stops)
        while not settled.is_set() and may_go_on(deadline):
            settled.wait(max(0.0, min(0.05, deadline - time.monotonic())))
        return self.end()

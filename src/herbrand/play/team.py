"""Threads that think about one move at the same time, until its clock runs out."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["MARGIN", "PATIENCE", "Team", "cores"]

MARGIN = 0.01
"""Seconds before the end of a clock at which thinking is stopped."""
PATIENCE = 0.02
"""Seconds that a thread may take to stop."""


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

    def is_idle(self) -> bool:
        """Whether all threads have ended that were stopped before; waits for them a little."""
        until = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        return not self._threads

    def think(
        self,
        works: Sequence[Callable[[], bool]],
        stops: Sequence[Any],
        may_go_on: Callable[[float], bool],
        deadline: float,
    ) -> None:
        """Run the works until all have ended, one returns True, or `may_go_on(deadline)` says no.

        Then `stop[0]` of each of `stops` is set to 1, which the works must heed.
        """
        if not may_go_on(deadline):
            return
        for stop in stops:
            stop[0] = 0
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
        while not settled.is_set() and may_go_on(deadline):
            settled.wait(max(0.0, min(0.05, deadline - time.monotonic())))
        for stop in stops:
            stop[0] = 1
        self.is_idle()

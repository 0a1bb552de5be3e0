"""Threads that search for one move at the same time, until its clock runs out."""

from __future__ import annotations

import os
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from herbrand.play.background import start_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.core import Stop
    from herbrand.play.interface import Player

__all__ = [
    "CLOCK_MARGIN",
    "JOIN_TIMEOUT",
    "PONDER_SECONDS",
    "SEARCH_THREADS",
    "ThreadTeam",
    "available_cores",
    "have_own_cores",
    "join_seconds",
    "ponder_seconds",
]

CLOCK_MARGIN = 0.01
"""Seconds before the end of a clock at which the search is stopped."""
JOIN_TIMEOUT = 0.02
"""Default for the seconds to wait until stopped threads have ended."""
PONDER_SECONDS = 60.0
"""Seconds of pondering after a request, at most, unless the clock is longer than half of it."""


def ponder_seconds(clock: float) -> float:
    """Return how long a player ponders after a request with this clock: others may use all of theirs.

    >>> ponder_seconds(5.0), ponder_seconds(90.0)
    (60.0, 180.0)
    """
    return max(PONDER_SECONDS, 2 * clock)


def join_seconds(clock: float) -> float:
    """Return how long threads of the previous move are waited for: half of the clock, at most a second.

    >>> join_seconds(10.0), join_seconds(0.2), join_seconds(0.0)
    (1.0, 0.1, 0.02)
    """
    return max(JOIN_TIMEOUT, min(1.0, 0.5 * clock))


SEARCH_THREADS = 2
"""Threads with which a player searches by default."""


def available_cores() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def have_own_cores(players: int) -> bool:
    """Whether so many players can search at once on this machine, each on processors of its own."""
    return available_cores() >= SEARCH_THREADS * players


class ThreadTeam:
    """Runs tasks in daemon threads, so that a task that does not stop in time cannot delay the move."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._stops: Sequence[Stop] = ()

    def start(self, tasks: Sequence[Callable[[], bool]], stops: Sequence[Stop]) -> threading.Event:
        """Start the tasks; the event is set when all have ended, or one returned True.

        Each of `stops`, which the tasks must poll, is cleared now and set by `request_stop`.
        """
        for stop in stops:
            stop.clear()
        self._stops = stops
        finished = threading.Event()
        results: list[bool] = []

        def run(task: Callable[[], bool]) -> None:
            result = True
            try:
                result = task()
            finally:
                results.append(result)
                if result or len(results) == len(tasks):
                    finished.set()

        self._threads = [start_thread(partial(run, task), self.request_stop) for task in tasks]
        return finished

    def request_stop(self) -> None:
        """Ask the tasks to end, from any thread, without waiting for them."""
        for stop in self._stops:
            stop.set()

    def stop_and_join(self, timeout: float = JOIN_TIMEOUT) -> bool:
        """Ask the tasks to end, wait for at most `timeout` seconds, and return whether all have ended."""
        self.request_stop()
        until = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        return not self._threads

    def run_until(
        self, deadline: float, tasks: Sequence[Callable[[], bool]], stops: Sequence[Stop], player: Player
    ) -> bool:
        """Run the tasks until all have ended, one returns True, or the player has no more time.

        Returns whether all have ended.
        """
        if not player.has_time(deadline):
            return True
        player.wait_for(self.start(tasks, stops), deadline)
        return self.stop_and_join()

"""`run_tasks`: all tasks of a list, with progress and a file of results."""

from __future__ import annotations

import contextlib
import queue
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from herbrand.errors import HerbrandError
from herbrand.runtime.cluster.tasks import ATTEMPTS, Runner, TaskResult, ThisProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Executor, Future

    from herbrand.runtime.cluster.results import ResultFile
    from herbrand.runtime.cluster.tasks import Task

__all__ = ["TaskProgress", "run_tasks"]

_WINDOW: Final = 1000
"""Tasks that are with the executor at the same time, at most."""
_TICK: Final = 1.0
"""Seconds between reports while no result arrives."""


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a run of tasks is."""

    done: int
    of: int
    seconds: float
    """Since the run began."""
    left: float | None
    """An estimate of the seconds until the end; None before the first result."""
    latest: TaskResult | None = None
    """The result that has just arrived; None between results."""


def run_tasks(
    tasks: Iterable[Task],
    *,
    executor: Executor | None = None,
    results: ResultFile | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
    attempts: int = ATTEMPTS,
) -> list[TaskResult]:
    """Have workers call tasks, and return their results in the order of the tasks.

    Without an `executor` this process calls one after the other.  A task that fails has a result with
    `error`; one whose worker is lost is sent again, at most `attempts` times in all.  With `results` each
    result is written when it arrives, and tasks that have one there are not called again.  `progress` is
    called in this thread for every result, and about once a second.  If the call is interrupted, tasks that
    wait are cancelled.
    """
    listed = list(tasks)
    if len({task.name for task in listed}) < len(listed):
        raise ValueError("two tasks have the same name")
    stored = {} if results is None else {task.name: results.known(task) for task in listed}
    finished = {name: result for name, result in stored.items() if result is not None}
    waiting = deque(task for task in listed if task.name not in finished)
    runner = Runner(executor if executor is not None else ThisProcess(), attempts=attempts)
    window = 1 if executor is None else _WINDOW
    arrived: queue.SimpleQueue[Future[TaskResult]] = queue.SimpleQueue()
    under_way: dict[Future[TaskResult], Task] = {}
    began, before = time.monotonic(), len(finished)

    def report(latest: TaskResult | None = None) -> None:
        if progress is not None:
            seconds, new = time.monotonic() - began, len(finished) - before
            left = seconds / new * (len(listed) - len(finished)) if new else None
            progress(TaskProgress(len(finished), len(listed), seconds, left, latest))

    report()
    try:
        while waiting or under_way:
            while waiting and len(under_way) < window:
                task = waiting.popleft()
                future = runner.submit(task)
                under_way[future] = task
                future.add_done_callback(arrived.put)
            try:
                future = arrived.get(timeout=_TICK)
            except queue.Empty:
                report()
                continue
            task = under_way.pop(future)
            if future.cancelled():
                raise HerbrandError(f"`{task.name}` was cancelled: the executor was closed")
            result = future.result()
            if results is not None:
                result = replace(result, value=results.add(task, result))
            finished[task.name] = result
            report(result)
    finally:
        for future in under_way:
            with contextlib.suppress(RuntimeError):
                future.cancel()
    return [finished[task.name] for task in listed]

"""`Task`, and `Runner`, which has workers call tasks, and repeats those whose worker is lost."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from herbrand.errors import HerbrandError
from herbrand.runtime.cluster.edition import edition
from herbrand.runtime.pool import WorkerLost, portable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "ATTEMPTS",
    "Runner",
    "Task",
    "TaskReply",
    "TaskResult",
    "ThisProcess",
    "WorkerRefused",
    "perform",
    "submit",
    "values",
]

ATTEMPTS: Final = 3
"""How often a task is sent to a worker."""


class WorkerRefused(HerbrandError, RuntimeError):
    """A worker has another herbrand than the driver."""


@dataclass(frozen=True, slots=True)
class Task:
    """A function to be called by a worker, to which it and its arguments can be sent (pickled)."""

    name: str
    """Unique in a run, such as `simulate-nim-0003`: progress, errors and dashboards show it."""
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of function and arguments (data and games): of rules, seeds, settings."""
        text = json.dumps([self.function, self.arguments], sort_keys=True, default=_plain)
        return blake2b(text.encode(), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    """Return data for what is not data for JSON: what it is pickled from."""
    if isinstance(value, type) or callable(value):
        return f"{value.__module__}.{value.__qualname__}"
    if is_dataclass(value):
        return [_plain(type(value)), *(getattr(value, field.name) for field in fields(value))]
    return value.__reduce__()[1]


class TaskReply(NamedTuple):
    """The reply of a worker to a task."""

    worker: str
    seconds: float
    value: Any
    error: BaseException | None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The value of a task, or why it has none."""

    name: str
    value: Any = None
    error: str = ""
    """Why the task failed, empty if it did not."""
    kind: str = ""
    """The class of the error: `BudgetExceeded`, `WorkerLost`, ..."""
    seconds: float = 0.0
    """Wall-clock seconds of the task on its worker."""
    worker: str = ""
    """Computer and process that had the task, `HOST/PROCESS`."""
    attempts: int = 1

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return bool(self.error)


def values(results: Iterable[TaskResult]) -> list[Any]:
    """Return the values of results; raise `HerbrandError` for the first task that failed, if any did."""
    listed = list(results)
    for result in listed:
        if result.failed:
            raise HerbrandError(f"`{result.name}` failed: {result.error}")
    return [result.value for result in listed]


def perform(expected: str, task: Task) -> TaskReply:
    """Call a task, in a worker.  Raises `WorkerRefused` for a driver with another edition of herbrand."""
    worker = f"{socket.gethostname()}/{os.getpid()}"
    if edition() != expected:
        raise WorkerRefused(
            f"worker {worker} has herbrand {edition()}, not {expected}: install the same on all machines"
        )
    began = time.monotonic()
    value, error = None, None
    try:
        value = task.function(*task.arguments)
    except Exception as caught:  # noqa: BLE001  # the driver decides
        error = portable(caught)
    return TaskReply(worker, time.monotonic() - began, value, error)


class ThisProcess(Executor):
    """Calls each function at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function and return its result as a future; interruptions are not caught."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  # as in other executors
            future.set_exception(error)
        return future


def submit(executor: Executor, name: str, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Submit a call to an executor, with a name if it shows names."""
    submit_named = getattr(executor, "submit_named", None)
    if submit_named is None:
        return executor.submit(function, *arguments)
    future: Future[Any] = submit_named(name, function, *arguments)
    return future


class Runner:
    """Has the workers of an executor call tasks.

    A task whose worker is lost, refused, or was denied something by its system (memory, files, processes)
    is sent again, at most `attempts` times in all.  Errors of the task itself are not repeated: they would
    come again.
    """

    def __init__(self, executor: Executor, *, attempts: int = ATTEMPTS) -> None:
        self.executor = executor
        self.attempts = attempts

    def submit(self, task: Task) -> Future[TaskResult]:
        """Send a task; the future never raises, except if it is cancelled."""
        result: Future[TaskResult] = Future()
        self._send(task, result, 1)
        return result

    def _send(self, task: Task, result: Future[TaskResult], attempt: int) -> None:
        try:
            sent = submit(self.executor, task.name, perform, edition(), task)
        except (BrokenExecutor, RuntimeError, pickle.PicklingError, AttributeError, TypeError) as error:
            # the executor is closed or has no workers, or the task cannot be sent
            _settle(result, _failed(task, error, attempt))
            return
        result.add_done_callback(partial(_cancel, sent))
        sent.add_done_callback(partial(self._receive, task, result, attempt))

    def _receive(self, task: Task, result: Future[TaskResult], attempt: int, sent: Future[TaskReply]) -> None:
        if sent.cancelled():
            result.cancel()
            return
        error = sent.exception()
        reply = None if error is not None else sent.result()
        if reply is not None:
            error = reply.error
        if error is not None:
            if attempt < self.attempts and _may_succeed(error) and not result.cancelled():
                self._send(task, result, attempt + 1)
            else:
                _settle(result, _failed(task, error, attempt, reply))
        elif reply is not None:
            _settle(result, TaskResult(task.name, reply.value, "", "", reply.seconds, reply.worker, attempt))


def _settle(future: Future[TaskResult], result: TaskResult) -> None:
    with contextlib.suppress(InvalidStateError):  # it was cancelled
        future.set_result(result)


def _cancel(sent: Future[TaskReply], result: Future[TaskResult]) -> None:
    if result.cancelled():
        sent.cancel()


def _may_succeed(error: BaseException) -> bool:
    """Whether the same task may succeed elsewhere or later."""
    if isinstance(error, WorkerLost | WorkerRefused | BrokenExecutor | CancelledError):
        return True
    return isinstance(error, OSError | MemoryError) and not isinstance(error, HerbrandError)


def _failed(task: Task, error: BaseException, attempt: int, reply: TaskReply | None = None) -> TaskResult:
    kind = type(error).__name__
    text = (str(error) or kind) + (f" ({attempt} attempts)" if attempt > 1 else "")
    seconds, worker = (0.0, "") if reply is None else (reply.seconds, reply.worker)
    return TaskResult(task.name, None, text, kind, seconds, worker, attempt)

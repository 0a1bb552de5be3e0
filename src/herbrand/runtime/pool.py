"""Worker processes, and single commands with an input and an output."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import pickle
import queue
import signal
import threading
from concurrent.futures import Executor, Future
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

from herbrand.errors import HerbrandError
from herbrand.runtime.json_process import exit_with_parent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

__all__ = ["WorkerLost", "WorkerPool", "run_command"]

T = TypeVar("T")


class WorkerLost(HerbrandError, RuntimeError):
    """A worker ended, or could not be reached any more, before it returned the result of its task."""


class WorkerPool(Executor):
    """Worker processes of this machine, by default one for each processor.

    Unlike `concurrent.futures.ProcessPoolExecutor`, the end of a worker costs only the task under way,
    whose future raises `WorkerLost`; another process takes its place.  Workers are spawned, not forked, and
    end with this process, even if it is killed.  With `megabytes` each worker raises `BudgetExceeded` in a
    task beyond that resident memory, or ends.
    """

    def __init__(self, workers: int | None = None, *, megabytes: float = math.inf) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.megabytes = megabytes
        self._tasks: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._processes: list[_Worker] = []
        self._threads: list[threading.Thread] = []
        self._is_closed = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Call a function, which has to be importable, in a worker.

        Arguments that cannot be pickled raise here.
        """
        if self._is_closed:
            raise RuntimeError("the pool is closed")
        future: Future[T] = Future()
        self._tasks.put((future, pickle.dumps((fn, args, kwargs))))
        if len(self._threads) < self.workers:
            worker = _Worker(self.megabytes)
            thread = threading.Thread(target=self._work, args=(worker,), name="worker", daemon=True)
            self._processes.append(worker)
            self._threads.append(thread)
            thread.start()
        return future

    @property
    def processes(self) -> list[int]:
        """The identifiers of the processes that run now."""
        return [worker.process.pid for worker in self._processes if worker.process and worker.process.pid]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more tasks; with `cancel_futures`, drop those that wait.

        With `wait`, returns after the last task.  Without, workers end at once, also inside a task.
        """
        self._is_closed = True
        while cancel_futures:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if task is not None:
                task[0].cancel()
        for _ in self._threads:
            self._tasks.put(None)
        if not wait:
            for worker in self._processes:
                worker.kill()
        for thread in self._threads:
            thread.join()

    def _work(self, worker: _Worker) -> None:
        while (task := self._tasks.get()) is not None:
            future, call = task
            if self._is_closed and worker.is_killed:
                future.cancel()
            elif future.set_running_or_notify_cancel():
                try:
                    value = worker.call(call)
                except BaseException as error:  # noqa: BLE001  # the caller's
                    future.set_exception(error)
                else:
                    future.set_result(value)
        worker.close()


class _Worker:
    """A process that calls functions, started when it is needed."""

    def __init__(self, megabytes: float) -> None:
        self.megabytes = megabytes
        self.process: SpawnProcess | None = None
        self.connection: Connection | None = None
        self.is_killed = False

    def call(self, call: bytes) -> Any:
        if self.process is None or not self.process.is_alive():
            self.close()
            context = get_context("spawn")
            self.connection, theirs = context.Pipe()
            # daemons end with this process; what they start by `subprocess` does not count as their child
            process = context.Process(target=_serve, args=(theirs, self.megabytes), daemon=True)
            with theirs:
                process.start()
            self.process = process  # one that could not be started cannot be killed or joined
            if self.is_killed:
                self.kill()
        assert self.connection is not None
        try:
            self.connection.send_bytes(call)
            succeeded, value = pickle.loads(self.connection.recv_bytes())  # noqa: S301  # from our own process
        except (EOFError, OSError):
            self.process.join(timeout=5)
            status = self.process.exitcode
            self.close()
            raise WorkerLost(f"its worker process ended ({_described(status)})") from None
        if succeeded:
            return value
        raise value

    def kill(self) -> None:
        self.is_killed = True
        if self.process is not None:
            self.process.kill()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        if self.process is not None:
            self.process.join(timeout=5)
            if self.process.is_alive():
                self.process.kill()
        self.connection = self.process = None


def _described(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exit status {status}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"


def _serve(connection: Connection, megabytes: float) -> None:
    """Call the functions that are sent until the connection ends."""
    from herbrand.runtime.watchdog import watch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides about Ctrl+C
    exit_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while True:
            reply: tuple[bool, Any]
            try:
                function, args, kwargs = pickle.loads(connection.recv_bytes())  # noqa: S301  # from our parent
                with watch(megabytes=megabytes):
                    reply = True, function(*args, **kwargs)
                data = pickle.dumps(reply)
            except EOFError:
                raise
            except BaseException as error:  # noqa: BLE001  # reraised by the parent
                data = pickle.dumps((False, portable(error)))
            connection.send_bytes(data)


def portable(error: BaseException) -> BaseException:
    """Return an exception, or one with its text if it cannot be sent to another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  # our own
    except Exception:  # noqa: BLE001  # whatever its class does
        return HerbrandError(f"{type(error).__name__}: {error}")
    return error


async def run_command(
    command: Sequence[str], text: bytes, seconds: float, *, with_errors: bool = False
) -> bytes:
    """Run a command with a text as standard input; return its output, optionally with standard error.

    Raises `TimeoutError` after that many seconds, when the command is killed.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT if with_errors else asyncio.subprocess.DEVNULL,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(text), seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return output

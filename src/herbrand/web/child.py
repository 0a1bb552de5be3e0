"""A subprocess that evaluates rules for the server, with limits on time and memory."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.runtime.json_process import JsonProcess
from herbrand.runtime.line_process import ProcessDied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

__all__ = ["MEGABYTES", "Busy", "Child", "ChildLost", "Queue", "Turnstile", "wait_for_child"]

_T = TypeVar("_T")

MEGABYTES: Final = 3000
"""Limit on the address space of a subprocess; libraries reserve much more than they use."""


MAX_WAITING: Final = 8
"""Requests that wait for one subprocess; further ones are `Busy`."""
MAX_THREADS: Final = 200
"""Threads that wait for subprocesses: more than all queues hold together."""


_BUSY: Final = "too many requests are waiting; try again in a moment"
_WAITING: Final = ThreadPoolExecutor(MAX_THREADS, "waits for a subprocess")


class Busy(HerbrandError):
    """Too many requests are waiting; the page can try again."""


class ChildLost(HerbrandError):
    """The subprocess took too long, ran out of memory or crashed, and has ended."""


class Turnstile:
    """Lets `at_once` callers through at a time, and at most `waiting` more wait for their turn."""

    def __init__(self, at_once: int = 1, waiting: int = MAX_WAITING) -> None:
        self._turn = threading.Semaphore(at_once)
        self._places = threading.Semaphore(at_once + waiting)

    @contextmanager
    def pass_through(self) -> Iterator[None]:
        """Wait for a turn, which ends with the context; raises `Busy`."""
        if not self._places.acquire(blocking=False):
            raise Busy(_BUSY)
        try:
            with self._turn:
                yield
        finally:
            self._places.release()


class Queue:
    """The same for requests that have no thread yet: dozens of waiting threads would slow the server."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._turn = asyncio.Semaphore(at_once)
        self._places = at_once + waiting

    @asynccontextmanager
    async def pass_through(self) -> AsyncIterator[None]:
        """Wait for a turn, which ends with the context; raises `Busy`."""
        if not self._places:
            raise Busy(_BUSY)
        self._places -= 1
        try:
            async with self._turn:
                yield
        finally:
            self._places += 1


async def wait_for_child(function: Callable[..., _T], *args: Any, **options: Any) -> _T:
    """Call a function that waits for a subprocess, in a thread of its own kind.

    Waiting would otherwise take the threads with which pages are served.
    """
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_WAITING, partial(function, *args, **options))


class Child:
    """One stateful subprocess, which handles one request at a time.

    `worker` is the module of its main program, which calls `herbrand.web.worker.serve_actions`.
    """

    def __init__(
        self, *, megabytes: int = MEGABYTES, waiting: int = MAX_WAITING, worker: str = "herbrand.web.worker"
    ) -> None:
        command = [sys.executable, "-m", worker, str(megabytes)]
        self._process = JsonProcess("the evaluator", command, restart=False, show_errors=True)
        self._turnstile = Turnstile(waiting=waiting)
        self.used = time.monotonic()
        """Time of the last request, on the monotonic clock."""

    @property
    def is_alive(self) -> bool:
        """Whether the subprocess is running."""
        return not self._process.has_ended

    def ask(self, do: str, *, seconds: float = 30.0, **arguments: Any) -> Any:
        """Send a request and wait for the reply.

        Raises `RequestError` for errors in the subprocess, with `kind` "game", "budget", "move" or "bug", and
        `ChildLost` if there is no reply in time: the subprocess is then killed; `Busy` if many are waiting.
        """
        with self._turnstile.pass_through():
            self.used = time.monotonic()
            try:
                return self._process.request({"do": do, **arguments}, seconds)
            except BudgetExceeded:
                self.close()
                raise ChildLost(f"no answer within {seconds:g} seconds") from None
            except (ProcessDied, ValueError):
                self.close()
                raise ChildLost("the evaluator exceeded its memory limit or crashed") from None

    def close(self) -> None:
        """End the subprocess."""
        self._process.close()

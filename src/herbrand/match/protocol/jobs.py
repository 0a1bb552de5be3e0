"""`JobThread`: a thread that runs functions one after another."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["JobThread"]

_T = TypeVar("_T")


class JobThread:
    """Run functions one after another in a daemon thread."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, job: Callable[[], object]) -> None:
        """Queue a function, which must not raise."""
        self._jobs.put(job)

    def submit(self, job: Callable[[], _T]) -> asyncio.Future[_T]:
        """Queue a function whose result, or exception, an event loop awaits."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        future.add_done_callback(_retrieve_exception)

        def run() -> None:
            settle: Callable[[], None]
            if future.cancelled():
                return
            try:
                settle = partial(future.set_result, job())
            except BaseException as error:  # noqa: BLE001  # raised again by the future
                settle = partial(future.set_exception, error)
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_unless_done, future, settle)

        self.put(run)
        return future

    def close(self) -> None:
        """End the thread after its queued jobs."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _unless_done(future: asyncio.Future[_T], settle: Callable[[], None]) -> None:
    if not future.done():
        settle()


def _retrieve_exception(future: asyncio.Future[_T]) -> None:
    """Mark the exception of an abandoned future as retrieved, so that asyncio does not log it."""
    if not future.cancelled():
        future.exception()

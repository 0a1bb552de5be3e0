"""A worker thread for one player, which keeps the event loop free."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WorkerThread", "retrieve_exception"]

_T = TypeVar("_T")


class WorkerThread:
    """Run functions one after another in a daemon thread."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], _T]) -> asyncio.Future[_T]:
        """Queue a function; the future belongs to the event loop."""
        future: asyncio.Future[_T] = self._loop.create_future()
        future.add_done_callback(retrieve_exception)
        self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """End the thread after its queued jobs."""
        self._jobs.put(None)

    def _run(self) -> None:
        while True:
            item = self._jobs.get()
            if item is None:
                return
            job, future = item
            if future.cancelled():
                continue
            try:
                result = job()
            except BaseException as error:  # noqa: BLE001  # raised again by the future
                self._deliver(future, None, error)
            else:
                self._deliver(future, result, None)

    def _deliver(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
        def settle() -> None:
            if future.done():
                return
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        if not self._loop.is_closed():
            try:
                self._loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the loop was closed in between
                return


def retrieve_exception(future: asyncio.Future[Any]) -> None:
    """Mark the exception of an abandoned future as retrieved, so that asyncio does not log it."""
    if not future.cancelled():
        future.exception()

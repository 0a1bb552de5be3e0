"""A worker thread for one player, which keeps the event loop free."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from herbrand.match.protocol.jobs import JobThread

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WorkerThread"]

_T = TypeVar("_T")


class WorkerThread:
    """Run functions one after another in a daemon thread."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = JobThread(name)

    def submit(self, job: Callable[[], _T]) -> asyncio.Future[_T]:
        """Queue a function; the future belongs to the event loop."""
        future: asyncio.Future[_T] = self._loop.create_future()
        future.add_done_callback(_retrieve_exception)
        self._thread.put(lambda: self._run(job, future))
        return future

    def close(self) -> None:
        """End the thread after its queued jobs."""
        self._thread.close()

    def _run(self, job: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        if future.cancelled():
            return
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


def _retrieve_exception(future: asyncio.Future[Any]) -> None:
    """Mark the exception of an abandoned future as retrieved, so that asyncio does not log it."""
    if not future.cancelled():
        future.exception()

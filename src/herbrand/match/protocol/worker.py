"""One thread that does the work of one player, so that the event loop goes on listening."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WorkerThread", "seen"]

_T = TypeVar("_T")


class WorkerThread:
    """Runs functions one after another in a thread of its own, which never keeps the process alive."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], _T]) -> asyncio.Future[_T]:
        """Run a function after those before it; the future belongs to the event loop."""
        future: asyncio.Future[_T] = self._loop.create_future()
        future.add_done_callback(seen)
        self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Let the thread end after its current job."""
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
            except BaseException as error:  # noqa: BLE001  # whoever waits is told
                self._tell(future, None, error)
            else:
                self._tell(future, result, None)

    def _tell(self, future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
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
            except RuntimeError:  # the loop was closed in this moment
                return


def seen(future: asyncio.Future[Any]) -> None:
    """Take note of an exception that nobody waits for any more."""
    if not future.cancelled():
        future.exception()

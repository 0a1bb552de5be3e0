"""`Latest`: answers that are recomputed for each request, without a long wait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from starlette.concurrency import run_in_threadpool

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

__all__ = ["Latest"]

T = TypeVar("T")

PATIENCE: Final = 0.05
"""Seconds to wait for a new answer where there is an old one."""
MOST: Final = 32
"""Size of the cache: the answers used last."""


class Latest(Generic[T]):
    """Answers by key.  Where a new one takes too long, as on a busy machine, the one before it is given."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, T] = OrderedDict()
        self._pending: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the answer to a key: what `compute` returns in a thread, or returned before."""
        task = self._pending.get(key)
        if task is None:
            task = self._pending[key] = asyncio.create_task(run_in_threadpool(compute))
            task.add_done_callback(lambda done: self._keep(key, done))
        if key in self._answers:
            await asyncio.wait({task}, timeout=PATIENCE)
            if not task.done():
                return self._answers[key]
        return await asyncio.shield(task)

    def _keep(self, key: Hashable, task: asyncio.Task[T]) -> None:
        del self._pending[key]
        if not task.cancelled() and task.exception() is None:
            self._answers[key] = task.result()
            self._answers.move_to_end(key)
            while len(self._answers) > MOST:
                self._answers.popitem(last=False)

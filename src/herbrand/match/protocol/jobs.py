"""`JobThread`: a thread that runs functions one after another."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["JobThread"]


class JobThread:
    """Run functions, which must not raise, one after another in a daemon thread."""

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, job: Callable[[], object]) -> None:
        """Queue a function."""
        self._jobs.put(job)

    def close(self) -> None:
        """End the thread after its queued jobs."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()

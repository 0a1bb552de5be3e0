"""Worker processes, and single commands with an input and an output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["exit_with_parent", "process_pool", "run_command", "terminate"]


def process_pool(workers: int | None = None) -> ProcessPoolExecutor:
    """Return a pool of worker processes, by default one for each processor.

    Workers are spawned, not forked, and end with this process, even if it is killed.
    """
    return ProcessPoolExecutor(
        workers or os.cpu_count() or 1, mp_context=get_context("spawn"), initializer=exit_with_parent
    )


def terminate(pool: ProcessPoolExecutor) -> None:
    """End a pool and its workers immediately."""
    # there is no public function before Python 3.14
    workers = list((pool._processes or {}).values())  # noqa: SLF001
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()


def exit_with_parent() -> None:
    """End this process when its parent ends."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


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

"""Worker processes for many jobs, and single commands that get a text and return one."""

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
    """Return a pool of so many workers, by default one for each processor.

    Workers inherit no threads, and end with this program, also when it is killed.
    """
    return ProcessPoolExecutor(
        workers or os.cpu_count() or 1, mp_context=get_context("spawn"), initializer=exit_with_parent
    )


def terminate(pool: ProcessPoolExecutor) -> None:
    """End a pool and its workers at once, whatever they are doing."""
    # there is no public way before Python 3.14
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
    """Give a command a text and return what it prints, with its standard error if asked for.

    Raises `TimeoutError` after that many seconds; the command is killed then.
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

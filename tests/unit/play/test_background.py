"""Threads of players end before the process does."""

from __future__ import annotations

import subprocess
import sys

from herbrand.play.background import start_thread

COMPUTING = """
import time
import numpy as np
from herbrand.play.background import start_thread

square = np.ones((900, 900))

def multiply():
    try:
        while True:
            square @ square
    finally:
        print("ended", flush=True)

start_thread(multiply, lambda: print("asked", flush=True))
time.sleep(0.2)
print("exit", flush=True)
"""


def test_a_thread_that_computes_ends_with_the_process() -> None:
    """It is asked to, then interrupted; before, the process waited for threads of a library, now and then."""
    done = subprocess.run(
        [sys.executable, "-c", COMPUTING], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["exit", "asked", "ended"]
    assert not done.stderr


def test_a_thread_runs_at_once() -> None:
    """And is a daemon, so that the process does not wait for more than its end takes."""
    seen: list[int] = []
    thread = start_thread(lambda: seen.append(1))
    thread.join(10)
    assert seen == [1]
    assert thread.daemon

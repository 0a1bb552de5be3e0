"""`watch`, each case in a process of its own, since it may end that."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from typing import Any

import pytest

from herbrand.core import Watchdog
from herbrand.runtime.watchdog import watch

PROGRAM = """
import time
from herbrand.errors import BudgetExceeded
from herbrand.runtime.watchdog import watch
try:
    with watch(megabytes={megabytes}, seconds={seconds}, memory_hint="try less", time_hint="try later"):
        {work}
except BudgetExceeded as error:
    print("raised:", error)
else:
    print("done")
"""
CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'x = []\\nwhile True: x.append(bytes(4096))'])"


@pytest.mark.parametrize(
    ("work", "megabytes", "seconds", "output"),
    [
        ("pass", 100, 10, "done"),
        ("time.sleep(0.5)", 100, 10, "done"),
        ("x = []\n        while True: x.append(bytes(4096))", 200, 100, "raised: over budget: 200 MB of memory (try less)"),
        (CHILD, 200, 100, "raised: over budget: 200 MB of memory (try less)"),
        ("while True: pass", 1000, 0.2, "raised: over budget: 0.2 seconds (try later)"),
        ("time.sleep(100)", 1000, 0.2, "raised: over budget: 0.2 seconds (try later)"),
    ],
    ids=["nothing", "little", "memory", "memory of a child", "time", "waiting"],
)  # fmt: skip
def test_a_block_over_budget_is_interrupted(work: str, megabytes: float, seconds: float, output: str) -> None:
    program = PROGRAM.format(work=work, megabytes=megabytes, seconds=seconds)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=True
    )
    assert result.stdout.strip() == output
    assert not result.stderr


@pytest.mark.parametrize(
    ("work", "megabytes", "seconds", "message"),
    [
        ("time.sleep(0.3); x = 'ab' * (1 << 31)", 200, 100, "error: over budget: 200 MB of memory (try less)"),
        ("while True:\n            try: time.sleep(100)\n            except BudgetExceeded: pass", 1000, 0.2, "error: over budget: 0.2 seconds (try later)"),
    ],
    ids=["one long operation", "deaf"],
)  # fmt: skip
def test_a_process_that_cannot_be_interrupted_ends(
    work: str, megabytes: float, seconds: float, message: str
) -> None:
    program = PROGRAM.format(work=work, megabytes=megabytes, seconds=seconds)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=False
    )
    assert (result.returncode, result.stdout, result.stderr.strip()) == (3, "", message)


@pytest.mark.parametrize(
    "wrong",
    [
        {"soft": (0, 1)},
        {"soft": (1, math.nan)},
        {"hard": (1, 9)},
        {"hard": (9, 1)},
        {"signal": 0},
        {"signal": 99},
    ],
)
def test_a_watchdog_refuses_limits_that_make_no_sense(wrong: dict[str, Any]) -> None:
    """It would end the process at once."""
    right = {
        "soft": (2e6, 1e6),
        "hard": (3e6, 2e6),
        "signal": 1,
        "status": 3,
        "memory_text": "",
        "time_text": "",
    }
    Watchdog(**right).stop()
    with pytest.raises(ValueError, match=r"limits are positive|no such signal"):
        Watchdog(**(right | wrong))


def test_nothing_is_watched_in_another_thread() -> None:
    """Only the main thread can be interrupted."""
    done = []

    def work() -> None:
        with watch(megabytes=1, seconds=0.0):
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done

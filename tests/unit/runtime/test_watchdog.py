"""`watch`, each case in a process of its own, since it may end that."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from herbrand.core import Watchdog
from herbrand.errors import BudgetExceeded
from herbrand.runtime import watchdog
from herbrand.runtime.limits import Limits, require_time, seconds_left, time_limit
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


def test_no_clock_runs_longer_than_the_innermost_time_limit() -> None:
    """Limits end with the block around them, and say which of the two was too little."""
    assert seconds_left() == math.inf
    with time_limit(100):
        assert 90 < Limits(seconds=1000).start().left() <= 100
        with time_limit(1000):
            assert seconds_left() <= 100
        with time_limit(0):
            assert seconds_left() == Limits().start().left() == 0
            with pytest.raises(BudgetExceeded, match="over budget: 0 seconds"):
                require_time()
            with pytest.raises(BudgetExceeded, match="over budget: 0 seconds"):
                Limits(seconds=50).start().spend(1)
        require_time()
        assert 0 < Limits(seconds=1000).after(time.monotonic() - 300).seconds <= 700
    assert seconds_left() == math.inf


def test_limits_of_threads_that_end_in_another_order_do_not_stay() -> None:
    """Each thread has its own, and a shared one holds in all."""
    found: list[float] = []
    entered, left = threading.Event(), threading.Event()

    def work() -> None:
        found.append(seconds_left())
        with time_limit(50):
            entered.set()
            left.wait(60)
        found.append(seconds_left())

    thread = threading.Thread(target=work)
    with time_limit(0):
        thread.start()
        entered.wait(60)
    left.set()
    thread.join()
    assert found == [math.inf, math.inf]
    assert seconds_left() == math.inf
    entered.clear()
    with time_limit(0, shared=True):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found[2:] == [0, 0]
    assert seconds_left() == math.inf


def test_a_block_within_a_block_is_watched_by_both() -> None:
    """The limit of the block around it interrupts it, too."""
    program = PROGRAM.format(megabytes=1000, seconds=0.2, work="inner()").replace(
        "try:\n    with",
        "def inner():\n    with watch(seconds=100):\n        while True: pass\ntry:\n    with",
        1,
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=True
    )
    assert result.stdout.strip() == "raised: over budget: 0.2 seconds (try later)"


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_no_threads_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends in order, although this process would not."""
    monkeypatch.setattr(watchdog, "_overrun", True)
    process = os.fork()
    if not process:
        os._exit(7 if watchdog.has_overrun() else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert watchdog.has_overrun()

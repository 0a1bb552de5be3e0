"""Subprocesses that answer requests."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress

import pytest

PARENT = """
import sys
from herbrand.runtime.json_process import JsonProcess
child = JsonProcess("child", [sys.executable, "-c", CHILD])
print(child.request({"do": "say"}, 30), flush=True)
child.request({"do": "work"}, 60)
"""
CHILD = """
import os, time
from herbrand.runtime.json_process import serve
serve(lambda request: os.getpid() if request["do"] == "say" else time.sleep(60), None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes have other parents there")
def test_a_process_that_is_busy_ends_with_a_parent_that_is_killed() -> None:
    """Nobody waits for its answer any more, and nobody could end it."""
    program = f"CHILD = {CHILD!r}\n{PARENT}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    until = time.monotonic() + 20
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(child)


def is_running(process: int) -> bool:
    """Return whether there is a process that has not ended."""
    with suppress(OSError, subprocess.CalledProcessError):
        shown = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=True
        ).stdout
        return bool(shown.strip()) and not shown.startswith("Z")
    return False

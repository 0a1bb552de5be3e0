"""Functions that another process compiles are loaded here, and no compiler stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from herbrand import elsewhere
from herbrand.memory import forget_libraries

COUNT = """
import sys
from herbrand import elsewhere
elsewhere.compile_elsewhere(lambda text: print("told", text))
compiled = []
from numba.core import event
class Listener(event.Listener):
    def on_start(self, found): compiled.append(str(found.data["dispatcher"].py_func.__name__))
    def on_end(self, found): pass
event.register("numba:compile", Listener())
import numpy as np
from herbrand.play.search.tree import mixed
from herbrand.simulate.lanes import count_joints
"""
"""Notes which functions are compiled in this process."""

USE = """
counts = np.zeros(2, np.int64)
count_joints(np.zeros(2, np.bool_), np.full((2, 1), 7, np.uint64), np.array([0, 1]), counts)
print(int(mixed(np.uint64(1))), counts.tolist(), len(compiled), elsewhere.busy_seconds())
"""


def run(code: str, cache: Path) -> list[str]:
    """The lines that a program writes, which finds no other machine code than that in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_functions_are_compiled_in_another_process_and_loaded_here(tmp_path: Path) -> None:
    """Nothing is compiled in this process; it is told once, and not at all when the code is on disk."""
    told, line = run(COUNT + USE, tmp_path)
    assert told == f"told {elsewhere.MESSAGE}"
    value, rest = line.split(" ", 1)
    assert int(value) > 1 << 32
    assert rest == "[3, 3] 0 0.0"
    assert run(COUNT + USE, tmp_path) == [line]


def test_where_no_process_can_be_had_they_are_compiled_here(tmp_path: Path) -> None:
    """A compiler that dies is not asked a second time; where nothing may be compiled here, who needs it is told."""
    broken = """
from herbrand.errors import BudgetExceeded
elsewhere._workshop._child.command = [sys.executable, "-c", ""]
elsewhere.compile_elsewhere(only=True)
for _ in range(2):
    try:
        mixed(np.uint64(1))
    except BudgetExceeded as error:
        print(elsewhere.is_wanted(), error)
elsewhere._workshop.only = False
"""
    lines = run(COUNT + broken + USE + "print(elsewhere.is_wanted())", tmp_path)
    refused = [line for line in lines if line.startswith("True over budget")]
    assert len(refused) == 2
    assert all("`mixed` could not be compiled" in line for line in refused)
    assert lines[-2].endswith(" [3, 3] 2 0.0")
    assert lines[-1] == "False"


def test_gates_get_their_code_in_another_process_too(tmp_path: Path) -> None:
    """The code of a network is made there, kept on disk and linked here; here where that process is broken."""
    code = """
import sys
import herbrand
from herbrand import elsewhere
from herbrand.simulate import straight
from herbrand.simulate.rows import share_rows
elsewhere.compile_elsewhere(only=True)
here, straight._compiled = straight._compiled, None  # nothing can be compiled here
network = herbrand.load("nim").network
for width in (8, 8, 16):
    found = straight.straighten(network, share_rows(network), width)
    print(found.gates == network.gates, found.seconds)
elsewhere._workshop._child.close()
elsewhere._workshop._child.command = [sys.executable, "-c", ""]
network = herbrand.load("ticTacToe").network
print(straight.straighten(network, share_rows(network), 8))
elsewhere._workshop.only = False
straight._compiled = here
print(straight.straighten(network, share_rows(network), 8).gates == network.gates)
"""
    assert run(code, tmp_path) == ["True 0.0"] * 3 + ["None", "True"]


def test_a_copy_of_a_process_does_not_use_the_compiler_of_the_other(tmp_path: Path) -> None:
    """After `fork` the compiler goes on for the process that started it, and the copy has its own."""
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    code = """
mixed(np.uint64(1))
first = elsewhere._workshop._child
if os.fork() == 0:
    count_joints(np.zeros(2, np.bool_), np.full((2, 1), 7, np.uint64), np.array([0, 1]), np.zeros(2, np.int64))
    os._exit(elsewhere._workshop._child is first or first.is_running)
print(os.wait()[1], first.is_running)
"""
    assert run("import os\n" + COUNT + code, tmp_path)[1:] == ["0 True"]


@pytest.mark.skipif(not Path("/proc/self/smaps").is_file(), reason="what is in memory is read from /proc")
def test_libraries_that_were_only_read_are_forgotten_and_come_back(tmp_path: Path) -> None:
    """Much less is in memory then, and everything goes on working."""
    code = """
from herbrand.memory import forget_libraries, megabytes
before, forgotten, after = megabytes(), forget_libraries() / 1024, megabytes()
assert forgotten > 20, forgotten
assert after < before - 0.8 * forgotten, (before, after)
mixed(np.uint64(1))
mixed(np.int8(1))
assert forget_libraries(above=10_000) == 0
print("well")
"""
    assert run(COUNT + code, tmp_path)[-1] == "well"


def test_small_programs_forget_nothing() -> None:
    """What a process has of files is looked at only above a bound."""
    assert forget_libraries(above=1e9) == 0

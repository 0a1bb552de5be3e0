"""Each call that disks, memory and the system can refuse fails once: some of the cases that a command tries all."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from case_report import CaseReport
from faults import ERRORS, SCENARIOS, FaultInjector, try_faults
from reliability import PARTS, main

from herbrand.runtime.files import write_atomically

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="cases run in forked processes")

FEW = {"record a match": 1, "export matches": 1, "tournament on threads": 1, "search for games": 1}
"""How many calls of each scenario fail in every run of the tests."""


ALONE = """
import json, sys
from pathlib import Path
from faults import try_faults
folder, name, limit = sys.argv[1:]
(report,) = try_faults(Path(folder), names=[name], limit=int(limit), seed=1)
print(json.dumps(report.as_json()))
"""


@pytest.mark.parametrize("name", FEW)
def test_work_goes_on_after_a_failing_call(tmp_path: Path, name: str) -> None:
    """A clear error or none, whole files, and after resuming the same result.

    In a process without the threads of other tests, whose locks a forked process would inherit.
    """
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(tmp_path), name, str(FEW[name])],
        cwd=Path(__file__).parents[1] / "benchmarks",
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["failures"] == []
    assert report["tried"] == FEW[name] == sum(report["outcomes"].values())


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_work_goes_on_after_many_failing_calls(tmp_path: Path, name: str) -> None:
    """The same for more calls of all scenarios; `python benchmarks/reliability.py faults` tries every one."""
    (report,) = try_faults(tmp_path, names=[name], limit=20, seed=2)
    assert report.failures == []
    assert report.tried


@pytest.mark.parametrize("error", ERRORS)
def test_every_call_fails_once(tmp_path: Path, error: str) -> None:
    """Calls on databases, on files below the folder and starts of processes are counted; the n-th one fails."""

    def work() -> list[str]:
        """Make a call of each kind; return the kinds of those that failed."""
        failed = []
        for name, call in {
            "connect": lambda: sqlite3.connect(tmp_path / "m.db"),
            "open": lambda: (tmp_path / "a.txt").open("w", encoding="utf-8").close(),
            "process": lambda: subprocess.Popen([sys.executable, "-c", ""]).wait(),
            "rename": lambda: (tmp_path / "a.txt").replace(tmp_path / "b.txt"),
        }.items():
            try:
                call()
            except (OSError, MemoryError, sqlite3.OperationalError):
                failed.append(name)
        return failed

    with FaultInjector(tmp_path, 0, error) as counted:
        assert work() == []
    assert counted.calls == 4
    assert counted.failed is None
    for at, name in enumerate(("connect", "open", "process", "rename"), start=1):
        with FaultInjector(tmp_path, at, error) as injector:
            assert name in work()
        assert injector.failed is not None
    assert work() == []  # everything is as it was


def test_a_full_disk_undoes_the_transaction(tmp_path: Path) -> None:
    """SQLite rolls back when a disk is full, but leaves the transaction open after another error."""
    for error, is_open in (("full", False), ("input/output", True)):
        with FaultInjector(tmp_path, 4, error):
            connection = sqlite3.connect(tmp_path / f"{is_open}.db", isolation_level=None)
            connection.execute("CREATE TABLE t (x)")
            connection.execute("BEGIN")
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("INSERT INTO t VALUES (1)")
            assert connection.in_transaction == is_open
            connection.close()


@pytest.mark.parametrize("at", range(1, 7))
def test_a_file_was_half_written(tmp_path: Path, at: int) -> None:
    """Whichever call fails, the file has its old contents or the new ones, and nothing else is left."""
    file = tmp_path / "page.html"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    with FaultInjector(tmp_path, at, "full") as injector, contextlib.suppress(OSError):
        write_atomically(file, "the new contents")
    assert file.read_text(encoding="utf-8") == ("the new contents" if injector.failed is None else "old")
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o640


def test_the_command_prints_a_table_and_the_failures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row for each kind of case, and the exit status says whether anything was lost; unknown parts are refused."""
    tried = []

    def rain(folder: Path, cases: int, seed: int) -> list[CaseReport]:
        tried.append((folder.is_dir(), cases, seed))
        return [CaseReport("drops", cases, Counter(harmless=cases - 1), ["3: wet"])]

    monkeypatch.setitem(PARTS, "rain", (10, rain))
    assert main(["rain"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "| part | case | tried | outcome | lost |",
        "|---|---|--:|---|--:|",
        "| rain | drops | 10 | 9 harmless | 1 |",
        "",
        "rain: drops: 3: wet",
    ]
    assert main(["rain", "--cases", "4", "--seed", "7", "--json"]) == 1
    (report,) = json.loads(capsys.readouterr().out)["rain"]
    assert report == {"kind": "drops", "tried": 4, "outcomes": {"harmless": 3}, "failures": ["3: wet"]}
    assert tried == [(True, 10, 0), (True, 4, 7)]
    with pytest.raises(SystemExit):
        main(["snow"])

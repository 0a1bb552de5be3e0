"""Parts of `benchmarks/reliability.py` on hostile rules and false peers: some of the cases of its table."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from budgets import COMMANDS, SHEETS, measure, try_budgets
from false_peers import try_false_peers

from herbrand.cli.budget import BUDGETS

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured in /proc")


def test_nothing_false_is_taken_for_true(tmp_path: Path) -> None:
    """Replies of strangers and records of lying workers are refused, true ones are taken."""
    pytest.importorskip("cryptography")
    reports = {report.kind: report for report in try_false_peers(tmp_path, 100, seed=1)}
    assert [failure for report in reports.values() for failure in report.failures] == []
    assert all(report.tried for report in reports.values())
    for kind in ("reply: true", "record: true"):
        assert reports[kind].outcomes == {"taken": reports[kind].tried}
    for kind in ("reply: another key", "record: another move"):
        assert reports[kind].outcomes == {"refused": reports[kind].tried}


def test_every_command_that_reads_one_sheet_is_held_to_its_budget() -> None:
    """The others need a database or a person, or make their rules themselves."""
    others = {"explain", "replay", "record", "evolve"}
    assert set(BUDGETS) - others <= {command.split()[0] for command in COMMANDS} <= set(BUDGETS)


@linux
def test_what_a_command_takes_is_measured(tmp_path: Path) -> None:
    """Time, memory of the process and its children, and how it ended."""
    sheet = SHEETS / "doubled-terms.kif"
    (tmp_path / "game.kif").write_bytes(sheet.read_bytes())
    measured = measure("ground game.kif --seconds 1", tmp_path, 1)
    assert measured.status == 3
    assert "over budget: 1 seconds" in measured.message
    assert measured.seconds >= 1
    assert 0 <= measured.waited < measured.seconds
    assert measured.megabytes > 20
    assert not measured.is_crash
    (report,) = try_budgets(tmp_path / "all", [sheet], seconds=1, only="check {file} --seconds")
    assert report.tried == 1
    assert report.failures == []
    assert report.outcomes == {"done": 1}
    assert report.note.startswith("at most ")


@linux
def test_a_command_that_overruns_or_crashes_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is listed with what it took."""
    monkeypatch.setattr("budgets.COMMANDS", ("check {file} --seconds 10",))
    (report,) = try_budgets(tmp_path, sorted(SHEETS.glob("*.kif"))[:1], seconds=-1, limit=1)
    assert len(report.failures) == report.tried == 1
    assert all(": took " in failure for failure in report.failures)

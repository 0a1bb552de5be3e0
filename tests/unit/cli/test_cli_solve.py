"""`herbrand solve`: values, first moves, strategies in files and their check, budgets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from strategies import resized

from herbrand.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def run(*arguments: str) -> tuple[int, str]:
    """Run the command; return its status and its standard output."""
    done = CliRunner().invoke(cli, ["solve", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_the_value_and_all_first_moves(fits_schema: Callable[[Any, str], None]) -> None:
    """Notakto, as text and as JSON."""
    status, text = run("notakto", "--moves")
    assert status == 0
    assert "first 100, second 0" in text
    assert "100: (Mark board 2 2 cross)" in text
    status, text = run("notakto", "--moves", "--json")
    answer = json.loads(text)
    assert answer["value"] == {"first": 100, "second": 0}
    assert answer["best"] == ["(Mark board 2 2 cross)"]
    assert len(answer["moves"]) == 9
    fits_schema(answer, "solve")


def test_strategies_are_written_and_checked(tmp_path: Path, fits_schema: Callable[[Any, str], None]) -> None:
    """Written for small breakthrough, replayed by the rules; for another game they are refused."""
    sheet, file = tmp_path / "breakthrough.kif", str(tmp_path / "strategy.npz")
    sheet.write_text(resized("breakthrough", 3, 4), encoding="utf-8")
    status, text = run(str(sheet), "-o", file, "--json")
    assert status == 0
    assert json.loads(text)["strategy"]["states"] > 3
    fits_schema(json.loads(text), "solve")
    status, text = run(str(sheet), "--check", file)
    assert status == 0
    assert "accepted" in text
    status, text = run(str(sheet), "--check", file, "--json")
    assert [claim["accepted"] for claim in json.loads(text)["claims"]] == [True]
    assert run("ticTacToe", "--check", file)[0] == 1
    assert run(str(sheet), "--check", str(sheet))[0] == 1


def test_a_budget_that_ends_leaves_bounds(fits_schema: Callable[[Any, str], None]) -> None:
    """Connect four in two seconds: status 3, and what is proved up to then."""
    status, text = run("connectFour", "--seconds", "2", "--json")
    assert status == 3
    answer = json.loads(text)
    assert answer["value"] is None
    assert answer["bounds"] == {"red": [0, 100], "yellow": [0, 100]}
    assert answer["stopped"]
    fits_schema(answer, "solve")


@pytest.mark.parametrize("name", ["kuhn", "rockPaperScissors"])
def test_games_without_a_strategy_to_keep(name: str, tmp_path: Path) -> None:
    """Hidden information and mixed strategies have no such file; the message says which games have."""
    status, _ = run(name, "-o", str(tmp_path / "strategy.npz"))
    assert status == 1
    assert not list(tmp_path.iterdir())

"""Limits of commands on rules whose terms and states grow without end."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, NoReturn

import pytest
from click.testing import CliRunner

from herbrand.cli.budget import BUDGETS
from herbrand.cli.main import COMMANDS, cli
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from pathlib import Path

GAME = """(role a) (init (s 0)) (init (step 0)) (legal a (m 0)) (<= terminal (true (s 9))) (goal a 50)
(<= (next (step 0)) (true (step 0)))
"""
DOUBLED_TERMS = GAME + "(<= (next (s (f ?x ?x))) (true (s ?x)))"
"""The text of its term doubles with every step, its memory does not."""
DOUBLED_STATES = GAME + "(<= (next (s (f ?x))) (true (s ?x))) (<= (next (s (g ?x))) (true (s ?x)))"
SERVERS = {"player", "web", "lsp", "mcp"}
WITHOUT_RULES = {"explain", "players", "games", "completion"}


def herbrand(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, which its budget may end."""
    return subprocess.run(
        [sys.executable, "-m", "herbrand", *arguments],
        capture_output=True,
        text=True,
        timeout=45,
        check=False,
    )


def test_every_command_that_reads_rules_has_a_memory_limit() -> None:
    assert set(COMMANDS) - SERVERS - WITHOUT_RULES == set(BUDGETS)


@pytest.mark.parametrize("arguments", ["simulate -n 1", "show", "verify --engines rules,naive"])
def test_a_term_that_doubles_has_a_limit(arguments: str, tmp_path: Path) -> None:
    """Terms are counted by the symbols of their texts."""
    file = tmp_path / "doubled.kif"
    file.write_text(DOUBLED_TERMS)
    command, *options = arguments.split()
    moves = ["--moves", "; ".join(["(m 0)"] * 20)] if command == "show" else []
    result = CliRunner().invoke(cli, [command, str(file), *options, *moves])
    assert result.exit_code == 3
    assert "over budget: a term of 20000 symbols" in result.output


@pytest.mark.parametrize(
    ("options", "limit"),
    [("--memory 150", "150 MB of memory (--memory sets the limit)"), ("--seconds 0.2", "0.2 seconds")],
)
def test_limits_hold_for_states_that_double(options: str, limit: str, tmp_path: Path) -> None:
    file = tmp_path / "doubled.kif"
    file.write_text(DOUBLED_STATES)
    result = herbrand("simulate", str(file), "-n", "1", *options.split())
    assert result.returncode == 3
    assert f"over budget: {limit}" in result.stderr


BILLION_MOVES = """(role a) (role b) (init (s 0)) (<= (next ?x) (true ?x)) (<= terminal (true (s 9)))
(<= (goal ?r 50) (role ?r)) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
(<= (legal ?r (m ?a ?b ?c ?d ?e ?f ?g ?h ?i)) (role ?r)
  (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i))
"""


@pytest.mark.parametrize("rules", [DOUBLED_TERMS, BILLION_MOVES], ids=["doubled terms", "a billion moves"])
def test_an_analysis_over_budget_ended_without_its_results(rules: str, tmp_path: Path) -> None:
    """What is known is printed, the rest is unknown for a reason, and the exit status is 0."""
    file = tmp_path / "hostile.kif"
    file.write_text(rules)
    result = herbrand("analyse", str(file), "--budget", "2", "--json")
    assert result.returncode == 0, result.stderr
    properties = json.loads(result.stdout)["properties"]
    unknown = [verdict for verdict in properties.values() if verdict["verdict"] == "unknown"]
    assert len(unknown) >= 4
    assert all(verdict["reason"] for verdict in unknown)
    assert any("over budget" in verdict["reason"] for verdict in unknown)


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        ("bench --seconds 0.3", 5),
        ("simulate -n 1000 --seconds 4", 2),
        ("measure --budget cheap --seconds 4", 2),
    ],
)
def test_grounding_took_all_the_time_there_was(
    arguments: str, most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grounding leaves time for evaluating the rules: it took 20 or 60 seconds, whatever --seconds said."""
    given = []

    def refuse(*_: object, seconds: float, **__: object) -> NoReturn:
        given.append(seconds)
        raise BudgetExceeded(f"{seconds} seconds", "while grounding")

    monkeypatch.setattr("herbrand.ground.clingo_child.grounder", refuse)
    file = tmp_path / "doubled.kif"
    file.write_text(DOUBLED_TERMS)
    command, *options = arguments.split()
    CliRunner().invoke(cli, [command, str(file), *options])
    assert given
    assert max(given) <= most


def test_a_player_in_a_long_evaluation_held_the_end_of_a_match_up(tmp_path: Path) -> None:
    """It went on in its thread without a limit; over budget, the process ends with all its threads."""
    file = tmp_path / "moves.kif"
    file.write_text(BILLION_MOVES)
    players = ["--player", "legal", "--player", "random", "--start-clock", "1", "--play-clock", "5"]
    result = herbrand("match", str(file), *players, "--seconds", "0.5")
    assert result.returncode == 3
    assert result.stderr.splitlines()[-1].startswith("error: over budget: 0.5 seconds (")


def test_a_worker_in_a_long_evaluation_held_the_tournament_up(tmp_path: Path) -> None:
    """Over budget, the command ends its workers, whatever they evaluate."""
    file = tmp_path / "moves.kif"
    file.write_text(BILLION_MOVES)
    players = ["--player", "legal", "--player", "random", "--workers", "1"]
    result = herbrand("tournament", str(file), *players, "--seconds", "0.5")  # it waited for a minute
    assert result.returncode == 3
    assert "over budget: 0.5 seconds" in result.stderr

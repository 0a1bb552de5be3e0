"""Limits of commands on rules whose terms and states grow without end."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from herbrand.cli.budget import BUDGETS
from herbrand.cli.main import COMMANDS, cli

if TYPE_CHECKING:
    from pathlib import Path

GAME = """(role a) (init (s 0)) (init (step 0)) (legal a (m 0)) (<= terminal (true (s 9))) (goal a 50)
(<= (next (step 0)) (true (step 0)))
"""
DOUBLED_TERMS = GAME + "(<= (next (s (f ?x ?x))) (true (s ?x)))"
"""The text of its term doubles with every step, its memory does not."""
DOUBLED_STATES = GAME + "(<= (next (s (f ?x))) (true (s ?x))) (<= (next (s (g ?x))) (true (s ?x)))"
SERVERS = {"player", "web", "lsp"}
WITHOUT_RULES = {"explain", "players", "games", "completion"}


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
    result = subprocess.run(
        [sys.executable, "-m", "herbrand", "simulate", str(file), "-n", "1", *options.split()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 3
    assert f"over budget: {limit}" in result.stderr

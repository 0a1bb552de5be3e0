"""`herbrand train`: files, plots, going on, refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from herbrand.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the command; return its status and what it printed."""
    done = CliRunner().invoke(cli, ["train", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def test_a_file_is_written_and_goes_on(tmp_path: Path) -> None:
    """The same command with more games goes on; a plot shows the ratings; another seed is refused."""
    file, picture = str(tmp_path / "nim.npz"), tmp_path / "plot.svg"
    status, text, _ = run("nim", "--games", "1000", "-o", file, "--plot", str(picture))
    assert status == 0
    assert f"learned(file='{file}')" in text
    assert picture.read_text().startswith("<svg xmlns")
    status, text, errors = run("nim", "--games", "1500", "-o", file, "--json")
    answer = json.loads(text)
    assert status == 0
    assert answer["games"] == 1536
    assert "going on after 1 024 games" in errors
    assert run("nim", "--games", "2000", "-o", file, "--seed", "5")[0] == 2
    status, _, errors = run("ticTacToe", "--games", "10", "-o", file)
    assert status == 1
    assert "other rules" in errors


def test_unsuitable_games_are_refused(tmp_path: Path) -> None:
    """With the reason, and without a file."""
    status, _, errors = run("kuhn", "--games", "10", "-o", str(tmp_path / "kuhn.npz"))
    assert status == 1
    assert "hidden information" in errors
    assert not list(tmp_path.iterdir())

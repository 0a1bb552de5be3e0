"""`herbrand train`: files, plots, going on, refusals."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
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


def test_hidden_information_is_trained_by_the_same_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of progress and JSON show the exploitability; training goes on, and ends when it is precise."""
    monkeypatch.setattr("herbrand.play.training.regrets.PRECISION", 0.05)
    file, picture = str(tmp_path / "coins.npz"), tmp_path / "plot.svg"
    status, text, errors = run("kuhn", "--games", "20", "-o", file)
    assert status == 0
    assert f"learned(file='{file}')" in text
    assert "20 rounds  exploitability" in errors
    status, text, errors = run("kuhn", "--minutes", "1", "-o", file, "--json", "--plot", str(picture))
    answer = json.loads(text)
    assert status == 0
    assert "going on after 20 rounds" in errors
    assert "trained to the end: best replies gain no more than 0.05 points" in errors
    assert answer["exploitability"] == answer["snapshots"][-1]["exploitability"] <= 0.05
    assert answer["information_sets"] == 12
    assert answer["snapshots"][0]["exploitability"] > 10
    assert picture.read_text().count("<circle") == len(answer["snapshots"])


def test_games_with_too_many_histories_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason, and without a file."""
    monkeypatch.setattr("herbrand.play.training.regrets.MOST_NODES", 1000)
    status, _, errors = run("pairs", "--games", "10", "-o", str(tmp_path / "pairs.npz"))
    assert status == 1
    assert "its tree of histories is too large: over budget: 1000 nodes" in errors
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--minutes", "1"), [2]),
        (("--minutes", "1", "--batch", "1"), []),
        (("--minutes", "0.5"), []),
        (("--minutes", "1", "--jobs", "3"), [3]),
    ],
)
def test_two_processes_play_a_longer_training(
    options: tuple[str, ...], expected: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are processors for them; a number given is taken."""
    started: list[int] = []

    def fake(number: int, **options: float) -> ThreadPoolExecutor:
        started.append(number)
        return ThreadPoolExecutor(number)

    monkeypatch.setattr("herbrand.runtime.pool.WorkerPool", fake)
    monkeypatch.setattr("herbrand.play.threads.available_cores", lambda: 2)
    monkeypatch.setattr("herbrand.play.training.Trainer.run", lambda self, **options: None)
    assert run("nim", *options, "-o", str(tmp_path / "nim.npz"))[0] == 0
    assert started == expected

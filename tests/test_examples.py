"""The examples run as they stand and print what they promise."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import herbrand
from herbrand import games

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def run(name: str, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *args],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_examples_are_tested() -> None:
    """No example is left out here; the model that stands in for a real one is tested with its server."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == {
        "best_first_move.py",
        "check_folder.py",
        "games_through.py",
        "learn_by_self_play.py",
        "reachable_states.py",
        "stand_in_model.py",
    }


def test_best_first_move() -> None:
    """The middle square is the best first move of tic-tac-toe against random play."""
    lines = run("best_first_move.py", "ticTacToe", "300").splitlines()
    assert len(lines) == 9
    assert "(mark 2 2)" in lines[0]


@pytest.mark.parametrize(("game", "last"), [("nim", " states"), ("ticTacToe", "more than 500 states")])
def test_reachable_states(game: str, last: str) -> None:
    """States are counted until the limit."""
    lines = run("reachable_states.py", game, "500").splitlines()
    assert lines[0] == "after  0 steps:      1 states, 0 finished"
    assert lines[-1].endswith(last)


def test_check_folder() -> None:
    """The bundled games have no errors."""
    assert ".kif:" not in run("check_folder.py", str(Path(str(games.path("nim"))).parent))


@pytest.mark.slow
def test_learning_by_self_play() -> None:
    """A few seconds of self-play are enough to beat random moves more often than before."""
    lines = run("learn_by_self_play.py", "--seconds", "4", "--rivals", "2").splitlines()
    shares = [float(line.split()[-1].rstrip("%")) for line in lines[:-1]]
    assert max(shares[-3:]) > shares[0] + 10


@pytest.mark.parametrize(
    ("interface", "module"),
    [("openspiel", "pyspiel"), ("pettingzoo", "pettingzoo"), ("gymnasium", "gymnasium"), ("jax", "jax")],
)
def test_games_are_the_same_through_every_interface(interface: str, module: str) -> None:
    """The first legal actions give the same boards, masks, players and rewards as the batch."""
    pytest.importorskip(module)
    sys.path.insert(0, str(EXAMPLES))
    try:
        from games_through import games_through
    finally:
        sys.path.pop(0)
    game = herbrand.load("connectFour.ggd", Columns=5, Rows=4)
    both = [
        games_through(name, game, 2, 1, lambda _board, mask, _player: int(mask.argmax()))
        for name in ("batch", interface)
    ]
    seen = [games.reset() for games in both]
    for _ in range(40):
        for one, other in zip(*map(vars_of, seen), strict=True):
            if interface != "gymnasium":
                assert (one == other).all()
        if interface == "gymnasium":
            assert (seen[1].player == [0, 1]).all()
        seen = [games.step(np.asarray(s.legal).argmax(axis=1)) for games, s in zip(both, seen, strict=True)]


def vars_of(seen: Any) -> list[Any]:
    return [seen.observation, seen.legal, seen.player, seen.rewards, seen.terminated]

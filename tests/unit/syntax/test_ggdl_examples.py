"""The worked examples of the GGDL reference: each means the plain rules that stand beside it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import herbrand
from herbrand.verify import verify_same

FOLDER = Path(__file__).resolve().parent.parent.parent / "golden" / "ggdl"
GAMES = sorted(path.stem for path in FOLDER.glob("*.kif"))


def test_there_are_five_examples():
    """Tic-tac-toe, rock-paper-scissors, heaps, a board, chance."""
    assert GAMES == ["coin", "nim", "notakto", "rps", "ttt"]


@pytest.mark.parametrize("name", GAMES)
def test_an_example_is_the_game_beside_it(name):
    """Roles, base, input, legal moves, next states, ends, goals and percepts agree in random play."""
    game, plain = herbrand.load(FOLDER / f"{name}.ggd"), herbrand.load(FOLDER / f"{name}.kif")
    assert [d.message for d in game.diagnostics if d.severity.value != "note"] == []
    report = verify_same(game, plain, playouts=30, seed=3, max_steps=60, declarations=True)
    assert report.ok, str(report.difference)
    assert report.states >= 60


def test_the_comparison_finds_a_difference():
    """A game with one rule less is not the same game, and the first difference is named."""
    text = (FOLDER / "ttt.kif").read_text(encoding="utf-8")
    one = herbrand.loads(text, name="whole")
    other = herbrand.loads(text.replace("(<= terminal (not open))", ""), name="torn")
    report = verify_same(one, other, playouts=60, seed=1)
    assert not report.ok
    assert report.difference is not None
    assert report.difference.what == "terminal"
    fewer = herbrand.loads(text.replace("(<= (input ?p noop) (role ?p))", ""), name="fewer")
    assert verify_same(one, fewer, playouts=1).ok
    found = verify_same(one, fewer, playouts=1, declarations=True).difference
    assert found is not None
    assert found.what == "input x"
    assert "noop" in found.expected
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.what = "legal"  # type: ignore[misc]


@pytest.mark.parametrize(("size", "base", "moves"), [(3, 29, 10), (4, 50, 17), (5, 77, 26)])
def test_tic_tac_toe_of_any_size(size, base, moves):
    """3 n^2 + 2 base propositions, n^2 + 1 moves for each role."""
    game = herbrand.load(FOLDER / "ttt.ggd", BoardSize=size)
    assert len(game.base) == base == 3 * size**2 + 2
    assert {role: len(found) for role, found in game.inputs.items()} == {"x": moves, "o": moves}
    assert len(game.possible.base) == base
    state = game.initial_state()
    assert len(state.facts) == size**2 + 1
    assert f"(mark {size} {size})" in map(str, state.legal_moves("x"))

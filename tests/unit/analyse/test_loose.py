"""Games with less that ends them have all the plays of the game, so that what is proved of them holds in it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.invariants import loose
from herbrand.analyse.invariants.loose import loosen
from herbrand.engine.expand import Expander
from herbrand.network.graph import cone_sizes

if TYPE_CHECKING:
    from herbrand.engine.expand import States

CONNECTED = """
(role a) (init (free 1)) (init (free 2)) (init (near 1 2)) (place 1) (place 2)
(<= (legal a (put ?x)) (true (free ?x)))
(<= (next (free ?x)) (true (free ?x)) (not (does a (put ?x))))
(<= (next (near ?y ?x)) (true (near ?x ?y))) (<= (next (mine ?x)) (does a (put ?x)))
(<= some (true (free ?x))) (<= terminal (not some))
(<= (goal a 100) (true (mine 1)) (true (near 1 2))) (<= (goal a 0) (not (true (mine 1))))
"""


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep only what very few gates tell."""
    monkeypatch.setattr(loose, "_MOST", 10)


def test_nothing_is_saved_where_all_of_it_is_small() -> None:
    """A network whose end is told by few gates is left alone."""
    assert loosen(herbrand.load("ticTacToe").network) is None


def test_what_neither_moves_nor_the_end_depend_on_is_left_out() -> None:
    """Who has put what and what is near matters for goals alone."""
    network = herbrand.loads(CONNECTED).network
    smaller = loosen(network)
    assert smaller is not None
    assert [network.terms.text(f) for f in smaller.fluents.tolist()] == ["(free 1)", "(free 2)"]
    assert smaller.terms is network.terms


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", ["ticTacToe", "connectFour", "breakthrough", "hex"])
def test_a_loosened_game_goes_on_wherever_the_game_does(name: str) -> None:
    """In states of random games moves and successors are the same, and it is over only where the game is.

    That goes for the fluents that are left: those that moves or the end depend on.
    """
    game = herbrand.load(name)
    smaller = loosen(game.network)
    assert smaller is not None
    assert smaller.gates < game.network.gates
    assert not len(smaller.goals)
    if len(smaller.loops):
        return  # their gates are asked with any values, not evaluated
    ours, theirs = game.expander, Expander(smaller)
    kept = np.isin(game.network.fluents, smaller.fluents)
    assert kept.sum() == len(smaller.fluents)

    def left(states: States) -> States:
        return theirs.pack_bits(ours.bits(states)[:, kept])

    assert (left(ours.initial) == theirs.initial).all()
    states = np.repeat(ours.initial, 200, axis=0)
    rng = np.random.default_rng(3)
    goes_on = 0
    for _ in range(30):
        legal, other = ours.legal(states), theirs.legal(left(states))
        assert (legal.over | ~other.over).all()
        goes_on += int((legal.over & ~other.over).sum())
        states, legal_now = states[~legal.over], legal.over
        if not len(states):
            break
        again = ours.legal(states)
        moves = np.zeros((len(states), len(ours.roles)), np.int32)
        for role in range(len(ours.roles)):
            mask = again.mask(role)
            assert (mask == other.mask(role)[~legal_now]).all()
            moves[:, role] = (mask * (rng.random(mask.shape) + 1)).argmax(axis=1)
        following = ours.step(states, moves)
        assert (left(following) == theirs.step(left(states), moves)).all()
        states = following
    assert goes_on or name != "ticTacToe"  # lines are what was left out


@pytest.mark.slow
@pytest.mark.usefixtures("little")
def test_what_is_proved_of_it_is_checked_by_the_rules() -> None:
    """Termination and playability of tic-tac-toe do not need lines; the certificates hold in the whole game."""
    pytest.importorskip("pysat", reason="python-sat is not installed")
    from herbrand.analyse.proofs.symbolic import prove

    game = herbrand.load("ticTacToe")
    found = prove(game, ["termination", "playability"], Budget(300.0, 1, 1000.0, started=time.monotonic()))
    for verdict in found.values():
        assert verdict.answer == "proved"
        assert verdict.certificate is not None
        assert verdict.certificate.check(game, 60)


def test_sizes_of_cones_are_counted_up_to_a_limit() -> None:
    """A literal of an input depends on no gate, a conjunction of two on one; large cones count as the limit."""
    left, right = (
        np.array([2, 4, 10], np.int32),
        np.array([4, 6, 12], np.int32),
    )  # 4 inputs, gates are nodes 4..6
    literals = np.array([2, 8, 10, 12, 13], np.int32)
    assert cone_sizes(left, right, 4, literals, 9).tolist() == [0, 1, 1, 2, 2]
    assert cone_sizes(left, right, 4, literals, 1).tolist() == [0, 1, 1, 1, 1]

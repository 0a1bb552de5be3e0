"""Networks that see ends a step before, and threats."""

from __future__ import annotations

import time

import numpy as np
import pytest

import herbrand
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.walks import play
from herbrand.engine.expand import Expander
from herbrand.engine.foresight import find_turns, foreseen, threats


def decided(game: herbrand.Game, states: np.ndarray, role: int, goal: int) -> tuple[np.ndarray, np.ndarray]:
    """Return in which states one move of the role decides that it gets the goal, or one of another that not."""
    expander = game.expander
    wins, fails = np.zeros(len(states), np.bool_), np.zeros(len(states), np.bool_)
    legal = expander.legal(states)
    counts = legal.counts()
    expansion = expander.expand(states, legal)
    over = expander.terminal(expansion.states)
    reached = expander.goals(expansion.states)[:, role]
    for k in np.flatnonzero(over).tolist():
        parent = int(expansion.parents[k])
        others = [count for r, count in enumerate(counts[parent].tolist()) if r != role]
        if max(others) == 1 and reached[k] >= goal:
            wins[parent] = True
        if counts[parent, role] == 1 and sum(count > 1 for count in others) <= 1 and 0 <= reached[k] < goal:
            fails[parent] = True
    return wins, fails


@pytest.mark.parametrize(
    ("name", "goal"), [("ticTacToe", 100), ("ticTacToe", 50), ("nim", 100), ("connectFour", 100)]
)
def test_ends_are_seen_a_step_before(name: str, goal: int) -> None:
    """As expanding the states says; other states are as before."""
    game = herbrand.load(name)
    bits = play(game.expander, time.monotonic() + 1).states[:600]
    states = game.expander.pack_bits(bits)
    over = game.expander.terminal(states)
    for role in range(len(game.roles)):
        ahead = foreseen(game.network, role, goal)
        assert ahead is not None
        seen = Expander(ahead)
        wins, fails = decided(game, states, role, goal)
        assert (wins & ~over).any()
        assert (seen.terminal(states) == (over | wins | fails)).all()
        goals = seen.goals(states)[:, role]
        assert (goals[wins & ~over] >= goal).all()
        assert ((goals >= 0) & (goals < goal))[fails & ~over & ~wins].all()
        assert (goals[over] == game.expander.goals(states)[over, role]).all()


def test_threats_are_what_the_side_not_to_move_would_do() -> None:
    """Two in a row with the third cell blank, in tic-tac-toe."""
    game = herbrand.load("ticTacToe")
    expander = game.expander
    turns = find_turns(expander, play(expander, time.monotonic() + 1).states)
    assert turns is not None
    network = threats(game.network, 0, 100, turns)
    assert network is not None
    states = explore(expander).states
    bits = expander.bits(states)
    bits[:, list(turns)] = bits[:, list(turns)[::-1]]
    wins, fails = decided(game, expander.pack_bits(bits), 0, 100)
    going = ~expander.terminal(states)
    threatened = Expander(network).terminal(states)
    assert (threatened[going] == (wins | fails)[going]).all()
    assert threatened[going].any()


def test_turns_are_for_two_roles_that_take_turns() -> None:
    """Not for three, nor where both choose at once."""
    for name in ("trefoil", "rockPaperScissors.ggd"):
        expander = herbrand.load(name).expander
        assert find_turns(expander, play(expander, time.monotonic() + 0.5).states) is None


def test_recursion_and_size_are_limits() -> None:
    """Networks with loops have no such network, and neither have large ones."""
    assert foreseen(herbrand.load("hex").network, 0, 100) is None
    assert foreseen(herbrand.load("chess").network, 0, 100) is None

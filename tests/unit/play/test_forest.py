"""Many search trees side by side: each is as if it were alone, and they find what there is to find."""

from __future__ import annotations

import numpy as np

import herbrand
from herbrand.play.search.forest import Forest


def test_every_tree_finds_the_winning_move() -> None:
    """In states where one mark wins at once, that mark is chosen, whatever the other trees look at."""
    game = herbrand.load("ticTacToe")
    expander = game.expander
    threat, lines = game.initial_state(), ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)"]
    for number, move in enumerate(lines):
        threat = threat.next((move, "noop") if number % 2 == 0 else ("noop", move))
    states = np.concatenate([expander.initial, expander.pack([threat.facts]), expander.initial])
    forest = Forest(expander, seed=1)
    roots = forest.search(states, np.array([4, 20, 40]))
    assert len(set(roots.tolist())) == 3
    moves = forest.best(roots, np.zeros(3, np.int64))
    assert expander.moves[0][moves[1]] == "(mark 1 3)"
    assert (moves >= 0).all()
    assert forest.tree.games[roots[0]] < forest.tree.games[roots[2]]


def test_the_same_seed_grows_the_same_trees() -> None:
    """Trees depend on seed and states alone; the search before is forgotten."""
    expander = herbrand.load("connectFour").expander
    states = np.repeat(expander.initial, 3, axis=0)
    roles = np.zeros(3, np.int64)
    first, second = Forest(expander, seed=5), Forest(expander, seed=5)
    for _ in range(2):
        one = first.best(first.search(states, np.array([8, 8, 30])), roles)
        other = second.best(second.search(states, np.array([8, 8, 30])), roles)
        assert one.tolist() == other.tolist()


def test_trees_stop_when_there_is_no_room() -> None:
    """A forest that does not fit ends its search, and still says what looks best."""
    expander = herbrand.load("connectFour").expander
    forest = Forest(expander, seed=1, memory=1 << 16)
    roots = forest.search(np.repeat(expander.initial, 200, axis=0), np.full(200, 50))
    assert (forest.best(roots, np.zeros(200, np.int64)) >= -1).all()
    assert forest.tree.is_full
    assert forest.tree.bytes <= max(1 << 16, 4 * forest.tree.room + (1 << 17))

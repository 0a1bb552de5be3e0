"""Symmetries of rules: as many as are known, each leaving play as it is."""

from __future__ import annotations

import numpy as np
import pytest

import herbrand
from herbrand import BudgetExceeded
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.proofs.observe import observe
from herbrand.analyse.solving.symmetry import find_symmetries, up_to_symmetry

CYCLE = """
(role r) (init (at 1)) (init (at 2)) (init (at 3)) (legal r stay)
(<= (legal r (drop ?x)) (true (at ?x)))
(edge 1 2) (edge 2 3) (edge 3 1)
(<= (next (at ?y)) (true (at ?x)) (edge ?x ?y) (not (does r (drop ?x))))
(<= terminal (not (true (at 1))) (not (true (at 2)))) (<= terminal (not (true (at 2))) (not (true (at 3))))
(<= terminal (not (true (at 3))) (not (true (at 1)))) (goal r 100)
"""


def test_the_board_of_tic_tac_toe_has_eight() -> None:
    """Turns and reflections; with them 765 of the 5478 positions are different (a known number)."""
    game = herbrand.load("ticTacToe")
    found = find_symmetries(game)
    assert found.order == 8
    elements = found.permutations(game.expander.fluent_names)
    assert elements is not None
    assert len(elements) == 8
    space = explore(game.expander, budget=Budget(400))
    assert (len(space.states), up_to_symmetry(space, found)) == (5478, 765)
    remarks = {remark.kind: remark for remark in observe(game, space, budget=Budget(400))}
    assert remarks["symmetries"].text == "the rules have 8 symmetries; 765 states up to symmetry"


def test_a_symmetry_leaves_play_as_it_is() -> None:
    """What a state and a move lead to, turned, is what the turned state and the turned move lead to."""
    game = herbrand.load("ticTacToe")
    for generator in find_symmetries(game).generators:
        state = turned = game.initial_state("rules")
        while not state.is_terminal:
            joint = [str(state.legal_moves(role)[-1]) for role in game.roles]
            named = [f"(does {role} {move})" for role, move in zip(game.roles, joint, strict=True)]
            words = [generator.get(name, name) for name in named]
            moves = [word[len(f"(does {role} ") : -1] for role, word in zip(game.roles, words, strict=True)]
            state, turned = state.next(joint), turned.next(moves)
            assert {generator.get(fact, fact) for fact in state.facts} == turned.facts
        assert turned.is_terminal
        assert turned.goals == state.goals


def test_turning_without_reflecting() -> None:
    """Three places in a circle can be turned but not reflected, since the edges have a direction."""
    found = find_symmetries(herbrand.loads(CYCLE))
    assert found.order == 3
    assert str(found) == "3 symmetries, made by 1"
    elements = found.permutations(("(at 1)", "(at 2)", "(at 3)"))
    assert elements is not None
    assert sorted(map(tuple, elements.tolist())) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert found.permutations(("(at 1)", "(at 2)")) is None  # one leads out of these
    assert np.array_equal(elements[0], np.arange(3))


def test_one_that_breaks_the_start_is_none() -> None:
    """The initial state counts: with one place empty at first nothing can be exchanged."""
    text = CYCLE.replace("(init (at 3))", "").replace("(goal r 100)", "(goal r 100) (base (at 1))")
    assert find_symmetries(herbrand.loads(text)).order == 1


def test_the_budget_is_kept() -> None:
    """No time: that is said."""
    with pytest.raises(BudgetExceeded):
        find_symmetries(herbrand.load("ticTacToe"), budget=Budget(0))

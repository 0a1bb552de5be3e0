"""Proof-number search solves what exploration solves, to the same values."""

from __future__ import annotations

import pytest
from strategies import resized

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.replay import replay
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.solving.by_search import solve_by_search
from herbrand.analyse.solving.solve import solve
from herbrand.errors import BudgetExceeded, GameError


@pytest.mark.parametrize("name", ["nim", "notakto", "ticTacToe", "ticTacToe3"])
def test_values_are_those_of_backward_induction(name: str) -> None:
    """The value, that of every first move, and best play up to an end with these goals."""
    game = herbrand.load(name)
    found, known = solve_by_search(game), solve(game)
    assert found.value == known.value
    assert found.guaranteed == known.guaranteed
    assert sorted(found.root, key=str) == sorted(known.root, key=str)
    last = replay(game, found.line)[-1]
    assert last.is_terminal
    assert {role: last.goal(role) for role in game.roles} == found.value


@pytest.mark.parametrize(
    ("name", "width", "height", "first"),
    [("breakthrough", 3, 4, 0), ("breakthrough", 2, 6, 100), ("hex", 3, 3, 100)],
)
def test_boards_of_known_value(name: str, width: int, height: int, first: int) -> None:
    """Who wins small breakthrough and hex is known from other programs."""
    game = herbrand.loads(resized(name, width, height))
    found = solve_by_search(game)
    assert found.value == {game.roles[0]: first, game.roles[1]: 100 - first}


def test_from_another_state() -> None:
    """After a bad reply in tic-tac-toe X wins."""
    game = herbrand.load("ticTacToe")
    state = game.initial_state()
    for joint in (("(mark 1 1)", "noop"), ("noop", "(mark 1 2)")):
        state = state.next(joint)
    assert solve_by_search(game, start=state).value == {"xplayer": 100, "oplayer": 0}


def test_what_the_search_is_of_no_use_for() -> None:
    """One role, choices at the same time, hidden moves; and a budget that is too small."""
    for name in ("hanoi", "rockPaperScissors", "kuhn"):
        with pytest.raises(GameError):
            solve_by_search(herbrand.load(name))
    with pytest.raises(BudgetExceeded):
        solve_by_search(herbrand.load("connectFour"), budget=Budget(0.2))


def test_a_game_with_too_many_states_is_solved_by_search() -> None:
    """`analyse` says who wins, and that it can be forced, although not all states were listed."""
    game = herbrand.loads(resized("breakthrough", 3, 4))
    found = analyse(game, ["goals", "strong_winnability"], budget=Budget(60, states=500))
    assert found.solution is not None
    assert found.solution.method == "proof-number search"
    assert found.solution.value == {"white": 0, "black": 100}
    strong = found.properties["strong_winnability"]
    assert (strong.answer, strong.checked) == ("proved", True)
    assert {role: verdict.answer for role, verdict in strong.roles.items()} == {
        "white": "refuted",
        "black": "proved",
    }

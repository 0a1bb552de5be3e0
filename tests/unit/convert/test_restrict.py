"""Restricted games have a part of the moves of each role, in every state, and one where there was one."""

from __future__ import annotations

import random

import pytest

import herbrand
from herbrand.convert.restrict import Preference, restrict
from herbrand.errors import GameError, InvalidMoveError
from herbrand.game import Game
from herbrand.syntax.case import with_case


@pytest.mark.parametrize(
    ("name", "preferred"),
    [
        ("ticTacToe", {"xPlayer": ["(mark 1 1)", "(mark 2 2)"], "oPlayer": ["(mark 3 3)"]}),
        ("village", {}),
        ("ticTacToe.ggd", {"x": ["(mark 1 1)"]}),
    ],
)
def test_preferred_moves_are_made_where_they_are_legal(name: str, preferred: dict[str, list[str]]) -> None:
    """Along random games of the restricted rules; all else is as in the game."""
    game = herbrand.load(name)
    preferred = {game.roles[number]: moves for number, moves in enumerate(preferred.values())}
    restricted = restrict(game, [Preference(role, one) for role, moves in preferred.items() for one in moves])
    assert not restricted.rules.errors
    assert restricted.roles == game.roles
    chance = random.Random(3)
    for _ in range(5):
        state, twin = game.initial_state("rules"), restricted.initial_state("rules")
        while not state.is_terminal:
            for role, moves in state.legal_moves().items():
                chosen = [move for move in moves if str(move) in preferred.get(role, ())]
                assert twin.legal_moves(role) == (chosen or moves)
            joint = {role: chance.choice(moves) for role, moves in twin.legal_moves().items()}
            state, twin = state.next(joint), twin.next(joint)
            assert twin.facts == state.facts
        assert twin.is_terminal
        assert twin.goals == state.goals


def test_rules_may_ask_what_is_legal() -> None:
    """Such rules go on to mean the moves of the game, and names of the sheet are not used twice."""
    game = herbrand.loads(
        "(role r) (init (permitted)) (legal r wait) (legal r (go 1)) (<= (next (permitted)) (true (permitted)))"
        "(<= terminal (not (legal r (go 1)))) (<= (preferred ?x) (role ?x)) (<= (goal r 0) (preferred r))"
    )
    restricted = restrict(game, [Preference("r", "wait")])
    state = restricted.initial_state()
    assert list(map(str, state.legal_moves("r"))) == ["wait"]
    assert not state.is_terminal
    assert not restricted.rules.errors


def test_only_ground_terms_are_preferred() -> None:
    """Neither rules between parentheses nor variables."""
    game = herbrand.load("nim")
    for move in ("wait))(<= terminal (true x)", "?m", ""):
        with pytest.raises(InvalidMoveError):
            restrict(game, [Preference("first", move)])
    with pytest.raises(GameError):
        restrict(Game(with_case(game.tree), name="cased"), [Preference("first", "wait")])

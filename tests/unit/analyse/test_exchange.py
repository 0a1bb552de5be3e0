"""Values of games whose players can change places."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

import herbrand
from herbrand.analyse import find_symmetries
from herbrand.analyse.knowledge import solve
from herbrand.analyse.knowledge.exchange import value_by_exchange

HIDDEN = """
    (role a) (role b) (role random) (cell 1) (cell 2) (cell 3) (owns a left) (owns b right)
    (init (turn 1)) (succ 1 2) (succ 2 3)
    (<= (legal ?r (take ?c)) (cell ?c) (role ?r) (distinct ?r random))
    (<= (legal ?r pass) (role ?r) (distinct ?r random)) (legal random (favour a)) (legal random (favour b))
    (<= (next (taken ?s ?c)) (does ?r (take ?c)) (owns ?r ?s) (does random (favour ?r))
        (not (true (taken left ?c))) (not (true (taken right ?c))))
    (<= (next (taken ?s ?c)) (true (taken ?s ?c)))
    (<= (next (turn ?n)) (true (turn ?m)) (succ ?m ?n))
    (<= (sees ?r ok) (does ?r (take ?c)) (does random (favour ?r)))
    (<= terminal (true (turn 3)))
    (<= (wins left) (true (taken left 1)) (not (true (taken right 2)))) (<= (wins right) (true (taken right 1)) (not (true (taken left 2))))
    (<= (one ?s) (wins ?s)) (<= (draw) (wins left) (wins right)) (<= (draw) (not (wins left)) (not (wins right)))
    (<= (goal a 100) (wins left) (not (draw))) (<= (goal b 100) (wins right) (not (draw)))
    (<= (goal a 0) (wins right) (not (draw))) (<= (goal b 0) (wins left) (not (draw)))
    (<= (goal a 50) (draw)) (<= (goal b 50) (draw))
"""


def test_players_who_can_change_places_get_half_each() -> None:
    """The names `left` and `right` change places with them; the linear program says the same."""
    game = herbrand.loads(HIDDEN)
    assert value_by_exchange(game) == {"a": Fraction(50), "b": Fraction(50)} == solve(game).value
    (images,) = [s for s in find_symmetries(game, exchanging=True).generators if "(role a)" in s]
    assert images["(role a)"] == "(role b)"
    assert images["(taken left 1)"] == "(taken right 1)"
    assert "(role random)" not in images


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(<= (goal a 50) (draw))", "(<= (goal a 60) (draw))"),
        ("(init (turn 1))", "(init (turn 1)) (init (taken left 3))"),
        ("(<= (sees ?r ok)", "(<= (sees a ok)"),
        ("(legal random (favour b))", ""),
        ("(legal random (favour b))", "(legal random (favour b)) (goal a 50)"),
        ("(<= (goal b 50) (draw))", "(<= (goal b 40) (draw))"),
        ("(<= (legal ?r pass)", "(<= (legal a ?x) (owns a ?x)) (<= (legal ?r pass)"),
    ],
)
def test_what_favours_one_player_leaves_no_value(old: str, new: str) -> None:
    """Goals, the initial state, percepts, chance and moves."""
    assert old in HIDDEN
    assert value_by_exchange(herbrand.loads(HIDDEN.replace(old, new))) is None


def test_goals_without_a_constant_sum_and_endless_games_have_no_value() -> None:
    """The prisoners can change places, but what one gets the other need not lose."""
    assert value_by_exchange(herbrand.load("prisonersDilemma")) is None
    endless = HIDDEN.replace(
        "(<= terminal (true (turn 3)))", "(<= terminal (true (taken left 1)) (true (taken right 1)))"
    )
    assert value_by_exchange(herbrand.loads(endless)) is None


def test_a_game_that_is_too_large_to_unfold_is_solved() -> None:
    """Rock, paper, scissors to three wins, with a budget of ten states; tic-tac-toe has a first player."""
    found = solve(herbrand.load("rockPaperScissors"), nodes=10)
    assert found.method == "exchange of players"
    assert found.value == {"left": Fraction(50), "right": Fraction(50)}
    assert "symmetry" in found.reason
    assert solve(herbrand.load("ticTacToe"), method="exchange of players").value is None


def test_blind_tic_tac_toe_is_worth_a_draw() -> None:
    """With unseen marks and a drawn lot for each conflict; not where the lot favours one side."""
    folder = Path(os.environ.get("HERBRAND_CORPUS_2", "")) / "rulesheets"
    sheet = folder / "Joelrwest__ggp-cpp__blindtictactoe.gdl.kif"
    if not sheet.is_file():
        pytest.skip("no second collection of rulesheets: set HERBRAND_CORPUS_2")
    assert solve(herbrand.load(sheet), nodes=1000).value == {"x": Fraction(50), "o": Fraction(50)}
    biased = folder / "Joelrwest__ggp-cpp__blindtictactoeXbias.gdl.kif"
    assert value_by_exchange(herbrand.load(biased)) is None

"""Values from decision diagrams: those of listing all states, and what is refused."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse import Budget
from herbrand.analyse.solving.by_diagrams import solve_by_diagrams
from herbrand.analyse.solving.value import value_of
from herbrand.cli.main import cli
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("oxidd")

TICTACTOE = files("herbrand.games").joinpath("ticTacToe.kif").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("ticTacToe", {}),
        pytest.param("connectFour.ggd", {"Columns": 4, "Rows": 4}, marks=pytest.mark.slow),
        ("connectFour.ggd", {"Columns": 3, "Rows": 4}),
    ],
)
def test_values_are_those_of_listing(name: str, params: dict[str, int]) -> None:
    """Of the game and of every first move."""
    game = herbrand.load(name, **params)
    value = solve_by_diagrams(game, moves=True)
    other = value_of(herbrand.load(name, **params), moves=True)
    assert value.bounds == other.bounds
    assert value.moves == other.moves
    assert set(value.best) == {
        move for move, pair in other.moves.items() if pair[0] == value.bounds[value.chooser][0]
    }
    assert not value.stopped


def test_the_second_role_may_begin() -> None:
    """Then the questions are about the first role, and moves are valued for the one that chooses."""
    text = TICTACTOE.replace("(init (control xplayer))", "(init (control oplayer))")
    assert text != TICTACTOE
    game = herbrand.loads(text)
    value, other = solve_by_diagrams(game, moves=True), value_of(herbrand.loads(text), moves=True)
    assert value.chooser == other.chooser == "oplayer"
    assert value.bounds == other.bounds
    assert value.moves == other.moves


@pytest.mark.parametrize("first", ["xplayer", "oplayer"])
def test_goal_values_of_two_roles_need_no_constant_sum(first: str) -> None:
    """Both roles are asked then, and moves are valued for the one that chooses, by all of its goal values."""
    draw = """(<= (goal xplayer 50) (not decided))
        (<= (goal oplayer 30) (not decided)) (<= (goal oplayer 20) bad) (<= (goal oplayer 10) bad)
        (<= bad decided open (true (control nobody)))"""
    text = TICTACTOE.replace("(<= (goal ?player 50)\n    (role ?player)\n    (not decided))", draw)
    text = text.replace("(init (control xplayer))", f"(init (control {first}))")
    assert "nobody" in text
    asked = []
    value = solve_by_diagrams(
        herbrand.loads(text), moves=True, solved=lambda question, step: step.step or asked.append(question)
    )
    assert value.chooser == first
    assert value.bounds == {"xplayer": (50, 50), "oplayer": (30, 30)}
    assert sorted(asked) == sorted(set(asked))
    assert len(asked) == 4  # no end has 10 or 20, so that 20 is asked for only in place of 30
    assert set(value.moves.values()) == {value.bounds[first]}
    assert len(value.best) == len(value.moves) == 9
    assert value.value is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("kuhn", "do not see everything"),
        ("nim", "different numbers of steps"),
        ("rockPaperScissors", "several roles may choose"),
    ],
)
def test_other_games_are_refused(name: str, reason: str) -> None:
    """With the reason."""
    with pytest.raises(GameError, match=reason):
        solve_by_diagrams(herbrand.load(name))


def test_chance_is_refused() -> None:
    """Values would be expectations."""
    text = TICTACTOE.replace("(role xplayer)", "(role random)").replace("xplayer", "random")
    with pytest.raises(GameError, match="chance"):
        solve_by_diagrams(herbrand.loads(text))


def test_ends_without_a_goal_value_are_refused() -> None:
    """Their value is not known, and nothing is made up."""
    text = TICTACTOE.replace("(goal ?player 50)", "(draw ?player)")
    assert text != TICTACTOE
    with pytest.raises(GameError, match="no goal value"):
        solve_by_diagrams(herbrand.loads(text))


@pytest.mark.parametrize(
    ("name", "params", "method"),
    [
        ("connectFour.ggd", {"Columns": 3, "Rows": 4}, "backward induction on decision diagrams"),
        ("nim", {}, "proof-number search"),
    ],
)
def test_diagrams_take_the_place_of_a_search_that_takes_long(
    monkeypatch: pytest.MonkeyPatch, name: str, params: dict[str, int], method: str
) -> None:
    """Where they apply; otherwise the search goes on."""
    expected = value_of(herbrand.load(name, **params), moves=True)
    monkeypatch.setattr("herbrand.analyse.solving.value._FEW_STATES", 10)
    monkeypatch.setattr("herbrand.analyse.solving.value._SEARCH_SECONDS", 0.0)
    value = value_of(herbrand.load(name, **params), moves=True)
    assert value.method == method
    assert value.bounds == expected.bounds
    assert value.moves == expected.moves
    assert not value.stopped


@pytest.mark.parametrize("states", [10, 300_000])
def test_where_several_roles_choose_at_once_all_states_are_listed(
    monkeypatch: pytest.MonkeyPatch, states: int
) -> None:
    """The search is not for them, so that a part of the states is not enough as long as there is time."""
    monkeypatch.setattr("herbrand.analyse.solving.value._FEW_STATES", states)
    value = value_of(herbrand.load("rockPaperScissors"))
    assert value.value == {"left": 50, "right": 50}
    assert value.states == 48


def test_bounds_remain_when_time_ends() -> None:
    """The answer says that it is not complete."""
    value = solve_by_diagrams(herbrand.load("connectFour"), budget=Budget(0.5, megabytes=1000))
    assert value.stopped == "out of time"
    assert value.bounds["red"] == (0, 100)


def test_the_command_prints_and_refuses(fits_schema: Callable[[Any, str], None]) -> None:
    """Steps forwards, then questions backwards; one method at a time."""
    outcome = CliRunner().invoke(cli, ["solve", "ticTacToe", "--diagrams", "--moves", "--json"])
    assert outcome.exit_code == 0
    value = json.loads(outcome.stdout)
    assert value["value"] == {"xplayer": 50, "oplayer": 50}
    assert value["method"] == "backward induction on decision diagrams"
    assert len(value["moves"]) == 9
    fits_schema(value, "solve")
    outcome = CliRunner().invoke(cli, ["solve", "ticTacToe", "--diagrams", "--output", "x.npz"])
    assert outcome.exit_code == 2
    assert "exclude each other" in outcome.stderr

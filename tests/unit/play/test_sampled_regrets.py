"""Regret minimisation on sampled plays, and the player that draws its moves by it."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest

import herbrand
import herbrand.game
from herbrand.analyse.knowledge import history
from herbrand.analyse.knowledge.histories import HistoryStep
from herbrand.play.ismcts import IsMctsPlayer
from herbrand.play.sampled_regrets import SampledRegrets

if TYPE_CHECKING:
    from herbrand.play.explanation import PlayerReport

ANSWER = [("noop", "noop", "(deal jack queen)"), ("bet", "noop", "noop")]


def seen(*percepts: str) -> tuple[HistoryStep, ...]:
    """Return the history of a role that waited and saw these, one in each step."""
    return tuple(HistoryStep("NOOP", frozenset({percept})) for percept in percepts)


def asked(player: IsMctsPlayer, clock: float = 600.0) -> tuple[str, PlayerReport]:
    """Let a player answer a bet with the queen in Kuhn poker; return its move and its report."""
    game = herbrand.load("kuhn")
    player.start(game, "second", 60.0)
    player.receive_history(history(game, "second", ANSWER))
    move = player.select(game.initial_state(), clock)
    report = player.report()
    assert report is not None
    return str(move), report


def test_averages_approach_an_equilibrium() -> None:
    """Second of Kuhn poker calls with the king, folds the jack, and calls with the queen a third of the time."""
    sampled = SampledRegrets(herbrand.load("kuhn"), random.Random(1))
    for _ in range(4000):
        sampled.traverse(lambda: False)
    assert sampled.is_suitable
    for card, call in (("jack", 0.0), ("queen", 1 / 3), ("king", 1.0)):
        found = sampled.find(1, seen(f"(dealt {card})", "(did first BET)"))
        assert found is not None
        assert sampled.has_learned(found)
        assert found.moves == ["call", "fold"]
        assert found.average()[0] == pytest.approx(call, abs=0.1)
    king = sampled.find(1, seen("(dealt king)", "(did first bet)"))
    assert king is not None
    assert king.totals[0] / king.traversals > 85
    assert king.totals[1] / king.traversals == 25
    assert sampled.find(1, seen("(dealt ace)")) is None


def test_wide_games_are_left_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A traversal ends when it has visited too many states, and the search from possible states plays."""
    monkeypatch.setattr("herbrand.play.sampled_regrets._WIDEST", 3)
    move, report = asked(IsMctsPlayer(seed=1, playouts=50))
    assert move in ("call", "fold")
    assert "50 playouts from 2 possible states" in str(report)


def test_a_player_draws_by_what_it_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed gives the same; its report has the probabilities, and the number of plays is held."""
    monkeypatch.setattr("herbrand.play.sampled_regrets._ENOUGH_HERE", 15)
    monkeypatch.setattr("herbrand.play.sampled_regrets._ENOUGH", 10)
    first, second = (asked(IsMctsPlayer(seed=3, playouts=3000)) for _ in range(2))
    assert (first[0], first[1].moves) == (second[0], second[1].moves)
    report = first[1]
    chances = [one.chance or 0 for one in report.moves]
    assert sum(chances) == pytest.approx(1)
    assert 0.1 < min(chances) < 0.5
    assert 3000 <= report.visits < 3100
    assert "learned from" in str(report)
    _, searched = asked(IsMctsPlayer(seed=3, playouts=100, sampling=False))
    assert all(one.chance is None for one in searched.moves)


def test_clocks_hold_while_plays_are_sampled() -> None:
    """Also in the start clock, of which a part is used."""
    game = herbrand.game.load("liarsDice")
    player = IsMctsPlayer(seed=1)
    began = time.process_time()
    player.start(game, "first", 0.5)
    state = game.initial_state().next(("noop", "noop", "(roll 1 2)"))
    player.receive_history(history(game, "first", [("noop", "noop", "(roll 1 2)")]))
    for clock in (0.0, 0.2):
        assert state.is_legal("first", player.select(state, clock))
    assert time.process_time() - began < 3
    player.stop()

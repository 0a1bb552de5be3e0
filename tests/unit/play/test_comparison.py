"""Alpha-beta against tree search in the start clock, by which `meta` chooses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.comparison import QuickGames, can_compare, compare_searches
from herbrand.play.learning import LearnedJudge, learn_judge, sample_states
from herbrand.play.meta import MetaPlayer

if TYPE_CHECKING:
    from herbrand.game import Game


@pytest.fixture(scope="module")
def game() -> Game:
    return herbrand.load("koukrark")


@pytest.fixture(scope="module")
def learned(game: Game) -> LearnedJudge:
    return learn_judge(game.expander, 0, seed=1, deadline=time.monotonic() + 3)


def test_opposed_values_are_the_rest(game: Game, learned: LearnedJudge) -> None:
    states = sample_states(game.expander, np.random.default_rng(1))[:300]
    mine = learned.valuer(game.expander, 0).values(states)
    others = learned.of(0, 1).valuer(game.expander, 1).values(states)
    assert mine.std() > 0
    assert np.abs(mine + others - 100_000).max() <= 2
    assert learned.of(0, 0) is learned


def test_games_come_in_pairs_and_end_in_time(game: Game, learned: LearnedJudge) -> None:
    began = time.monotonic()
    result = compare_searches(game, 0, learned, seed=1, seconds=2)
    assert time.monotonic() - began < 3
    assert result.games % 2 == 0
    assert 0 <= result.points <= result.games
    assert 0.005 <= result.clock <= 0.1


def test_the_searches_share_the_memory(
    monkeypatch: pytest.MonkeyPatch, game: Game, learned: LearnedJudge
) -> None:
    """A quarter for each of the four, since both assignments of roles are played at once."""
    limits: list[float] = []
    begin = AlphaBetaPlayer.use

    def use(self: AlphaBetaPlayer, judge: LearnedJudge) -> None:
        if judge.games == marked.games:  # threads of a comparison before may still begin
            limits.append(self.memory)
        begin(self, judge)

    marked = learned._replace(games=learned.games + 1)
    monkeypatch.setattr(AlphaBetaPlayer, "use", use)
    compare_searches(game, 0, marked, seed=1, seconds=1, memory=40)
    assert limits
    assert set(limits) == {10.0}


def test_a_match_that_is_over_ends_the_games(game: Game, learned: LearnedJudge) -> None:
    began = time.monotonic()
    result = compare_searches(game, 0, learned, seed=1, seconds=60, stopped=lambda: True)
    assert time.monotonic() - began < 5
    assert result.games == 0


def test_games_in_which_both_can_win_are_not_compared() -> None:
    assert can_compare(herbrand.load("breakthrough"))
    assert not can_compare(herbrand.load("eightPuzzle"))


@pytest.mark.parametrize(
    ("result", "explained", "is_better"),
    [
        (QuickGames(3.0, 4, 0.01), 0.15, True),
        (QuickGames(1.0, 4, 0.01), 0.9, False),
        (QuickGames(2.0, 4, 0.01), 0.35, True),
        (QuickGames(2.0, 4, 0.01), 0.25, False),
        (QuickGames(0.0, 0, 0.01), 0.25, True),
        (QuickGames(0.0, 0, 0.01), 0.15, False),
        (QuickGames(9.0, 9, 0.01), 0.05, False),
    ],
)
def test_meta_follows_the_games(
    monkeypatch: pytest.MonkeyPatch, game: Game, learned: LearnedJudge,
    result: QuickGames, explained: float, is_better: bool,
) -> None:  # fmt: skip
    """Where they are a tie or were not over, by the share of the variance that is explained."""
    monkeypatch.setattr("herbrand.play.meta.compare_searches", lambda *_, **__: result)
    meta, alphabeta = MetaPlayer(seed=1, self_play=True), AlphaBetaPlayer(seed=1, threads=1, learning=False)
    monkeypatch.setattr(alphabeta, "improve", lambda _: None)
    monkeypatch.setattr(meta, "_game", game)
    monkeypatch.setattr(meta, "_role", game.roles[0])
    alphabeta.start(game, game.roles[0], 5)
    alphabeta.use(learned._replace(explained=explained))
    try:
        chosen, reason = meta._judge_alphabeta(alphabeta, time.monotonic() + 10)
        assert chosen is is_better
        assert f"explains {explained:.0%}" in reason
        if explained > 0.1:
            assert ("4 in quick games" if result.games else "not over in time") in reason
        meta.self_play = False
        assert meta._judge_alphabeta(alphabeta, time.monotonic() + 10)[0] is (explained >= 0.3)
    finally:
        alphabeta.stop()

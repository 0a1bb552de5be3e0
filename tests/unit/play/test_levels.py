"""Levels of strength for people: the same everywhere, with mistakes that people make."""

from __future__ import annotations

import re
from importlib.resources import files
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.play import MoveReport, make_player, players
from herbrand.play.levels import DEFAULT_LEVEL, LEVELS, LevelPlayer, SkillLevel, default_clock
from herbrand.play.processes import ProcessPlayer

if TYPE_CHECKING:
    from collections import Counter as CounterType

WEAK = [name for name, level in LEVELS.items() if level.playouts is not None]
SURE = [name for name in WEAK if LEVELS[name].sight > 0 and name != "casual"]


def started(name: str, game: herbrand.Game, role: str, seed: int = 1) -> LevelPlayer:
    """A player of a level, ready."""
    player = make_player(name, seed=seed)
    assert isinstance(player, LevelPlayer)
    player.start(game, role, 10.0)
    return player


def after(game: herbrand.Game, *moves: str) -> herbrand.State:
    """The state after moves of roles in turn; the other role does nothing."""
    state = game.initial_state()
    for step, move in enumerate(moves):
        state = state.next({game.roles[step % 2]: move, game.roles[1 - step % 2]: "noop"})
    return state


def test_published_pages_have_the_same_levels() -> None:
    """The names, descriptions and times of pages that play without herbrand are those of the players here."""
    source = files("herbrand.publish").joinpath("templates", "search.ts.in").read_text(encoding="utf-8")
    entry = re.compile(r'\{ name: "(\w+)", about: "([^"]*)", rounds: \d+, seconds: ([\d.]+)')
    assert [(name, about, float(seconds)) for name, about, seconds in entry.findall(source)] == [
        (level.name, level.about, level.seconds) for level in LEVELS.values()
    ]


def test_levels_are_players() -> None:
    """They are found by name, weak to strong, with settings and in processes, and described for people."""
    assert [name for name in players() if name in LEVELS] == list(LEVELS)
    for name, level in LEVELS.items():
        assert make_player(name).__doc__ == f"For people: {level.about}."
    assert getattr(make_player("strong", memory=40.0, ponder=True), "memory", None) == 40.0
    assert getattr(make_player("expert(ponder=True)"), "ponder", None) is True
    assert isinstance(make_player("process:club"), ProcessPlayer)
    assert default_clock("process:expert(ponder=True)") == LEVELS["expert"].seconds
    assert DEFAULT_LEVEL in LEVELS


@pytest.mark.parametrize("name", SURE)
def test_from_club_on_no_win_at_hand_is_missed_and_none_of_the_opponent_is_overlooked(name: str) -> None:
    """Whatever is drawn, a row is completed, and one of the opponent is blocked."""
    game = herbrand.load("ticTacToe")
    winning = after(game, "(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)")
    threatened = after(game, "(mark 1 1)", "(mark 3 3)", "(mark 1 2)")
    for seed in range(5):
        assert str(started(name, game, "xplayer", seed).select(winning, 10.0)) == "(mark 1 3)"
        assert str(started(name, game, "oplayer", seed).select(threatened, 10.0)) == "(mark 1 3)"


class Careless(
    LevelPlayer, level=SkillLevel("careless", "errs", 1.0, 64, sight=1, attention=0.5, temperature=5.0)
):
    """A level for these tests."""


def chosen(moves: list[MoveReport], times: int = 2000) -> CounterType[str]:
    """How often each move is chosen."""
    from collections import Counter

    player = Careless(seed=1)
    return Counter(player._choose(moves).move for _ in range(times))


def test_mistakes_are_nearly_as_good_as_the_best_move() -> None:
    """A move that seems five points worse is chosen e times less often; much worse ones are not."""
    counts = chosen([MoveReport(move, 10, mean) for move, mean in (("a", 60.0), ("b", 55.0), ("c", 10.0))])
    assert counts["a"] == pytest.approx(2.718 * counts["b"], rel=0.15)
    assert counts["c"] < 5


def test_threats_are_overlooked_the_more_the_farther_they_are() -> None:
    """A loss in two steps is seen half the time, one in four steps an eighth of the time, here."""
    shares = []
    for plies in (1, 2, 4):
        lost = MoveReport("bad", 10, 90.0, proved=0.0, at_most=0.0, plies=plies)
        shares.append(chosen([lost, MoveReport("good", 10, 50.0)])["bad"] / 2000)
    assert shares == pytest.approx([0.0, 0.5, 0.875], abs=0.03)


def test_wins_are_overlooked_only_beyond_the_sight_of_a_level() -> None:
    """A win in one is always taken, one in three steps a quarter of the time, if its mean is low."""
    for plies, share in ((1, 1.0), (3, 0.25)):
        won = MoveReport("win", 10, 10.0, proved=100.0, at_least=100.0, plies=plies)
        assert chosen([MoveReport("other", 10, 60.0), won])["win"] / 2000 == pytest.approx(share, abs=0.03)


def test_weak_levels_do_not_depend_on_the_clock() -> None:
    """The same seed gives the same move, whose report comes first and names the level."""
    game = herbrand.load("connectFour")
    moves = set()
    for clock in (5.0, 50.0):
        player = started("beginner", game, "red", seed=4)
        move = player.select(game.initial_state(), clock)
        moves.add(str(move))
        report = player.report()
        assert report is not None
        assert (report.player, report.best.move) == ("beginner", str(move))
        assert len({one.move for one in report.moves}) == len(report.moves) == 7
    assert len(moves) == 1


def test_levels_take_no_longer_than_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the search is that of the level, or a shorter one that was given."""
    asked = []
    game = herbrand.load("ticTacToe")

    def search(state: herbrand.State, clock: float) -> object:
        asked.append(clock)
        return state.legal_moves("xplayer")[0]

    searcher = SimpleNamespace(select=search, report=lambda: None)
    player = make_player("strong")
    monkeypatch.setattr(player, "_deputy", searcher)
    player.select(game.initial_state(), 60.0)
    player.select(game.initial_state(), 0.5)
    assert asked == [LEVELS["strong"].seconds, 0.5]


@pytest.mark.parametrize("name", ["kuhn", "rockPaperScissors", "hanoi"])
def test_levels_play_all_kinds_of_games(name: str) -> None:
    """Hidden information, moves at the same time, and one role: every move is legal."""
    from herbrand.match import LocalMatch

    game = herbrand.load(name)
    match = LocalMatch(game, programs=dict.fromkeys(game.players, "beginner"), seed=1)
    for _ in range(8):
        match.advance()
    match.close()
    assert len(match.play) > 0


def test_who_chooses_no_opponent_gets_a_strong_one() -> None:
    """`herbrand play` lets the default level play, not random moves; an unknown one is refused."""
    outcome = CliRunner().invoke(cli, ["play", "ticTacToe"], input="quit\n", catch_exceptions=False)
    assert f"{DEFAULT_LEVEL} plays oplayer" in outcome.output
    outcome = CliRunner().invoke(cli, ["play", "ticTacToe", "--opponent", "clubb"], catch_exceptions=False)
    assert outcome.exit_code == 2
    assert "did you mean `club`" in outcome.output

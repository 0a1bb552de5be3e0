"""Players: legal moves in time, better than chance where they claim it, found by name."""

from __future__ import annotations

import json
import threading
import time
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.errors import GameError
from herbrand.play import Player, make_player, players
from herbrand.play.montecarlo import MonteCarloPlayer
from herbrand.play.registry import NoSuchPlayer

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

NAMES = ("legal", "random", "greedy", "montecarlo", "mcts")

SLOW = """
(role a) (init (n 0))
(<= (legal a ?m) (choice ?m)) (choice left) (choice right)
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (next took) (true (n 0)) (does a right))
(<= (next took) (true took))
(<= terminal (true (n 3)))
(<= (goal a 100) (true took)) (<= (goal a 0) (not (true took)))
"""


def play_out(game: herbrand.Game, names: dict[str, str], clock: float, seed: int) -> herbrand.State:
    """The last state of a match between players."""
    made = {}
    for role, name in names.items():
        made[role] = make_player(name, seed=seed)
        made[role].start(game, role, 10)
    state = game.initial_state()
    while not state.is_terminal:
        joint = {role: player.select(state, clock) for role, player in made.items()}
        for role, move in joint.items():
            assert state.is_legal(role, move)
        state = state.next(joint)
    return state


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("game", ["ticTacToe", "rockPaperScissors", "nim"])
def test_every_player_plays_legal_moves(name: str, game: str) -> None:
    """A match comes to its end, whoever moves and however the roles move."""
    loaded = herbrand.load(game)
    assert play_out(loaded, dict.fromkeys(loaded.roles, name), 0.02, 1).is_terminal


@pytest.mark.parametrize("name", ["random", "greedy", "montecarlo(playouts=700)"])
def test_the_same_seed_gives_the_same_match(name: str) -> None:
    """Players without a clock to look at repeat themselves."""
    game = herbrand.load("connectFour")
    names = dict.fromkeys(game.roles, name)
    assert play_out(game, names, 60, 4) == play_out(game, names, 60, 4)


def test_greedy_takes_a_win_and_prevents_nothing(about_to_win: State) -> None:
    """One step ahead is enough to finish three in a row."""
    for seed in range(5):
        player = make_player("greedy", seed=seed)
        player.start(about_to_win.game, "xplayer", 1)
        assert player.select(about_to_win, 5) == "(mark 1 3)"


@pytest.mark.parametrize("networked", [True, False])
def test_montecarlo_sees_what_comes_later(networked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice that pays two steps later is found, with the network and without it."""
    if not networked:
        monkeypatch.setattr(MonteCarloPlayer, "_build", lambda *_: None)
    game = herbrand.loads(SLOW)
    for seed in range(3):
        player = MonteCarloPlayer(seed=seed, playouts=200)
        player.start(game, "a", 600)
        assert (player._expander is not None) is networked
        assert player.select(game.initial_state(), 600) == "right"
        assert 200 <= player.played < 1000


def test_montecarlo_beats_chance() -> None:
    """In tic-tac-toe the first player does not lose to a random one."""
    game = herbrand.load("ticTacToe")
    goals = [
        play_out(game, {"xplayer": "montecarlo", "oplayer": "random"}, 0.05, seed).goal("xplayer")
        for seed in range(4)
    ]
    assert min(goal for goal in goals if goal is not None) >= 50
    assert 100 in goals


def test_a_player_keeps_its_clock_and_stops_when_told() -> None:
    """Thinking ends at the clock, and soon after `stop` comes from another thread."""
    game = herbrand.load("breakthrough")
    player = make_player("montecarlo", seed=1)
    player.start(game, "white", 600)
    state = game.initial_state()
    started = time.monotonic()
    player.select(state, 0.5)
    assert time.monotonic() - started < 10
    threading.Timer(0.3, player.stop).start()
    started = time.monotonic()
    assert state.is_legal("white", player.select(state, 30))
    assert time.monotonic() - started < 20
    assert player.stopped


def test_memory_is_for_those_who_remember() -> None:
    """Players with a tree or a table are told how much they may take; for others it means nothing."""
    assert [
        getattr(make_player(name, memory=40.0), "memory", None) for name in ("mcts", "meta", "random")
    ] == [
        40.0,
        40.0,
        None,
    ]


def test_players_refuse_what_they_cannot_play() -> None:
    """A faulty game, a role that is not there and a role without a move are said."""
    player = make_player("random")
    with pytest.raises(GameError):
        player.start(herbrand.loads("(role a)"), "a", 1)
    with pytest.raises(ValueError, match="no role"):
        player.start(herbrand.load("nim"), "nobody", 1)
    with pytest.raises(RuntimeError, match="before `start`"):
        _ = make_player("random").game


def test_unknown_names_are_refused_with_the_nearest() -> None:
    """A misspelt name says what was meant."""
    with pytest.raises(NoSuchPlayer, match="did you mean `montecarlo`"):
        make_player("montecarol")
    with pytest.raises(NoSuchPlayer, match="did you mean `mcts`"):
        make_player("mtcs(playouts=1)")
    assert tuple(players())[:5] == NAMES


def test_settings_stand_in_parentheses() -> None:
    """Whatever the class takes can be set; what it does not take, or is no setting, is said."""
    player = make_player("montecarlo(playouts=300, max_steps=50)", seed=1)
    assert isinstance(player, MonteCarloPlayer)
    assert (player.playouts, player.max_steps) == (300, 50)
    assert isinstance(make_player("montecarlo()"), MonteCarloPlayer)
    for text, problem in (
        ("montecarlo(games=3)", "no setting `games` .it takes playouts, max_steps"),
        ("montecarlo(seed=3)", "no setting `seed`"),
        ("random(games=3)", "it takes none"),
        ("montecarlo(playouts=many)", "settings are written like"),
        ("montecarlo(3)", "settings are written like"),
        ("montecarlo(playouts=3", "settings are written like"),
    ):
        with pytest.raises(NoSuchPlayer, match=problem):
            make_player(text)


class Stranger(Player):
    """Plays the last legal move."""

    def select(self, state: State, play_clock: float) -> Move:
        return self.options(state)[-1]


def test_other_packages_announce_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points of the group are found; one that cannot be imported says so, and is left out of the list."""
    entries = [
        metadata.EntryPoint("last", f"{__name__}:Stranger", "herbrand.players"),
        metadata.EntryPoint("broken", "no_such_module:Player", "herbrand.players"),
        metadata.EntryPoint("random", "no_such_module:Player", "herbrand.players"),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries)
    monkeypatch.setitem(
        __import__("sys").modules, __name__, __import__("types").SimpleNamespace(Stranger=Stranger)
    )
    assert isinstance(make_player("last"), Stranger)
    assert type(make_player("random")).__name__ == "RandomPlayer"
    with pytest.raises(NoSuchPlayer, match="cannot be imported"):
        make_player("broken")
    outcome = CliRunner().invoke(cli, ["players", "--json"], catch_exceptions=False)
    listed = [row["name"] for row in json.loads(outcome.stdout)]
    assert tuple(listed[:5]) == NAMES
    assert listed.count("random") == 1
    assert listed[-1] == "last"
    assert "broken" not in listed
    assert "broken" in outcome.stderr


def test_programs_play_in_the_terminal() -> None:
    """`herbrand play --opponent NAME` asks a player; wrong names are refused."""
    words = ["play", "ticTacToe", "--opponent", "greedy", "--seed", "1"]
    outcome = CliRunner().invoke(cli, words, input="(mark 2 2)\nquit\n", catch_exceptions=False)
    assert "greedy plays oplayer" in outcome.output
    assert "oplayer plays (mark" in outcome.output
    outcome = CliRunner().invoke(cli, ["play", "ticTacToe", "--opponent", "gredy"], catch_exceptions=False)
    assert outcome.exit_code == 2
    assert "did you mean `greedy`" in outcome.output

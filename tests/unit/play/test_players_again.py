"""Players that begin another match, or are stopped, while they still prepare for the one before."""

from __future__ import annotations

import gc
import math
import threading
import weakref
from typing import TYPE_CHECKING, Any

import pytest

import herbrand
from herbrand.errors import BudgetExceeded
from herbrand.play import Player, make_player, mcts
from herbrand.play.mcts import MctsPlayer
from herbrand.play.meta import MetaPlayer
from herbrand.play.search.policy import UNIFORM
from herbrand.play.solved import SolvedPlayer

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State


class Gate:
    """Lets everybody through but the first, who waits until it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.came = threading.Event()

    def enter(self) -> None:
        """Go through, or wait."""
        if not self.came.is_set():
            self.came.set()
            assert self.opened.wait(300)


class Search:
    """What a tree search made, as far as its player looks at it while it is made."""


@pytest.fixture
def gate() -> Gate:
    """Return a gate that is closed."""
    return Gate()


def test_tree_search_keeps_nothing_that_was_made_for_the_match_before(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same game again, as the other role, and then another game: each has its own search and look ahead."""
    made: list[weakref.ref[Search]] = []

    def searched(*_: Any, **settings: Any) -> Search:
        search = Search()
        made.append(weakref.ref(search))
        return search

    def probed(_: MctsPlayer, game: herbrand.Game, role: int) -> tuple[str, int]:
        gate.enter()
        return game.name, role

    monkeypatch.setattr(mcts, "_build_lock", threading.Lock())
    monkeypatch.setattr(MctsPlayer, "_build_search", searched)
    monkeypatch.setattr(MctsPlayer, "_build_probe", probed)
    monkeypatch.setattr(MctsPlayer, "_learn_policy", lambda *_, **settings: UNIFORM)
    player, builders = MctsPlayer(seed=1), []
    for name, role in (("ticTacToe", "xplayer"), ("ticTacToe", "oplayer"), ("nim", "second")):
        player.start(herbrand.game.load(name), role, 0)
        assert gate.came.wait(300)  # the first is in the middle of it
        builders.append(player._builder)
    gate.opened.set()
    for builder in builders:
        assert builder is not None
        builder.join(300)
    assert player._match.probe == ("nim", 1)
    gc.collect()
    assert [search() is None for search in made] == [True] * (len(made) - 1) + [False]


@pytest.mark.parametrize(
    ("name", "made", "kept"),
    [
        ("solved", "herbrand.play.solved.solve_for_role", "policy"),
        ("alphabeta(learning=False)", "herbrand.play.alphabeta.AlphaBetaPlayer._build_engines", "_engines"),
    ],
)
def test_what_was_found_out_for_another_role_is_not_kept(
    name: str, made: str, kept: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same game again, as the other role: what comes later about the first one is dropped."""

    def studied(*arguments: Any, **settings: Any) -> list[int]:
        (role,) = (argument for argument in arguments if isinstance(argument, int))
        gate.enter()
        return [role]

    monkeypatch.setattr(made, studied)
    game, player, students = herbrand.game.load("ticTacToe"), make_player(name, seed=1), []
    for role in game.roles:
        player.start(game, role, 0)
        assert gate.came.wait(300)
        students.append(player._study_thread)  # type: ignore[attr-defined]
    students[1].join(300)
    assert getattr(player, kept) == [1]
    gate.opened.set()
    students[0].join(300)
    assert getattr(player, kept) == [1]
    player.stop()
    assert not getattr(player, kept)


class Startled(Player):
    """Stops another player while it prepares itself, then prepares until it is told to end."""

    def __init__(self, stop: Callable[[], None]) -> None:
        super().__init__(1)
        self.stop_other = stop

    def prepare(self, deadline: float) -> None:
        """Stop the other one, and be stopped by that."""
        del deadline
        assert self.has_time(math.inf)
        self.stop_other()
        assert not self.has_time(math.inf)

    def select(self, state: State, play_clock: float) -> Move:
        """Choose the first move; it has been stopped."""
        del play_clock
        assert self._stopped.is_set()
        return self.options(state)[0]


def test_who_chooses_for_another_player_is_stopped_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while it starts, when nobody could have told it before."""
    game = herbrand.game.load("ticTacToe")
    meta, solved = MetaPlayer(seed=1), SolvedPlayer(seed=1)
    monkeypatch.setattr(MetaPlayer, "_pick", lambda *_: Startled(meta.stop))
    monkeypatch.setattr(SolvedPlayer, "study", lambda *_: iter(()))
    monkeypatch.setattr(SolvedPlayer, "create_fallback", lambda *_: Startled(solved.stop))
    state = game.initial_state("rules")
    for player in (meta, solved):
        player.start(game, "xplayer", 300)
        assert state.is_legal("xplayer", player.select(state, 300))
        assert player.stopped


@pytest.mark.parametrize("error", [MemoryError(), BudgetExceeded("memory", "100 megabytes")])
def test_meta_searches_a_tree_where_no_other_player_can_be_prepared(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins the match, and says why it searches."""

    def fail(*_: object) -> Player:
        raise error

    monkeypatch.setattr(MetaPlayer, "_pick", fail)
    game = herbrand.game.load("ticTacToe")
    player = MetaPlayer(seed=1, memory=20)
    player.start(game, "xplayer", 10)
    assert player.reason.startswith("tree search, since no other player could be prepared")
    state = game.initial_state()
    assert state.is_legal("xplayer", player.select(state, 0.05))
    player.stop()


def test_a_plan_is_reported_where_the_tree_has_no_moves() -> None:
    """As after a plan's moves that were made without searching."""
    game = herbrand.load("blocksWorld")
    for seed in range(3):
        player = make_player("mcts", seed=seed)
        player.start(game, "robot", 0.3)
        state = game.initial_state()
        while not state.is_terminal:
            state = state.next([player.select(state, 0.05)])
            assert player.report() is not None
        player.stop()

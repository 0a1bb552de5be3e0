"""Several threads grow one tree, and it stays whole; thinking goes on in the time of others when asked for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand.play import make_player
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.mcts import MctsPlayer
from herbrand.play.search.tree import ALONE, BUSY, JOINT, Search

if TYPE_CHECKING:
    from collections.abc import Callable


def grown_by_two(name: str, rounds: int) -> Search:
    """A search in which two threads did so many rounds each."""
    search = Search(herbrand.load(name).network, memory=1 << 25, seed=1, threads=2)
    search.move_to(search.expander.initial)
    search.round()

    def grow(worker: int) -> None:
        for _ in range(rounds):
            search.workers[worker].round()

    threads = [threading.Thread(target=grow, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return search


@pytest.mark.parametrize("name", ["connectFour", "tron"])
def test_a_tree_that_two_threads_grew_is_whole(name: str) -> None:
    """Nothing is left under way, every position is there once, and every game that was played is counted."""
    search = grown_by_two(name, 8)
    tree, positions = search.tree, search.positions
    assert (tree.arm_virtual[: tree.arms] == 0).all()
    assert (tree.seen[:positions] < BUSY).all()
    assert len(np.unique(tree.state[:positions], axis=0)) == positions
    assert search.playouts >= 9 * 512
    assert float(tree.games[search.root]) >= search.playouts
    if name == "connectFour":
        assert np.allclose(tree.total[:positions].sum(axis=1), tree.games[:positions])


def test_a_number_of_games_decides_not_the_clock() -> None:
    """With `playouts` two players with the same seed do the same, also with proofs."""
    game = herbrand.load("connectFour")
    found = []
    for _ in range(2):
        player = MctsPlayer(seed=5, playouts=4000, memory=50)
        player.start(game, "red", 60)
        move = player.select(game.initial_state(), 60)
        report = player.report()
        assert report is not None
        found.append((move, [(one.move, one.visits, one.mean, one.at_most) for one in report.moves]))
    assert found[0] == found[1]


def test_what_was_stopped_leaves_no_game_that_goes_on_after_its_end() -> None:
    """Positions whose games were stopped are found to be over when they are met again."""
    search = Search(herbrand.load("ticTacToe").network, memory=1 << 24, seed=1)
    search.move_to(search.expander.initial)
    for k in range(40):
        if k % 2:
            search.stop.set()
        else:
            search.stop.clear()
        search.round()
    search.stop.clear()
    opened = np.flatnonzero(np.isin(search.tree.kind[: search.positions], (ALONE, JOINT)))
    assert len(opened) > 100
    assert not search.expander.terminal(search.tree.state[opened]).any()


def test_thinking_goes_on_in_the_time_of_others() -> None:
    """Games are played between two moves, none after `stop`, and none where nobody asked for it."""
    game = herbrand.load("connectFour")
    for ponder in (True, False):
        player = MctsPlayer(seed=1, memory=50, ponder=ponder)
        player.start(game, "red", 0.5 if ponder else 60)
        state = game.initial_state()
        search = player._match.search
        assert search is not None
        went_on = False
        for _ in range(10 if ponder else 1):  # where the machine is busy threads may not end in time to go on
            move = player.select(state, 0.1)
            report = player.report()
            assert report is not None
            assert report.best.move == move
            before = search.playouts
            time.sleep(0.15)
            went_on = search.playouts > before
            if went_on:
                break
        assert went_on is ponder
        state = state.next([move, "noop"])
        state = state.next(["noop", state.legal_moves("yellow")[0]])
        assert state.is_legal("red", player.select(state, 0.1))
        player.stop()
        assert player._team.stop_and_join(10.0)
        before = search.playouts
        time.sleep(0.1)
        assert search.playouts == before
        assert search.tree.positions > 0


def test_the_start_clock_and_the_time_of_others_grow_one_tree() -> None:
    """From the start on, while others think, and through moves without a choice; `stop` ends it at once."""
    game = herbrand.load("connectFour")
    player = make_player("mcts", seed=1, memory=300, ponder=True)
    assert isinstance(player, MctsPlayer)
    player.start(game, "red", 1.0)
    search = player._match.search
    assert search is not None
    prepared = search.playouts
    assert prepared > 512  # more than the round with which the search is built
    state = game.initial_state()
    move = player.select(state, 0.3)
    state = state.next([move, "noop"])
    spent = time.process_time()
    for _ in range(20):  # where the machine is busy threads may not end in time to go on
        assert str(player.select(state, 1.0)) == "noop"
        if any(thread.is_alive() for thread in player._team._threads):
            break
    kept, before = search.positions, search.playouts
    enough = before + 5_000
    assert _waits_for(lambda: search.playouts > enough)
    assert time.process_time() > spent
    assert player._match.search is search
    assert search.positions > kept // 2 > 5_000  # the tree goes on; what the move has left behind may be gone
    assert np.array_equal(search.tree.state[search.root], search.expander.pack([state.facts])[0])
    player.stop()
    assert _waits_for(player._team.stop_and_join)
    before = search.playouts
    time.sleep(0.1)
    assert search.playouts == before


def test_settings_after_the_name_say_whether_a_player_ponders() -> None:
    """They come before what the host of the player says; without either nobody ponders."""
    for name, ponder, expected in (
        ("mcts", None, False),
        ("mcts", True, True),
        ("mcts(ponder=False)", True, False),
        ("mcts(ponder=True)", None, True),
        ("meta(ponder=False)", True, False),
    ):
        assert getattr(make_player(name, ponder=ponder), "ponder", None) is expected
    assert make_player("legal", ponder=True)
    assert getattr(make_player("process:mcts", ponder=True), "ponder", None) is True


def test_pondering_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is searched once what a clock allows is over."""
    monkeypatch.setattr("herbrand.play.mcts.ponder_seconds", lambda _: 0.0)
    game = herbrand.load("connectFour")
    player = MctsPlayer(seed=1, memory=50, ponder=True)
    player.start(game, "red", 0.5)
    search = player._match.search
    assert search is not None
    player.select(game.initial_state(), 0.1)
    assert _waits_for(lambda: not any(thread.is_alive() for thread in player._team._threads))
    before = search.playouts
    time.sleep(0.1)
    assert search.playouts == before
    player.stop()


def test_alpha_beta_searches_the_state_that_it_expects() -> None:
    """While the other role thinks, into the table from which the next search goes on."""
    game = herbrand.load("connectFour")
    player = AlphaBetaPlayer(seed=1, memory=20, threads=1, learning=False, ponder=True)
    player.start(game, "red", 30)
    assert player.finished.wait(60)
    state = game.initial_state()
    (engine,) = player._engines
    assert _waits_for(lambda: bool(player.select(state, 0.3)) and engine.depth > 2)
    state = state.next([engine.move_text(engine.choice), "noop"])
    assert str(player.select(state, 10.0)) == "noop"
    assert engine.chooser == engine.role
    assert _waits_for(lambda: engine.depth > 1)
    after = [state.next(["noop", reply]).facts for reply in state.legal_moves("yellow")]
    assert any(np.array_equal(packed, engine._root[0]) for packed in engine.expander.pack(after))
    player.stop()
    assert _waits_for(player._team.stop_and_join)


def _waits_for(condition: Callable[[], bool]) -> bool:
    """Wait for a condition as long as even a busy machine takes; return whether it holds."""
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()

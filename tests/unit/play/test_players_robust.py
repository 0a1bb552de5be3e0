"""What players meet: thousands of moves, no time at all, processes that hang or have too little memory."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from functools import cache, partial
from typing import Any

import pytest

import herbrand
import herbrand.game
from herbrand.play import make_player, players
from herbrand.play.processes import ProcessPlayer
from herbrand.runtime.json_process import JsonProcess
from herbrand.testing import check_player

WITH_CARDS = ("ismcts", "meta", "mcts", "random")
"""Players for hidden information that choose differently from each other."""
SIDE = 65


@cache
def wide(*, at_once: bool) -> herbrand.Game:
    """A game of two with 4 225 moves each, made in turns or at the same time, in which the first word wins."""
    digits = " ".join(f"(d {number})" for number in range(SIDE))
    turns = "" if at_once else "(true (turn ?r))"
    idle = "" if at_once else "(<= (legal ?r noop) (role ?r) (not (true (turn ?r))))"
    return herbrand.loads(f"""
        (role a) (role b) {digits} (succ 0 1) (succ 1 2) (succ 2 3) (other a b) (other b a)
        (init (step 0)) (init (turn a))
        (<= (legal ?r (go ?x ?y)) (role ?r) (d ?x) (d ?y) {turns}) {idle}
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= (next (turn ?r)) (true (turn ?s)) (other ?s ?r))
        (<= (next (began ?r ?x)) (does ?r (go ?x ?y)) (true (step 0)))
        (<= (next (began ?r ?x)) (true (began ?r ?x)))
        (<= terminal (true (step 3)))
        (<= (first) (true (began a 0)))
        (<= (goal a 100) (first)) (<= (goal b 0) (first))
        (<= (goal a 0) (not (first))) (<= (goal b 100) (not (first)))
    """)


@pytest.mark.slow_except("alphabeta", "legal", "montecarlo", "ismcts")
@pytest.mark.parametrize(
    ("player", "at_once"),
    [*((name, False) for name in sorted(players())), ("mcts", True), ("ismcts", True), ("montecarlo", True)],
)
def test_thousands_of_moves_make_nobody_late(player: str, at_once: bool) -> None:
    """With no time at all, with little, and when told to stop: a legal move, soon; 18 million joint moves."""
    found = check_player(player, wide(at_once=at_once), start_clock=0.2, clock=0.1, steps=2, grace=5)
    assert found.passed, found.problems
    assert found.moves == 4


@pytest.mark.parametrize("player", ["legal", "random", "greedy", "montecarlo", "mcts", "alphabeta"])
def test_no_full_collection_falls_into_a_clock(player: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that holds millions of objects goes through them for seconds: not while a player is asked."""
    seen = []

    def note(kind: str) -> None:
        original = getattr(type(chosen), kind)

        def noted(*arguments: Any) -> Any:
            seen.append((kind, gc.get_threshold()[2]))
            return original(*arguments)

        monkeypatch.setattr(chosen, kind, partial(noted, chosen))

    chosen = make_player(player, seed=1)
    note("prepare")
    note("options")
    game = herbrand.load("ticTacToe")
    chosen.start(game, "xplayer", 0.1)
    chosen.select(game.initial_state("rules"), 0.1)
    chosen.stop()
    assert {kind for kind, _ in seen} == {"prepare", "options"}
    assert min(threshold for _, threshold in seen) > 1_000_000


def test_a_player_that_hangs_costs_a_move() -> None:
    """A process that does not answer is ended, a legal move is played in time, and the next is asked of a new one."""
    game = herbrand.load("ticTacToe")
    player = ProcessPlayer("random", seed=1)
    player.start(game, "xplayer", 60)
    state = game.initial_state("rules")
    assert state.is_legal("xplayer", player.select(state, 5))
    assert player.incidents == []
    process = player._child._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)
    started = time.monotonic()
    move = player.select(state, 0.5)
    assert time.monotonic() - started < 30  # the process hangs for ever
    assert state.is_legal("xplayer", move)
    (incident,) = player.incidents
    assert "stopped" in incident
    assert f"played `{move}` at random" in incident
    assert process.wait(timeout=10) == -signal.SIGKILL
    assert state.is_legal("xplayer", player.select(state, 60))
    assert len(player.incidents) == 1
    player.stop()


def test_a_process_that_is_stopped_while_it_thinks_leaves_no_incident() -> None:
    """The move that was asked for is a legal one; a child that is ended meanwhile has ended, nothing else."""
    game = herbrand.load("ticTacToe")
    player = ProcessPlayer("random", seed=1)
    player.start(game, "xplayer", 60)
    state = game.initial_state("rules")
    process = player._child._process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)  # it never answers
    stopping = threading.Timer(0.1, player.stop)
    stopping.start()
    assert state.is_legal("xplayer", player.select(state, 300))
    stopping.join()
    assert player.incidents == []
    assert process.wait(timeout=10) == -signal.SIGKILL


def test_a_process_that_still_starts_is_not_asked_about_the_next_match(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The player begins again at once, in another game, and answers for that one; the first process ends."""
    player, ask, go_on = ProcessPlayer("random", seed=1), JsonProcess.request, threading.Event()
    before = player._child

    def slow(child: JsonProcess, question: dict[str, Any], seconds: float) -> Any:
        if child is before:
            go_on.wait(300)
        return ask(child, question, seconds)

    monkeypatch.setattr(JsonProcess, "request", slow)
    player.start(herbrand.load("connectFour"), "red", 0)
    starter = player._start_thread
    assert starter is not None
    game = herbrand.load("ticTacToe")
    player.start(game, "xplayer", 60)
    state = game.initial_state("rules")
    assert state.is_legal("xplayer", player.select(state, 60))
    go_on.set()
    starter.join(60)
    assert not before.is_running
    assert player.incidents == []
    player.stop()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is bounded by the system")
def test_a_player_with_little_memory_answers_all_the_same() -> None:
    """Its process has too little memory for a search; legal moves are played, in time."""
    game = herbrand.load("ticTacToe")
    player = ProcessPlayer("mcts", seed=1, megabytes=150)
    player.start(game, "xplayer", 20)
    state = game.initial_state("rules")
    started = time.monotonic()
    assert state.is_legal("xplayer", player.select(state, 1))
    assert time.monotonic() - started < 30
    player.stop()


@pytest.mark.parametrize(
    ("name", "player"),
    [
        # with hidden information, levels of strength choose as `ismcts` or `meta` do
        pytest.param(name, player, marks=[pytest.mark.slow] * (name == "kuhn" and player not in WITH_CARDS))
        for name in ("ticTacToe", "rockPaperScissors", "kuhn", "hanoi")
        for player in sorted(players())
    ],
)
def test_players_evaluate_the_rules_where_there_is_no_memory_for_a_network(name: str, player: str) -> None:
    """None refuses a game: each starts, and chooses a legal move."""
    game = herbrand.game.load(name)
    game.forgo_network("memory")
    check_start(game, player, start_clock=2.2, play_clock=0.1)


def check_start(game: herbrand.Game, name: str, *, start_clock: float, play_clock: float) -> None:
    """Check that a player starts and chooses a legal move in the initial state, evaluating the rules."""
    role = game.players[0]
    state = game.initial_state("rules")
    player = make_player(name, seed=1, memory=10)
    player.start(game, role, start_clock)
    if game.has_percepts:
        player.receive_history(())
    move = player.select(state, play_clock)
    player.stop()
    assert state.is_legal(role, move)
    assert not game.has_network

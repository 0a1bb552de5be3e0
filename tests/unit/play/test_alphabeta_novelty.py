"""Novelty in alpha-beta: what was never true is looked at first, and what was rare is worth more."""

from __future__ import annotations

import numpy as np
import pytest

import herbrand
from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
from herbrand.play import make_player
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.learning import rarity

WALK = """
(role walker) (role waiter)
(room 1) (room 2) (room 3)
(init (at 1)) (init (control walker)) (init (step 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(<= (base (at ?n)) (room ?n)) (<= (base (control ?r)) (role ?r)) (base (step 0))
(<= (base (step ?n)) (succ ?m ?n))
(<= (input walker (go ?n)) (room ?n)) (<= (input ?r wait) (role ?r)) (input waiter sigh)
(<= (legal walker (go ?n)) (room ?n) (true (control walker)))
(<= (legal walker wait) (true (control waiter)))
(<= (legal waiter wait) (role waiter))
(<= (legal waiter sigh) (true (control waiter)))
(<= (next (at ?n)) (does walker (go ?n)))
(<= (next (at ?n)) (true (at ?n)) (true (control waiter)))
(<= (next (control waiter)) (true (control walker)))
(<= (next (control walker)) (true (control waiter)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 9)))
(<= (goal walker 100) (true (at 3)))
(<= (goal walker 50) (not (true (at 3))))
(<= (goal waiter 50) (role waiter))
"""


@pytest.fixture(scope="module")
def walk() -> herbrand.Game:
    """A walker goes to one of three rooms, then the waiter has a choice that changes nothing."""
    return herbrand.loads(WALK)


def test_rooms_that_were_not_entered_come_first(walk: herbrand.Game) -> None:
    """Among moves of equal value the first that is new in the match is chosen; else the first of all."""
    expander = walk.expander
    chosen: dict[bool, list[str]] = {True: [], False: []}
    for novelty, found in chosen.items():
        search = AlphaBetaSearch(walk.network, 0, memory=1 << 16, novelty=novelty)
        for room, step in ((1, 0), (2, 2), (3, 4)):
            search.move_to(expander.pack([[f"(at {room})", "(control walker)", f"(step {step})"]]))
            search.slice()
            assert search.depth == 1
            found.append(search.move_text(search.choice))
    assert chosen == {True: ["(go 2)", "(go 3)", "(go 1)"], False: ["(go 1)"] * 3}


def test_fluents_are_worth_what_they_are_rare(walk: herbrand.Game) -> None:
    """A fluent counts -log2 of its part of the states, for the role that makes it true most often."""
    expander = walk.expander
    rooms = [1] * 14 + [2] * 7 + [3]
    states = expander.pack([[f"(at {room})", "(control walker)", "(step 0)"] for room in rooms])
    place = {name: k for k, name in enumerate(expander.fluent_names)}
    made = np.zeros((2, expander.fluents), np.int64)
    made[0, [place[f"(at {room})"] for room in (2, 3)]] = 5, 1
    made[1, [place["(at 2)"], place["(control walker)"]]] = 2, 9
    worth = rarity(expander, states, made)
    assert worth[0, place["(at 2)"]] == pytest.approx(np.log2(24 / 8))
    assert worth[0, place["(at 3)"]] == pytest.approx(np.log2(24 / 2))
    assert worth[1, place["(control walker)"]] == pytest.approx(np.log2(24 / 23))
    assert np.count_nonzero(worth) == 3


@pytest.mark.parametrize("novelty", [True, False])
def test_novelty_can_be_left_out(walk: herbrand.Game, *, novelty: bool) -> None:
    """With `novelty=False` a player does not remember the states of the match."""
    player = make_player(f"alphabeta(learning=False, novelty={novelty})")
    assert isinstance(player, AlphaBetaPlayer)
    player.start(walk, "walker", 60)
    assert [len(engine.core.seen()) for engine in player._engines] == [
        novelty * walk.expander.words
    ] * player.threads
    player.stop()

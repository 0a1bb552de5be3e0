"""The search for cycles: kept away while asked for, and not needed for what was derived in states."""

from __future__ import annotations

import gc
import random

import herbrand
from herbrand.rules.from_rules import TabledState
from herbrand.runtime.collector import suspend_collector, suspend_full_collections


def test_settings_of_the_collector_come_back_with_the_last_who_leaves() -> None:
    """However they are nested; they are those from before."""
    before = gc.get_threshold()
    assert gc.isenabled()
    with suspend_collector(), suspend_full_collections():
        assert not gc.isenabled()
        with suspend_collector(), suspend_full_collections():
            pass
        assert not gc.isenabled()
        assert gc.get_threshold()[:2] == before[:2]
        assert gc.get_threshold()[2] > 1_000_000
    assert gc.isenabled()
    assert gc.get_threshold() == before


def test_tables_of_states_are_freed_without_looking_for_cycles() -> None:
    """Random games by evaluating the rules leave no more tables than the engine keeps."""
    game = herbrand.game.load("ticTacToe")
    chance = random.Random(1)
    with suspend_collector():
        for _ in range(10):
            state = game.initial_state("rules")
            while not state.is_terminal:
                state = state.next([chance.choice(moves) for moves in state.legal_moves().values()])
        mine = [
            m for m in gc.get_objects() if type(m) is TabledState and m.engine is state._engine
        ]  # no proxies
    assert len(mine) <= 17  # the last sixteen, and that of what never changes

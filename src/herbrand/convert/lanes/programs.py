"""The lane programs of random games that a back end needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.lane_machine import LaneMachine
from herbrand.network.lanes import LaneProgram

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["playing_programs"]


def playing_programs(network: Network, *, arity: int) -> list[LaneProgram]:
    """Return the first program, and the one that takes over when an assumption of the first fails."""
    first = LaneProgram.playing(network, arity=arity)
    play = first.play
    assert play is not None
    if play.conflict == 0:  # row 0 is constant false: no assumption can fail
        return [first]
    second = LaneProgram.playing(network, assume=False, arity=arity)
    machine = LaneMachine(first)
    machine.state[np.flatnonzero(play.initial)] = ~np.uint64(0)
    machine.rows[play.active] = ~np.uint64(0)
    machine.run("legal")
    return [second] if machine.rows[play.conflict].any() else [first, second]

"""Networks for reachable states alone: smaller, as some fluents are never true together in these."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups
from herbrand.engine.expand import Expander
from herbrand.network.passes.factor import factor

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["for_reachable_states"]

_PLAYING = 3.0
"""Seconds of random play, at most, that rule out groups before the solver is asked."""


def for_reachable_states(network: Network, *, seconds: float = 60.0) -> Network:
    """Return a network that gives the same answers in all reachable states, and perhaps no others.

    It uses groups of fluents of which never two are true (the content of a cell, the number of the step,
    the player in control), each proved by induction (`groups`).  Random games from the initial
    state are the same; states set up freely may not be asked about.

    Raises `BudgetExceeded` when the proof takes more than `seconds`, `MissingExtra` where no SAT
    solver is installed.
    """
    until = time.monotonic() + seconds
    seen = play(Expander(network), time.monotonic() + min(_PLAYING, seconds / 4))
    groups = find_groups(System(network), until, states=seen.states)
    return factor(network, [group.fluents for group in groups if not group.some])

"""Smaller networks that are valid for reachable states only, by fluents that exclude each other."""

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
"""The most seconds of random play, which refutes groups before the solver runs."""


def for_reachable_states(network: Network, *, seconds: float = 60.0) -> Network:
    """Return a network that is equivalent in all reachable states, and perhaps in no others.

    It uses groups of fluents of which never two are true (the content of a cell, the number of the step,
    the player in control), each proved by induction (`groups`).  Random games from the initial
    state are the same; states set up by hand may give wrong answers.

    Raises `BudgetExceeded` when the proof takes more than `seconds`, `MissingExtra` where no SAT
    solver is installed.
    """
    deadline = time.monotonic() + seconds
    sample = play(Expander(network), time.monotonic() + min(_PLAYING, seconds / 4))
    groups = find_groups(System(network), deadline, states=sample.states)
    return factor(network, [group.fluents for group in groups if not group.some])

"""Searches for lines of play to ends with goal 100, in which all roles work together.

Beams (`guided`) and games side by side (`climb`) are led by how far states seem to be from such an end
(`distance`), with the steps that counts and pieces still have to go (`domains`); then by how far they are
from certain ends, which a solver finds first (`ends`).
"""

from __future__ import annotations

import time
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

from herbrand.analyse.invariants.domains import find_domains
from herbrand.analyse.invariants.ends import ends
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import observed
from herbrand.analyse.solving.climb import climb
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from herbrand.analyse.invariants.domains import Domains
    from herbrand.analyse.invariants.groups import Group
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander

__all__ = ["Aim"]

_ENDING = 0.02
"""What it counts that a game is not over, where other things are to be looked at first."""
_BEAMS = 2
"""Beams sent to one end that is aimed at."""
_EACH = 0.1
"""The part of the time for games side by side that have one end to aim at."""


class Aim:
    """Searches in one game."""

    def __init__(self, expander: Expander, states: NDArray[np.bool_], seconds: float) -> None:
        """`states`, [n, fluents], were met in play; `seconds` are for finding out how fluents change."""
        self.expander = expander
        self.states = states
        self.seconds = seconds
        self.beams = [count() for _ in expander.roles]
        """The numbers of the next beams for each role."""
        self.climbs = [count() for _ in expander.roles]
        """The numbers of the next games side by side."""

    @cached_property
    def system(self) -> System:
        """The game in a circuit of its own; `BudgetExceeded` where recursion cannot be written out."""
        return System(self.expander.network)

    @cached_property
    def domains(self) -> Domains:
        """How fluents change."""
        frame = self.system.any_state()
        hundred = [frame.hundred(role) for role in range(len(self.expander.roles))]
        matter = Distance(self.system.circuit, frame.state, hundred).needed
        return find_domains(self.expander.network, self.states, time.monotonic() + self.seconds, matter)

    def win(self, role: int, deadline: float, groups: Sequence[Group] = ()) -> Moves | None:
        """Search for an end in which a role, by its number, has 100; None when none was found in time.

        `groups` hold in every reachable state.  Asked again, it goes on with other games.
        """
        frame = self.system.any_state()
        hundred, terminal = frame.hundred(role), frame.terminal
        if 0 in (hundred, terminal):
            return None
        distance = Distance(self.system.circuit, frame.state, (hundred, terminal), self.domains)
        ways = (distance, distance.weighted(1, _ENDING))
        return (
            guided_line(self.expander, ways, _after(0.45, deadline), seeds=self.beams[role])
            or self.win_by_ends(role, _after(0.5, deadline), groups)
            or climb(self.expander, ways, deadline, seeds=self.climbs[role])
        )

    def win_by_ends(self, role: int, deadline: float, groups: Sequence[Group] = ()) -> Moves | None:
        """Aim at certain ends in which a role has 100; None when none was reached in time.

        Ends in which fluents are together as they were in play come first, then those in which `groups` hold.
        """
        for held in (observed(self.expander.network, self.states), groups):
            wins = ends(self.system, lambda frame: frame.wins(role), held, deadline)
            for frame, literal in wins:
                ways = [Distance(self.system.circuit, frame.state, (literal,), self.domains)]
                line = guided_line(self.expander, ways, deadline, beams=_BEAMS)
                if line is None:
                    line = climb(self.expander, ways, _after(_EACH, deadline))
                if line is not None:
                    return line
        return None


def _after(part: float, deadline: float) -> float:
    """Return the time when a part of the time until the deadline is over."""
    now = time.monotonic()
    return now + part * max(0.0, deadline - now)

"""Cooperative search for lines of play to ends with goal 100.

Beams (`guided`) and parallel games (`climb`) follow the estimated distance to such an end (`distance`), with
the transition distances of counters and pieces (`domains`); then the distance to particular ends, which a
solver finds first, reachable or not (`target_states`).
"""

from __future__ import annotations

import time
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.domains import find_domains
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import observed_groups, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.solving.climb import climb
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.domains import Domains
    from herbrand.analyse.invariants.frames import Frame
    from herbrand.analyse.invariants.groups import Group
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander

__all__ = ["Aim", "target_states"]

_ENDING = 0.02
"""The weight of `terminal` in the distance that puts the goal first."""
_BEAMS = 2
"""Beams for each particular end."""
_EACH = 0.1
"""The fraction of the time for parallel games to each particular end."""


class Aim:
    """Cooperative searches for wins in one game."""

    def __init__(self, expander: Expander, states: NDArray[np.bool_], seconds: float) -> None:
        """`states`, [n, fluents], are sampled from play; `seconds` limit the search for `domains`."""
        self.expander = expander
        self.states = states
        self.seconds = seconds
        self.beams = [count() for _ in expander.roles]
        """The seeds of the next beams, for each role."""
        self.climbs = [count() for _ in expander.roles]
        """The seeds of the next parallel games, for each role."""

    @cached_property
    def system(self) -> System:
        """The game in its own circuit; raises `BudgetExceeded` where recursion is too large to unroll."""
        return System(self.expander.network)

    @cached_property
    def domains(self) -> Domains:
        """The domains of fluents, those that matter for goals of 100 first."""
        frame = self.system.any_state()
        hundred = [frame.hundred(role) for role in range(len(self.expander.roles))]
        matter = Distance(self.system.circuit, frame.state, hundred).needed
        return find_domains(self.expander.network, self.states, time.monotonic() + self.seconds, matter)

    def win(
        self, role: int, deadline: float, groups: Sequence[Group] = (), *, alone: bool = False
    ) -> Moves | None:
        """Search for an end in which a role, by number, has 100; None when none was found in time.

        With `alone`, it has no other goal value there; few games need it.
        `groups` hold in every reachable state.  Later calls continue with other seeds.
        """
        frame = self.system.any_state()
        parts = [frame.hundred(role), frame.terminal]
        if 0 in parts:
            return None
        if alone:
            parts.insert(0, frame.no_other(role))
        distance = Distance(self.system.circuit, frame.state, parts, self.domains)
        ways = (distance, distance.weighted(*[1.0] * (len(parts) - 1), _ENDING))
        return (
            guided_line(self.expander, ways, _after(0.45, deadline), seeds=self.beams[role])
            or self.win_by_ends(role, _after(0.5, deadline), groups)
            or climb(self.expander, ways, deadline, seeds=self.climbs[role])
        )

    def win_by_ends(self, role: int, deadline: float, groups: Sequence[Group] = ()) -> Moves | None:
        """Search for particular ends in which a role has 100; None when none was reached in time.

        Ends in which the groups of sampled states hold come first, then those in which `groups` hold.
        """
        for candidates in (observed_groups(self.expander.network, self.states), groups):
            wins = target_states(self.system, lambda frame: frame.wins(role), candidates, deadline)
            for frame, literal in wins:
                ways = [Distance(self.system.circuit, frame.state, (literal,), self.domains)]
                line = guided_line(self.expander, ways, deadline, beams=_BEAMS)
                if line is None:
                    line = climb(self.expander, ways, _after(_EACH, deadline))
                if line is not None:
                    return line
        return None


def _after(fraction: float, deadline: float) -> float:
    """Return the time at which a fraction of the time until the deadline has passed."""
    now = time.monotonic()
    return now + fraction * max(0.0, deadline - now)


def target_states(
    system: System, target: Callable[[Frame], int], groups: Sequence[Group], deadline: float
) -> Iterator[tuple[Frame, int]]:
    """Yield wanted states, each as a frame and a literal that implies that it is wanted, until time is up.

    The solver finds a state that is wanted and in which groups of fluents hold; the fluents that matter are
    the failed assumptions (Een and Sorensson 2003) in the proof that their values make it a wanted one.  The
    first state resembles the initial one, as far as the phases of the solver can achieve that, the others
    less and less.  `deadline` is a time of `time.monotonic`.
    """
    frame = system.any_state()
    circuit, rng = system.circuit, np.random.default_rng(0)
    wanted = target(frame)
    initial = system.network.initial
    with Solver(circuit, deadline) as solver:
        try:
            for group in groups:
                require(solver, frame.state.tolist(), group)
            different = 0.0
            solver.guess(frame.state[initial].tolist(), frame.state[~initial].tolist())
            while solver.solve(wanted):
                model = solver.model()
                literals = [x if model(x) else x ^ 1 for x in frame.state.tolist()]
                if solver.solve(wanted ^ 1, *literals):
                    return  # the target depends on other variables, too
                core = sorted(solver.core() & set(literals))
                yield frame, circuit.all_of(core)
                solver.add([x ^ 1 for x in core])
                different = min(0.5, different + 0.02)
                likely = np.where(rng.random(len(initial)) < different, ~initial, initial)
                solver.guess(frame.state[likely].tolist(), frame.state[~likely].tolist())
        except BudgetExceeded:
            return

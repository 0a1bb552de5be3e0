"""Bounds on the length of plays: fluents that change at most once, one of them with every step.

In connect four each move fills a cell for good; so there are no more moves than cells.  Found as
groups are: each fluent is assumed to stay true (or to stay false) and dropped when a legal step from
a state in which the groups hold breaks that.  Where a step may change none of them, as a pass in reversi
does, one must change within two steps, or three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.analyse.groups import demand
from herbrand.analyse.invariant import Bound
from herbrand.analyse.sat import Solver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.frames import System
    from herbrand.analyse.groups import Group
    from herbrand.analyse.invariant import Invariant

__all__ = ["Latches", "find_bound"]

_MOST_STEPS = 3
"""One of the fluents must change within so many steps."""


@dataclass(frozen=True, slots=True)
class Latches:
    """Fluents that rise or fall at most once."""

    rising: tuple[str, ...]
    falling: tuple[str, ...]
    within: int
    """One of them changes in so many steps."""

    def certificate(self, invariant: Invariant) -> Bound:
        """Return them as a certificate."""
        return Bound(self.rising, self.falling, invariant, self.within)


def find_bound(system: System, groups: Sequence[Group], deadline: float) -> Latches | None:
    """Return few fluents that bound the length of plays, or None where there are none.

    Raises `BudgetExceeded` past the deadline.
    """
    circuit = system.circuit
    frame = system.any_state()
    before: list[int] = frame.state.tolist()
    with Solver(circuit, deadline) as solver:
        for group in groups:
            demand(solver, before, group)
        frame = frame.play(solver).after
        after: list[int] = frame.state.tolist()
        # (place, rises): broken when the fluent goes back
        back = {
            (f, True): circuit.all_of((x, y ^ 1)) for f, (x, y) in enumerate(zip(before, after, strict=True))
        }
        back |= {
            (f, False): circuit.all_of((x ^ 1, y)) for f, (x, y) in enumerate(zip(before, after, strict=True))
        }
        alive = dict(back)
        while alive:
            some = int(circuit.variables(1)[0])
            solver.add([some ^ 1, *alive.values()])
            if not solver.solve(some):
                break
            model = solver.model()
            alive = {key: literal for key, literal in alive.items() if not model(literal)}
            solver.add([some ^ 1])
        if not alive:
            return None
        # one of them changes within a few steps; as few as the solver needs to see it
        still: dict[int, tuple[int, bool]] = {}
        for within in range(1, _MOST_STEPS + 1):
            if within > 1:
                for group in groups:
                    demand(solver, after, group)
                frame = frame.play(solver).after
                before, after = after, frame.state.tolist()
            for f, rises in alive:
                changes = circuit.all_of((before[f] ^ rises, after[f] ^ (not rises)))
                still[changes ^ 1] = f, rises
            if 0 in still:
                chosen = [still[0]]
                break
            if not solver.solve(*still):
                chosen = sorted({still[literal] for literal in solver.core()})
                break
        else:
            return None
    names = system.fluent_texts
    return Latches(
        tuple(names[f] for f, rises in chosen if rises),
        tuple(names[f] for f, rises in chosen if not rises),
        within,
    )

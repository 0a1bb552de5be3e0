"""Bounds on the length of plays: fluents that change at most once, one of them with every step.

In connect four each move fills a cell for good; so there are no more moves than cells.  Found as
groups are: each fluent is assumed to stay true (or to stay false) and dropped when a legal step from
a state in which the groups hold breaks that.
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


@dataclass(frozen=True, slots=True)
class Latches:
    """Fluents that rise or fall at most once."""

    rising: tuple[str, ...]
    falling: tuple[str, ...]

    def certificate(self, invariant: Invariant) -> Bound:
        """Return them as a certificate."""
        return Bound(self.rising, self.falling, invariant)


def find_bound(system: System, groups: Sequence[Group], deadline: float) -> Latches | None:
    """Return few fluents that bound the length of plays, or None where there are none.

    Raises `BudgetExceeded` past the deadline.
    """
    circuit = system.circuit
    frame = system.any_state()
    before = frame.state.tolist()
    with Solver(circuit, deadline) as solver:
        for group in groups:
            demand(solver, before, group)
        after = frame.play(solver).after.state.tolist()
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
        # one of them changes in each step; as few as the solver needs to see it
        still = {
            key: circuit.all_of((before[key[0]] ^ key[1], after[key[0]] ^ (not key[1]))) ^ 1 for key in alive
        }
        if not still or solver.solve(*still.values()):
            return None
        needed = solver.core()
    chosen = [key for key, literal in still.items() if literal in needed]
    names = system.fluent_texts
    return Latches(
        tuple(names[f] for f, rises in chosen if rises),
        tuple(names[f] for f, rises in chosen if not rises),
    )

"""Proofs by induction: a state that is looked for cannot be reached.

Invariants are the groups of `groups`: of some fluents exactly one, or never two, are true.  Then
it is enough that no state in which they hold is one that is looked for, or that none follows
after k steps through states that are not (k-induction: Sheeran, Singh and Stalmarck 2000).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.analyse.invariants.groups import demand
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.analyse.invariants.groups import Group

__all__ = ["never"]


def never(
    system: System,
    groups: Sequence[Group],
    wanted: Mapping[str, Callable[[Frame], int]],
    deadline: float,
    most: int = 3,
) -> dict[str, int]:
    """Return which of some states are never reached, by name, with the k of the induction.

    k = 0: no state in which the groups hold is such.  For k > 0 the caller must see to it that none
    is reached in fewer than k steps from the initial state.  Ends early past the deadline.
    """
    proved: dict[str, int] = {}
    frame = system.any_state()
    try:
        with Solver(system.circuit, deadline) as solver:
            literals = {name: target(frame) for name, target in wanted.items()}
            for group in groups:
                demand(solver, frame.state.tolist(), group)
            for name, literal in literals.items():
                if not solver.solve(literal):
                    proved[name] = 0
            rest = {name: literal for name, literal in literals.items() if name not in proved}
        for name in rest:
            for depth in range(1, most + 1):
                if _steps(system, groups, wanted[name], depth, deadline):
                    proved[name] = depth
                    break
    except BudgetExceeded:
        pass
    return proved


def _steps(
    system: System, groups: Sequence[Group], target: Callable[[Frame], int], depth: int, deadline: float
) -> bool:
    """Return whether no such state follows after so many steps through others."""
    frame = system.any_state()
    with Solver(system.circuit, deadline) as solver:
        for _ in range(depth):
            for group in groups:
                demand(solver, frame.state.tolist(), group)
            solver.add([target(frame) ^ 1])
            frame = frame.play(solver).after
        for group in groups:
            demand(solver, frame.state.tolist(), group)
        return not solver.solve(target(frame))

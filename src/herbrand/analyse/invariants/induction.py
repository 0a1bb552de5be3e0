"""Proofs by induction that wanted states are unreachable.

The invariants are those of `groups`.  Either no state in which they hold is a wanted one, or none follows k
consecutive states that are not (k-induction: Sheeran, Singh and Stalmarck 2000).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.analyse.invariants.groups import require
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.analyse.invariants.groups import Group

__all__ = ["prove_unreachable"]


def prove_unreachable(
    system: System,
    groups: Sequence[Group],
    wanted: Mapping[str, Callable[[Frame], int]],
    deadline: float,
    most: int = 3,
) -> dict[str, int]:
    """Return the names of wanted states that are unreachable, with the k of the induction.

    k = 0: no state in which the groups hold is wanted.  For k > 0 the caller must exclude wanted states
    within fewer than k steps of the initial state.  Ends early past the deadline.
    """
    proved: dict[str, int] = {}
    frame = system.any_state()
    try:
        with Solver(system.circuit, deadline) as solver:
            literals = {name: target(frame) for name, target in wanted.items()}
            for group in groups:
                require(solver, frame.state.tolist(), group)
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
    """Return whether no wanted state follows `depth` consecutive states that are not."""
    frame = system.any_state()
    with Solver(system.circuit, deadline) as solver:
        for _ in range(depth):
            for group in groups:
                require(solver, frame.state.tolist(), group)
            solver.add([target(frame) ^ 1])
            frame = frame.play(solver).after
        for group in groups:
            require(solver, frame.state.tolist(), group)
        return not solver.solve(target(frame))

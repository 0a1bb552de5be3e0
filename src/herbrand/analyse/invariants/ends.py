"""Wanted states from a SAT solver, without a line of play to them: targets for guided search.

The solver finds a state that is wanted and in which groups of fluents hold; the fluents that matter are the
failed assumptions (Een and Sorensson 2003) in the proof that their values make it a wanted one.  Such a state
need not be reachable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.groups import require
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.analyse.invariants.groups import Group

__all__ = ["target_states"]


def target_states(
    system: System, target: Callable[[Frame], int], groups: Sequence[Group], deadline: float
) -> Iterator[tuple[Frame, int]]:
    """Yield wanted states, each as a frame and a literal that implies that it is wanted, until time is up.

    The first resembles the initial state, as far as the phases of the solver can achieve that, the others
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

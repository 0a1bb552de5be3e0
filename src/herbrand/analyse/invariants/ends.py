"""States in which what is looked for holds, found before any line of play to them: something to aim at.

A SAT solver is asked for a state in which it holds, and in which groups of fluents are as in the states that
were met; what of that state matters is what the solver uses when it finds that nothing else is possible then
(the failed assumptions of Een and Sorensson 2003).  Such a state need not be reachable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.groups import demand
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.analyse.invariants.groups import Group

__all__ = ["ends"]


def ends(
    system: System, target: Callable[[Frame], int], groups: Sequence[Group], deadline: float
) -> Iterator[tuple[Frame, int]]:
    """Yield states, each as a frame and the literal of what matters of it; none once time is up.

    The first is as much like the initial state as the solver's first guesses make it, the others less and
    less so.  `deadline`, a time of `time.monotonic`, is for the solver.
    """
    frame = system.any_state()
    circuit, rng = system.circuit, np.random.default_rng(0)
    wanted = target(frame)
    initial = system.network.initial
    with Solver(circuit, deadline) as solver:
        try:
            for group in groups:
                demand(solver, frame.state.tolist(), group)
            different = 0.0
            solver.guess(frame.state[initial].tolist(), frame.state[~initial].tolist())
            while solver.solve(wanted):
                model = solver.model()
                literals = [x if model(x) else x ^ 1 for x in frame.state.tolist()]
                if solver.solve(wanted ^ 1, *literals):
                    return  # not a matter of the state alone
                core = sorted(solver.core() & set(literals))
                yield frame, circuit.all_of(core)
                solver.add([x ^ 1 for x in core])
                different = min(0.5, different + 0.02)
                likely = np.where(rng.random(len(initial)) < different, ~initial, initial)
                solver.guess(frame.state[likely].tolist(), frame.state[~likely].tolist())
        except BudgetExceeded:
            return

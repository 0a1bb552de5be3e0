"""Proofs by induction that wanted states are unreachable.

The invariants are those of `groups`.  Either no state in which they hold is a wanted one, or none follows k
consecutive states that are not (k-induction: Sheeran, Singh and Stalmarck 2000).  Of clauses that need not be
an invariant, the largest part that is one may exclude them (Houdini: Flanagan and Leino 2001).
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.frames import Frame
from herbrand.analyse.invariants.groups import require
from herbrand.analyse.invariants.parity import odd
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.invariants.sum_limits import sum_limits
from herbrand.errors import BudgetExceeded
from herbrand.network.circuit import implied, simplified

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group

__all__ = ["equivalences", "inductive_part", "prove_by_cases", "prove_unreachable"]

Clause = tuple[tuple[int, bool], ...]
"""A disjunction: fluents by number with their values."""


def prove_unreachable(
    system: System,
    groups: Sequence[Group],
    wanted: Mapping[str, Callable[[Frame], int]],
    deadline: float,
    most: int = 3,
    *,
    sums: Sequence[Mapping[int, int]] = (),
    parities: Sequence[tuple[int, ...]] = (),
) -> dict[str, int]:
    """Return the names of wanted states that are unreachable, with the k of the induction.

    k = 0: no state is wanted in which the groups hold, and `sums`, weights by fluent, and `parities`, of sets
    of fluents, are as initially.  For k > 0 the caller must exclude wanted states within fewer than k steps
    of the initial state.  Ends early past the deadline.
    """
    proved: dict[str, int] = {}
    frame = system.any_state()
    with suppress(BudgetExceeded):
        with Solver(system.circuit, deadline) as solver:
            literals = {name: target(frame) for name, target in wanted.items()}
            require(solver, frame.state, groups)
            for fluents in map(list, parities):
                is_odd = odd(system.circuit, frame.state[fluents].tolist())
                solver.add([is_odd ^ (system.network.initial[fluents].sum() % 2 == 0)])
            limits = sum_limits(system.network, groups, sums)
            for limit in limits:
                for clause in limit.clauses(system.circuit, frame.state):
                    solver.add(clause)
            rest = list(literals)
            for exact in (False, True) if limits else (False,):
                for limit in limits if exact and rest else ():
                    for literal in limit.exactly(system.circuit, frame.state) or ():
                        solver.add([literal])
                proved.update((name, 0) for name in rest if not solver.solve(literals[name]))
                rest = [name for name in rest if name not in proved]
        for name in rest:
            for depth in range(1, most + 1):
                if _steps(system, groups, wanted[name], depth, deadline):
                    proved[name] = depth
                    break
    return proved


def prove_by_cases(
    system: System,
    groups: Sequence[Group],
    wanted: Mapping[str, Callable[[Frame], Sequence[int]]],
    deadline: float,
) -> list[str]:
    """Return the names of wanted states that follow no state that is not, one joint move after the other.

    A state is wanted if one of some literals is true; each of them is asked about alone.

    The caller must exclude that the initial state is wanted.  In games with many lines, such as five in a
    row, this takes seconds where the solver loses its way among all moves together.  Ends early past the
    deadline.
    """
    rest = dict(wanted)
    with suppress(BudgetExceeded), closing(StepCases(system.without_loops(), groups, deadline)) as cases:
        if not cases.list_cases():
            return []
        before = Frame(system, cases.state)
        assumed = {
            name: [before.terminal ^ 1, *(x ^ 1 for x in ways(before))] for name, ways in wanted.items()
        }
        known = {name: implied(system.circuit, literals) for name, literals in assumed.items()}
        for case in cases.in_turn():
            state = cases.state.copy()
            for fluent, _, literal in case.changes:
                state[fluent] = literal
            after = Frame(system, state)
            for name, ways in list(rest.items()):
                literals = (simplified(system.circuit, literal, known[name]) for literal in ways(after))
                if any(literal and cases.possible(case, literal, *assumed[name]) for literal in literals):
                    del rest[name]
            if not rest:
                break
        return list(rest)
    return []


def inductive_part(
    system: System,
    groups: Sequence[Group],
    clauses: Sequence[Clause],
    wanted: Callable[[Frame], int],
    deadline: float,
) -> tuple[Clause, ...] | None:
    """Return the clauses that hold initially, and after each step from a state in which they hold.

    The groups hold in all reachable states.  Returns None if all this does not exclude the wanted states;
    raises `BudgetExceeded`.
    """
    initial = system.network.initial.tolist()
    candidates = [clause for clause in clauses if any(initial[f] == value for f, value in clause)]
    before = system.any_state()
    with Solver(system.circuit, deadline) as solver:
        require(solver, before.state, groups)
        holds = system.circuit.variables(len(candidates)).tolist()
        for assumed, clause in zip(holds, candidates, strict=True):
            solver.add([assumed ^ 1, *_literals(before, clause)])
        target = wanted(before)
        if solver.solve(target, *holds):
            return None
        after = before.play(solver).after
        broken = [system.circuit.all_of([x ^ 1 for x in _literals(after, clause)]) for clause in candidates]
        part = tuple(candidates[place] for place in solver.unbroken(broken, holds))
    with Solver(system.circuit, deadline) as solver:
        require(solver, before.state, groups)
        for clause in part:
            solver.add(_literals(before, clause))
        return None if solver.solve(target) else part


def _literals(frame: Frame, clause: Clause) -> list[int]:
    return [int(frame.state[fluent]) ^ (not value) for fluent, value in clause]


def equivalences(states: NDArray[np.bool_]) -> list[Clause]:
    """Return clauses by which fluents are equal, or never equal, or constant, if they are so in some states.

    `states` has the fluents as columns.
    """
    first: dict[bytes, tuple[int, bool]] = {}
    clauses: list[Clause] = []
    for fluent, column in enumerate(np.packbits(states, axis=0).T):
        values = states[:, fluent]
        if values.all() or not values.any():
            clauses.append(((fluent, bool(values[0])),))
            continue
        sign = bool(values[0])
        key = (column if sign else np.packbits(~values)).tobytes()
        if key not in first:
            first[key] = fluent, sign
            continue
        other, same = first[key][0], first[key][1] == sign
        clauses += [((other, False), (fluent, same)), ((other, True), (fluent, not same))]
    return clauses


def _steps(
    system: System, groups: Sequence[Group], target: Callable[[Frame], int], depth: int, deadline: float
) -> bool:
    """Return whether no wanted state follows `depth` consecutive states that are not."""
    frame = system.any_state()
    with Solver(system.circuit, deadline) as solver:
        for _ in range(depth):
            require(solver, frame.state, groups)
            solver.add([target(frame) ^ 1])
            frame = frame.play(solver).after
        require(solver, frame.state, groups)
        return not solver.solve(target(frame))

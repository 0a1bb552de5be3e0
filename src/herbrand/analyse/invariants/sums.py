"""Weighted sums of fluents that no step changes, and kinds of states that they exclude.

In quarto there are as many pieces left as empty cells, so the role that is to select a piece has one.
Weights come from a linear program: no sampled step may change the sum, and no state of a kind that a SAT
solver found may have the sum of the initial state.  Then the solver looks for a step that changes a sum,
from a state that has all the sums: another sum must exclude that state, or else the step becomes a sample.
(Equalities among variables: Karr 1976; guess and check: Sharma et al. 2013.)
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.invariants.arithmetic import all_sums
from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.groups import require
from herbrand.analyse.invariants.ranking import by_place, row_by_row, whole_weights
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander

__all__ = ["find_sums"]

_MOST = 100
"""The most rounds of adding and dropping sums."""
_MOST_TOTALS = 3000
"""The most distinct totals of a sum."""


def find_sums(
    expander: Expander,
    system: System,
    groups: Sequence[Group],
    target: Callable[[Frame], int],
    steps: NDArray[np.int8],
    deadline: float,
) -> list[dict[int, int]] | None:
    """Return constant sums, weights by index of fluents, that exclude the states of `target`.

    No state in which the groups hold and these sums are those of the initial state is a state of `target`.
    `steps` are the first samples of changes (`walks.RandomPlay`).  None where there are no such sums or too
    many joint moves.  Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`, and where a sum
    may change by too many amounts.
    """
    with (
        closing(StepCases(system, groups, deadline)) as cases,
        Solver(system.circuit, deadline) as solver,
        Solver(system.circuit, deadline) as plain_solver,
    ):
        search = _Search(expander, system, cases, solver, plain_solver, steps)
        return search.run(groups, target) if cases.list_cases() else None


@dataclass(slots=True)
class _Search:
    """Sums that are assumed to be constant, until no step changes one."""

    expander: Expander
    system: System
    cases: StepCases
    solver: Solver
    """Finds states of the target in which the groups hold."""
    plain: Solver
    """Has no clauses but those of the circuit."""
    steps: NDArray[np.int8]
    sums: list[NDArray[np.int64]] = field(default_factory=list)
    totals: list[tuple[int, int]] = field(default_factory=list)
    """For each sum the literals that it has the initial total, in `solver` and in `cases`."""

    def run(self, groups: Sequence[Group], target: Callable[[Frame], int]) -> list[dict[int, int]] | None:
        frame = self.system.any_state()
        state: list[int] = frame.state.tolist()
        literal = target(frame)
        require(self.solver, frame.state, groups)
        for _ in range(_MOST):
            if time.monotonic() > self.cases.deadline:
                raise BudgetExceeded("the time", "in the search for constant sums")
            if self.solver.solve(literal, *(total for total, _ in self.totals)):
                values = self.solver.model().values(frame.state)
                if not self._exclude(_kind(self.plain, state, values, literal, self.cases.group), state):
                    return None
                continue
            if not self._broken(state):
                return list(map(by_place, self.sums))
        return None

    def _exclude(self, kind: _Kind, state: Sequence[int]) -> bool:
        """Add a sum whose total excludes states of a kind; return whether there is one."""
        initial = self.system.network.initial.astype(np.int64)
        weights = _weigh(self.steps, initial, kind, self.cases.group)
        if weights is None:
            return False
        total = int(weights @ initial)
        in_state, in_step = (
            _has_total(self.cases, x, weights, total) for x in (state, self.cases.state.tolist())
        )
        if in_state is None or in_step is None:
            return False
        self.sums.append(weights)
        self.totals.append((in_state, in_step))
        return True

    def _broken(self, state: Sequence[int]) -> bool:
        """Return whether some step changes a sum, and repair that.

        One more sum excludes the state before the step.  If there is none, the step becomes a sample, and
        the sums that it changes are dropped.
        """
        assumed = [total for _, total in self.totals]
        for weights in self.sums:
            counterexamples = self.cases.changing_steps(weights, ())  # faster, and often sufficient
            if counterexamples:
                counterexamples = self.cases.changing_steps(weights, assumed)
            if not counterexamples:
                continue
            values = counterexamples[0][0]
            kind = _Kind(values, frozenset(self.cases.group[values].tolist()))
            if not self._exclude(kind, state):
                changes = self.cases.changes(self.expander, counterexamples[:1])
                self.steps = np.concatenate([self.steps, changes])
                stays = [not (changes @ other).any() for other in self.sums]
                self.sums = [w for w, keep in zip(self.sums, stays, strict=True) if keep]
                self.totals = [d for d, keep in zip(self.totals, stays, strict=True) if keep]
            return True
        return False


@dataclass(frozen=True, slots=True)
class _Kind:
    """A set of states of the target, by the fluents that may be true in them."""

    may: NDArray[np.bool_]
    """[fluents] whether each may be true."""
    one: frozenset[int]
    """The numbers of the groups (`StepCases.group`) of which exactly one permitted fluent is true."""


def _kind(
    solver: Solver, state: Sequence[int], values: NDArray[np.bool_], literal: int, group: NDArray[np.int64]
) -> _Kind:
    """Generalize a state in which a literal is true, as far as that is possible without a search.

    For instance, a stone that blocks a move may have any colour.
    """
    assumed = [x ^ (not value) for x, value in zip(state, values.tolist(), strict=True)]
    if solver.solve(*assumed, literal ^ 1):
        return _Kind(values, frozenset(group[values].tolist()))
    core = solver.core()
    needed = [place for place, x in enumerate(assumed) if x in core]
    true = {int(group[place]): [place] for place in needed if values[place]}
    false = [place for place in needed if not values[place] and int(group[place]) not in true]
    required = [state[place] ^ 1 for place in false]
    for number, places in true.items():
        rest = [state[p] for other, (p, *_) in true.items() if other != number]
        for place in np.flatnonzero(group == number).tolist():
            if place not in places and not solver.solve(*required, *rest, state[place], literal ^ 1):
                places.append(place)
    choices = [solver.circuit.any_of([state[place] for place in places]) for places in true.values()]
    if solver.solve(*required, *choices, literal ^ 1):
        true = {number: places[:1] for number, places in true.items()}
    may = np.ones(len(state), np.bool_)
    may[false] = False
    for number, places in true.items():
        may[group == number] = False
        may[places] = True
    return _Kind(may, frozenset(true))


def _weigh(
    steps: NDArray[np.int8], initial: NDArray[np.int64], kind: _Kind, group: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the least weights whose sum no step changes, greater in all states of a kind than initially.

    None where there are no such weights.
    """
    with optional_import("sums that stay the same", "analyse"):
        from scipy.sparse import coo_matrix, csr_matrix, hstack, identity, vstack
    matrix = csr_matrix(steps.astype(np.float64))
    size = len(initial)
    numbers, which = np.unique(group, return_inverse=True)
    # the variables: weights above 0, weights below 0, and what each group adds at the least
    may = np.flatnonzero(kind.may)
    count = len(may)
    least = coo_matrix((np.ones(count), (np.arange(count), which[may])), (count, len(numbers)))
    weight = identity(size, format="csr")[may]
    bounds: list[tuple[float | None, float | None]] = [(0.0, 10_000.0)] * (2 * size)
    bounds += [(None, None if number in kind.one else 0.0) for number in numbers.tolist()]
    excess = np.concatenate([-initial, initial, np.ones(len(numbers))])
    limits = vstack([hstack([-weight, weight, least]), csr_matrix(-excess)])
    most = np.append(np.zeros(count), -1.0)
    costs = np.append(np.ones(2 * size), np.zeros(len(numbers)))

    def program(rows: NDArray[np.int64]) -> dict[str, Any]:
        chosen = matrix[rows]
        equations = hstack([chosen, -chosen, csr_matrix((len(rows), len(numbers)))])
        equal = {"A_eq": equations, "b_eq": np.zeros(len(rows))}
        return {"c": costs, "A_ub": limits, "b_ub": most, **equal, "bounds": bounds}

    values = row_by_row(size, len(steps), program, lambda tried: np.abs(matrix @ tried) - 1e-6)
    if values is None:
        return None
    unit = np.abs(values[np.abs(values) > 1e-7]).min()
    return whole_weights(values / unit, lambda whole: not (matrix @ whole).any())


def _has_total(cases: StepCases, state: Sequence[int], weights: NDArray[np.int64], total: int) -> int | None:
    """Return the literal that a sum has a total in a state; None beyond `_MOST_TOTALS` distinct totals."""
    circuit = cases.circuit
    literals: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(weights).tolist():
        literals.setdefault((int(cases.group[place]), int(weights[place])), []).append(state[place])
    members = ((weight, circuit.any_of(some)) for (_, weight), some in literals.items())
    sums = all_sums(circuit, (((weight, x), (0, x ^ 1)) for weight, x in members), _MOST_TOTALS)
    return None if sums is None else sums.get(total, 0)

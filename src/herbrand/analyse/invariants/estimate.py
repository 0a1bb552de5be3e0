"""Admissible estimates of the steps to the goal of a puzzle, by potentials that fall by at most one a step.

A potential is a weighted sum of fluents (Pommerening, Helmert, Röger and Seipp 2015).  If no step lowers
it by more than one, and it is at most 0 wherever the goal is reached, then it never exceeds the remaining
steps.  Among such weights a linear program finds those that maximize the potential of the initial state;
in the eight puzzle this gives the distances of the tiles.  The program has only sampled steps and ends, so a
SAT solver looks for violations until there are none: the result holds for all steps from states in which the
invariants hold (`ranking.StepCases`).
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.arithmetic import add_choice
from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.frames import Frame, System
from herbrand.analyse.invariants.groups import depends_on_moves, find_groups, number_exclusive, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded, optional_import

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander, States

__all__ = ["Estimate", "find_estimate"]

_HIGHEST = 60.0
"""The greatest absolute value of a weight."""
_SMALL = 1e-5
"""The cost of a weight in the objective, so that irrelevant weights are 0."""
_LEAST = 1e-3
"""The least useful estimate of the initial state."""
_SCALES = 60
"""The greatest denominator of the weights, exclusive."""
_SUMS = 20_000
"""The most distinct sums at ends."""
_QUICK = 2000
"""Solver conflicts for whether a fluent has a fixed value at ends."""
_SAMPLED_STEPS = 4000
"""Sampled steps in the first linear program."""


@dataclass(frozen=True)
class Estimate:
    """A lower bound on the steps to the goal from each state."""

    weights: NDArray[np.int64]
    """[fluents]"""
    constant: int
    scale: int
    """The weights of the true fluents and the constant add up to steps times this."""

    @cached_property
    def _tables(self) -> NDArray[np.int64]:
        """[octets, 256] what the fluents in each octet of a state add, by its value."""
        byte_values = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        padded = np.zeros(-(-len(self.weights) // 64) * 64, np.int64)
        padded[: len(self.weights)] = self.weights
        return padded.reshape(-1, 8) @ byte_values.T.astype(np.int64)

    def __call__(self, states: States) -> NDArray[np.int32]:
        """Return the estimate for each packed state, [n]."""
        total = np.full(len(states), self.constant, np.int64)
        octets = np.ascontiguousarray(states).astype("<u8", copy=False).view(np.uint8)
        for place in np.flatnonzero(self._tables.any(axis=1)).tolist():
            total += self._tables[place][octets[:, place]]
        steps: NDArray[np.int32] = np.maximum(-(-total // self.scale), 0).astype(np.int32)
        return steps


def find_estimate(expander: Expander, value: int, deadline: float) -> Estimate | None:
    """Return an estimate of the steps to an end with a goal value, for a game with one role.

    None where no estimate is positive for the initial state, or past the deadline, a time of
    `time.monotonic`.  Raises `MissingExtra` without a SAT solver or linear programming.
    """
    system = System(expander.network)
    try:
        return _Search(expander, system, value, deadline).run()
    except BudgetExceeded:
        return None


class _Search:
    """The search for weights, with the steps and ends that constrain them."""

    def __init__(self, expander: Expander, system: System, value: int, deadline: float) -> None:
        self.expander = expander
        self.deadline = deadline
        sample = play(expander, time.monotonic() + 0.1 * (deadline - time.monotonic()))
        half = time.monotonic() + 0.5 * (deadline - time.monotonic())
        groups = find_groups(system, half, sample.states)
        self.steps = np.unique(sample.changes[:_SAMPLED_STEPS], axis=0)
        self.ends = np.zeros((0, expander.fluents), np.int8)
        self.movable = depends_on_moves(system.network)
        self.cases = StepCases(system, groups, deadline)
        self.goal = _Ends(system, groups, value, deadline)

    def run(self) -> Estimate | None:
        """Guess and learn from counterexamples until there are none."""
        with closing(self.cases), closing(self.goal.solver):
            if not self.cases.list_cases() or not self.goal.exist():
                return None
            while time.monotonic() <= self.deadline:
                guess = self._guess()
                if guess is None:
                    return None
                more = self._learn_end(guess) or self._learn_steps(guess)
                if not more:
                    return guess if more is False else None
        return None

    def _guess(self) -> Estimate | None:
        """Return the weights that maximize the potential of the initial state under the known constraints."""
        with optional_import("estimates", "analyse"):
            from scipy.optimize import linprog
            from scipy.sparse import csr_matrix
        first = np.append(self.expander.bits(self.expander.initial)[0], 1.0)
        ends = np.concatenate([self.ends, np.ones((len(self.ends), 1))], axis=1)
        steps = np.concatenate([-self.steps, np.zeros((len(self.steps), 1))], axis=1)
        rows = np.concatenate([ends, steps])
        used = np.append(self.movable, True)
        first, rows = first[used], rows[:, used]
        solution: Any = linprog(
            np.concatenate([_SMALL - first, _SMALL + first]),
            A_ub=csr_matrix(np.concatenate([rows, -rows], axis=1)),
            b_ub=np.repeat([0.0, 1.0], [len(ends), len(steps)]),
            bounds=(0, _HIGHEST),
            method="highs",
        )
        if solution.status != 0:
            return None
        weights = np.zeros(len(used))
        weights[used] = solution.x[: len(first)] - solution.x[len(first) :]
        return _whole(weights) if weights[used] @ first > _LEAST else None

    def _learn_steps(self, guess: Estimate) -> bool | None:
        """Add steps that lower the sum by more than one; None if all that are found are there already."""
        counterexamples = self.cases.counterexamples(guess.weights, -guess.scale - 1)
        if not counterexamples:
            return False
        before, more = len(self.steps), self.cases.changes(self.expander, counterexamples)
        self.steps = np.unique(np.concatenate([self.steps, more]), axis=0)
        return True if len(self.steps) > before else None

    def _learn_end(self, guess: Estimate) -> bool:
        """Add an end at which the sum is above 0."""
        end = self.goal.above(guess)
        if end is None:
            return False
        self.ends = np.unique(np.concatenate([self.ends, end[None].astype(np.int8)]), axis=0)
        return True


def _whole(weights: NDArray[np.float64]) -> Estimate:
    """Return weights as fractions with a small common denominator, rounded if necessary."""
    for scale in range(1, _SCALES):
        integers = np.rint(weights * scale)
        if np.abs(integers - weights * scale).max() < 1e-4 * scale:
            break
    values = integers.astype(np.int64)
    return Estimate(values[:-1], int(values[-1]), scale)


class _Ends:
    """The ends with a goal value among the states in which the invariants hold."""

    def __init__(self, system: System, groups: Sequence[Group], value: int, deadline: float) -> None:
        circuit = self.circuit = system.circuit
        self.state = circuit.variables(len(system.network.fluents))
        frame = Frame(system, self.state)
        self.solver = Solver(circuit, deadline)
        self.group = number_exclusive(groups, len(self.state))
        require(self.solver, self.state, groups)
        self.literal = frame.gets(0, value)

    def exist(self) -> bool:
        """Return whether there are any."""
        return self.solver.solve(self.literal)

    @cached_property
    def fixed(self) -> NDArray[np.int8]:
        """The value, 0 or 1, of each fluent that is the same at all ends, else -1, [fluents]."""
        fixed = np.full(len(self.state), -1, np.int8)
        for place, literal in enumerate(self.state.tolist()):
            for value in (0, 1):
                if self.solver.attempt(_QUICK, self.literal, literal ^ value) is False:
                    fixed[place] = value
        return fixed

    def above(self, guess: Estimate) -> NDArray[np.bool_] | None:
        """Return an end at which the sum is above 0, if there is one.

        Raises `BudgetExceeded` beyond `_SUMS` distinct sums.
        """
        circuit, fixed = self.circuit, self.fixed
        total = guess.constant + int(guess.weights[fixed == 1].sum())
        free: dict[int, list[tuple[int, int]]] = {}
        for place in np.flatnonzero((fixed < 0) & (guess.weights != 0)).tolist():
            member = int(guess.weights[place]), int(self.state[place])
            free.setdefault(int(self.group[place]), []).append(member)
        parts = sorted(free.values(), key=len)
        most = [max(0, *(weight for weight, _ in part)) for part in parts]
        rest = sum(most)
        sums = {total: 1}
        for part, best in zip(parts, most, strict=True):
            rest -= best
            none = circuit.all_of(literal ^ 1 for _, literal in part)
            more = add_choice(circuit, sums, [*part, (0, none)])
            sums = {total: literal for total, literal in more.items() if total + rest > 0}
            if len(sums) > _SUMS:
                raise BudgetExceeded(f"{_SUMS} sums", "at the ends of a game")
        over = circuit.any_of([literal for total, literal in sums.items() if total > 0])
        return self.solver.model().values(self.state) if self.solver.solve(self.literal, over) else None

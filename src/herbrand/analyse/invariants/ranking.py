"""Measures of progress: weighted sums of fluents that grow with every step, so that every play ends.

In breakthrough a pawn further ahead has a greater weight.  Weights are guessed from random play, as the
least ones with which every sampled step makes progress (a linear program); then a SAT solver looks, for each
joint move, for a step without progress, which constrains the next guess
(counterexample-guided synthesis: Solar-Lezama et al. 2006; ranking functions: Podelski and Rybalchenko
2004).  Equal weights for all fluents of the same form are tried first.  As there are finitely many
states, growth is sufficient, and one sum can replace any lexicographic measure.

Where a role may pass, the sum grows with each step that changes some fluent with a weight, and a few
consecutive steps always include one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.invariants.frames import Frame
from herbrand.analyse.invariants.groups import number_exclusive, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander
    from herbrand.network.circuit import UnrolledCircuit

__all__ = ["Case", "StepCases", "Weights", "add_choice", "find_weights", "least_weights", "whole_weights"]

_ROWS = 300
"""Steps that are added to the linear program at once."""
_CASES = 6000
"""The most joint moves."""
_QUICK = 300
"""Solver conflicts for whether a fluent can change in a case at all."""
_SUMS = 3000
"""The most distinct sums."""
_MOST_STEPS = 4
"""The most steps within which a fluent with a weight must change."""
_CLASS_ARGUMENTS = ((), (-1,), (0,), (1, -1), (0, -1))
"""Positions of the arguments that distinguish classes of fluents, in the order of attempts."""
_SCALES = 60
"""The greatest denominator of the weights, exclusive."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of fluents whose sum grows."""

    by_place: dict[int, int]
    """The weights other than 0, by index of fluents."""
    within: int
    """Among this many consecutive steps, one makes the sum grow."""


def find_weights(
    expander: Expander, system: System, groups: Sequence[Group], steps: NDArray[np.int8], deadline: float
) -> Weights | None:
    """Return weights of fluents whose sum grows with every step, or every few steps.

    Steps are legal ones from non-terminal states in which the groups hold.  `steps` are the first samples of
    changes (`walks.RandomPlay`).  None where no such weights exist or the search is too large.  Raises
    `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    fixed = _turns(system, steps)
    for passing in (False, True):
        samples = _Samples(steps)
        cases = StepCases(system, groups, deadline, passing=passing)
        try:
            for classes in _classes(system):
                weights = _weights(expander, cases, samples, np.where(fixed & passing, -1, classes))
                if weights is None:
                    continue
                within = _changes_within(system, groups, list(weights), deadline) if passing else 1
                if within is not None:
                    return Weights(weights, within)
        finally:
            cases.close()
    return None


@dataclass(slots=True)
class _Samples:
    """Steps from random play and counterexamples, which accumulate over attempts."""

    steps: NDArray[np.int8]


def _weights(
    expander: Expander, cases: StepCases, samples: _Samples, classes: NDArray[np.int64]
) -> dict[int, int] | None:
    """Return weights of fluents, by index, whose sum grows in all cases, equal within each class; or None.

    Fluents of class -1 have none, and steps that change only these are ignored.
    """
    while True:
        weights = _weigh(samples.steps, classes)
        if weights is None or not cases.list_cases():
            return None
        counterexamples = cases.counterexamples(weights)
        if counterexamples is None:
            return None
        if not counterexamples:
            return {place: int(w) for place, w in enumerate(weights.tolist()) if w}
        samples.steps = np.concatenate([samples.steps, cases.changes(expander, counterexamples)])
        if time.monotonic() > cases.deadline:
            raise BudgetExceeded("the time", "in the search for weights")


def _weigh(steps: NDArray[np.int8], classes: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the least weights, equal within each class, with which every step makes the sum grow."""
    weighted = classes >= 0
    summed = np.zeros((len(steps), int(classes.max(initial=-1)) + 1), np.int16)
    for place in np.flatnonzero(weighted):
        summed[:, classes[place]] += steps[:, place]
    relevant = steps[:, weighted].any(axis=1) if not weighted.all() else np.ones(len(steps), np.bool_)
    class_weights = least_weights(np.unique(summed[relevant], axis=0))
    if class_weights is None:
        return None
    weights: NDArray[np.int64] = np.where(weighted, class_weights[classes], 0)
    return weights


def _classes(system: System) -> Iterator[NDArray[np.int64]]:
    """Yield partitions of the fluents into classes, from coarse to one class for each fluent.

    On a board, progress often depends on the piece alone, or on the piece and its row.
    """
    terms, fluents = system.network.terms, system.network.fluents.tolist()
    parts = [(terms.functor[fluent], terms.args[fluent]) for fluent in fluents]
    seen = set()
    for places in _CLASS_ARGUMENTS:
        keys = [
            (functor, tuple(args[i] for i in places if -len(args) <= i < len(args)))
            for functor, args in parts
        ]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        classes = tuple(numbers[key] for key in keys)
        if classes not in seen:
            seen.add(classes)
            yield np.array(classes, np.int64)
    alone = tuple(range(len(fluents)))
    if alone not in seen:
        yield np.array(alone, np.int64)


def _turns(system: System, steps: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return the fluents of the functions that change in the smallest steps: usually whose turn it is."""
    names = [text.strip("()").split(" ", 1)[0] for text in system.fluent_texts]
    functions = sorted(set(names))
    number = np.array([functions.index(name) for name in names])
    changed = np.stack([(steps[:, number == n] != 0).any(axis=1) for n in range(len(functions))], axis=1)
    counts = changed.sum(axis=1)
    few = changed[counts == counts[counts > 0].min()] if (counts > 0).any() else changed[:0]
    if not len(few):
        return np.zeros(len(names), np.bool_)
    rows, times = np.unique(few, axis=0, return_counts=True)
    turns: NDArray[np.bool_] = rows[times.argmax()][number]
    return turns


def _changes_within(
    system: System, groups: Sequence[Group], places: Sequence[int], deadline: float
) -> int | None:
    """Return the number of steps within which one of some fluents changes; None beyond `_MOST_STEPS`."""
    circuit, frame = system.circuit, system.any_state()
    with Solver(circuit, deadline) as solver:
        for within in range(1, _MOST_STEPS + 1):
            before = frame.state
            for group in groups:
                require(solver, before.tolist(), group)
            frame = frame.play(solver).after
            for place in places:
                a, b = int(before[place]), int(frame.state[place])
                solver.add([a ^ 1, b])
                solver.add([a, b ^ 1])
            if not solver.solve():
                return within
    return None


def least_weights(steps: NDArray[np.int8] | NDArray[np.int16]) -> NDArray[np.int64] | None:
    """Return the least whole weights with which every step makes the sum grow; None where there are none."""
    with optional_import("measures of progress", "analyse"):
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix, hstack
    if not len(steps) or not steps.any(axis=1).all():
        return None  # no samples, or a step that changes nothing
    places = np.flatnonzero(steps.any(axis=0))
    matrix = csr_matrix(steps[:, places].astype(np.float64))
    rows = np.arange(min(_ROWS, len(steps)))
    while True:
        chosen = matrix[rows]
        solution: Any = linprog(
            np.ones(2 * len(places)),
            A_ub=-hstack([chosen, -chosen]),
            b_ub=-np.ones(len(rows)),
            bounds=(0, 10_000),
            method="highs",
        )
        if solution.status != 0:
            return None
        values = solution.x[: len(places)] - solution.x[len(places) :]
        growth = matrix @ values
        violated = np.flatnonzero(growth < 0.5)
        if not len(violated):
            break
        rows = np.union1d(rows, violated[np.argsort(growth[violated])][:_ROWS])
    integers = whole_weights(values, lambda tried: bool((matrix @ tried >= 1).all()))
    if integers is None:
        return None
    weights = np.zeros(steps.shape[1], np.int64)
    weights[places] = integers
    return weights


def whole_weights(
    values: NDArray[np.float64], fits: Callable[[NDArray[np.float64]], bool]
) -> NDArray[np.int64] | None:
    """Return the least multiple of weights that is almost integral and fits; None if there is none."""
    for scale in range(1, _SCALES):
        integers = np.rint(values * scale)
        if np.abs(integers - values * scale).max() < 1e-3 * scale and fits(integers):
            return integers.astype(np.int64)
    return None


def add_choice(
    circuit: UnrolledCircuit, sums: Mapping[int, int], ways: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Return the sums, each with its literal, after adding one of several amounts, each with its literal."""
    following: dict[int, list[int]] = {}
    for total, literal in sums.items():
        for change, way in ways:
            both = circuit.all_of((literal, way)) if way else 0
            if both:
                following.setdefault(total + change, []).append(both)
    return {total: circuit.any_of(literals) for total, literals in following.items()}


@dataclass(frozen=True, slots=True)
class Case:
    """One joint move, with its preconditions and effects."""

    joint: tuple[int, ...]
    when: tuple[int, ...]
    """Literals that hold exactly where it is legal and the game is not over."""
    changes: tuple[tuple[int, int, int], ...]
    """Fluents that it may change, each with the literals of its values before and after."""


class StepCases:
    """All steps from states in which the groups hold, one case for each joint move.

    Fluents that a legal move determines are substituted as constants, so that most of the network folds
    away and only the few fluents remain that the move changes.
    """

    def __init__(
        self, system: System, groups: Sequence[Group], deadline: float, *, passing: bool = False
    ) -> None:
        self.system = system
        self.passing = passing
        """Whether `counterexamples` ignores steps that change no fluent with a weight."""
        self.circuit = system.circuit
        self.deadline = deadline
        self.state: NDArray[np.int32] = self.circuit.variables(len(system.network.fluents))
        self.solver = Solver(self.circuit, deadline)
        self.others: dict[int, set[int]] = {}
        """Fluents that are false when one is true."""
        self.group = number_exclusive(groups, len(self.state))
        for group in groups:
            require(self.solver, self.state.tolist(), group)
            if not group.some:
                for fluent in group.fluents:
                    self.others.setdefault(fluent, set()).update(group.fluents)
        self.cases: list[Case] = []

    def close(self) -> None:
        """Free the solver's memory."""
        self.solver.close()

    def list_cases(self) -> bool:
        """List the cases, on the first call; return whether there are at most `_CASES`."""
        if self.cases:
            return len(self.cases) <= _CASES
        for case in self._split({}, {}):
            self.cases.append(case)
            if len(self.cases) > _CASES:
                return False
        return True

    def _split(self, values: Mapping[int, int], moves: Mapping[int, int]) -> Iterator[Case]:
        """Yield the cases with given values of some fluents and moves of some roles."""
        if time.monotonic() > self.deadline:
            raise BudgetExceeded("the time", "while joint moves were being listed")
        state = self.state.copy()
        for fluent, value in values.items():
            state[fluent] = value
        frame = Frame(self.system, state)
        if frame.terminal == 1:
            return
        options = []
        for role, own_moves in enumerate(self.system.moves):
            options.append(
                [moves[role]] if role in moves else own_moves[frame.legal[own_moves] != 0].tolist()
            )
        if not all(options) or any(frame.legal[m] == 0 for m in moves.values()):
            return
        undecided = [role for role, choices in enumerate(options) if len(choices) > 1]
        if not undecided:
            yield self._case(frame, values, tuple(choices[0] for choices in options))
            return
        role = undecided[0]
        for move in options[role]:
            more = self._implied_values(int(frame.legal[move]), values)
            if more is not None:
                yield from self._split(more, {**moves, role: move})

    def _implied_values(self, literal: int, values: Mapping[int, int]) -> dict[int, int] | None:
        """Return `values` with those that a literal implies; None if it contradicts them."""
        left, right = self.circuit.left, self.circuit.right
        demanded = dict(values)
        first = int(self.state[0]) >> 1 if len(self.state) else 0
        stack, visited = [literal], set()
        while stack:
            literal = stack.pop()
            node = literal >> 1
            if literal in visited or node == 0:
                continue
            visited.add(literal)
            if left[node] >= 0:
                if not literal & 1:
                    stack += [int(left[node]), int(right[node])]
                continue
            fluent = node - first
            if not 0 <= fluent < len(self.state):
                continue
            true = 1 - (literal & 1)
            for place in self.others.get(fluent, ()) if true else ():
                if place != fluent and demanded.setdefault(place, 0):
                    return None
            if demanded.setdefault(fluent, true) != true:
                return None
        return demanded

    def _case(self, frame: Frame, values: Mapping[int, int], joint: tuple[int, ...]) -> Case:
        network = self.system.network
        choices = np.zeros(len(network.moves), np.int32)
        choices[list(joint)] = 1
        first = 1 + len(network.fluents)
        frame.value[first : first + len(choices)] = choices
        self.circuit.copy(network, frame.value, network.cones[0], network.cones[1])
        after = frame.literals(network.next)
        when = [frame.terminal ^ 1, *(int(frame.legal[m]) for m in joint)]
        when += [int(self.state[fluent]) ^ (1 - value) for fluent, value in values.items()]
        different = np.flatnonzero(frame.state != after).tolist()
        changes = tuple((f, int(frame.state[f]), int(after[f])) for f in different)
        return Case(joint, tuple(dict.fromkeys(when)), changes)

    def counterexamples(
        self, weights: NDArray[np.int64], most: int = 0
    ) -> list[tuple[NDArray[np.bool_], tuple[int, ...]]] | None:
        """Return steps that make the sum grow by at most `most`; None beyond `_SUMS` distinct sums.

        Each is a state with a joint move; there is at most one for each case.
        """
        return self._steps(lambda case: self._no_growth(case, weights, most))

    def changing_steps(
        self, weights: NDArray[np.int64], assumed: Sequence[int]
    ) -> list[tuple[NDArray[np.bool_], tuple[int, ...]]] | None:
        """Return steps that change the sum, from states with some literals true; see `counterexamples`."""
        return self._steps(lambda case: self._change(case, weights), assumed)

    def _steps(
        self, target: Callable[[Case], int | None], assumed: Sequence[int] = ()
    ) -> list[tuple[NDArray[np.bool_], tuple[int, ...]]] | None:
        """Return a step of each case in which the literal of `target` can be true."""
        steps = []
        for case in self.cases:
            literal = target(case)
            if literal is None:
                return None
            if literal and self.solver.solve(literal, *assumed, *case.when):
                model = self.solver.model()
                state = np.array([model(x) for x in self.state.tolist()], np.bool_)
                steps.append((state, case.joint))
        return steps

    def changes(
        self, expander: Expander, steps: Sequence[tuple[NDArray[np.bool_], tuple[int, ...]]]
    ) -> NDArray[np.int8]:
        """Return the distinct changes of the fluents in steps, [n, fluents]: -1, 0 or 1."""
        states = expander.pack_bits(np.array([state for state, _ in steps], np.bool_))
        first = np.array(expander.network.circuit.bounds[:-1], np.int32)
        moves = np.array([joint for _, joint in steps], np.int32) - first
        after = expander.bits(expander.step(states, moves)).astype(np.int8)
        distinct: NDArray[np.int8] = np.unique(after - expander.bits(states), axis=0)
        return distinct

    def _no_growth(self, case: Case, weights: NDArray[np.int64], most: int) -> int | None:
        """Return the literal that the sum grows by at most `most`; None beyond `_SUMS` distinct sums."""
        circuit = self.circuit
        terms = self._terms(case, weights)
        moving = [literal for _, up, down in terms for literal in (up, down)]
        terms.sort(key=lambda term: term[2] == 0)  # terms that can only add come last
        sums = {0: 1}
        for weight, up, down in terms:
            if down == 0:  # sums above `most` stay above
                sums = {total: literal for total, literal in sums.items() if total <= most}
            ways = [(weight, up), (-weight, down), (0, circuit.all_of((up ^ 1, down ^ 1)))]
            sums = add_choice(circuit, sums, ways)
            if len(sums) > _SUMS:
                return None
        none = circuit.any_of([literal for total, literal in sums.items() if total <= most])
        return circuit.all_of((none, circuit.any_of(moving))) if self.passing else none

    def _change(self, case: Case, weights: NDArray[np.int64]) -> int | None:
        """Return the literal that the sum changes in a case; None beyond `_SUMS` distinct sums."""
        circuit = self.circuit
        by_group: dict[int, list[tuple[int, int, int]]] = {}
        for fluent, before, after in case.changes:
            if weights[fluent]:
                by_group.setdefault(self.group[fluent], []).append((int(weights[fluent]), before, after))
        sums = {0: 1}
        for changes in by_group.values():  # never two of a group are true, before and after
            sides = []
            for side in (1, 2):
                ways: dict[int, list[int]] = {0: [circuit.all_of([change[side] ^ 1 for change in changes])]}
                for change in changes:
                    ways.setdefault(change[0], []).append(change[side])
                sides.append({weight: circuit.any_of(literals) for weight, literals in ways.items()})
            growth: dict[int, list[int]] = {}
            for gone, was in sides[0].items():
                for come, is_now in sides[1].items():
                    growth.setdefault(come - gone, []).append(circuit.all_of((was, is_now)))
            sums = add_choice(
                circuit, sums, [(change, circuit.any_of(ways)) for change, ways in growth.items()]
            )
            if len(sums) > _SUMS:
                return None
        return sums.get(0, 0) ^ 1

    def _terms(self, case: Case, weights: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """Return the terms of the change: positive weights, with the literals of being added and subtracted.

        Fluents of equal weight in one group are merged, and literals that are only permuted among fluents of
        equal weight, as when a board is rotated, cancel out.
        """
        circuit, solver = self.circuit, self.solver
        by_weight: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for fluent, before, after in case.changes:
            weight = int(weights[fluent])
            if weight:
                by_weight.setdefault((self.group[fluent], weight), []).append((before, after))
        merged = []
        counts: dict[int, int] = {}
        for (_, weight), pairs in by_weight.items():
            before, after = (circuit.any_of(side) for side in zip(*pairs, strict=True))
            merged.append((weight, before, after))
            for literal, amount in ((before, -weight), (after, weight)):
                sign = -1 if literal & 1 else 1
                counts[literal >> 1] = counts.get(literal >> 1, 0) + sign * amount
        terms = []
        for weight, before, after in merged:
            gone, come = (int(counts[literal >> 1] == 0) for literal in (before, after))
            if gone and come:
                continue
            if not gone and not come:
                up, down = circuit.all_of((before ^ 1, after)), circuit.all_of((before, after ^ 1))
            else:
                up, down = (after, 0) if gone else (0, before)
            if weight < 0:
                up, down = down, up
            up, down = (
                0 if literal and solver.attempt(_QUICK, literal, *case.when) is False else literal
                for literal in (up, down)
            )
            if up or down:
                terms.append((abs(weight), up, down))
        return terms

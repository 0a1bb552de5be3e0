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
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.groups import arguments_at, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander

__all__ = ["Weights", "by_place", "find_weights", "least_weights", "row_by_row", "whole_weights"]

_ROWS = 300
"""Rows that are added to a linear program at once."""
_MOST_STEPS = 4
"""The most steps within which a fluent with a weight must change."""
_REST = (2, 3, 4, 5)
_CLASS_ARGUMENTS = ((), (-1,), (0,), _REST, (1, -1), (0, -1), (1, *_REST), (0, *_REST))
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
    seen = steps  # with counterexamples
    for passing in (False, True):
        fixed = _turns(system, seen)  # passes are seldom seen in random play
        seen = steps
        resting: list[frozenset[int]] = []
        """Sets of fluents of which none has to change in a few steps."""
        with closing(StepCases(system, groups, deadline, passing=passing)) as cases:
            for classes in _classes(system):
                classes = np.where(fixed & passing, -1, classes)
                weights, seen = _weights(expander, cases, seen, classes)
                if weights is None or any(places.issuperset(weights) for places in resting):
                    continue
                within = _changes_within(system, groups, list(weights), deadline) if passing else 1
                if within is not None:
                    return Weights(weights, within)
                resting.append(frozenset(weights))
    return None


def _weights(
    expander: Expander, cases: StepCases, steps: NDArray[np.int8], classes: NDArray[np.int64]
) -> tuple[dict[int, int] | None, NDArray[np.int8]]:
    """Return weights of fluents, by index, whose sum grows in all cases, equal within each class; or None.

    Fluents of class -1 have none, and steps that change only these are ignored.  Also returns the
    steps, with those that refuted other weights.
    """
    while True:
        weights = _weigh(steps, classes)
        if weights is None or not cases.list_cases():
            return None, steps
        counterexamples = cases.counterexamples(weights)
        if not counterexamples:
            return by_place(weights), steps
        steps = np.concatenate([steps, cases.changes(expander, counterexamples)])
        if time.monotonic() > cases.deadline:
            raise BudgetExceeded("the time", "in the search for weights")


def by_place(weights: NDArray[np.int64]) -> dict[int, int]:
    """Return the weights other than 0, by index."""
    return {place: weight for place, weight in enumerate(weights.tolist()) if weight}


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
    coarse = ([(functor, arguments_at(some, args)) for functor, args in parts] for some in _CLASS_ARGUMENTS)
    seen = set()
    for keys in chain(coarse, [fluents]):
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        classes = tuple(numbers[key] for key in keys)
        if classes not in seen:
            seen.add(classes)
            yield np.array(classes, np.int64)


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
            require(solver, before, groups)
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
        from scipy.sparse import csr_matrix, hstack
    if not len(steps) or not steps.any(axis=1).all():
        return None  # no samples, or a step that changes nothing
    places = np.flatnonzero(steps.any(axis=0))
    matrix = csr_matrix(steps[:, places].astype(np.float64))

    def program(rows: NDArray[np.int64]) -> dict[str, Any]:
        chosen = matrix[rows]
        limits = {"A_ub": -hstack([chosen, -chosen]), "b_ub": -np.ones(len(rows))}
        return {"c": np.ones(2 * len(places)), **limits, "bounds": (0, 10_000)}

    values = row_by_row(len(places), len(steps), program, lambda tried: 0.5 - matrix @ tried)
    if values is None:
        return None
    integers = whole_weights(values, lambda tried: bool((matrix @ tried >= 1).all()))
    if integers is None:
        return None
    weights = np.zeros(steps.shape[1], np.int64)
    weights[places] = integers
    return weights


def row_by_row(
    weights: int,
    rows: int,
    program: Callable[[NDArray[np.int64]], Mapping[str, Any]],
    excess: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    at_once: int = _ROWS,
) -> NDArray[np.float64] | None:
    """Return the weights that solve a linear program of many rows, most of which do not matter; or None.

    `program` returns the arguments of `linprog` with some of the rows; of its variables, the first are the
    weights above 0, then those below 0.  `excess` tells by how much weights violate each row.  Rows are added
    some `at_once`.  Raises `MissingExtra` where linear programming is not installed.
    """
    with optional_import("measures of progress and constant sums", "analyse"):
        from scipy.optimize import linprog

    chosen = np.arange(min(at_once, rows))
    while True:
        answer: Any = linprog(**program(chosen), method="highs")
        if answer.status != 0:
            return None
        values: NDArray[np.float64] = answer.x[:weights] - answer.x[weights : 2 * weights]
        beyond = excess(values)
        violated = np.flatnonzero(beyond > 0)
        if not len(violated):
            return values
        chosen = np.union1d(chosen, violated[np.argsort(-beyond[violated])][:at_once])


def whole_weights(
    values: NDArray[np.float64], fits: Callable[[NDArray[np.float64]], bool]
) -> NDArray[np.int64] | None:
    """Return the least multiple of weights that is almost integral and fits; None if there is none."""
    for scale in range(1, _SCALES):
        integers = np.rint(values * scale)
        if np.abs(integers - values * scale).max() < 1e-3 * scale and fits(integers):
            return integers.astype(np.int64)
    return None

"""Groups and counters, proved one joint move after the other.

In checkers the number of black pieces is also a fluent, `(piece_count black 12)`.  That there always is
such a fluent does not follow by induction from groups alone: where the counter is 0 and a piece is taken,
there would be none.  It follows once the counter agrees with the board.  Such sums of pieces and counters are
guessed from random play, as the simplest linear equations that hold in all its states, and proved together
with the groups: all are assumed of a state, and those that a legal step violates are dropped until the rest
is inductive (Flanagan and Leino 2001, "Houdini"; equations among variables: Karr 1976).

With the joint move given, a step changes few fluents, and most of the network folds away; so this is also the
faster proof of groups in large games where one role moves at a time.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.invariants.arithmetic import all_sums, differ, growth_of
from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.domains import order_of
from herbrand.analyse.invariants.groups import (
    Group,
    arguments_at,
    families_of,
    filling_groups,
    holding_groups,
    observed_groups,
    turn_groups,
)
from herbrand.analyse.invariants.ranking import by_place, row_by_row, whole_weights
from herbrand.analyse.invariants.sum_limits import SumLimits
from herbrand.analyse.invariants.wandering import Wandering
from herbrand.engine.expand import Expander
from herbrand.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.cases import Case
    from herbrand.analyse.invariants.frames import System
    from herbrand.network.network import Network

__all__ = ["Counted", "find_counted", "trailing_number"]

_FAMILY_ARGUMENTS = ((), (-1,), (0,), (0, -1))
"""Positions of the arguments that distinguish the families whose true fluents are counted."""
_GAMES = 512
_SAMPLING = 0.05
"""Share of the time for these games, at most."""
_EXACT = 0.75
"""Share of the time that is left for sums that are assumed exactly, if less is not enough."""
_SPARSE = 37
"""One of so many joint moves is tried first."""
_FEW = 100
"""Changes of a counter beyond this many are only those of sampled steps."""
_LARGEST = 50
"""The most one of the factors of an equation, besides those of counters."""
_MOST_TOTALS = 300
"""The most distinct amounts by which a step may change a sum, judging by its form."""
_MOST_VARYING = 1000
"""The most if only parts are counted that really vary; with more, each step counts as changing the sum."""
_ROWS = 200
"""States that are added to a linear program at once."""


class Counted(NamedTuple):
    """Properties of all reachable states that are inductive only together."""

    groups: list[Group]
    sums: list[dict[int, int]]
    """Weights by index of fluents; no step changes the sum of the true ones."""


def find_counted(
    system: System, states: NDArray[np.bool_], steps: NDArray[np.int8], deadline: float
) -> Counted | None:
    """Return groups and sums that hold in sampled states, [n, fluents], and are inductive together.

    `steps` are samples of changes (`walks.RandomPlay`): counters are expected to change by no other amounts.
    None where no counter seems to agree with the board, or there are too many joint moves.  Raises
    `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    network = system.network
    groups = _lasting(network, observed_groups(network, states), deadline)
    groups += [Group((place,), some=True) for place in np.flatnonzero(network.always).tolist()]
    counted = _inductive(system, groups, states, steps, deadline, exact=False)
    if counted is None:
        more = [*filling_groups(network, states), *turn_groups(groups, states)]
        deadline -= (1 - _EXACT) * (deadline - time.monotonic())
        groups += _lasting(network, more, deadline)
        counted = _inductive(system, groups, states, steps, deadline, exact=True)
    return counted


def _inductive(
    system: System,
    groups: Sequence[Group],
    states: NDArray[np.bool_],
    steps: NDArray[np.int8],
    deadline: float,
    *,
    exact: bool,
) -> Counted | None:
    """Return those of the groups, and of sums that hold in the states, that are inductive together.

    With `exact`, the sums are assumed of a state, otherwise what they say of single fluents, which mostly is
    enough, and quicker.
    """
    network = system.network
    # all values of a counter rather than two of them
    fresh = sorted(groups, key=lambda group: -len(group.fluents))
    equations = _Equations(system, fresh, states, steps)
    sums = {number: weights for number in equations.numbers if (weights := equations.fit(number)) is not None}
    initial = network.initial.astype(np.int64)
    every, adds_up = _SPARSE, False  # a few cases drop most of what is not inductive
    settled: list[Group] = []
    """The groups before sums are looked at."""
    while sums:
        alike: dict[bytes, list[int]] = {}
        """The numbers of counters with the same sum, but for its sign."""
        for number, weights in sums.items():
            alike.setdefault((weights * np.sign(weights[weights != 0][0])).tobytes(), []).append(number)
        distinct = {numbers[0]: sums[numbers[0]] for numbers in alike.values()}
        with closing(StepCases(system, fresh, deadline)) as cases:
            limits = [SumLimits(fresh, weights, int(weights @ initial)) for weights in distinct.values()]
            for limit in limits:
                for clause in limit.clauses(cases.circuit, cases.state):
                    cases.require(clause)
                for literal in limit.exactly(cases.circuit, cases.state) or () if exact else ():
                    cases.require((literal,))
            if not cases.list_cases():
                return None
            amounts = {
                number: _Sum(cases, weights, steps, limit.possible())
                for (number, weights), limit in zip(distinct.items() if adds_up else (), limits, strict=False)
            }
            spreading = Wandering(network, fresh, [limit.hold for limit in limits])
            lost, changed = _violated(cases, fresh, amounts, every, spreading)
        if every == 1 and not lost and not changed:
            return Counted(fresh, list(map(by_place, distinct.values())))
        fresh = [group for i, group in enumerate(fresh) if i not in lost]
        if lost:  # sums are added up by groups, and may only seem to change where one is lost
            continue
        if adds_up and not changed:
            every = 1
            continue
        adds_up, settled = True, settled or fresh
        if changed:  # what was lost may have been lost because of a wrong sum
            fresh, every = settled, _SPARSE
        for numbers in alike.values():
            for number in numbers if numbers[0] in changed else ():
                other = equations.fit(number, changed[numbers[0]])
                if other is None or (other == sums[number]).all():
                    del sums[number]
                else:
                    sums[number] = other
    return None


def _lasting(network: Network, groups: list[Group], deadline: float) -> list[Group]:
    """Return the groups that hold in states of many more random games; each false one costs time later."""
    until = time.monotonic() + _SAMPLING * (deadline - time.monotonic())
    for states in random_states(Expander(network), _GAMES, until):
        groups = holding_groups(groups, states)
    return groups


def _violated(
    cases: StepCases, groups: Sequence[Group], sums: Mapping[int, _Sum], every: int, spreading: Wandering
) -> tuple[set[int], dict[int, NDArray[np.int64]]]:
    """Return which groups, and which sums, some step violates from a state in which all hold.

    Sums come with the change of the fluents in that step.  Only steps of one of `every` joint moves are
    tried, and random play from the states of such steps.
    """
    lost: set[int] = set()
    changed: dict[int, NDArray[np.int64]] = {}
    of_fluent: defaultdict[int, list[int]] = defaultdict(list)
    for i, group in enumerate(groups):
        for fluent in group.fluents:
            of_fluent[fluent].append(i)
    safe: dict[int, bool] = {}
    """Literals that occurred before: whether they are shown to be false whatever the move is."""
    seen: set[int] = set()
    circuit = cases.circuit
    for case in cases.in_turn(every):
        solver = cases.solver
        after = {fluent: literal for fluent, _, literal in case.changes}
        touched = dict.fromkeys(i for fluent in after for i in of_fluent[fluent] if i not in lost)
        broken = {}
        for i in touched:
            group = groups[i]
            literals = np.array([after.get(f, cases.state[f]) for f in group.fluents], np.int32)
            literal = circuit.all_of(literals ^ 1) if group.some else circuit.only_one(literals)[1] ^ 1
            if literal in seen and literal not in safe:
                safe[literal] = solver.attempt(1, literal) is False
            seen.add(literal)
            if not safe.get(literal):
                broken[i] = literal
        while broken and cases.possible(case, solver.some_of(broken.values())):
            model = solver.model()
            lost.update(i for i, literal in broken.items() if model(literal))
            lost |= spreading.violated(model.values(cases.state), lost)
            broken = {i: literal for i, literal in broken.items() if i not in lost}
        for i, weighted in sums.items():
            if i not in changed:
                differs = weighted.differs(case)
                if differs and cases.possible(case, differs):
                    model = solver.model()
                    changed[i] = np.zeros(len(cases.state), np.int64)
                    for fluent, before, then in case.changes:
                        changed[i][fluent] = int(model(then)) - int(model(before))
    return lost, changed


class _Sum:
    """Weights of fluents, and how steps may change what each group of fluents adds to their sum.

    `possible` are the fluents that may be true, [fluents].
    """

    def __init__(
        self,
        cases: StepCases,
        weights: NDArray[np.int64],
        steps: NDArray[np.int8],
        possible: NDArray[np.bool_],
    ) -> None:
        self.cases = cases
        self.weights = weights
        self.amounts = {
            part: _amounts(weights[places], steps[:, places], possible[places])
            for part in np.unique(cases.group[weights != 0]).tolist()
            for places in (np.flatnonzero((cases.group == part) & (weights != 0)),)
        }
        self._growth: dict[tuple[int, tuple[tuple[int, int, int], ...]], dict[int, int]] = {}

    def differs(self, case: Case) -> int:
        """Return a literal that is true in all steps of a case that change the sum, perhaps in others."""
        parts = self.cases.by_group(case, self.weights)
        sums = self._added(parts, _MOST_TOTALS)
        if sums is None:
            varying = {part: some for part, some in parts.items() if self._varies(case, some)}
            sums = self._added(varying, _MOST_VARYING)
        return sums.get(0, 0) ^ 1 if sums is not None else 1

    def _added(self, parts: Mapping[int, Sequence[tuple[int, int, int]]], most: int) -> dict[int, int] | None:
        """Return by which amounts, at most so many, changes of all parts change the sum, with literals."""
        ways = (self._growth_of(part, tuple(changes)).items() for part, changes in parts.items())
        return all_sums(self.cases.circuit, ways, most)

    def _growth_of(self, part: int, changes: tuple[tuple[int, int, int], ...]) -> dict[int, int]:
        """Return the literals of each amount by which changes of fluents of a group change the sum."""
        if (part, changes) not in self._growth:
            self._growth[part, changes] = growth_of(self.cases.circuit, changes, self.amounts[part])
        return self._growth[part, changes]

    def _varies(self, case: Case, changes: Sequence[tuple[int, int, int]]) -> bool:
        """Return whether a step of a case can make one of some changes, which its form does not tell."""
        circuit = self.cases.circuit
        different = [differ(circuit, before, after) for _, before, after in changes]
        return self.cases.possible(case, circuit.any_of(different))


def _amounts(weights: NDArray[np.int64], steps: NDArray[np.int8], possible: NDArray[np.bool_]) -> set[int]:
    """Return the amounts by which steps may change a sum of fluents of which never two are true.

    All that the weights of possible fluents allow, such as that a piece comes or goes; if these are many,
    those of sampled steps.
    """
    values = {0, *weights[possible].tolist()}
    every = {new - old for new in values for old in values}
    if len(every) <= _FEW:
        return every
    return {0, *np.unique(steps @ weights).tolist()}


# -- equations from samples ---------------------------------------------------------------


class _Equations:
    """Sums that are the same in all sampled states, one for each counter.

    A counter is a group of fluents that differ in a number, or in names that follow each other as numbers do,
    such as one, two, three.  It equals a sum of the numbers of true fluents
    of some families, and of other counters, with the least factors that fit.  Where no sum fits, and the
    numbers do not have equal distances (the last of 80 moves may count as 100), it counts their ranks.
    """

    def __init__(
        self,
        system: System,
        groups: Sequence[Group],
        states: NDArray[np.bool_],
        steps: NDArray[np.int8],
    ) -> None:
        network, texts = system.network, system.fluent_texts
        counters: dict[tuple[int, ...], NDArray[np.int64]] = {}
        for group in groups:
            if group.some and len(group.fluents) > 2 and group.fluents not in counters:
                numbers: Sequence[int | None] = [trailing_number(texts[fluent]) for fluent in group.fluents]
                if all(number is None for number in numbers):
                    numbers = _places(network, group.fluents, steps) or numbers
                if None not in numbers and len(set(numbers)) == len(numbers):
                    counters[group.fluents] = np.array(numbers, np.int64)
        self.numbers: list[int] = []
        """The counters, by number, that had several values."""
        self._changes: dict[int, list[NDArray[np.int64]]] = defaultdict(list)
        """By counter, changes of the fluents in steps that may not change its sum."""
        if not counters:
            return
        counted = {fluent for fluents in counters for fluent in fluents}
        families = families_of(
            network,
            lambda args: ((chosen, arguments_at(chosen, args)) for chosen in _FAMILY_ARGUMENTS),
            [place for place in range(len(network.fluents)) if place not in counted],
        )
        columns: list[tuple[tuple[int, ...], NDArray[np.int64] | int]] = [*counters.items()]
        columns += ((places, 1) for places in dict.fromkeys(map(tuple, families)))
        self._ranks: dict[int, int] = {}
        """By counter of irregular numbers, the column with their ranks."""
        for number, (fluents, values) in enumerate(counters.items()):
            distinct, positions = np.unique(values, return_inverse=True)
            if len(set(np.diff(distinct).tolist())) > 1:
                self._ranks[number] = len(columns)
                columns.append((fluents, positions))
        self._columns = np.zeros((len(network.fluents), len(columns)), np.int64)
        for column, (places, entries) in enumerate(columns):
            self._columns[list(places), column] = entries
        totals = states.astype(np.float32) @ self._columns.astype(np.float32)
        self._values = np.unique(totals, axis=0).astype(np.float64)
        self._costs = 2 - np.count_nonzero(self._columns, axis=0) / len(network.fluents)
        """Of each column: rather all pieces than those of a row, where no sample tells the difference."""
        self._counters = len(counters)
        self.numbers = [i for i in range(len(counters)) if np.ptp(self._values[:, i]) > 0]

    def fit(self, number: int, change: NDArray[np.int64] | None = None) -> NDArray[np.int64] | None:
        """Return weights of fluents, [fluents], with which a counter has a constant sum; None for none.

        No step with a given change, nor with those of the calls before, changes the sum: samples do not tell
        what pieces that never were on the board count.
        """
        changes = self._changes[number]
        if change is not None:
            changes.append(change)
        values = self._values
        if changes:
            values = np.concatenate([values, values[:1] + np.stack(changes) @ self._columns])
        ranks = list(self._ranks.values())
        others = [k for k in range(self._counters) if k != number]
        rank = [self._ranks[number]] if number in self._ranks else []
        for chosen in (number, *rank):
            for left_out in (others, []):  # an equation without other counters says more
                used = values.copy()
                used[:, [k for k in (*left_out, number, *ranks) if k != chosen]] = 0.0
                factors = _fit(used, chosen, self._costs)
                if factors is not None:
                    return self._columns @ factors
        return None


def _places(network: Network, fluents: Sequence[int], steps: NDArray[np.int8]) -> list[int] | None:
    """Return the places of fluents in the row in which they follow each other, if they do.

    `steps` are samples of changes, in which no fluent may have more than two neighbours.
    """
    moved = steps[:, list(fluents)]
    moved = moved[(moved != 0).sum(axis=1) == 2]
    pairs = np.unique(np.sort(np.argwhere(moved)[:, 1].reshape(-1, 2), axis=1), axis=0)
    if len(pairs) < 2 or np.bincount(pairs.ravel()).max() > 2:
        return None
    return order_of(network, fluents)


def trailing_number(text: str) -> int | None:
    """Return the number at the end of a fluent, such as 12 of `(pegs s12)`."""
    match = re.search(r"(\d+)\)*$", text)
    return int(match[1]) if match else None


def _fit(values: NDArray[np.float64], chosen: int, costs: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the least whole factors, 1 for the chosen column, with which all rows have the same sum.

    None where there are none, or none of moderate size.
    """
    rest = values - values[0]
    varies = np.flatnonzero(np.ptp(values, axis=0) > 0)
    varies = varies[varies != chosen]
    if not len(varies):
        return None
    matrix, aim = rest[:, varies], -rest[:, chosen]
    both = np.hstack([matrix, -matrix])
    fixed = {"c": np.tile(costs[varies], 2), "bounds": (0, _LARGEST)}

    def program(rows: NDArray[np.int64]) -> dict[str, Any]:
        return {**fixed, "A_eq": both[rows], "b_eq": aim[rows]}

    try:
        factors = row_by_row(
            len(varies), len(matrix), program, lambda tried: np.abs(matrix @ tried - aim) - 1e-6, _ROWS
        )
    except MissingExtra:
        return None
    if factors is None:
        return None
    every = np.zeros(values.shape[1])
    every[chosen], every[varies] = 1, factors
    return whole_weights(every, lambda whole: not (rest @ whole).any())

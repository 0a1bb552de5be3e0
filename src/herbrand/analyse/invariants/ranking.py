"""Measures of progress: sums of weights of fluents that grow with every step, so that no play is without end.

In breakthrough a pawn on a row further on weighs more.  Weights are guessed from random play, as the
least ones with which every step that was seen makes progress (a linear program), and then it is asked
of a SAT solver, for each joint move, whether some step makes none.  Such a step teaches the next guess
(counterexample-guided synthesis: Solar-Lezama et al. 2006; ranking functions: Podelski and Rybalchenko
2004).  Weights that are the same for all fluents written alike are tried first.  There are finitely many
states, so growing is enough, and one sum can do what several, compared one after the other, could.

Where a role may pass, the sum grows with each step that changes any fluent with a weight, and in a few steps
in a row there is such a one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.invariants.frames import Frame
from herbrand.analyse.invariants.groups import demand, exclusive
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander
    from herbrand.network.circuit import UnrolledCircuit

__all__ = ["Cases", "Weights", "added", "find_weights", "least_weights", "whole_weights"]

_ROWS = 300
"""Steps that enter the linear program at once."""
_CASES = 6000
"""More joint moves than this are not gone through."""
_QUICK = 300
"""Conflicts spent on whether a fluent can change in a case at all."""
_SUMS = 3000
"""More different sums than this are not told apart."""
_MOST_STEPS = 4
"""In so many steps in a row one must change a fluent with a weight."""
_KEPT = ((), (-1,), (0,), (1, -1), (0, -1))
"""Which arguments of fluents tell classes apart, by their places."""
_SCALES = 60
"""Weights are looked for among multiples of one part in so many."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of fluents whose sum grows."""

    by_place: dict[int, int]
    """The weights that are not 0, by the places of fluents."""
    within: int
    """In so many steps the sum grows."""


def find_weights(
    expander: Expander, system: System, groups: Sequence[Group], steps: NDArray[np.int8], deadline: float
) -> Weights | None:
    """Return weights of fluents whose sum grows with every step, or every few steps.

    That is every legal step from a state that is not over and in which the groups hold.  `steps` are changes
    that were seen in play (`walks.Play`), to begin with.  None where no such weights exist or none were
    found.  Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    fixed = _turns(system, steps)
    for passing in (False, True):
        learned = _Learned(steps)
        cases = Cases(system, groups, deadline, passing=passing)
        try:
            for classes in _likenesses(system):
                found = _weights(expander, cases, learned, np.where(fixed & passing, -1, classes))
                if found is None:
                    continue
                within = _changes_within(system, groups, list(found), deadline) if passing else 1
                if within is not None:
                    return Weights(found, within)
        finally:
            cases.close()
    return None


@dataclass(slots=True)
class _Learned:
    """Steps that were seen, or that a SAT solver found."""

    steps: NDArray[np.int8]


def _weights(
    expander: Expander, cases: Cases, learned: _Learned, classes: NDArray[np.int64]
) -> dict[int, int] | None:
    """Return weights of fluents, by place, whose sum grows in all cases; the same for fluents of one class.

    Fluents of class -1 have none, and steps that change nothing else do not count.
    """
    while True:
        weights = _weigh(learned.steps, classes)
        if weights is None or not cases.listed():
            return None
        against = cases.against(weights)
        if against is None:
            return None
        if not against:
            return {place: int(w) for place, w in enumerate(weights.tolist()) if w}
        learned.steps = np.concatenate([learned.steps, cases.changes(expander, against)])
        if time.monotonic() > cases.deadline:
            raise BudgetExceeded("the time", "while weights were looked for")


def _weigh(steps: NDArray[np.int8], classes: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the least weights, one for each class, with which every step makes the sum grow."""
    kept = classes >= 0
    together = np.zeros((len(steps), int(classes.max(initial=-1)) + 1), np.int16)
    for place in np.flatnonzero(kept):
        together[:, classes[place]] += steps[:, place]
    counting = steps[:, kept].any(axis=1) if not kept.all() else np.ones(len(steps), np.bool_)
    found = least_weights(np.unique(together[counting], axis=0))
    if found is None:
        return None
    weights: NDArray[np.int64] = np.where(kept, found[classes], 0)
    return weights


def _likenesses(system: System) -> Iterator[NDArray[np.int64]]:
    """Yield classes of fluents that are alike, from few classes to one for each fluent.

    On a board what counts is often the piece alone, or the piece and its row.
    """
    terms, fluents = system.network.terms, system.network.fluents.tolist()
    named = [(terms.functor[fluent], terms.args[fluent]) for fluent in fluents]
    seen = set()
    for kept in _KEPT:
        keys = [
            (functor, tuple(args[i] for i in kept if -len(args) <= i < len(args))) for functor, args in named
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
    """Return the fluents of the functions that are all that changes in some step: whose turn it is."""
    names = [text.strip("()").split(" ", 1)[0] for text in system.fluent_texts]
    functions = sorted(set(names))
    number = np.array([functions.index(name) for name in names])
    changed = np.stack([(steps[:, number == n] != 0).any(axis=1) for n in range(len(functions))], axis=1)
    counts = changed.sum(axis=1)
    few = changed[counts == counts[counts > 0].min()] if (counts > 0).any() else changed[:0]
    if not len(few):
        return np.zeros(len(names), np.bool_)
    rows, times = np.unique(few, axis=0, return_counts=True)
    found: NDArray[np.bool_] = rows[times.argmax()][number]
    return found


def _changes_within(
    system: System, groups: Sequence[Group], places: Sequence[int], deadline: float
) -> int | None:
    """Return in how many steps at most one of some fluents changes; None if that is more than a few."""
    circuit, frame = system.circuit, system.any_state()
    with Solver(circuit, deadline) as solver:
        for within in range(1, _MOST_STEPS + 1):
            before = frame.state
            for group in groups:
                demand(solver, before.tolist(), group)
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
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix, hstack
    except ImportError as error:
        raise MissingExtra("measures of progress", "analyse") from error
    if not len(steps) or not steps.any(axis=1).all():
        return None  # nothing was seen, or a step that changes nothing
    places = np.flatnonzero(steps.any(axis=0))
    every = csr_matrix(steps[:, places].astype(np.float64))
    rows = np.arange(min(_ROWS, len(steps)))
    while True:
        chosen = every[rows]
        found: Any = linprog(
            np.ones(2 * len(places)),
            A_ub=-hstack([chosen, -chosen]),
            b_ub=-np.ones(len(rows)),
            bounds=(0, 10_000),
            method="highs",
        )
        if found.status != 0:
            return None
        values = found.x[: len(places)] - found.x[len(places) :]
        growth = every @ values
        missed = np.flatnonzero(growth < 0.5)
        if not len(missed):
            break
        rows = np.union1d(rows, missed[np.argsort(growth[missed])][:_ROWS])
    whole = whole_weights(values, lambda tried: bool((every @ tried >= 1).all()))
    if whole is None:
        return None
    weights = np.zeros(steps.shape[1], np.int64)
    weights[places] = whole
    return weights


def whole_weights(
    values: NDArray[np.float64], fits: Callable[[NDArray[np.float64]], bool]
) -> NDArray[np.int64] | None:
    """Return the least multiple of some weights that is whole, nearly, and fits; None where none is found."""
    for scale in range(1, _SCALES):
        whole = np.rint(values * scale)
        if np.abs(whole - values * scale).max() < 1e-3 * scale and fits(whole):
            return whole.astype(np.int64)
    return None


def added(
    circuit: UnrolledCircuit, sums: Mapping[int, int], ways: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Return sums with their literals after something was added that has several ways to go."""
    following: dict[int, list[int]] = {}
    for total, literal in sums.items():
        for change, way in ways:
            both = circuit.all_of((literal, way)) if way else 0
            if both:
                following.setdefault(total + change, []).append(both)
    return {total: circuit.any_of(found) for total, found in following.items()}


@dataclass(frozen=True, slots=True)
class _Case:
    """One joint move: when it can be made, and what it changes."""

    joint: tuple[int, ...]
    when: tuple[int, ...]
    """Literals that hold exactly where it is legal and the game is not over."""
    changes: tuple[tuple[int, int, int], ...]
    """Fluents that it may change, with the literals of their values before and after."""


class Cases:
    """All steps from states in which the groups hold, one joint move after the other.

    What a legal move demands of the state at once is put in as a constant, and so most of the network folds
    away: what is left are the few fluents that the move changes.
    """

    def __init__(
        self, system: System, groups: Sequence[Group], deadline: float, *, passing: bool = False
    ) -> None:
        self.system = system
        self.passing = passing
        """Whether steps that change no fluent with a weight are left out."""
        self.circuit = system.circuit
        self.deadline = deadline
        self.state: NDArray[np.int32] = self.circuit.variables(len(system.network.fluents))
        self.solver = Solver(self.circuit, deadline)
        self.others: dict[int, set[int]] = {}
        """Fluents that are false when one is true."""
        self.group = exclusive(groups, len(self.state))
        for group in groups:
            demand(self.solver, self.state.tolist(), group)
            if not group.some:
                for fluent in group.fluents:
                    self.others.setdefault(fluent, set()).update(group.fluents)
        self.cases: list[_Case] = []

    def close(self) -> None:
        """Give back the solver's memory."""
        self.solver.close()

    def listed(self) -> bool:
        """List the cases, if that was not done; return whether there are not too many."""
        if self.cases:
            return len(self.cases) <= _CASES
        for case in self._split({}, {}):
            self.cases.append(case)
            if len(self.cases) > _CASES:
                return False
        return True

    def _split(self, known: Mapping[int, int], made: Mapping[int, int]) -> Iterator[_Case]:
        """Yield the cases in which some fluents are known and some roles have chosen."""
        if time.monotonic() > self.deadline:
            raise BudgetExceeded("the time", "while joint moves were listed")
        state = self.state.copy()
        for fluent, value in known.items():
            state[fluent] = value
        frame = Frame(self.system, state)
        if frame.terminal == 1:
            return
        options = []
        for role, mine in enumerate(self.system.moves):
            options.append([made[role]] if role in made else mine[frame.legal[mine] != 0].tolist())
        if not all(options) or any(frame.legal[m] == 0 for m in made.values()):
            return
        undecided = [role for role, mine in enumerate(options) if len(mine) > 1]
        if not undecided:
            yield self._case(frame, known, tuple(mine[0] for mine in options))
            return
        role = undecided[0]
        for move in options[role]:
            more = self._demanded(int(frame.legal[move]), known)
            if more is not None:
                yield from self._split(more, {**made, role: move})

    def _demanded(self, literal: int, known: Mapping[int, int]) -> dict[int, int] | None:
        """Return what must be so for a literal to be true, added to what is known; None if it cannot be."""
        left, right = self.circuit.left, self.circuit.right
        found = dict(known)
        first = int(self.state[0]) >> 1 if len(self.state) else 0
        stack, seen = [literal], set()
        while stack:
            literal = stack.pop()
            node = literal >> 1
            if literal in seen or node == 0:
                continue
            seen.add(literal)
            if left[node] >= 0:
                if not literal & 1:
                    stack += [int(left[node]), int(right[node])]
                continue
            fluent = node - first
            if not 0 <= fluent < len(self.state):
                continue
            true = 1 - (literal & 1)
            for place in self.others.get(fluent, ()) if true else ():
                if place != fluent and found.setdefault(place, 0):
                    return None
            if found.setdefault(fluent, true) != true:
                return None
        return found

    def _case(self, frame: Frame, known: Mapping[int, int], joint: tuple[int, ...]) -> _Case:
        network = self.system.network
        made = np.zeros(len(network.moves), np.int32)
        made[list(joint)] = 1
        first = 1 + len(network.fluents)
        frame.value[first : first + len(made)] = made
        self.circuit.copy(network, frame.value, network.cones[0], network.cones[1])
        after = frame.literals(network.next)
        when = [frame.terminal ^ 1, *(int(frame.legal[m]) for m in joint)]
        when += [int(self.state[fluent]) ^ (1 - value) for fluent, value in known.items()]
        different = np.flatnonzero(frame.state != after).tolist()
        changes = tuple((f, int(frame.state[f]), int(after[f])) for f in different)
        return _Case(joint, tuple(dict.fromkeys(when)), changes)

    def against(
        self, weights: NDArray[np.int64], most: int = 0
    ) -> list[tuple[NDArray[np.bool_], tuple[int, ...]]] | None:
        """Return steps that make the sum grow by no more than `most`; None if it is too much work.

        Each is a state with a joint move; there is at most one for each case.
        """
        return self._steps(lambda case: self._no_growth(case, weights, most))

    def changing(
        self, weights: NDArray[np.int64], given: Sequence[int]
    ) -> list[tuple[NDArray[np.bool_], tuple[int, ...]]] | None:
        """Return steps that change the sum, from states in which some literals are true, likewise."""
        return self._steps(lambda case: self._change(case, weights), given)

    def _steps(
        self, asked: Callable[[_Case], int | None], given: Sequence[int] = ()
    ) -> list[tuple[NDArray[np.bool_], tuple[int, ...]]] | None:
        """Return a step of each case in which a literal can be true, by states and joint moves."""
        found = []
        for case in self.cases:
            literal = asked(case)
            if literal is None:
                return None
            if literal and self.solver.solve(literal, *given, *case.when):
                model = self.solver.model()
                state = np.array([model(x) for x in self.state.tolist()], np.bool_)
                found.append((state, case.joint))
        return found

    def changes(
        self, expander: Expander, steps: Sequence[tuple[NDArray[np.bool_], tuple[int, ...]]]
    ) -> NDArray[np.int8]:
        """Return how steps change the fluents, each way once: -1, 0 or 1."""
        states = expander.pack_bits(np.array([state for state, _ in steps], np.bool_))
        first = np.array(expander.network.circuit.bounds[:-1], np.int32)
        moves = np.array([joint for _, joint in steps], np.int32) - first
        after = expander.bits(expander.step(states, moves)).astype(np.int8)
        found: NDArray[np.int8] = np.unique(after - expander.bits(states), axis=0)
        return found

    def _no_growth(self, case: _Case, weights: NDArray[np.int64], most: int) -> int | None:
        """Return the literal that the sum grows by no more than `most`; None if there are too many sums."""
        circuit = self.circuit
        terms = self._terms(case, weights)
        moving = [literal for _, up, down in terms for literal in (up, down)]
        terms.sort(key=lambda term: term[2] == 0)  # what can only add comes last
        sums = {0: 1}
        for weight, up, down in terms:
            if down == 0:  # what is above stays there
                sums = {total: literal for total, literal in sums.items() if total <= most}
            ways = [(weight, up), (-weight, down), (0, circuit.all_of((up ^ 1, down ^ 1)))]
            sums = added(circuit, sums, ways)
            if len(sums) > _SUMS:
                return None
        none = circuit.any_of([literal for total, literal in sums.items() if total <= most])
        return circuit.all_of((none, circuit.any_of(moving))) if self.passing else none

    def _change(self, case: _Case, weights: NDArray[np.int64]) -> int | None:
        """Return the literal that the sum changes in a case; None if there are too many sums."""
        circuit = self.circuit
        together: dict[int, list[tuple[int, int, int]]] = {}
        for fluent, before, after in case.changes:
            if weights[fluent]:
                together.setdefault(self.group[fluent], []).append((int(weights[fluent]), before, after))
        sums = {0: 1}
        for changes in together.values():  # never two of a group are true, before and after
            sides = []
            for side in (1, 2):
                ways: dict[int, list[int]] = {0: [circuit.all_of([change[side] ^ 1 for change in changes])]}
                for change in changes:
                    ways.setdefault(change[0], []).append(change[side])
                sides.append({weight: circuit.any_of(found) for weight, found in ways.items()})
            growth: dict[int, list[int]] = {}
            for gone, was in sides[0].items():
                for come, is_now in sides[1].items():
                    growth.setdefault(come - gone, []).append(circuit.all_of((was, is_now)))
            sums = added(circuit, sums, [(change, circuit.any_of(ways)) for change, ways in growth.items()])
            if len(sums) > _SUMS:
                return None
        return sums.get(0, 0) ^ 1

    def _terms(self, case: _Case, weights: NDArray[np.int64]) -> list[tuple[int, int, int]]:
        """Return what changes the sum: weights above 0, each with when it is added and when taken away.

        Fluents with the same weight of which never two are true count as one, and what only goes from one
        place to another (a board that is turned) does not count.
        """
        circuit, solver = self.circuit, self.solver
        together: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for fluent, before, after in case.changes:
            weight = int(weights[fluent])
            if weight:
                together.setdefault((self.group[fluent], weight), []).append((before, after))
        whole = []
        counts: dict[int, int] = {}
        for (_, weight), pairs in together.items():
            before, after = (circuit.any_of(side) for side in zip(*pairs, strict=True))
            whole.append((weight, before, after))
            for literal, amount in ((before, -weight), (after, weight)):
                sign = -1 if literal & 1 else 1
                counts[literal >> 1] = counts.get(literal >> 1, 0) + sign * amount
        terms = []
        for weight, before, after in whole:
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

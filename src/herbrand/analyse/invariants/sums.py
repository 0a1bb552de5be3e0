"""Sums of weights of fluents that no step changes, and kinds of states that they exclude.

In quarto there are as many pieces left as empty cells, so whoever is to select a piece has one.  Weights
come from a linear program: no step that was seen may change the sum, and no state of a kind that a SAT
solver found may have the sum of the initial state.  Then the solver looks for a step, from a state that has
all the sums, which changes one: another sum is to exclude that state, or else such steps are possible.
(Equalities among variables: Karr 1976; guessed and refuted: Sharma et al. 2013.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.invariants.groups import demand
from herbrand.analyse.invariants.ranking import Cases, added, whole_weights
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander

__all__ = ["find_sums"]

_MOST = 100
"""So often a sum is added, or dropped."""
_ROWS = 300
"""Steps that enter the linear program at once."""
_MOST_TOTALS = 3000
"""More different totals than this are not told apart."""


def find_sums(
    expander: Expander,
    system: System,
    groups: Sequence[Group],
    target: Callable[[Frame], int],
    steps: NDArray[np.int8],
    deadline: float,
) -> list[dict[int, int]] | None:
    """Return sums, weights by places of fluents, that stay the same and so exclude what is looked for.

    No state in which the groups hold and these sums are those of the initial state is one that `target`
    asks for.  `steps` are changes that were seen in play (`walks.Play`), to begin with.  None where there are
    no such sums or none were found.  Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    cases = Cases(system, groups, deadline)
    try:
        with Solver(system.circuit, deadline) as solver, Solver(system.circuit, deadline) as plain:
            search = _Search(expander, system, cases, solver, plain, steps)
            return search.run(groups, target) if cases.listed() else None
    finally:
        cases.close()


@dataclass(slots=True)
class _Search:
    """Sums that may stay the same, assumed together until no step breaks one."""

    expander: Expander
    system: System
    cases: Cases
    solver: Solver
    """Asks for states that are looked for."""
    plain: Solver
    """Knows nothing but how a state is looked at."""
    steps: NDArray[np.int8]
    found: list[NDArray[np.int64]] = field(default_factory=list)
    demanded: list[tuple[int, int]] = field(default_factory=list)
    """For each sum that a state has it, in the questions about states and in those about steps."""

    def run(self, groups: Sequence[Group], target: Callable[[Frame], int]) -> list[dict[int, int]] | None:
        frame = self.system.any_state()
        state: list[int] = frame.state.tolist()
        literal = target(frame)
        for group in groups:
            demand(self.solver, state, group)
        for _ in range(_MOST):
            if time.monotonic() > self.cases.deadline:
                raise BudgetExceeded("the time", "while sums were looked for")
            if self.solver.solve(literal, *(here for here, _ in self.demanded)):
                model = self.solver.model()
                values = np.array([model(x) for x in state], np.bool_)
                if not self._exclude(_kind(self.plain, state, values, literal, self.cases.group), state):
                    return None
                continue
            broken = self._broken(state)
            if broken is None:
                return None
            if not broken:
                return [{p: int(w) for p, w in enumerate(weights.tolist()) if w} for weights in self.found]
        return None

    def _exclude(self, kind: _Kind, state: Sequence[int]) -> bool:
        """Assume one more sum, which states of a kind do not have; return whether there is one."""
        initial = self.system.network.initial.astype(np.int64)
        weights = _weigh(self.steps, initial, kind, self.cases.group)
        if weights is None:
            return False
        total = int(weights @ initial)
        here, there = (_stays(self.cases, x, weights, total) for x in (state, self.cases.state.tolist()))
        if here is None or there is None:
            return False
        self.found.append(weights)
        self.demanded.append((here, there))
        return True

    def _broken(self, state: Sequence[int]) -> bool | None:
        """Return whether a step breaks a sum, and do something about it; None if it is too much work.

        The state that the step starts from is excluded by one more sum.  If none does that, the step counts
        as one that was seen.
        """
        given = [there for _, there in self.demanded]
        for weights in self.found:
            against = self.cases.changing(weights, ())  # often the others are not needed, which is quicker
            if against:
                against = self.cases.changing(weights, given)
            if against is None:
                return None
            if not against:
                continue
            values = against[0][0]
            kind = _Kind(values, frozenset(self.cases.group[values].tolist()))
            if not self._exclude(kind, state):
                changes = self.cases.changes(self.expander, against[:1])
                self.steps = np.concatenate([self.steps, changes])
                stays = [not (changes @ tried).any() for tried in self.found]
                self.found = [w for w, keep in zip(self.found, stays, strict=True) if keep]
                self.demanded = [d for d, keep in zip(self.demanded, stays, strict=True) if keep]
            return True
        return False


@dataclass(frozen=True, slots=True)
class _Kind:
    """States by what may be true in them: enough to know that they are looked for."""

    may: NDArray[np.bool_]
    """[fluents] what may be true."""
    one: frozenset[int]
    """The numbers of the groups (`Cases.group`) of which one is true that may be."""


def _kind(
    plain: Solver, state: Sequence[int], values: NDArray[np.bool_], literal: int, group: NDArray[np.int64]
) -> _Kind:
    """Return states like one in which a literal is true, as few demands as come out without a search.

    A stone that bars a move may be of any colour.
    """
    assumed = [x ^ (not value) for x, value in zip(state, values.tolist(), strict=True)]
    if plain.solve(*assumed, literal ^ 1):
        return _Kind(values, frozenset(group[values].tolist()))
    core = plain.core()
    needed = [place for place, x in enumerate(assumed) if x in core]
    true = {int(group[place]): [place] for place in needed if values[place]}
    false = [place for place in needed if not values[place] and int(group[place]) not in true]
    every = [state[place] ^ 1 for place in false]
    for number, places in true.items():
        rest = [state[p] for other, (p, *_) in true.items() if other != number]
        for place in np.flatnonzero(group == number).tolist():
            if place not in places and not plain.solve(*every, *rest, state[place], literal ^ 1):
                places.append(place)
    some = [plain.circuit.any_of([state[place] for place in places]) for places in true.values()]
    if plain.solve(*every, *some, literal ^ 1):
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
    """Return the least weights whose sum no step changes and is greater in states of a kind than at first.

    None where there are no such weights.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix, csr_matrix, hstack, identity, vstack
    except ImportError as error:
        raise MissingExtra("sums that stay the same", "analyse") from error
    every = csr_matrix(steps.astype(np.float64))
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
    rows = np.arange(min(_ROWS, len(steps)))
    while True:
        chosen = every[rows]
        answer: Any = linprog(
            costs,
            A_ub=limits,
            b_ub=most,
            A_eq=hstack([chosen, -chosen, csr_matrix((len(rows), len(numbers)))]),
            b_eq=np.zeros(len(rows)),
            bounds=bounds,
            method="highs",
        )
        if answer.status != 0:
            return None
        values = answer.x[:size] - answer.x[size : 2 * size]
        change = np.abs(every @ values)
        missed = np.flatnonzero(change > 1e-6)
        if not len(missed):
            break
        rows = np.union1d(rows, missed[np.argsort(-change[missed])][:_ROWS])
    unit = np.abs(values[np.abs(values) > 1e-7]).min()
    return whole_weights(values / unit, lambda whole: not (every @ whole).any())


def _stays(cases: Cases, state: Sequence[int], weights: NDArray[np.int64], total: int) -> int | None:
    """Return the literal that a state has a sum; None if there are too many sums to tell apart."""
    circuit = cases.circuit
    together: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(weights).tolist():
        together.setdefault((int(cases.group[place]), int(weights[place])), []).append(state[place])
    sums = {0: 1}
    for (_, weight), literals in together.items():
        some = circuit.any_of(literals)
        sums = added(circuit, sums, ((weight, some), (0, some ^ 1)))
        if len(sums) > _MOST_TOTALS:
            return None
    return sums.get(total, 0)

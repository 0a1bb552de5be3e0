"""Sets of fluents of which always an even number is true, or always an odd one.

In peg solitaire each jump changes three neighbouring holes, one of each colour where the diagonals have three
colours in turn: so the numbers of pegs on two colours stay equal, or different, modulo 2 (de Bruijn 1972).
Candidates are the linear equations modulo 2 that all sampled steps satisfy, until no step violates one.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.invariants.arithmetic import differ
from herbrand.analyse.invariants.cases import Case, StepCases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander
    from herbrand.network.circuit import UnrolledCircuit

__all__ = ["find_parities", "odd"]

_MOST_FLUENTS: Final = 2000
"""The most fluents that change in sampled steps."""
_GAMES: Final = 16
_LATER: Final = 0.1
"""Share of the time for random games to their ends."""
_MOST: Final = 64
"""The most candidates."""


def find_parities(
    expander: Expander, system: System, groups: Sequence[Group], steps: NDArray[np.int8], deadline: float
) -> list[tuple[int, ...]]:
    """Return sets of fluents, by index, of which no step from a state with the groups changes an odd number.

    `steps`, [n, fluents], are sampled changes (`walks.RandomPlay`), to which those that the solver finds are
    added.  What follows from the groups alone is left out.  Raises `BudgetExceeded` past the deadline, a time
    of `time.monotonic`.
    """
    steps = np.concatenate([steps, *_later_changes(expander, deadline)])
    candidates = _candidates(groups, steps)
    if not candidates:
        return []
    with closing(StepCases(system, groups, deadline)) as cases:
        while candidates and cases.list_cases():
            broken = [
                cases.solver_step(case) for case in cases.in_turn() if _is_violated(cases, case, candidates)
            ]
            if not broken:
                return [tuple(sorted(candidate)) for candidate in candidates]
            steps = np.concatenate([steps, cases.changes(expander, broken)])
            candidates = _candidates(groups, steps)
    return []


def _later_changes(expander: Expander, deadline: float) -> Iterator[NDArray[np.int8]]:
    """Yield changes by random moves after 1, 2, ... steps; samples may be of the beginnings of games."""
    rng = np.random.default_rng(0)
    until = time.monotonic() + _LATER * (deadline - time.monotonic())
    for bits in random_states(expander, _GAMES, until):
        states = expander.pack_bits(bits)
        legal = expander.legal(states)
        going = legal.going
        after = expander.bits(expander.step(states[going], legal.sample_joint(rng)[going]))
        yield after.astype(np.int8) - bits[going]


def _is_violated(cases: StepCases, case: Case, candidates: Sequence[frozenset[int]]) -> bool:
    """Return whether a step of a case changes an odd number of a candidate; then the solver has found it."""
    circuit = cases.circuit
    changed = {fluent: differ(circuit, before, after) for fluent, before, after in case.changes}
    wrong = circuit.any_of(
        [odd(circuit, (changed[f] for f in candidate if f in changed)) for candidate in candidates]
    )
    return wrong != 0 and cases.possible(case, wrong)


def odd(circuit: UnrolledCircuit, literals: Iterable[int]) -> int:
    """Return the literal that an odd number of some literals is true."""
    parity = 0
    for literal in literals:
        parity = differ(circuit, parity, literal)
    return parity


def _candidates(groups: Sequence[Group], steps: NDArray[np.int8]) -> list[frozenset[int]]:
    """Return a basis of the sets of which all steps change an even number, without what groups say.

    Of each group of which exactly one fluent is true, or of a sum of such groups, one fluent is in none of
    the sets: the others say whether it is true.
    """
    some = {group.fluents for group in groups if group.some and group.condition < 0}
    used = (steps != 0).any(axis=0)
    exact = np.zeros((len(groups), len(used)), np.bool_)
    for number, group in enumerate(groups):
        if not group.some and group.fluents in some:
            exact[number, list(group.fluents)] = True
    used[_eliminate(exact, np.flatnonzero(used))] = False
    columns = np.flatnonzero(used)
    if not 0 < len(columns) <= _MOST_FLUENTS:
        return []
    rows = np.unique(steps & 1, axis=0).astype(np.bool_)
    pivots = _eliminate(rows, columns)
    free = np.setdiff1d(columns, pivots)
    if len(free) > _MOST:
        return []
    return [
        frozenset([column, *(pivot for row, pivot in enumerate(pivots) if rows[row, column])])
        for column in free.tolist()
    ]


def _eliminate(rows: NDArray[np.bool_], columns: NDArray[np.int64]) -> list[int]:
    """Bring rows into reduced echelon form modulo 2 as to some columns; return the pivots of the rows."""
    pivots: list[int] = []
    for column in columns.tolist():
        rank = len(pivots)
        ones = rank + np.flatnonzero(rows[rank:, column])
        if len(ones):
            rows[[rank, ones[0]]] = rows[[ones[0], rank]]
            others = rows[:, column].copy()
            others[rank] = False
            rows[others] ^= rows[rank]
            pivots.append(column)
    return pivots

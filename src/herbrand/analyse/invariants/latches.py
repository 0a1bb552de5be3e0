"""Bounds on the length of plays: latches, fluents that change at most once, one of them with every step.

In connect four each move fills a cell for good, so there are no more moves than cells.  The search is that
for groups: each fluent is assumed to stay true (or false) once it is, and dropped when a legal step from
a state in which the groups hold violates that.  Where a step may change none of them, such as a pass in
reversi, one must change within two or three steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.bounds import Bound
from herbrand.analyse.invariants.groups import require
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.sat import Solver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group

__all__ = ["find_bound"]

_MOST_STEPS = 3
"""The most steps within which one of the fluents must change."""


def find_bound(
    system: System, groups: Sequence[Group], deadline: float, steps: NDArray[np.int8] | None = None
) -> Bound | None:
    """Return few latches that bound the length of plays, or None where there are none.

    The invariant of the result, to which the groups belong, is left to the caller.

    `steps`, [n, fluents], are sampled changes (`walks.RandomPlay`): with them, only fluents that changed in
    one direction are tried, one function after the other.  Raises `BudgetExceeded` past the deadline.
    """
    if steps is None:
        places = range(len(system.fluent_texts))
        candidates = [(f, rises) for rises in (True, False) for f in places]
        return _bound(system, groups, deadline, candidates)
    for candidates in _likely(system, steps):
        latches = _bound(system, groups, deadline, candidates, steps)
        if latches is not None:
            return latches
    return None


def _bound(
    system: System,
    groups: Sequence[Group],
    deadline: float,
    candidates: Sequence[tuple[int, bool]],
    steps: NDArray[np.int8] | None = None,
) -> Bound | None:
    """Return latches among candidates, each a fluent and whether it rises, or None.

    One of them changes in every step, if one did in all sampled steps, and otherwise within a few.
    """
    circuit = system.circuit
    frame = system.any_state()
    before: list[int] = frame.state.tolist()
    with Solver(circuit, deadline) as solver:
        require(solver, frame.state, groups)
        frame = frame.play(solver).after
        after: list[int] = frame.state.tolist()
        back = [circuit.all_of((before[f] ^ (not rises), after[f] ^ rises)) for f, rises in candidates]
        alive = [candidates[place] for place in solver.unbroken(back, [1] * len(back))]
        if not alive:
            return None
        most = _MOST_STEPS
        if steps is not None:
            changed = (steps[:, [f for f, _ in alive]] != 0).any(axis=1)
            if not changed.any():
                return None
            most = 1 if changed.all() else _MOST_STEPS
        # the failed assumptions are latches of which one must change within these steps
        unchanged: dict[int, tuple[int, bool]] = {}
        for within in range(1, most + 1):
            if within > 1:
                require(solver, frame.state, groups)
                frame = frame.play(solver).after
                before, after = after, frame.state.tolist()
            for f, rises in alive:
                changes = circuit.all_of((before[f] ^ rises, after[f] ^ (not rises)))
                unchanged[changes ^ 1] = f, rises
            if 0 in unchanged:
                chosen = [unchanged[0]]
                break
            if not solver.solve(*unchanged):
                chosen = sorted({unchanged[literal] for literal in solver.core()})
                break
        else:
            return None
    names = system.fluent_texts
    return Bound(
        tuple(names[f] for f, rises in chosen if rises),
        tuple(names[f] for f, rises in chosen if not rises),
        Invariant(""),
        within,
    )


def _likely(system: System, steps: NDArray[np.int8]) -> list[list[tuple[int, bool]]]:
    """Return sets of candidates, fluents and whether they rise, that may bound plays; small ones first.

    Each set has all fluents of a function that changes wherever any candidate does, also those that did not
    change in the sample; the last set has all candidates.
    """
    up, down = (steps > 0), (steps < 0)
    kinds: dict[tuple[str, bool], list[int]] = {}
    names = [text.strip("()").split(" ", 1)[0] for text in system.fluent_texts]
    for rises, changed, back in ((True, up, down), (False, down, up)):
        seen = {names[f] for f in np.flatnonzero(changed.any(axis=0) & ~back.any(axis=0)).tolist()}
        # fluents that did not change in the sample may do so later
        for f in np.flatnonzero(~back.any(axis=0)).tolist():
            if names[f] in seen:
                kinds.setdefault((names[f], rises), []).append(f)
    covered = {kind: (up if kind[1] else down)[:, places].any(axis=1) for kind, places in kinds.items()}
    if not kinds:
        return []
    changing = np.any(list(covered.values()), axis=0)
    enough = [kind for kind, steps_ in covered.items() if (steps_ == changing).all()]
    sets = [[(f, kind[1]) for f in kinds[kind]] for kind in sorted(enough, key=lambda kind: len(kinds[kind]))]
    everything = [(f, kind[1]) for kind, places in kinds.items() for f in places]
    if len(kinds) > 1:
        sets.append(everything)
    return sets

"""Bounds on the length of plays: fluents that change at most once, one of them with every step.

In connect four each move fills a cell for good; so there are no more moves than cells.  Found as
groups are: each fluent is assumed to stay true (or to stay false) and dropped when a legal step from
a state in which the groups hold breaks that.  Where a step may change none of them, as a pass in reversi
does, one must change within two steps, or three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.bounds import Bound
from herbrand.analyse.invariants.groups import demand
from herbrand.analyse.invariants.sat import Solver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.analyse.invariants.invariant import Invariant

__all__ = ["Latches", "find_bound"]

_MOST_STEPS = 3
"""One of the fluents must change within so many steps."""


@dataclass(frozen=True, slots=True)
class Latches:
    """Fluents that rise or fall at most once."""

    rising: tuple[str, ...]
    falling: tuple[str, ...]
    within: int
    """One of them changes in so many steps."""

    def certificate(self, invariant: Invariant) -> Bound:
        """Return them as a certificate."""
        return Bound(self.rising, self.falling, invariant, self.within)


def find_bound(
    system: System, groups: Sequence[Group], deadline: float, steps: NDArray[np.int8] | None = None
) -> Latches | None:
    """Return few fluents that bound the length of plays, or None where there are none.

    `steps`, [n, fluents], are changes that were seen in play (`walks.Play`): then only fluents are tried that
    went one way in them, one function after the other.  Raises `BudgetExceeded` past the deadline.
    """
    if steps is None:
        every = range(len(system.fluent_texts))
        tried = [(f, rises) for rises in (True, False) for f in every]
        return _bound(system, groups, deadline, tried)
    for tried in _likely(system, steps):
        found = _bound(system, groups, deadline, tried, steps)
        if found is not None:
            return found
    return None


def _bound(
    system: System,
    groups: Sequence[Group],
    deadline: float,
    tried: Iterable[tuple[int, bool]],
    steps: NDArray[np.int8] | None = None,
) -> Latches | None:
    """Return those of some fluents, each with whether it rises, of which one changes in any few steps.

    In any step, where one did in all steps that were seen.
    """
    circuit = system.circuit
    frame = system.any_state()
    before: list[int] = frame.state.tolist()
    with Solver(circuit, deadline) as solver:
        for group in groups:
            demand(solver, before, group)
        frame = frame.play(solver).after
        after: list[int] = frame.state.tolist()
        # broken when the fluent goes back
        back = {(f, rises): circuit.all_of((before[f] ^ (not rises), after[f] ^ rises)) for f, rises in tried}
        alive = dict(back)
        while alive:
            some = int(circuit.variables(1)[0])
            solver.add([some ^ 1, *alive.values()])
            if not solver.solve(some):
                break
            model = solver.model()
            alive = {key: literal for key, literal in alive.items() if not model(literal)}
            solver.add([some ^ 1])
        if not alive:
            return None
        most = _MOST_STEPS
        if steps is not None:
            changed = (steps[:, [f for f, _ in alive]] != 0).any(axis=1)
            if not changed.any():
                return None
            most = 1 if changed.all() else _MOST_STEPS
        # one of them changes within a few steps; as few as the solver needs to see it
        still: dict[int, tuple[int, bool]] = {}
        for within in range(1, most + 1):
            if within > 1:
                for group in groups:
                    demand(solver, after, group)
                frame = frame.play(solver).after
                before, after = after, frame.state.tolist()
            for f, rises in alive:
                changes = circuit.all_of((before[f] ^ rises, after[f] ^ (not rises)))
                still[changes ^ 1] = f, rises
            if 0 in still:
                chosen = [still[0]]
                break
            if not solver.solve(*still):
                chosen = sorted({still[literal] for literal in solver.core()})
                break
        else:
            return None
    names = system.fluent_texts
    return Latches(
        tuple(names[f] for f, rises in chosen if rises),
        tuple(names[f] for f, rises in chosen if not rises),
        within,
    )


def _likely(system: System, steps: NDArray[np.int8]) -> list[list[tuple[int, bool]]]:
    """Return sets of fluents, and whether they rise, of which one changed in most steps; small ones first.

    Each has the fluents of one function that changes wherever any such fluent does, the last those of all;
    fluents that did not change at all among them.
    """
    up, down = (steps > 0), (steps < 0)
    kinds: dict[tuple[str, bool], list[int]] = {}
    names = [text.strip("()").split(" ", 1)[0] for text in system.fluent_texts]
    for rises, changed, back in ((True, up, down), (False, down, up)):
        meets = {names[f] for f in np.flatnonzero(changed.any(axis=0) & ~back.any(axis=0)).tolist()}
        for f in np.flatnonzero(~back.any(axis=0)).tolist():  # those that did not change may do so later
            if names[f] in meets:
                kinds.setdefault((names[f], rises), []).append(f)
    covered = {kind: (up if kind[1] else down)[:, places].any(axis=1) for kind, places in kinds.items()}
    if not kinds:
        return []
    some = np.any(list(covered.values()), axis=0)
    enough = [kind for kind, steps_ in covered.items() if (steps_ == some).all()]
    found = [
        [(f, kind[1]) for f in kinds[kind]] for kind in sorted(enough, key=lambda kind: len(kinds[kind]))
    ]
    every = [(f, kind[1]) for kind, places in kinds.items() for f in places]
    if len(kinds) > 1:
        found.append(every)
    return found

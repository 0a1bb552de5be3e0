"""Groups of fluents of which always exactly one, or never two, are true.

Candidates come from how fluents are written: those that differ in some arguments only, such
as all `(cell 1 1 ?)`.  Each that holds at first is assumed of a state, and dropped when a legal
step from such a state breaks it; what is left when nothing breaks any more holds in every
reachable state by induction (Flanagan and Leino 2001, "Houdini").
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.sat import Solver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.frames import System
    from herbrand.network.network import Network

__all__ = ["Group", "candidates", "demand", "find_groups"]

_MOST_PATTERNS = 4
"""Functions with more arguments than this are varied in one argument, or in all."""
_MOST_FLUENTS = 4000
"""Larger candidates are left out."""


@dataclass(frozen=True, slots=True)
class Group:
    """Fluents, by their places in the network, of which one is always true, or never two are."""

    fluents: tuple[int, ...]
    some: bool
    """True: one of them, or more, is always true.  False: never two are."""


def candidates(network: Network) -> list[Group]:
    """Return groups that hold in the initial state and may hold always."""
    terms = network.terms
    found: defaultdict[object, list[int]] = defaultdict(list)
    for place, fluent in enumerate(network.fluents.tolist()):
        args = terms.args[fluent]
        functor = terms.functor[fluent]
        if not args:
            found["constants"].append(place)
            continue
        every = range(len(args))
        sizes = range(1, len(args) + 1) if len(args) <= _MOST_PATTERNS else (1, len(args))
        for size in sizes:
            for varied in combinations(every, size):
                fixed = tuple(arg for i, arg in enumerate(args) if i not in varied)
                found[functor, varied, fixed].append(place)
        found["alike", args].append(place)
    groups = []
    for members in dict.fromkeys(tuple(places) for places in found.values()):
        if not 2 <= len(members) <= _MOST_FLUENTS:
            continue
        true = int(network.initial[list(members)].sum())
        if true == 1:
            groups.append(Group(members, some=True))
        if true <= 1:
            groups.append(Group(members, some=False))
    return groups


def demand(solver: Solver, state: Sequence[int], group: Group, when: int = 1) -> None:
    """Demand that a group holds in a state, when a literal is true."""
    literals = [state[fluent] for fluent in group.fluents]
    if group.some:
        solver.add([when ^ 1, *literals])
        return
    if len(literals) <= 5:
        for i, a in enumerate(literals):
            for b in literals[:i]:
                solver.add((when ^ 1, a ^ 1, b ^ 1))
        return
    seen = solver.circuit.variables(len(literals)).tolist()
    for i, literal in enumerate(literals):
        solver.add((literal ^ 1, seen[i], when ^ 1))
        if i:
            solver.add((seen[i - 1] ^ 1, seen[i], when ^ 1))
            solver.add((seen[i - 1] ^ 1, literal ^ 1, when ^ 1))


def find_groups(system: System, deadline: float, states: NDArray[np.bool_] | None = None) -> list[Group]:
    """Return groups that hold in every reachable state, proved by induction.

    `states`, [n, fluents], are reachable ones: what fails in them the solver need not find out.  A group of
    which exactly one is always true stands there twice, once for each half of that.  Raises
    `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    network = system.network
    alive = candidates(network)
    if states is not None and len(states):
        counts = states.astype(np.float32)
        sums = [counts[:, list(group.fluents)].sum(axis=1) for group in alive]
        alive = [g for g, n in zip(alive, sums, strict=True) if (n >= 1 if g.some else n <= 1).all()]
        lasting = np.flatnonzero(states.all(axis=0) & ~network.always)
        alive += [Group((place,), some=True) for place in lasting.tolist()]
    frame = system.any_state()
    state = frame.state.tolist()
    circuit = system.circuit
    with Solver(circuit, deadline) as solver:
        chosen = circuit.variables(len(alive)).tolist()
        for group, when in zip(alive, chosen, strict=True):
            demand(solver, state, group, when)
        after = frame.play(solver).after.state
        broken = []
        for group in alive:
            literals = after[list(group.fluents)]
            broken.append(circuit.all_of(literals ^ 1) if group.some else circuit.only_one(literals)[1] ^ 1)
        left = np.ones(len(alive), np.bool_)
        while left.any():
            some = int(circuit.variables(1)[0])
            places = np.flatnonzero(left).tolist()
            solver.add([some ^ 1, *(broken[i] for i in places)])
            if not solver.solve(some, *(chosen[i] for i in places)):
                break
            model = solver.model()
            for i in places:
                if model(broken[i]):
                    left[i] = False
            solver.add([some ^ 1])
        return [group for group, stays in zip(alive, left.tolist(), strict=True) if stays]

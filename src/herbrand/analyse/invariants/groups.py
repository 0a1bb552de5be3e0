"""Groups of fluents of which always exactly one, or never two, are true.

Candidates come from how fluents are written: those that differ in some arguments only, such
as all `(cell 1 1 ?)`.  Each that holds at first is assumed of a state, and dropped when a legal
step from such a state breaks it; what is left when nothing breaks any more holds in every
reachable state by induction (Flanagan and Leino 2001, "Houdini").
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.sat import Solver
from herbrand.network.alternatives import alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.network.network import Network

__all__ = ["Group", "candidates", "demand", "exclusive", "find_groups", "find_more", "implied", "observed"]

_FEW = 5
"""Groups of so many fluents are simple."""
_MOST_IMPLYING = 1500
"""With more fluents than this it is not looked for those that imply others."""
_MOST_IMPLIED = 4000
"""So many candidates of that kind are tried."""


@dataclass(frozen=True, slots=True)
class Group:
    """Fluents, by their places in the network, of which one is always true, or never two are."""

    fluents: tuple[int, ...]
    some: bool
    """True: one of them, or more, is always true.  False: never two are."""
    given: int = -1
    """Only in states in which this fluent is true; -1: in all."""


def candidates(network: Network) -> list[Group]:
    """Return groups that hold in the initial state and may hold always."""
    groups = []
    for _, places in alternatives(network.terms, network.fluents.tolist()):
        members = tuple(places)
        true = int(network.initial[list(members)].sum())
        if true == 1:
            groups.append(Group(members, some=True))
        if true <= 1:
            groups.append(Group(members, some=False))
    return groups


def observed(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return the candidates that held in states, [n, fluents], and what was true in all of them."""
    tried = candidates(network)
    counts = states.astype(np.float32)
    sums = [counts[:, list(group.fluents)].sum(axis=1) for group in tried]
    held = [g for g, n in zip(tried, sums, strict=True) if (n >= 1 if g.some else n <= 1).all()]
    lasting = np.flatnonzero(states.all(axis=0) & ~network.always)
    return held + [Group((place,), some=True) for place in lasting.tolist()]


def demand(solver: Solver, state: Sequence[int], group: Group, when: int = 1) -> None:
    """Demand that a group holds in a state, when a literal is true."""
    literals = [state[fluent] for fluent in group.fluents]
    if group.some:
        given = [state[group.given] ^ 1] if group.given >= 0 else []
        solver.add([when ^ 1, *given, *literals])
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


def exclusive(groups: Iterable[Group], fluents: int) -> NDArray[np.int64]:
    """Return a number for each fluent, [fluents]; of fluents with the same number never two are true."""
    found = np.arange(fluents)
    for number, group in enumerate(groups, fluents):
        if not group.some and all(found[fluent] == fluent for fluent in group.fluents):
            found[list(group.fluents)] = number
    return found


def implied(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return what held in states that were seen: one fluent given another, and one of all of some functions.

    Such as a stone given the stone on it, or one of all `(places ?)` and `(rotates ?)`; and that a fluent
    without arguments, such as `first_turn`, is never true together with another.
    """
    terms, fluents = network.terms, network.fluents.tolist()
    groups = _families(network, states)
    if len(fluents) > _MOST_IMPLYING:
        return groups
    bits = states.astype(np.float32)
    met, missing = np.any(states, axis=0), ~np.all(states, axis=0)
    both: NDArray[np.float32] = bits.T @ (1 - bits)
    holds = np.logical_and(both < 0.5, np.outer(met, met & missing))
    np.fill_diagonal(holds, val=False)
    near: list[Group] = []
    far: list[Group] = []
    for f, g in np.argwhere(holds).tolist():
        same = terms.functor[fluents[f]] == terms.functor[fluents[g]]
        a, b = terms.args[fluents[f]], terms.args[fluents[g]]
        different = sum(x != y for x, y in zip(a, b, strict=False))
        (near if same and different == 1 else far).append(Group((g,), some=True, given=f))
    apart = bits.T @ bits < 0.5
    for f in (f for f, fluent in enumerate(fluents) if met[f] and not terms.args[fluent]):
        near += [Group((f, g), some=False) for g in np.flatnonzero(apart[f] & met).tolist()]
    return [*groups, *near, *far][:_MOST_IMPLIED]


def _families(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return groups of all fluents of several functions, of which exactly one was true in each state.

    A part may also be all fluents of a function with the same first argument.
    """
    families: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, fluent in enumerate(network.fluents.tolist()):
        functor, args = network.terms.functor[fluent], network.terms.args[fluent]
        families[functor,].append(place)
        if len(args) > 1:
            families[functor, args[0]].append(place)
    sums = {tuple(places): states[:, places].sum(axis=1) for places in families.values()}
    single = {places: total for places, total in sums.items() if total.max() == 1 and total.min() == 0}
    found: dict[tuple[int, ...], None] = {}
    for places, total in single.items():
        chosen, covered = list(places), total
        for others, more in single.items():
            if others != places and (covered + more).max() <= 1:
                chosen += others
                covered = covered + more
        if covered.min() == 1:
            found[tuple(sorted(chosen))] = None
    return [Group(places, some=some) for places in found for some in (True, False)]


def find_groups(
    system: System,
    deadline: float,
    states: NDArray[np.bool_] | None = None,
    *,
    known: Sequence[Group] = (),
    simple: bool = False,
) -> list[Group]:
    """Return groups that hold in every reachable state, proved by induction; those that are known first.

    `states`, [n, fluents], are reachable ones: what fails in them the solver need not find out.  With
    `simple` only groups of few fluents are tried, and of those that change whatever is moved, such as whose
    turn it is: in large games the others take long.  A group of which exactly one is always true stands there
    twice, once for each half of that.  Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    network = system.network
    tried = observed(network, states) if states is not None and len(states) else candidates(network)
    if simple:
        moved = _moved(network)
        tried = [g for g in tried if len(g.fluents) <= _FEW or not moved[list(g.fluents)].any()]
    return _more(system, known, tried, deadline)


def _moved(network: Network) -> NDArray[np.bool_]:
    """Return the fluents whose next value depends on what is moved."""
    depends = bytearray(network.inputs + network.gates)
    first = 1 + len(network.fluents)
    depends[first : network.inputs] = b"\1" * (network.inputs - first)
    sides = zip((network.left >> 1).tolist(), (network.right >> 1).tolist(), strict=True)
    for node, (a, b) in enumerate(sides, network.inputs):
        depends[node] = depends[a] | depends[b]
    found: NDArray[np.bool_] = np.frombuffer(depends, np.bool_)[network.next >> 1]
    return found


def find_more(
    system: System, known: Sequence[Group], deadline: float, states: NDArray[np.bool_]
) -> list[Group]:
    """Return the groups that are known and what is `implied` besides, proved by induction.

    Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    return _more(system, known, implied(system.network, states), deadline)


def _more(system: System, known: Sequence[Group], tried: Sequence[Group], deadline: float) -> list[Group]:
    """Return the groups that are known and those of some others that hold besides."""
    before = set(known)
    fresh = [group for group in tried if group not in before]
    return [*known, *_kept(system, known, fresh, deadline)] if fresh else list(known)


def _kept(system: System, known: Sequence[Group], tried: Sequence[Group], deadline: float) -> list[Group]:
    """Return those of some groups that no step breaks from states in which they and the known ones hold."""
    frame = system.any_state()
    state = frame.state.tolist()
    circuit = system.circuit
    with Solver(circuit, deadline) as solver:
        for group in known:
            demand(solver, state, group)
        chosen = circuit.variables(len(tried)).tolist()
        for group, when in zip(tried, chosen, strict=True):
            demand(solver, state, group, when)
        after = frame.play(solver).after.state
        broken = []
        for group in tried:
            literals = after[list(group.fluents)]
            if group.given >= 0:
                literals = np.append(literals, after[group.given] ^ 1)
            broken.append(circuit.all_of(literals ^ 1) if group.some else circuit.only_one(literals)[1] ^ 1)
        left = np.ones(len(tried), np.bool_)
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
    return [group for group, stays in zip(tried, left.tolist(), strict=True) if stays]

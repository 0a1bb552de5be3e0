"""Groups of fluents of which always exactly one, or never two, are true.

Candidates come from the form of fluents: those that differ in some arguments only, such
as all `(cell 1 1 ?)`.  All that hold initially are assumed of a state, and one is dropped when a legal
step from such a state violates it.  At the fixpoint the rest holds in every reachable state by induction
(Flanagan and Leino 2001, "Houdini").
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.sat import Solver
from herbrand.network.alternatives import alternatives

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.network.network import Network

__all__ = [
    "Group",
    "arguments_at",
    "candidate_groups",
    "depends_on_moves",
    "families_of",
    "filling_groups",
    "find_groups",
    "find_more",
    "holding_groups",
    "implied_groups",
    "invariant_of",
    "number_exclusive",
    "observed_groups",
    "prove_groups",
    "require",
    "turn_groups",
]

_FEW = 5
"""Most fluents of a simple group."""
_EXPECTED = 5
"""States with both of two fluents that are expected at least, if they are said never to be true together."""
_EMPTY = 0.05
"""Share of the states in which no fluent of a function is true, at least, if others take its place there."""
_OFTEN = 0.25
"""Share of such states in which a fluent is true that does."""
_MOST_FILLS = 200
"""The most fluents, and the most pairs, of which one takes the place."""
_MOST_IMPLYING = 1500
"""Most fluents of a game in which implications between fluents are tried."""
_MOST_IMPLIED = 4000
"""The most candidates from `implied_groups`."""


@dataclass(frozen=True, slots=True)
class Group:
    """Fluents, by index in the network, of which always at least one, or never two, are true."""

    fluents: tuple[int, ...]
    some: bool
    """True: at least one is always true.  False: never two are."""
    condition: int = -1
    """The group holds in states in which this fluent is true; -1: in all."""


def candidate_groups(network: Network) -> list[Group]:
    """Return the candidates that hold in the initial state."""
    groups = []
    for _, places in alternatives(network.terms, network.fluents.tolist()):
        members = tuple(places)
        true = int(network.initial[list(members)].sum())
        if true == 1:
            groups.append(Group(members, some=True))
        if true <= 1:
            groups.append(Group(members, some=False))
    return groups


def observed_groups(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return the candidates that hold in given states, [n, fluents], and fluents that are true in all."""
    lasting = np.flatnonzero(states.all(axis=0) & ~network.always)
    return holding_groups(candidate_groups(network), states) + [
        Group((place,), some=True) for place in lasting.tolist()
    ]


def holding_groups(groups: Iterable[Group], states: NDArray[np.bool_]) -> list[Group]:
    """Return the groups that hold in all of some states, [n, fluents]."""
    counts = states.astype(np.float32)
    holding = []
    for group in groups:
        number = counts[:, list(group.fluents)].sum(axis=1)
        if group.condition >= 0:
            number = number[states[:, group.condition]]
        if (number >= 1 if group.some else number <= 1).all():
            holding.append(group)
    return holding


def require(solver: Solver, state: NDArray[np.int32], groups: Iterable[Group], when: int = 1) -> None:
    """Require that groups hold in a state if the literal `when` is true."""
    for group in groups:
        literals = state[list(group.fluents)].tolist()
        if not group.some:
            solver.at_most_one(literals, when)
            continue
        condition = [int(state[group.condition]) ^ 1] if group.condition >= 0 else []
        solver.add([when ^ 1, *condition, *literals])


def number_exclusive(groups: Iterable[Group], fluents: int) -> NDArray[np.int64]:
    """Number the fluents, [fluents], so that two with one number are never both true; groups in order."""
    numbers = np.arange(fluents)
    for number, group in enumerate(groups, fluents):
        if not group.some and all(numbers[fluent] == fluent for fluent in group.fluents):
            numbers[list(group.fluents)] = number
    return numbers


def implied_groups(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return further candidates from sampled states, [n, fluents].

    These are at least one of all fluents of a function, such as the pieces on a board; implications between
    two fluents, such as from a stone to the one under it; exactly one of all fluents of some functions, such
    as `(places ?)` and `(rotates ?)`; and fluents that are never true together with one that has no
    arguments, such as `first_turn`.
    """
    terms, fluents = network.terms, network.fluents.tolist()
    groups = [*_families(network, states), *_never_empty(network, states)]
    if len(fluents) > _MOST_IMPLYING:
        return groups
    bits = states.astype(np.float32)
    ever, missing = np.any(states, axis=0), ~np.all(states, axis=0)
    one_alone: NDArray[np.float32] = bits.T @ (1 - bits)
    holds = np.logical_and(one_alone < 0.5, np.outer(ever, ever & missing))
    np.fill_diagonal(holds, val=False)
    near: list[Group] = []
    far: list[Group] = []
    for f, g in np.argwhere(holds).tolist():
        same = terms.functor[fluents[f]] == terms.functor[fluents[g]]
        a, b = terms.args[fluents[f]], terms.args[fluents[g]]
        different = sum(x != y for x, y in zip(a, b, strict=False))
        (near if same and different == 1 else far).append(Group((g,), some=True, condition=f))
    apart = bits.T @ bits < 0.5
    for f in (f for f, fluent in enumerate(fluents) if ever[f] and not terms.args[fluent]):
        near += [Group((f, g), some=False) for g in np.flatnonzero(apart[f] & ever).tolist()]
    return [*groups, *near, *far][:_MOST_IMPLIED]


def _never_empty(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return groups of all fluents of a function, or with one last argument, of which one always was true.

    Fluents that were true in each state are left out: there is more on a board than its holes.
    """
    varying = np.flatnonzero(~np.all(states, axis=0)).tolist()
    families = families_of(network, lambda args: ((), args[-1:]), varying)
    return [
        Group(places, some=True)
        for places in dict.fromkeys(map(tuple, families))
        if states[:, list(places)].any(axis=1).all()
    ]


def arguments_at(positions: Iterable[int], args: tuple[int, ...]) -> tuple[int, ...]:
    """Return the arguments at some positions, as far as there are any."""
    return tuple(args[i] for i in positions if -len(args) <= i < len(args))


def families_of(
    network: Network,
    alike: Callable[[tuple[int, ...]], Iterable[Hashable]],
    places: Iterable[int] | None = None,
) -> list[list[int]]:
    """Return fluents, by index, of one function for which `alike` gives an equal element, for each element.

    `alike` gets the arguments of a fluent.  With `places`, only these fluents are looked at.
    """
    families: defaultdict[tuple[int, Hashable], list[int]] = defaultdict(list)
    functors, args = network.terms.functor, network.terms.args
    for place in range(len(network.fluents)) if places is None else places:
        fluent = int(network.fluents[place])
        for key in alike(args[fluent]):
            families[functors[fluent], key].append(place)
    return list(families.values())


def filling_groups(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return groups of one or two fluents of which one was true in each state, [n, fluents].

    Further, of all fluents of a function and such one or two: in kalaha no pit is next, `(at ?)`, only while
    the hand is empty, `(hand north s0)`.  All only as far as there are few.
    """
    lasting = states.all(axis=0)
    groups = []
    for places in ([], *families_of(network, lambda _: [()])):
        empty = states[~states[:, places].any(axis=1)]
        if len(empty) <= _EMPTY * len(states):
            continue
        often = (empty.mean(axis=0) > _OFTEN) & ~lasting
        absent = ~empty[:, often]
        never: NDArray[np.bool_] = absent.T.astype(np.float32) @ absent.astype(np.float32) < 0.5
        alone = never.diagonal()
        pairs = np.argwhere(np.triu(never, 1))  # also of one that seems to be enough alone, and may not be
        names = np.flatnonzero(often)
        for fill in (names[alone].reshape(-1, 1), names[pairs]):
            if len(fill) <= _MOST_FILLS:
                groups += [Group((*places, *some), some=True) for some in fill.tolist()]
    return groups


def turn_groups(groups: Sequence[Group], states: NDArray[np.bool_]) -> list[Group]:
    """Return pairs of fluents that never both were true in states, [n, fluents], though one could expect it.

    The first is of a group of few fluents of which one is always true, such as `(control ?)`: that tells what
    can be the case in whose turn.
    """
    few = [group.fluents for group in groups if group.some and 1 < len(group.fluents) <= _FEW]
    turns = sorted(
        {fluent for group in groups if not group.some and group.fluents in few for fluent in group.fluents}
    )
    counts = states.sum(axis=0)
    together: NDArray[np.float32] = states[:, turns].T.astype(np.float32) @ states.astype(np.float32)
    expected = np.outer(counts[turns], counts) / max(len(states), 1)
    return [
        Group((turns[k], place), some=False)
        for k, place in np.argwhere((together < 0.5) & (expected > _EXPECTED)).tolist()
        if turns[k] != place
    ]


def _families(network: Network, states: NDArray[np.bool_]) -> list[Group]:
    """Return groups of all fluents of several families, of which exactly one was true in each state.

    A family is all fluents of a function, or those with the same first argument.
    """
    families = families_of(network, lambda args: ((), args[:1]) if len(args) > 1 else ((),))
    sums = {tuple(places): states[:, places].sum(axis=1) for places in families}
    single = {places: total for places, total in sums.items() if total.max() == 1 and total.min() == 0}
    exact: dict[tuple[int, ...], None] = {}
    for places, total in single.items():
        chosen, covered = list(places), total
        for others, more in single.items():
            if others != places and (covered + more).max() <= 1:
                chosen += others
                covered = covered + more
        if covered.min() == 1:
            exact[tuple(sorted(chosen))] = None
    return [Group(places, some=some) for places in exact for some in (True, False)]


def find_groups(
    system: System,
    deadline: float,
    states: NDArray[np.bool_] | None = None,
    *,
    known: Sequence[Group] = (),
    simple: bool = False,
) -> list[Group]:
    """Return groups that hold in every reachable state, proved by induction; the `known` ones first.

    `states`, [n, fluents], are reachable ones, which refute candidates cheaply.  With `simple`, only groups
    of few fluents are tried, and of fluents that do not depend on moves, such as whose turn it is: in large
    games the others take long.  A group of which exactly one is always true is returned twice, once with
    `some` and once without.  Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    network = system.network
    fresh = (
        observed_groups(network, states) if states is not None and len(states) else candidate_groups(network)
    )
    if simple:
        dependent = depends_on_moves(network)
        fresh = [g for g in fresh if len(g.fluents) <= _FEW or not dependent[list(g.fluents)].any()]
    return _extended(system, known, fresh, deadline)


def prove_groups(system: System, groups: Sequence[Group], deadline: float) -> list[Group]:
    """Return those of some groups, which hold initially, that hold in every reachable state by induction.

    Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    return _inductive(system, (), groups, deadline) if groups else []


def invariant_of(
    texts: Sequence[str],
    groups: Sequence[Group],
    name: str = "",
    sums: Iterable[Mapping[int, int]] = (),
    parities: Iterable[tuple[int, ...]] = (),
    clauses: Iterable[Iterable[tuple[int, bool]]] = (),
) -> Invariant:
    """Return groups, constant sums, parities and clauses as an invariant by names of fluents, `texts`.

    `name` is the fault that it excludes.
    """
    never_two = {group.fluents for group in groups if not group.some}
    some = [group.fluents for group in groups if group.some and group.condition < 0]
    implied = [[(g.condition, False), *((f, True) for f in g.fluents)] for g in groups if g.condition >= 0]
    exactly = [fluents for fluents in some if fluents in never_two]

    def named(some: Iterable[tuple[int, ...]]) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(texts[f] for f in fluents) for fluents in some)

    rest = [[(f, True) for f in fluents] for fluents in some if fluents not in never_two]
    return Invariant(
        name,
        named(exactly),
        named(sorted(never_two.difference(exactly))),
        tuple(tuple((texts[f], value) for f, value in clause) for clause in (*rest, *implied, *clauses)),
        tuple(tuple((texts[f], weight) for f, weight in weights.items()) for weights in sums),
        named(parities),
    )


def depends_on_moves(network: Network) -> NDArray[np.bool_]:
    """Return which fluents, [fluents], have a next value that depends on moves."""
    depends = bytearray(network.inputs + network.gates)
    first = 1 + len(network.fluents)
    depends[first : network.inputs] = b"\1" * (network.inputs - first)
    sides = zip((network.left >> 1).tolist(), (network.right >> 1).tolist(), strict=True)
    for node, (a, b) in enumerate(sides, network.inputs):
        depends[node] = depends[a] | depends[b]
    dependent: NDArray[np.bool_] = np.frombuffer(depends, np.bool_)[network.next >> 1]
    return dependent


def find_more(
    system: System, known: Sequence[Group], deadline: float, states: NDArray[np.bool_]
) -> list[Group]:
    """Return the known groups and those of `implied_groups`, proved by induction.

    Raises `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    return _extended(system, known, implied_groups(system.network, states), deadline)


def _extended(system: System, known: Sequence[Group], tried: Sequence[Group], deadline: float) -> list[Group]:
    """Return the known groups and those of the tried ones that hold, too."""
    before = set(known)
    fresh = [group for group in tried if group not in before]
    return [*known, *_inductive(system, known, fresh, deadline)] if fresh else list(known)


def _inductive(
    system: System, known: Sequence[Group], assumed: Sequence[Group], deadline: float
) -> list[Group]:
    """Return the largest set of groups that is inductive together with the known ones."""
    frame = system.any_state()
    circuit = system.circuit
    with Solver(circuit, deadline) as solver:
        require(solver, frame.state, known)
        selectors = circuit.variables(len(assumed)).tolist()
        for group, when in zip(assumed, selectors, strict=True):
            require(solver, frame.state, [group], when)
        after = frame.play(solver).after.state
        broken = []
        for group in assumed:
            literals = after[list(group.fluents)]
            if group.condition >= 0:
                literals = np.append(literals, after[group.condition] ^ 1)
            broken.append(circuit.all_of(literals ^ 1) if group.some else circuit.only_one(literals)[1] ^ 1)
        return [assumed[place] for place in solver.unbroken(broken, selectors)]

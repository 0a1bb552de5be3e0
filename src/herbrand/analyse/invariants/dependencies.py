"""Functional dependencies of derived relations: some arguments of an atom determine the others.

In reversi a balance is counted square by square, `(balance a 1 65)`, `(balance b 1 64)`, and so on; square by
square there is exactly one number.  A SAT solver that is asked only about the last square does not find out,
for it would have to go through all boards.  Asked about one square after the other, with what is known about
the ones before, it answers at once.

Candidates are all keys, sets of arguments, that determine the rest of a relation in sampled states
(dependency discovery: Mannila and Räihä 1994); atoms with equal keys are a group of which one is true at a
time.  Groups are proved in the order of the network, each with the help of those before it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.counters import trailing_number
from herbrand.analyse.invariants.derived import DerivedGroup
from herbrand.analyse.invariants.exposed import exposed_atoms
from herbrand.analyse.invariants.groups import Group, number_exclusive, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.engine.expand import Expander
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import Frame, System
    from herbrand.network.network import Network

__all__ = ["exclude_by_dependencies"]

_STATES = 512
"""States of each kind that refute candidates."""
_MOST_ARGUMENTS = 8
_MOST_ATOMS = 100_000
_SHARE = 0.3
"""Share of the time that is left for the proof of one group."""


def exclude_by_dependencies(
    system: System,
    groups: Sequence[Group],
    states: NDArray[np.bool_],
    wanted: Callable[[Frame], int],
    deadline: float,
) -> list[DerivedGroup] | None:
    """Return groups of derived atoms that exclude wanted states, together with groups of fluents; or None.

    The system is of a game from `exposed.expose`.  `states`, [n, fluents], are some reachable ones.  Raises
    `BudgetExceeded` past the deadline, a time of `time.monotonic`.
    """
    network = system.network
    if len(network.sees) > _MOST_ATOMS:
        return None
    candidates = list(_candidates(network, _samples(network, groups, states)))
    if not candidates:
        return None
    candidates.sort(key=lambda group: int((network.sees[group] >> 1).max()))
    names = exposed_atoms(network)
    frame = system.any_state()
    atoms = frame.sees()
    proved: list[DerivedGroup] = []
    with Solver(system.circuit, deadline) as solver:
        require(solver, frame.state, groups)
        for members in candidates:
            some = _require_if_proved(solver, atoms[members], deadline)
            if some is not None:
                proved.append(DerivedGroup(tuple(names[place] for place in members.tolist()), some))
        return proved if proved and not solver.solve(wanted(frame)) else None


def _require_if_proved(solver: Solver, atoms: NDArray[np.int32], deadline: float) -> bool | None:
    """Require that never two of some atoms are true, and if possible that one is, if that is proved.

    Return whether one always is; None if two may be, or it takes too long.
    """
    within = solver.deadline
    solver.deadline = time.monotonic() + _SHARE * (deadline - time.monotonic())
    try:
        literals = atoms.tolist()
        if solver.solve(solver.circuit.only_one(literals)[1] ^ 1):
            return None
        solver.at_most_one(literals)
        some = not solver.solve(*(literal ^ 1 for literal in literals))
        if some:
            solver.add(literals)
    except BudgetExceeded:
        if time.monotonic() > deadline:
            raise
        return None
    finally:
        solver.deadline = within
    return some


def _candidates(network: Network, samples: NDArray[np.bool_]) -> Iterator[NDArray[np.int64]]:
    """Yield groups of percepts, by index, of which never two occur in samples, [states, fluents]."""
    terms = network.terms
    values = _percepts(network, samples)
    relations: defaultdict[tuple[int, int], list[tuple[tuple[int, ...], int]]] = defaultdict(list)
    for place, term in enumerate(network.percepts[:, 1].tolist()):
        atom = terms.args[term][0]
        arguments = terms.args[atom]
        relations[terms.functor[atom], len(arguments)].append((arguments, place))
    for (_, arity), rows in relations.items():
        keys: list[tuple[int, ...]] = []
        if not 0 < arity <= _MOST_ARGUMENTS:
            continue
        # neighbours in the order of numbers are neighbours in the next group, too: proofs are short then
        rows.sort(key=lambda row: [_number(terms.text(argument)) for argument in row[0]])
        for size in range(arity):
            for key in combinations(range(arity), size):
                if any(set(shorter) <= set(key) for shorter in keys):
                    continue
                by_key: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
                for arguments, place in rows:
                    by_key[tuple(arguments[i] for i in key)].append(place)
                if all(_never_two([values[place] for place in places]) for places in by_key.values()):
                    keys.append(key)
                    yield from (np.array(places) for places in by_key.values() if len(places) > 1)


def _number(text: str) -> tuple[int, str]:
    """Return what orders arguments by the number at their end."""
    number = trailing_number(text)
    return (-1, text) if number is None else (number, "")


def _never_two(values: Sequence[int]) -> bool:
    """Return whether no two numbers have a common bit."""
    seen = 0
    for value in values:
        if seen & value:
            return False
        seen |= value
    return True


def _percepts(network: Network, samples: NDArray[np.bool_]) -> list[int]:
    """Return the values of percepts in samples, a bit for each state; moves are not made."""
    expander = Expander(network)
    no_moves = np.full((len(samples), len(network.roles)), -1, np.int32)
    seen = expander.percepts(expander.pack_bits(samples), no_moves)
    columns = np.packbits(seen, axis=0, bitorder="little").T
    return [int.from_bytes(column.tobytes(), "little") for column in columns]


def _samples(network: Network, groups: Sequence[Group], reachable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return states, [n, fluents]: some reachable ones, and random ones in which groups hold."""
    rng = np.random.default_rng(0)
    states = np.zeros((_STATES, len(network.fluents)), np.bool_)
    numbers = number_exclusive(groups, len(network.fluents))
    full = {frozenset(group.fluents) for group in groups if group.some and group.condition < 0}
    for number in np.unique(numbers):
        places = np.flatnonzero(numbers == number)
        choices = len(places) + (frozenset(places.tolist()) not in full)
        chosen = rng.integers(0, choices, _STATES)
        rows = np.flatnonzero(chosen < len(places))
        states[rows, places[chosen[rows]]] = True
    return np.concatenate([reachable[rng.permutation(len(reachable))[:_STATES]], states])

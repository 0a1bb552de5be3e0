"""States as assignments of Boolean variables: fluents of which one is true share a few variables.

The value of a part (`parts`) is in binary: three fluents take two variables instead of three.  A variable
has a primed one beside it, for values after a step.

The order of parts decides how large diagrams are.  `orders` proposes several: by the arguments of the
fluents, forwards and backwards, as the cells of a board lie in rows or columns, and by their interaction in
the gates (FORCE; Aloul, Markov and Sakallah 2003); and each with the parts first on which nearly everything
depends.
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from oxidd.bcdd import BCDDFunction, BCDDManager

from herbrand.draw.terms import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.analyse.counting.parts import StatePart
    from herbrand.network.network import Network

__all__ = ["Diagram", "Encoding", "orders"]

Diagram: TypeAlias = BCDDFunction
"""A set of states, or a relation between them, as a binary decision diagram with complemented edges."""

_FORCE_ROUNDS = 60
_HUB = 0.6
"""A part that shares gates with this fraction of the others is a hub."""


class Encoding:
    """The variables of a manager, and each value as a diagram."""

    def __init__(self, parts: Sequence[StatePart], fluents: int, nodes: int, cache: int) -> None:
        """Create a manager for at most `nodes` nodes, with a cache for a number of results of operations."""
        self.parts = parts
        self.manager = BCDDManager(nodes, cache, 1)
        count = sum(part.bits for part in parts)
        self.manager.add_vars(2 * count)
        self.true, self.false = self.manager.true(), self.manager.false()
        self.current: list[list[Diagram]] = []
        self.primed: list[list[Diagram]] = []
        self._primed_numbers: list[list[int]] = []
        first = 0
        for part in parts:
            self.current.append([self.manager.var(2 * (first + i)) for i in range(part.bits)])
            self.primed.append([self.manager.var(2 * (first + i) + 1) for i in range(part.bits)])
            self._primed_numbers.append([2 * (first + i) + 1 for i in range(part.bits)])
            first += part.bits
        self.part_of = [0] * fluents
        self.literals: list[Diagram] = [self.false] * fluents
        for number, part in enumerate(parts):
            for fluent in part.fluents:
                self.part_of[fluent] = number
                self.literals[fluent] = self.value(number, part.code(fluent))

    def value(self, part: int, code: int) -> Diagram:
        """Return the states in which a part has a value."""
        literals = [v if code >> i & 1 else ~v for i, v in enumerate(self.current[part])]
        return reduce(and_, reversed(literals), self.true)

    def codes(self, fluents: Iterable[int]) -> list[int]:
        """Return the value of each part in a state with these fluents."""
        codes = [0] * len(self.parts)
        for fluent in fluents:
            number = self.part_of[fluent]
            codes[number] = self.parts[number].code(fluent)
        return codes

    def state(self, codes: Sequence[int]) -> Diagram:
        """Return the set of one state, by the values of its parts."""
        # from the last variable to the first: each conjunction adds one node
        return reduce(and_, (self.value(i, codes[i]) for i in reversed(range(len(codes)))), self.true)

    def cube(self, parts: Iterable[int]) -> Diagram:
        """Return the variables of some parts, to quantify over."""
        variables = (variable for part in sorted(parts, reverse=True) for variable in self.current[part])
        return reduce(and_, variables, self.true)

    def unprimed(self, diagram: Diagram, parts: Iterable[int]) -> Diagram:
        """Return a diagram with the variables of some parts in the place of their primed ones."""
        pairs = [
            (primed, variable)
            for part in parts
            for primed, variable in zip(self._primed_numbers[part], self.current[part], strict=True)
        ]
        return diagram.substitute(BCDDFunction.make_substitution(pairs))


def orders(network: Network, parts: Sequence[StatePart]) -> dict[str, list[StatePart]]:
    """Return orders of parts to try, by name."""
    names = [_name(network, part) for part in parts]
    forwards = sorted(range(len(parts)), key=lambda i: names[i])
    backwards = sorted(range(len(parts)), key=lambda i: (names[i][:1], names[i][1:][::-1]))
    pins, first = _interaction(network, parts)
    candidates = {
        "forwards": forwards,
        "backwards": backwards,
        "force": _force(forwards, pins),
        "force backwards": _force(backwards, pins),
    }
    distinct: dict[tuple[int, ...], str] = {}
    for name, order in candidates.items():
        distinct.setdefault(tuple(order), name)
    for name, order in candidates.items():
        distinct.setdefault((*first, *(i for i in order if i not in first)), f"{name}, hubs first")
    return {name: [parts[i] for i in order] for order, name in distinct.items()}


def _name(network: Network, part: StatePart) -> tuple[tuple[object, ...], ...]:
    """Return the relation and the arguments that the fluents of a part have in common."""
    terms = network.terms
    fluents = [int(network.fluents[fluent]) for fluent in part.fluents]
    rows = [(terms.functors[terms.functor[f]][0], *map(terms.text, terms.args[f])) for f in fluents]
    common = [column[0] for column in zip(*rows, strict=False) if len(set(column)) == 1]
    return tuple(tuple(natural(name)) for name in common)


def _interaction(network: Network, parts: Sequence[StatePart]) -> tuple[list[list[int]], list[int]]:
    """Return the sets of parts that meet in gates and successors, and the parts that meet most others."""
    part_of = np.zeros(len(network.fluents), np.int64)
    for number, part in enumerate(parts):
        part_of[list(part.fluents)] = number
    support: list[frozenset[int]] = [frozenset()] * (network.inputs + network.gates)
    for fluent, number in enumerate(part_of.tolist()):
        support[1 + fluent] = frozenset((number,))
    limit = max(4, len(parts) // 3)
    pins = set()
    for gate, (a, b) in enumerate(zip(network.left.tolist(), network.right.tolist(), strict=True)):
        both = support[a >> 1] | support[b >> 1]
        if len(both) <= limit:
            support[network.inputs + gate] = both
            if len(both) > 1:
                pins.add(both)
        # a larger set says little about which parts belong together, and is left out
    for fluent, literal in enumerate(network.next.tolist()):
        both = support[literal >> 1] | {int(part_of[fluent])}
        if len(both) > 1:
            pins.add(both)
    neighbours: list[set[int]] = [set() for _ in parts]
    for pin in pins:
        for number in pin:
            neighbours[number] |= pin
    hubs = [i for i, near in enumerate(neighbours) if len(near) > _HUB * len(parts) and len(parts) > 4]
    return [sorted(pin) for pin in pins], hubs


def _force(order: Sequence[int], pins: Sequence[Sequence[int]]) -> list[int]:
    """Move every part to the mean of the centres of its sets, until the sets no longer get narrower."""
    best, narrowest = list(order), np.inf
    place = np.empty(len(order))
    place[list(order)] = np.arange(len(order))
    if not pins:
        return best
    members = np.concatenate([np.asarray(pin) for pin in pins])
    sizes = np.array([len(pin) for pin in pins])
    owner = np.repeat(np.arange(len(pins)), sizes)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    for _ in range(_FORCE_ROUNDS):
        spots = place[members]
        width = float((np.maximum.reduceat(spots, starts) - np.minimum.reduceat(spots, starts)).sum())
        if width < narrowest:
            best, narrowest = np.argsort(place).tolist(), width
        centres = np.add.reduceat(spots, starts) / sizes
        total = np.bincount(members, centres[owner], len(order))
        times = np.bincount(members, minlength=len(order))
        pull = np.where(times > 0, total / np.maximum(times, 1), place)
        place = np.empty(len(order))
        place[np.argsort(pull, kind="stable")] = np.arange(len(order))
    return best

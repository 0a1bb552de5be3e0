"""Sets of states that are too large for anything but the core (`core.Diagrams`), and the steps between them.

The rules are small diagrams of Boolean variables (`relation`).  Here the variables of a part become digits
with up to four values, one level each, and all effects of the moves become one relation between states: the
image of a set is one walk over both, however many moves there are.  Parts that change by themselves are no
part of the sets, since their values are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakSet

import numpy as np

from herbrand.core import Diagrams

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from herbrand.analyse.counting.encoding import Diagram, Encoding
    from herbrand.analyse.counting.relation import MoveEffect, Relation

__all__ = ["StateSets", "SymbolicSet"]

_DIGIT_BITS: Final = 2


class SymbolicSet:
    """A set of states; as long as there is such an object, its diagram is not forgotten."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        """Its number in `core.Diagrams`: equal sets have equal numbers."""

    def __bool__(self) -> bool:
        """Whether there is a state in it."""
        return self.number != 0


class StateSets:
    """Sets of states of a game, and its steps from one to the next."""

    def __init__(self, relation: Relation, megabytes: float) -> None:
        self._relation = relation
        self._digits = _Digits(relation.encoding)
        self.diagrams = Diagrams(self._digits.values, int(megabytes * 1e6))
        self._live: WeakSet[SymbolicSet] = WeakSet()
        self._translated: dict[object, int] = {}
        """Relations of the core by their definitions; they are needed until the end."""

    def new(self, number: int) -> SymbolicSet:
        """Return a set by its number."""
        states = SymbolicSet(number)
        self._live.add(states)
        return states

    def initial(self) -> SymbolicSet:
        """Return the set of the initial state."""
        return self._state(self._relation.initial_codes)

    def state(self, fluents: Iterable[int]) -> SymbolicSet:
        """Return the set of the state with some fluents."""
        codes = self._relation.encoding.codes(fluents)
        return self._state({part: codes[part] for part in self._relation.initial_codes})

    def _state(self, codes: Mapping[int, int]) -> SymbolicSet:
        return self.new(self.diagrams.state(self._digits.of_state(codes)))

    def going_on(self, states: SymbolicSet, step: int) -> SymbolicSet:
        """Return the states of a set, reached after a number of steps, in which the game is not over."""
        for conjunct in self._relation.ending(step):
            states = self.where(states, conjunct)
        for literal in self._relation.large:
            states = self.satisfying(states, literal, step, {})
        return states

    def satisfying(
        self, states: SymbolicSet, literal: int, step: int, cache: dict[int, SymbolicSet]
    ) -> SymbolicSet:
        """Return the states of a set, after a number of steps, in which a literal of the network is true.

        Large conditions, such as that there is some row of four discs, are taken apart: as a diagram of all
        states, reachable or not, they could be far larger than any set of reachable ones.  `cache` collects
        the states in which gates are true, for calls with the same set and step.
        """
        relation = self._relation
        for node in relation.gates_below(literal, cache, lambda node: relation.small(2 * node) is not None):
            condition = relation.small(2 * node)
            if condition is not None:
                cache[node] = self.where(states, relation.at(step, condition))
                continue
            left, right = (
                self.subtract(states, cache[side >> 1]) if side & 1 else cache[side >> 1]
                for side in relation.operands(2 * node)
            )
            cache[node] = self.intersect(left, right)
        return self.subtract(states, cache[literal >> 1]) if literal & 1 else cache[literal >> 1]

    def image(self, states: SymbolicSet, step: int) -> SymbolicSet:
        """Return the successors of states, after a number of steps, in which the game is not over."""
        return self._do(self.diagrams.image, states, self._effects(step))

    def before(self, states: SymbolicSet, step: int) -> SymbolicSet:
        """Return the states after some steps, reachable or not, from which a move leads into a set."""
        return self._do(self.diagrams.image, states, self._effects(step, backwards=True))

    def where(self, states: SymbolicSet, condition: Diagram) -> SymbolicSet:
        """Return the states of a set for which a condition holds."""
        if condition not in self._translated:
            self._translated[condition] = self._digits.translated(self.diagrams, condition)
        return self._do(self.diagrams.image, states, self._translated[condition])

    def within(self, states: SymbolicSet, others: Diagram) -> bool:
        """Return whether all states of a set are in a small one."""
        limit = self._digits.translated(self.diagrams, others)
        return self._do(self.diagrams.image, states, limit).number == states.number

    def unite(self, a: SymbolicSet, b: SymbolicSet) -> SymbolicSet:
        """Return the states of either set."""
        return self._do(self.diagrams.unite, a, b.number)

    def intersect(self, a: SymbolicSet, b: SymbolicSet) -> SymbolicSet:
        """Return the states of both sets."""
        return self._do(self.diagrams.intersect, a, b.number)

    def subtract(self, a: SymbolicSet, b: SymbolicSet) -> SymbolicSet:
        """Return the states of the first set that are not in the second."""
        return self._do(self.diagrams.subtract, a, b.number)

    def measure(self, states: SymbolicSet, *others: int) -> tuple[int, int]:
        """Return the number of states in a set, and of nodes; forget all sets without an object.

        Diagrams with the numbers `others` are not forgotten either.
        """
        live = (some.number for some in self._live)
        count, nodes = self.diagrams.collect([states.number, *others, *live, *self._translated.values()])
        return count, nodes

    def _do(self, operation: Callable[[int, int], int], states: SymbolicSet, other: int) -> SymbolicSet:
        try:
            return self.new(operation(states.number, other))
        except MemoryError:  # some of it may belong to sets that are no longer needed
            self.measure(states, other)
            return self.new(operation(states.number, other))

    def _effects(self, step: int, *, backwards: bool = False) -> int:
        """Return the union of all effects that are possible after a number of steps, or its inverse."""
        relations = []
        for effect in self._relation.active_effects(step):
            relations_of = tuple((part, *some) for part, some in effect.relations.items())
            key: object = (backwards, effect.condition, tuple(effect.constants.items()), relations_of)
            if key not in self._translated:
                self._translated[key] = self._digits.translated(
                    self.diagrams, effect.condition, effect, backwards=backwards
                )
            relations.append(self._translated[key])
        key = tuple(relations)
        if key not in self._translated:
            while len(relations) > 1:
                pairs = zip(relations[::2], [*relations[1::2], 0], strict=False)
                relations = [self.diagrams.unite_relations(a, b) for a, b in pairs]
            self._translated[key] = relations[0] if relations else 0
        return self._translated[key]


class _Digits:
    """The variables of an encoding as digits."""

    def __init__(self, encoding: Encoding) -> None:
        self._of_part: list[list[int]] = []
        """The levels of each part."""
        self._first: list[int] = []
        """The first variable of each level."""
        self._bits: list[int] = []
        values: list[int] = []
        self._level_of: list[int] = []
        """The level of each pair of variables."""
        for part in encoding.parts:
            levels = []
            for bit in range(0, part.bits, _DIGIT_BITS):
                bits = min(_DIGIT_BITS, part.bits - bit)
                levels.append(len(values))
                self._first.append(2 * len(self._level_of))
                self._bits.append(bits)
                values.append(part.values if part.bits <= bits else 1 << bits)
                self._level_of += [levels[-1]] * bits
            self._of_part.append(levels)
        self.values = np.array(values, np.int32)

    def of_state(self, codes: Mapping[int, int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """Return the digits of a state with these values of parts, and 0 of all others."""
        digits = np.zeros(len(self.values), np.int32)
        for part, code in codes.items():
            for place, level in enumerate(self._of_part[part]):
                digits[level] = code >> (_DIGIT_BITS * place) & 3
        return digits

    def translated(
        self,
        sets: Diagrams,
        condition: Diagram,
        effect: MoveEffect | None = None,
        *,
        backwards: bool = False,
    ) -> int:
        """Return the relation of an effect under a condition, or its inverse; no effect changes nothing."""
        targets: dict[int, int] = {}
        related: Collection[int] = ()
        if effect is not None:
            for part, code in effect.constants.items():
                for place, level in enumerate(self._of_part[part]):
                    targets[level] = code >> (_DIGIT_BITS * place) & 3
            related = {level for part in effect.relations for level in self._of_part[part]}
            for some in effect.relations.values():
                for one in some:
                    condition &= one
        changed = sorted({*targets, *related})
        cache: dict[tuple[int, Diagram], int] = {}

        def visit(level: int, diagram: Diagram) -> int:
            if not diagram.satisfiable():
                return 0
            variable = diagram.node_var()
            top = len(self.values) if variable is None else self._level_of[variable >> 1]
            level = min([top, *(some for some in changed if some >= level)])
            if level == len(self.values):
                return 1
            key = (level, diagram)
            if key not in cache:
                n, is_related = int(self.values[level]), level in related
                children = [0] * (n * n)
                for before in range(n):
                    for after in range(n) if is_related else (targets.get(level, before),):
                        rest = self._cofactor(diagram, level, before, after if is_related else None)
                        place = after * n + before if backwards else before * n + after
                        children[place] = visit(level + 1, rest)
                cache[key] = sets.relation(level, children)
            return cache[key]

        return visit(0, condition)

    def _cofactor(self, diagram: Diagram, level: int, before: int, after: int | None = None) -> Diagram:
        """Return the cofactor of a diagram for an old and a new value of a level."""
        for bit in range(self._bits[level]):
            variable = self._first[level] + 2 * bit
            for number, value in ((variable, before), (variable + 1, after)):
                if value is not None and diagram.node_var() == number:
                    with_bit, without = diagram.cofactors() or (diagram, diagram)
                    diagram = with_bit if value >> bit & 1 else without
        return diagram

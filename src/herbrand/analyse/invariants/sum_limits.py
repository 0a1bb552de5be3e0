"""What follows for single fluents from a sum that no step changes, as clauses and for many states at once."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.invariants.arithmetic import add_unary
from herbrand.analyse.invariants.groups import number_exclusive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.groups import Group
    from herbrand.network.circuit import UnrolledCircuit
    from herbrand.network.network import Network

__all__ = ["SumLimits", "sum_limits"]

_FEW: Final = 3
"""The most parts of a sum whose number is limited for proofs: checkers takes up to three pieces in a step."""
_MOST_GATES: Final = 100_000
"""The most gates with which a sum is counted."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Fluents of which never two are true, and what each adds to a sum."""

    places: dict[int, list[int]]
    """The fluents by weight."""
    is_full: bool
    """Whether one of them is always true."""

    @property
    def weights(self) -> tuple[int, ...]:
        """All that the part may add to the sum."""
        return tuple(dict.fromkeys((*self.places, *(() if self.is_full else (0,)))))


class SumLimits:
    """What follows for the parts of a sum of true fluents from its total.

    Each part, a group of fluents that exclude each other, adds one of its weights.  A value of one part is
    excluded if the rest cannot make up for it, and else few parts of the rest differ from what they add at
    the least, or at the most: a counter at 1 means that there is at most one piece.
    """

    def __init__(self, groups: Sequence[Group], weights: NDArray[np.int64], total: int) -> None:
        number = number_exclusive(groups, len(weights))
        full = {frozenset(group.fluents) for group in groups if group.some and group.condition < 0}
        self._fluents = len(weights)
        self.parts: list[_Part] = []
        for part in np.unique(number[weights != 0]).tolist():
            places = np.flatnonzero(number == part).tolist()
            by_weight: defaultdict[int, list[int]] = defaultdict(list)
            for place in places:
                by_weight[int(weights[place])].append(place)
            self.parts.append(_Part(dict(by_weight), frozenset(places) in full))
        least = [min(part.weights) for part in self.parts]
        greatest = [max(part.weights) for part in self.parts]
        self._excess = total - sum(least)
        """What the parts add beyond the least they can."""
        self._limits = [(ends, self._of(ends, sign, total)) for ends, sign in ((least, 1), (greatest, -1))]
        """The extreme weights of the parts, with what `_of` returns for them."""

    def _of(self, ends: Sequence[int], sign: int, total: int) -> list[tuple[int, int, int]]:
        """Return a part, one of its weights, and how many other parts can then differ from their extremes."""
        steps = [
            min((abs(weight - end) for weight in part.weights if weight != end), default=0)
            for part, end in zip(self.parts, ends, strict=True)
        ]
        limits, every = [], sum(ends)
        for k, part in enumerate(self.parts):
            step = min((other for i, other in enumerate(steps) if other and i != k), default=1)
            for weight in part.weights:
                most = sign * (total - weight - (every - ends[k])) // step
                if most <= _FEW:
                    limits.append((k, weight, most))
        return limits

    def possible(self) -> NDArray[np.bool_]:
        """Return which fluents, [fluents], may be true, if the other parts add what they can at the least."""
        may = np.ones(self._fluents, np.bool_)
        for part in self.parts:
            for weight, places in part.places.items():
                may[places] = weight - min(part.weights) <= self._excess
        return may

    def exactly(self, circuit: UnrolledCircuit, state: NDArray[np.int32]) -> list[int] | None:
        """Return literals that a state, [fluents], has the total; None where that takes too many gates.

        The sum is counted in unary (Bailleux and Boufkhad 2003), so that large parts exclude each other by
        unit propagation.
        """
        unit = math.gcd(*(weight - min(part.weights) for part in self.parts for weight in part.weights)) or 1
        if self._excess < 0 or self._excess % unit:
            return [0]
        most, gates = self._excess // unit, 0
        numbers: deque[list[int]] = deque()
        for part, literals in zip(self.parts, self._ways(circuit, state), strict=True):
            least, greatest = min(part.weights), max(part.weights)
            levels = range(least + unit, min(greatest, least + (most + 1) * unit) + 1, unit)
            gates += len(levels)
            if gates > _MOST_GATES:
                return None
            numbers.append([
                circuit.any_of([x for weight, some in literals.items() if weight >= level for x in some])
                for level in levels
            ])  # fmt: skip
        while len(numbers) > 1:
            first, second = numbers.popleft(), numbers.popleft()
            gates += len(first) * len(second)
            if gates > _MOST_GATES:
                return None
            numbers.append(add_unary(circuit, first, second, most + 1))
        reached = [1, *numbers[0], *([0] * (most + 1))]  # by how much at least
        return [reached[most], reached[most + 1] ^ 1]

    def clauses(self, circuit: UnrolledCircuit, state: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
        """Yield the clauses that say so of a state, [fluents], as literals of the circuit."""
        ways = self._ways(circuit, state)
        for ends, limits in self._limits:
            apart = [
                circuit.any_of([x for weight, some in one.items() if weight != end for x in some])
                for one, end in zip(ways, ends, strict=True)
            ]
            before = _running_counts(circuit, apart, _FEW + 1)
            behind = _running_counts(circuit, apart[::-1], _FEW + 1)[::-1]
            for k, weight, most in limits:
                beyond = max(most + 1, 0)
                more = circuit.any_of(
                    [circuit.all_of((before[k][i], behind[k][beyond - i])) for i in range(beyond + 1)]
                )
                for x in ways[k][weight]:
                    yield x ^ 1, more ^ 1

    def _ways(self, circuit: UnrolledCircuit, state: NDArray[np.int32]) -> list[dict[int, list[int]]]:
        """Return for each part, by weight, the literals of a state of which one is true if it adds that."""
        ways: list[dict[int, list[int]]] = []
        for part in self.parts:
            literals = {weight: [int(state[p]) for p in places] for weight, places in part.places.items()}
            if not part.is_full:
                none = circuit.all_of([x ^ 1 for some in literals.values() for x in some])
                literals.setdefault(0, []).append(none)
            ways.append(literals)
        return ways

    def hold(self, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return in which states, [n, fluents], they hold."""
        values = np.zeros((len(states), len(self.parts)), np.int64)
        for k, part in enumerate(self.parts):
            for weight, places in part.places.items():
                values[:, k] += weight * states[:, places].sum(axis=1)
        good = np.ones(len(states), np.bool_)
        for ends, limits in self._limits:
            apart = values != np.array(ends)
            others = apart.sum(axis=1)[:, None] - apart
            for k, weight, most in limits:
                good &= (values[:, k] != weight) | (others[:, k] <= most)
        return good


def sum_limits(
    network: Network, groups: Sequence[Group], sums: Iterable[Mapping[int, int]]
) -> list[SumLimits]:
    """Return what follows from sums, given by weights of fluents, that are always as in the initial state."""
    initial = network.initial.astype(np.int64)
    limits = []
    for weights in sums:
        row = np.zeros(len(initial), np.int64)
        row[list(weights)] = list(weights.values())
        limits.append(SumLimits(groups, row, int(row @ initial)))
    return limits


def _running_counts(circuit: UnrolledCircuit, literals: Sequence[int], most: int) -> list[list[int]]:
    """Return for each literal those that at least 0, 1, 2, ..., `most` of the literals before it are true."""
    counts = [1] + [0] * most
    running = []
    for literal in literals:
        running.append(counts)
        counts = counts.copy()
        for count in range(most, 0, -1):
            counts[count] = circuit.any_of((counts[count], circuit.all_of((counts[count - 1], literal))))
    return running

"""Estimated distances of states to those in which a literal is true: the number of fluents that must change.

Distances propagate along the gates: a conjunction adds those of its inputs, a disjunction takes the lesser
(the additive heuristic of Bonet and Geffner 2001, on a network instead of rules).  Fluents that several gates
need count several times, so the number is guidance, not a bound.  With `Domains`, a fluent counts as many
times as the steps that it takes to become true: a piece six squares away, a counter at 3 that must be 16.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.domains import UNREACHABLE, Domains
from herbrand.core import distances

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.engine.expand import States
    from herbrand.network.circuit import UnrolledCircuit

__all__ = ["Distance"]

_NONE = np.zeros(0, np.int64)
_NO_DOMAINS = Domains(np.zeros(1, np.int64), _NONE, _NONE, np.zeros(0, np.float32))


class Distance:
    """The distance of packed states to those in which literals of a circuit are true.

    The literals depend on `state` alone, the variables of the fluents.  The result is the weighted sum of
    their distances.
    """

    def __init__(
        self,
        circuit: UnrolledCircuit,
        state: NDArray[np.int32],
        literals: Sequence[int],
        domains: Domains | None = None,
    ) -> None:
        self.domains = domains or _NO_DOMAINS
        self.weights = np.ones(len(literals), np.float32)
        places = {int(variable) >> 1: place for place, variable in enumerate(state.tolist())}
        gates, stack, visited = [], [literal >> 1 for literal in literals], set()
        while stack:
            node = stack.pop()
            if node in visited or node == 0 or node in places:
                continue
            visited.add(node)
            gates.append(node)
            stack += [int(circuit.left[node]) >> 1, int(circuit.right[node]) >> 1]
        gates.sort()  # topological order: gates are numbered after their inputs
        self.fluents = len(state)
        """The number of fluents of a state."""
        number = {0: 0} | {node: 1 + place for node, place in places.items()}
        number |= {node: 1 + self.fluents + i for i, node in enumerate(gates)}

        def renumbered(literals: Iterable[int]) -> NDArray[np.int32]:
            return np.array([2 * number[x >> 1] | (x & 1) for x in literals], np.int32)

        self.left = renumbered(circuit.left[gates].tolist())
        self.right = renumbered(circuit.right[gates].tolist())
        self.literals = renumbered(literals)

    @property
    def needed(self) -> NDArray[np.int64]:
        """The indices of the fluents on which the literals depend."""
        nodes = np.unique(np.concatenate((self.left, self.right, self.literals)) >> 1).astype(np.int64)
        needed: NDArray[np.int64] = nodes[(nodes > 0) & (nodes <= self.fluents)] - 1
        return needed

    def weighted(self, *weights: float) -> Distance:
        """Return the distance with other weights, one for each literal."""
        other = copy(self)
        other.weights = np.array(weights, np.float32)
        return other

    def __call__(self, states: States) -> NDArray[np.float32]:
        """Return the distances, [n]; 0 in target states."""
        return distances(
            self.left, self.right, self.fluents, self.literals, self.weights, *self.domains,
            float(UNREACHABLE), states,
        )  # fmt: skip

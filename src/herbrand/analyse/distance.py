"""How far a state is from being of some kind: how many fluents would have to change, at the least.

Counted along the gates: for a conjunction what its sides need is added, for a disjunction the lesser is
taken (the additive heuristic of Bonet and Geffner 2001, on a network instead of on rules).  Fluents that
several gates need count several times, so the number is a guide, not a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.circuit import Circuit
    from herbrand.simulate.expand import States

__all__ = ["Distance"]

_LANES = 32
"""States that are gone through side by side."""
_FAR = np.float32(1e9)
"""The distance to what cannot be."""


class Distance:
    """The distance of packed states to those in which a literal of a circuit is true.

    The literal depends on `state` alone, the variables of the fluents.
    """

    def __init__(self, circuit: Circuit, state: NDArray[np.int32], literal: int) -> None:
        places = {int(variable) >> 1: place for place, variable in enumerate(state.tolist())}
        gates, stack, met = [], [literal >> 1], set()
        while stack:
            node = stack.pop()
            if node in met or node == 0 or node in places:
                continue
            met.add(node)
            gates.append(node)
            stack += [int(circuit.left[node]) >> 1, int(circuit.right[node]) >> 1]
        gates.sort()  # what a gate depends on was made before it
        self.fluents = len(state)
        """How many fluents a state has."""
        number = {0: 0} | {node: 1 + place for node, place in places.items()}
        number |= {node: 1 + self.fluents + i for i, node in enumerate(gates)}

        def renumbered(literals: NDArray[np.int32]) -> NDArray[np.int32]:
            return np.array([2 * number[x >> 1] | (x & 1) for x in literals[gates].tolist()], np.int32)

        self.left = renumbered(circuit.left)
        self.right = renumbered(circuit.right)
        self.literal = 2 * number[literal >> 1] | (literal & 1)

    def __call__(self, states: States) -> NDArray[np.float32]:
        """Return the distances, [n]; 0 for the states looked for."""
        found = np.zeros(len(states), np.float32)
        _distances(self.left, self.right, self.fluents, self.literal, states, found)
        return found


@compiled
def _distances(left, right, fluents, literal, states, found):
    """Fill in the distance of each state."""
    nodes = 1 + fluents + len(left)
    far = np.zeros((2 * nodes, _LANES), np.float32)  # by literal: the distance to its being true
    far[0, :] = _FAR
    for begin in range(0, len(states), _LANES):
        end = min(begin + _LANES, len(states))
        for f in range(fluents):
            word, bit = f >> 6, np.uint64(f & 63)
            for i in range(begin, end):
                true = np.float32((states[i, word] >> bit) & np.uint64(1))
                far[2 * f + 2, i - begin] = np.float32(1) - true
                far[2 * f + 3, i - begin] = true
        for g in range(len(left)):
            a, b, at = left[g], right[g], 2 * (1 + fluents + g)
            for k in range(_LANES):
                far[at, k] = min(far[a, k] + far[b, k], _FAR)
                far[at + 1, k] = min(far[a ^ 1, k], far[b ^ 1, k])
        for i in range(begin, end):
            found[i] = far[literal, i - begin]

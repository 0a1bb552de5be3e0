"""`UnrolledCircuit`: a growing and-inverter graph into which networks are copied repeatedly.

Copying a network with some inputs fixed, or with its outputs as the inputs of the next copy, folds
constants and shares equal gates.  Unrolling a game over time from the initial state decides much of it by
that alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import GateGraph

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["UnrolledCircuit", "implied", "simplified"]

_DEPTH = 12
"""Gates one above the other that `simplified` looks at."""


class UnrolledCircuit:
    """Nodes are the constant false (0), variables and AND gates; literals are as in `Network`."""

    def __init__(self) -> None:
        self._graph = GateGraph()
        self.closed: dict[int, int] = {}
        """By some variables, by node, a literal of which each implies it: a value that is fed back to it."""

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self._graph.nodes

    @property
    def left(self) -> NDArray[np.int32]:
        """The first operands of gates, -1 for other nodes and for unused entries.

        The array is a view: gates added later appear in it until the circuit reallocates its memory.
        """
        return self._graph.left

    @property
    def right(self) -> NDArray[np.int32]:
        """The second operands, like `left`."""
        return self._graph.right

    def variables(self, count: int) -> NDArray[np.int32]:
        """Create `count` variables and return their literals."""
        first = self._graph.variables(count)
        return 2 * np.arange(first, first + count, dtype=np.int32)

    def copy(self, network: Network, value: NDArray[np.int32], begin: int, end: int) -> None:
        """Copy gates of a network without loops.

        `value[node]` has the literals of its inputs and of gates copied before; the call fills in the gates
        `begin <= g < end`.
        """
        self._graph.copy(network.left, network.right, network.inputs, begin, end, value)

    def all_of(self, literals: Iterable[int] | NDArray[np.int32]) -> int:
        """Return the conjunction of any number of literals."""
        chosen = literals.tolist() if isinstance(literals, np.ndarray) else literals
        return self._graph.all_of(np.array(sorted(set(chosen)), np.int32))

    def any_of(self, literals: Iterable[int] | NDArray[np.int32]) -> int:
        """Return the disjunction of any number of literals."""
        row: NDArray[np.int32] = np.fromiter(literals, np.int32)
        return self.all_of(row ^ 1) ^ 1

    def only_one(self, literals: Iterable[int] | NDArray[np.int32]) -> tuple[int, int]:
        """Return the literals of "exactly one is true" and "at most one is true"."""
        return self._graph.only_one(np.fromiter(literals, np.int32))


def implied(circuit: UnrolledCircuit, literals: Iterable[int]) -> set[int]:
    """Return the literals that follow from some literals by the form of conjunctions, and these."""
    left, right = circuit.left, circuit.right
    found: set[int] = set()
    stack = list(literals)
    while stack:
        literal = stack.pop()
        if literal in found or literal < 2:
            continue
        found.add(literal)
        if not literal & 1 and left[literal >> 1] >= 0:
            stack += [int(left[literal >> 1]), int(right[literal >> 1])]
    return found


def simplified(circuit: UnrolledCircuit, literal: int, true: set[int]) -> int:
    """Return a literal that is equal to another one where some literals are true.

    Only the gates near it are rewritten.
    """
    rewritten: dict[int, int] = {}

    def rewrite(literal: int, depth: int) -> int:
        node = literal >> 1
        if literal in true:
            return 1
        if literal ^ 1 in true:
            return 0
        a = int(circuit.left[node])
        if a < 0 or not depth:
            return literal
        if node not in rewritten:
            b = int(circuit.right[node])
            parts = rewrite(a, depth - 1), rewrite(b, depth - 1)
            rewritten[node] = circuit.all_of(parts) if parts != (a, b) else 2 * node
        return rewritten[node] ^ (literal & 1)

    return rewrite(literal, _DEPTH)

"""Ternary simulation of a network (X-valued: Bryant 1987): every node is true, false or unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import evaluate_ternary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["TernarySimulation"]


class TernarySimulation:
    """Three-valued simulation: the nodes of a network that can or must be true; inputs start unknown."""

    def __init__(self, network: Network) -> None:
        self._circuit = network.circuit
        fluents, moves = len(network.fluents), len(network.moves)
        self.can = np.zeros(network.inputs + network.gates, np.bool_)
        """[nodes] which nodes can be true."""
        self.can[1 : 1 + fluents + moves] = True
        self.must = np.zeros_like(self.can)
        """[nodes] which nodes must be true."""
        self.fluents = slice(1, 1 + fluents)
        """The nodes of the fluents."""
        self.moves = slice(1 + fluents, 1 + fluents + moves)
        """The nodes of the moves."""

    def evaluate(self) -> None:
        """Compute the gates from the inputs; in loops, both arrays are least fixpoints."""
        evaluate_ternary(self._circuit, self.can, self.must)

    def certain(self, literals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which literals must be true."""
        nodes = literals >> 1
        certain: NDArray[np.bool_] = np.where(literals & 1, ~self.can[nodes], self.must[nodes])
        return certain

    def possible(self, literals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which literals can be true."""
        return ~self.certain(literals ^ 1)

"""`Lookahead`: a network whose states are followed by one more step, in one circuit.

The network is copied once for each move, with that move as its input; the next state of each copy feeds
another copy of `terminal` and `goal`.  Gates that several copies have in common are shared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.circuit import UnrolledCircuit
from herbrand.network.cones import in_cones

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["Lookahead", "TooLarge"]


class TooLarge(Exception):
    """The circuit exceeds its limit of nodes."""


class Lookahead:
    """Unrolls a network into one circuit, whose first variables are the fluents and moves of the network.

    A *value* array has the literal in the circuit of each node of one copy of the network.  Pairs of
    `swapped` fluents have each other's values in the first copy.  Raises `TooLarge` beyond `max_nodes`.
    """

    def __init__(self, network: Network, max_nodes: int, swapped: Sequence[tuple[int, int]] = ()) -> None:
        self.source = network
        self.max_nodes = max_nodes
        self.circuit = UnrolledCircuit()
        self.first_move = 1 + len(network.fluents)
        self.value = np.zeros(network.inputs + network.gates, np.int32)
        self.value[1 : network.inputs] = self.circuit.variables(network.inputs - 1)
        for one, other in swapped:
            self.value[[1 + one, 1 + other]] = self.value[[1 + other, 1 + one]]
        self._copy(network, self.value, 0, network.gates)
        self.legal_literals = self.translate(self.value, network.legal)
        self.owner = network.moves[:, 0]

    def translate(self, value: NDArray[np.int32], literals: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the literals of the circuit for literals of one copy of the network."""
        translated: NDArray[np.int32] = value[literals >> 1] ^ (literals & 1)
        return translated

    def _copy(self, network: Network, value: NDArray[np.int32], begin: int, end: int) -> None:
        self.circuit.copy(network, value, begin, end)
        if self.circuit.nodes > self.max_nodes:
            raise TooLarge

    def state(self, fluents: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the values of a copy in a state, in the cones of `legal`, `terminal` and `goal` alone."""
        source = self.source
        value = np.zeros(len(self.value), np.int32)
        value[1 : self.first_move] = fluents
        self._copy(source, value, 0, source.cones[0])
        self._copy(source, value, source.cones[1], source.cones[2])
        return value

    def after(self, move: int) -> NDArray[np.int32]:
        """Return the fluents after a move, if each of the other roles makes its only legal move."""
        source = self.source
        value = self.value.copy()
        joint = np.where(self.owner == self.owner[move], 0, self.legal_literals)
        joint[move] = 1  # the literal of true
        value[self.first_move : source.inputs] = joint
        self._copy(source, value, source.cones[0], source.cones[1])
        return self.translate(value, source.next)

    def network(
        self,
        *,
        legal: NDArray[np.int32] | None = None,
        terminal: int | None = None,
        goal: NDArray[np.int32] | None = None,
    ) -> Network:
        """Return the network of the first copy, with other literals of the circuit where these are given."""
        source, circuit = self.source, self.circuit
        inputs = source.inputs
        if terminal is None:
            terminal = int(self.translate(self.value, np.array([source.terminal], np.int32))[0])
        return in_cones(
            replace(
                source,
                left=circuit.left[inputs : circuit.nodes].copy(),
                right=circuit.right[inputs : circuit.nodes].copy(),
                legal=self.legal_literals if legal is None else legal,
                next=self.translate(self.value, source.next),
                terminal=terminal,
                goal=self.translate(self.value, source.goal) if goal is None else goal,
                sees=self.translate(self.value, source.sees),
            ),
            inputs,
        )

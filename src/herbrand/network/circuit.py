"""`Circuit`: a growing and-inverter graph into which networks are copied, again and again.

A network copied with some of its inputs fixed, or with its outputs led into the inputs of the
next copy, folds: constants vanish and equal gates are one.  Unrolled over time from the
initial state, much of a game is decided by that alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.graph import add_gates, join, only_one, rehash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["Circuit"]


class Circuit:
    """Nodes are the constant false (0), variables and AND gates; literals are as in `Network`."""

    def __init__(self) -> None:
        self.nodes = 1
        self._room = 0
        self.left = np.full(1, -1, np.int32)
        self.right = np.full(1, -1, np.int32)
        self._grow(1 << 14)

    def _grow(self, room: int) -> None:
        if room <= self._room:
            return
        size = 1 << (room - 1).bit_length()
        for name in ("left", "right"):
            old = getattr(self, name)
            new = np.full(size, -1, old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self._room = size
        self._table = np.full(4 * size, -1, np.int32)
        rehash(self.left, self.right, self._table, len(self._table) - 1, self.nodes)

    def variables(self, count: int) -> NDArray[np.int32]:
        """Return the literals of so many new variables."""
        self._grow(self.nodes + count)
        found = 2 * np.arange(self.nodes, self.nodes + count, dtype=np.int32)
        self.nodes += count
        return found

    def copy(self, network: Network, value: NDArray[np.int32], begin: int, end: int) -> None:
        """Copy gates of a network without loops.

        `value[node]` holds the literals of its inputs and of gates copied before, and is filled
        in for the gates `begin <= g < end`.
        """
        self._grow(self.nodes + end - begin + 1)
        self.nodes = add_gates(
            network.left, network.right, network.inputs, begin, end, value,
            self.left, self.right, self._table, len(self._table) - 1, self.nodes,
        )  # fmt: skip

    def all_of(self, literals: Iterable[int] | NDArray[np.int32]) -> int:
        """Return the conjunction of any number of literals."""
        row = np.unique(np.fromiter(literals, np.int32))
        self._grow(self.nodes + len(row) + 1)
        found, self.nodes = join(row, self.left, self.right, self._table, len(self._table) - 1, self.nodes)
        return int(found)

    def any_of(self, literals: Iterable[int] | NDArray[np.int32]) -> int:
        """Return the disjunction of any number of literals."""
        row: NDArray[np.int32] = np.fromiter(literals, np.int32)
        return self.all_of(row ^ 1) ^ 1

    def only_one(self, literals: Iterable[int] | NDArray[np.int32]) -> tuple[int, int]:
        """Return whether exactly one, and whether at most one of some literals is true."""
        row: NDArray[np.int32] = np.fromiter(literals, np.int32)
        self._grow(self.nodes + 3 * len(row) + 2)
        one, most, self.nodes = only_one(
            row, self.left, self.right, self._table, len(self._table) - 1, self.nodes
        )
        return int(one), int(most)

"""Which row of memory holds the value of a node while a network is evaluated.

A gate's row can be used again once nothing that is still to come needs its value, as a
compiler uses registers again (linear scan: Poletto and Sarkar 1999).  That makes the memory of
a pass many times smaller, so that it stays in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import scan_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["Rows", "share_rows"]


@dataclass(frozen=True, slots=True)
class Rows:
    """A network with rows in place of nodes: a literal is `2 * row + inverted`.

    The rows of inputs are their nodes.  The cones have to be evaluated in the order legal,
    goals, next, where goals may be left out; `legal` and `terminal` can be read until next is
    evaluated, `goal` only right after goals are, `next` until legal is evaluated again.
    """

    count: int
    """Rows in all."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    out: NDArray[np.int32]
    """[gates] the row each gate writes."""
    feedback: NDArray[np.int32]
    legal: NDArray[np.int32]
    next: NDArray[np.int32]
    terminal: int
    goal: NDArray[np.int32]
    sees: NDArray[np.int32]
    """Read like `next`."""


def share_rows(network: Network, *, sees: bool = False) -> Rows:
    """Give each gate a row, as few as its order of gates allows; `sees`, where asked for, are kept too."""
    a, b, c = network.cones
    order = np.concatenate([np.arange(a), np.arange(b, c), np.arange(a, b)]).astype(np.int64)
    place = np.empty(network.gates, np.int64)
    place[order] = np.arange(network.gates)
    # a loop is evaluated several times: what it needs and what it makes stays until its end
    until = place.copy()
    for first, last, _, _ in network.loops.tolist():
        until[first:last] = place[last - 1] + 1
    last_use = np.full(network.inputs + network.gates, -1, np.int64)
    last_use[network.inputs :] = until
    for operands in (network.left, network.right):
        np.maximum.at(last_use, operands >> 1, until)
    for _, last, begin, end in network.loops.tolist():
        np.maximum.at(last_use, network.feedback[begin:end] >> 1, place[last - 1] + 1)
    for literals, end in (
        (network.legal, a + c - b),
        (np.array([network.terminal]), a + c - b),
        (network.goal, a + c - b),
        (network.next, network.gates),
        (network.sees if sees else network.sees[:0], network.gates),
    ):
        np.maximum.at(last_use, literals >> 1, end)
    row = np.arange(network.inputs + network.gates)
    row[network.inputs :], count = scan_rows(order, last_use[network.inputs :], network.inputs)

    def at(literals: NDArray[np.int32]) -> NDArray[np.int32]:
        rows: NDArray[np.int32] = (2 * row[literals >> 1] + (literals & 1)).astype(np.int32)
        return rows

    return Rows(
        count,
        at(network.left),
        at(network.right),
        row[network.inputs :].astype(np.int32),
        at(network.feedback),
        at(network.legal),
        at(network.next),
        int(at(np.array([network.terminal], np.int32))[0]),
        at(network.goal),
        at(network.sees) if sees else network.sees[:0],
    )

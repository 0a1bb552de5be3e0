"""What is certain in a game after so many steps, by evaluating its network with unknown moves.

Every node is true, false or unknown (two bits).  The initial state is known, moves are not; what
`next` is then known to be, is known after one step, whatever is played.  When `terminal` is
known to be true, every play has ended.  In formal verification this is ternary, or X-valued,
simulation (Bryant 1987).  In loops both what can and what must be true are least fixpoints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import evaluate_ternary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["certain_end"]


def certain_end(network: Network, most: int) -> int | None:
    """Return after how many steps every play is over, if that is at most `most` and can be seen so."""
    fluents, moves = len(network.fluents), len(network.moves)
    can = np.zeros(network.inputs + network.gates, np.bool_)
    must = np.zeros_like(can)
    can[1 + fluents : 1 + fluents + moves] = True
    state_must = state_can = network.initial
    terminal = np.array([network.terminal])
    seen: set[bytes] = set()
    for steps in range(most + 1):
        can[1 : 1 + fluents], must[1 : 1 + fluents] = state_can, state_must
        evaluate_ternary(network.circuit, can, must)
        if _known(must, can, terminal)[0]:
            return steps
        mark = np.packbits(np.concatenate([state_must, state_can])).tobytes()
        if mark in seen:
            return None
        seen.add(mark)
        state_must, state_can = (
            _known(must, can, network.next),
            ~_known(must, can, network.next ^ 1),
        )
    return None


def _known(must: NDArray[np.bool_], can: NDArray[np.bool_], literals: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which literals must be true."""
    known: NDArray[np.bool_] = np.where(literals & 1, ~can[literals >> 1], must[literals >> 1])
    return known

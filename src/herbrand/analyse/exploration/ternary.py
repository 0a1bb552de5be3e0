"""Ternary simulation of a network with unknown moves: which fluents are certain after n steps.

Every node is true, false or unknown (two bits: can be true, must be true).  The initial state is known,
moves are unknown; whatever `next` then certainly is holds after one step of any play.  Once `terminal`
must be true, every play has ended.  Known in formal verification as X-valued simulation (Bryant 1987).
In loops, both bits are least fixpoints.
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
    """Return a bound of at most `most` steps on the length of plays; None if the simulation shows none."""
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
        if _certain(must, can, terminal)[0]:
            return steps
        mark = np.packbits(np.concatenate([state_must, state_can])).tobytes()
        if mark in seen:
            return None
        seen.add(mark)
        state_must, state_can = (_certain(must, can, network.next), ~_certain(must, can, network.next ^ 1))
    return None


def _certain(
    must: NDArray[np.bool_], can: NDArray[np.bool_], literals: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Return which literals must be true."""
    certain: NDArray[np.bool_] = np.where(literals & 1, ~can[literals >> 1], must[literals >> 1])
    return certain

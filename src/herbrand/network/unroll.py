"""Networks without loops: every loop written out as often as it can turn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import BudgetExceeded
from herbrand.network.cones import in_cones
from herbrand.network.gates import Gates

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["MOST_GATES", "unrolled"]

MOST_GATES = 2_000_000
"""More gates than this are not made."""


def unrolled(network: Network, most: int = MOST_GATES) -> Network:
    """Return an equal network without loops.

    A loop over k feedback values is at its least fixpoint after k turns, because each turn
    but the last makes one more of them true; often the turns give nothing new much earlier.
    Raises `BudgetExceeded` when more than `most` gates would be made.
    """
    if not len(network.loops):
        return network
    feedback_first = 1 + len(network.fluents) + len(network.moves)
    gates = Gates(feedback_first)
    value = [2 * node for node in range(network.inputs)] + [0] * network.gates
    left, right, first = network.left.tolist(), network.right.tolist(), network.inputs

    def literal(old: int) -> int:
        return value[old >> 1] ^ (old & 1)

    def run(begin: int, end: int) -> None:
        for g in range(begin, end):
            value[first + g] = gates.conjunction(literal(left[g]), literal(right[g]))
        if len(gates.left) > most:
            raise BudgetExceeded(f"{most} gates", "writing out the loops of a network")

    at = 0
    feedback = network.feedback.tolist()
    for begin, end, low, high in sorted(network.loops.tolist()):
        run(at, begin)
        turn = [0] * (high - low)
        for _ in range(high - low + 1):
            value[feedback_first + low : feedback_first + high] = turn
            run(begin, end)
            after = [literal(feedback[f]) for f in range(low, high)]
            if after == turn:
                break
            turn = after
        at = end
    run(at, network.gates)

    def moved(literals: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> Any:
        return np.array([literal(old) for old in literals.tolist()], np.int32)

    flat = replace(
        network,
        left=np.array(gates.left, np.int32),
        right=np.array(gates.right, np.int32),
        feedback=np.zeros(0, np.int32),
        loops=np.zeros((0, 4), np.int32),
        legal=moved(network.legal),
        next=moved(network.next),
        terminal=literal(network.terminal),
        goal=moved(network.goal),
        sees=moved(network.sees),
    )
    return in_cones(flat, feedback_first)

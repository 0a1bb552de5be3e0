"""Unrolls the loops of networks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import BudgetExceeded
from herbrand.network.cones import in_cones
from herbrand.network.gates import Gates

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["MAX_GATES", "unrolled"]

MAX_GATES = 2_000_000
"""Default limit of gates of the result."""


def unrolled(network: Network, max_gates: int = MAX_GATES) -> Network:
    """Return an equivalent network without loops.

    A loop over k feedback values reaches its least fixpoint after at most k iterations, because each
    iteration before makes at least one more of them true; often the literals repeat much earlier.
    Raises `BudgetExceeded` if the result would have more than `max_gates` gates.
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
        if len(gates.left) > max_gates:
            raise BudgetExceeded(f"{max_gates} gates", "unrolling the loops of a network")

    position = 0
    feedback = network.feedback.tolist()
    for begin, end, low, high in sorted(network.loops.tolist()):
        run(position, begin)
        feedback_values = [0] * (high - low)
        for _ in range(high - low + 1):
            value[feedback_first + low : feedback_first + high] = feedback_values
            run(begin, end)
            after = [literal(feedback[f]) for f in range(low, high)]
            if after == feedback_values:
                break
            feedback_values = after
        position = end
    run(position, network.gates)

    def translate(literals: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> Any:
        return np.array([literal(old) for old in literals.tolist()], np.int32)

    flat = replace(
        network,
        left=np.array(gates.left, np.int32),
        right=np.array(gates.right, np.int32),
        feedback=np.zeros(0, np.int32),
        loops=np.zeros((0, 4), np.int32),
        legal=translate(network.legal),
        next=translate(network.next),
        terminal=literal(network.terminal),
        goal=translate(network.goal),
        sees=translate(network.sees),
    )
    return in_cones(flat, feedback_first)

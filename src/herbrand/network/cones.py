"""Orders the gates of a network by cones: first those of `legal` and `terminal`; see `network`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.graph import mark_cone, renumbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["fluents_of", "in_cones"]


def _cone(network: Network, provisional: int, wanted: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which gates the literals `wanted` depend on; `provisional` as in `in_cones`."""
    marked: NDArray[np.bool_] = mark_cone(
        network.left,
        network.right,
        provisional,
        1 + len(network.fluents) + len(network.moves),
        network.feedback,
        network.loops,
        wanted.astype(np.int32),
    )
    return marked


def fluents_of(network: Network, literals: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return on which fluents, [fluents], some literals depend in the form of the network."""
    gates = _cone(network, network.inputs, literals)
    nodes = np.concatenate((network.left[gates], network.right[gates], literals)) >> 1
    used = np.zeros(network.inputs + network.gates, np.bool_)
    used[nodes] = True
    used[network.feedback[used[network.inputs - len(network.feedback) : network.inputs]] >> 1] = True
    return used[1 : 1 + len(network.fluents)]


def in_cones(network: Network, provisional: int) -> Network:
    """Drop unused gates and put the others in the order of the cones.

    `provisional` is the node number of gate 0 in the literals of `network`.
    """
    feedback_first = 1 + len(network.fluents) + len(network.moves)
    legal, following, goal = (
        _cone(network, provisional, wanted)
        for wanted in (
            np.append(network.legal, np.int32(network.terminal)),
            np.concatenate((network.next, network.sees)),
            network.goal,
        )
    )
    # gates shared by next and goal are in the first cone, so that each can be evaluated without the other
    first_cone = legal | (following & goal)
    marked = np.where(first_cone, 0, np.where(following, 1, np.where(goal, 2, -1))).astype(np.int8)
    needed = np.flatnonzero(marked >= 0)
    order = needed[np.argsort(marked[needed], kind="stable")]
    used_loops = [i for i, (a, b, _, _) in enumerate(network.loops.tolist()) if b > a and marked[a] >= 0]
    used_feedback = np.array(
        [f for i in used_loops for f in range(network.loops[i, 2], network.loops[i, 3])], dtype=np.int64
    )
    first = feedback_first + len(used_feedback)
    node = np.zeros(provisional + network.gates, np.int64)
    node[:feedback_first] = np.arange(feedback_first)
    node[feedback_first + used_feedback] = feedback_first + np.arange(len(used_feedback))
    node[provisional + order] = first + np.arange(len(order))
    gate = np.zeros(network.gates + 1, np.int64)
    gate[order] = np.arange(len(order))

    renumber = partial(renumbered, node)
    loops = []
    feedback_count = 0
    for i in used_loops:
        a, b, c, d = network.loops[i].tolist()
        loops.append((gate[a], gate[a] + b - a, feedback_count, feedback_count + d - c))
        feedback_count += d - c
    levels = np.searchsorted(marked[order], [1, 2, 3])
    return replace(
        network,
        left=renumber(network.left[order]),
        right=renumber(network.right[order]),
        feedback=renumber(network.feedback[used_feedback]),
        loops=np.array(loops, dtype=np.int32).reshape(len(loops), 4),
        legal=renumber(network.legal),
        next=renumber(network.next),
        terminal=int(renumber(np.array([network.terminal], np.int32))[0]),
        goal=renumber(network.goal),
        sees=renumber(network.sees),
        cones=(int(levels[0]), int(levels[1]), int(levels[2])),
    )

"""Over-approximations of a game with fewer terminal states, which are often much smaller.

In quarto nearly all gates detect lines.  They are not needed to prove that plays end because the board fills
up, and that each role can move until then: a game that continues after a line has all plays of the original,
and more, so that states that are unreachable in it are unreachable in the original (localization: Kurshan
1994).  Fluents on which neither moves nor the end of the smaller game depend, such as which stones of hex are
connected, are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.cones import fluents_of, in_cones
from herbrand.network.graph import cone_sizes, conjuncts, renumbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["loosen"]

_MOST = 2000
"""The most gates of the remaining terminal conditions."""


def loosen(network: Network) -> Network | None:
    """Return a network with fewer terminal states, without goals and percepts; None where nothing is saved.

    `terminal` is a disjunction of conditions (a line, a full board): those with few gates stay, all of one
    size or none of them.  Of the fluents, in their order, only those stay on which moves or these conditions
    depend, now or later.
    """
    left, right, first = network.left, network.right, network.inputs
    ways = conjuncts(left, right, first, network.terminal ^ 1)
    sizes = cone_sizes(left, right, first, ways, _MOST + 1)
    conditions: list[int] = []
    room = _MOST
    for size in np.unique(sizes):
        alike = ways[sizes == size]
        if int(size) * len(alike) <= room:
            room -= int(size) * len(alike)
            conditions += alike.tolist()
    new_left, new_right = [], []
    goes_on = 1
    for literal in conditions:
        new_left.append(goes_on)
        new_right.append(literal)
        goes_on = 2 * (first + network.gates + len(new_left) - 1)
    none = np.zeros(0, np.int32)
    without = replace(
        network,
        left=np.append(left, np.array(new_left, np.int32)),
        right=np.append(right, np.array(new_right, np.int32)),
        terminal=goes_on ^ 1,
        goals=network.goals[:0],
        goal=none,
        percepts=network.percepts[:0],
        sees=none,
    )
    needed = _needed(without)
    if len(conditions) == len(ways) and not len(network.loops) and needed.all():
        return None
    return in_cones(_restricted(without, needed), first - int((~needed).sum()))


def _needed(network: Network) -> NDArray[np.bool_]:
    """Return the fluents, [fluents], on which legal moves or the end of the game depend, now or later."""
    needed = _reached(network)
    now = np.append(network.legal, np.int32(network.terminal))
    while True:  # loops are needed as a whole
        fresh = fluents_of(network, np.append(now, network.next[needed])) & ~needed
        if not fresh.any():
            return needed
        needed = needed | fresh


def _reached(network: Network) -> NDArray[np.bool_]:
    """Return the fluents, [fluents], from which paths lead to legal moves or the end, now or later.

    Each gate is visited once: a counter of steps makes a path through thousands of fluents.
    """
    fluents, back = len(network.fluents), network.inputs - len(network.feedback)
    seen = np.zeros(network.inputs + network.gates, np.bool_)
    nodes = np.unique(np.append(network.legal, np.int32(network.terminal)) >> 1)
    while len(nodes):
        seen[nodes] = True
        gates = nodes[nodes >= network.inputs] - network.inputs
        states = nodes[(nodes > 0) & (nodes <= fluents)] - 1
        fed_back = nodes[(nodes >= back) & (nodes < network.inputs)] - back
        sides = network.left[gates], network.right[gates], network.next[states], network.feedback[fed_back]
        before = np.concatenate(sides) >> 1
        nodes = np.unique(before[~seen[before]])
    reached: NDArray[np.bool_] = seen[1 : 1 + fluents]
    return reached


def _restricted(network: Network, needed: NDArray[np.bool_]) -> Network:
    """Return a network with some of the fluents; gates that depend on others become invalid."""
    node = np.zeros(network.inputs + network.gates, np.int64)
    stays = np.append(np.append(True, needed), np.ones(len(node) - 1 - len(needed), np.bool_))
    node[stays] = np.arange(int(stays.sum()))

    renumber = partial(renumbered, node)
    return replace(
        network,
        fluents=network.fluents[needed],
        initial=network.initial[needed],
        left=renumber(network.left),
        right=renumber(network.right),
        feedback=renumber(network.feedback),
        legal=renumber(network.legal),
        next=renumber(network.next[needed]),
        terminal=int(renumber(np.array([network.terminal], np.int32))[0]),
    )

"""Games with less that ends them: enough to prove that something never happens, and often much smaller.

In quarto nearly all gates say whether there is a line.  That plays end because the board fills up, and that
each role can move until then, is seen without them: a game that goes on after a line has all the plays
of the game, and more, so that what never happens in it does not happen in the game.
(Localization: Kurshan 1994.)  Fluents that neither moves nor the end of such a game depend on, such as
which stones of hex are connected, are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.cones import in_cones
from herbrand.network.graph import cone_sizes, conjuncts, mark_cone

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["loosened"]

_MOST = 2000
"""So many gates are kept of what ends a game."""


def loosened(network: Network) -> Network | None:
    """Return a network that goes on in more states, without goals and percepts; None where nothing is saved.

    The game is over when one of several things is so (a line, a full board): those that few gates tell are
    kept, all that are alike or none of them.  Only the fluents are kept that moves or this end depend on,
    now or later, in their order.
    """
    left, right, first = network.left, network.right, network.inputs
    ways = conjuncts(left, right, first, network.terminal ^ 1)
    sizes = cone_sizes(left, right, first, ways, _MOST + 1)
    kept: list[int] = []
    room = _MOST
    for size in np.unique(sizes):
        alike = ways[sizes == size]
        if int(size) * len(alike) <= room:
            room -= int(size) * len(alike)
            kept += alike.tolist()
    more_left, more_right = [], []
    goes_on = 1
    for literal in kept:
        more_left.append(goes_on)
        more_right.append(literal)
        goes_on = 2 * (first + network.gates + len(more_left) - 1)
    nothing = np.zeros(0, np.int32)
    without = replace(
        network,
        left=np.append(left, np.array(more_left, np.int32)),
        right=np.append(right, np.array(more_right, np.int32)),
        terminal=goes_on ^ 1,
        goals=network.goals[:0],
        goal=nothing,
        percepts=network.percepts[:0],
        sees=nothing,
    )
    needed = _needed(without)
    if len(kept) == len(ways) and not len(network.loops) and needed.all():
        return None
    return in_cones(_restricted(without, needed), first - int((~needed).sum()))


def _needed(network: Network) -> NDArray[np.bool_]:
    """Return the fluents that moves or the end of the game depend on, or other fluents that are needed."""
    fluents = len(network.fluents)
    found = np.zeros(fluents, np.bool_)
    wanted = np.append(network.legal, np.int32(network.terminal))
    while True:
        marked = mark_cone(
            network.left, network.right, network.inputs, network.inputs - len(network.feedback),
            network.feedback, network.loops, wanted,
        )  # fmt: skip
        sides = (network.left[marked], network.right[marked], wanted, network.feedback)
        nodes = np.unique(np.concatenate(sides) >> 1)
        places = nodes[(nodes > 0) & (nodes <= fluents)] - 1
        fresh = places[~found[places]]
        if not len(fresh):
            return found
        found[fresh] = True
        wanted = np.concatenate((wanted, network.next[fresh]))


def _restricted(network: Network, kept: NDArray[np.bool_]) -> Network:
    """Return a network with some of the fluents; gates that need others are not to be used."""
    node = np.zeros(network.inputs + network.gates, np.int64)
    stays = np.append(np.append(True, kept), np.ones(len(node) - 1 - len(kept), np.bool_))
    node[stays] = np.arange(int(stays.sum()))

    def renumber(literals: NDArray[np.int32]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = (2 * node[literals >> 1] + (literals & 1)).astype(np.int32)
        return found

    return replace(
        network,
        fluents=network.fluents[kept],
        initial=network.initial[kept],
        left=renumber(network.left),
        right=renumber(network.right),
        feedback=renumber(network.feedback),
        legal=renumber(network.legal),
        next=renumber(network.next[kept]),
        terminal=int(renumber(np.array([network.terminal], np.int32))[0]),
    )

"""Games with less that ends them: enough to prove that something never happens, and often much smaller.

In quarto nearly all gates say whether there is a line.  That plays end because the board fills up, and that
each role can move until then, is seen without them: a game that goes on after a line has all the plays
of the game, and more, so that what never happens in it does not happen in the game.
(Localization: Kurshan 1994.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.cones import in_cones
from herbrand.network.graph import cone_sizes, conjuncts

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["loosened"]

_MOST = 2000
"""So many gates are kept of what ends a game."""


def loosened(network: Network) -> Network | None:
    """Return a network that goes on in more states, without goals and percepts; None where nothing is saved.

    The game is over when one of several things is so (a line, a full board): those that few gates tell are
    kept, all that are alike or none of them.
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
    if len(kept) == len(ways) and not len(network.loops):
        return None
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
    return in_cones(without, first)

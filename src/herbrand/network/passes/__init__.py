"""Passes: functions that return an equal network, one idea a file.

`PASSES` are applied in order by `optimised`.  Each keeps fluents, moves and every answer in every
state, reachable or not, so that states can be set up freely.  Constants and equal gates need no
pass: `wire` folds them while it builds; `cones` drops what no output needs and orders the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.network.passes.factor import factor

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["MOST_GATES", "PASSES", "optimised"]

PASSES = (factor,)
"""In the order in which they are applied."""
MOST_GATES = 400_000
"""Larger networks are left as they are: the passes would take longer than they save."""
GATE_BYTES = 1000
"""Memory that the passes take for each gate, as measured."""


def optimised(network: Network, *, megabytes: int | None = None) -> Network:
    """Return an equal network on which more games are played in the same time.

    One for which that would take more than `megabytes` is left as it is.
    """
    gates = MOST_GATES if megabytes is None else min(MOST_GATES, (megabytes << 20) // GATE_BYTES)
    if network.gates > gates:
        return network
    for step in PASSES:
        network = step(network)
    return network

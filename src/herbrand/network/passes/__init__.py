"""Optimisation passes: functions from a network to an equivalent one, one per file.

`optimised` applies `PASSES` in order.  Each preserves fluents, moves and all outputs in every state,
reachable or not, so that users can set up states freely.  Constants and equal gates need no pass: `wire`
folds them while it builds; `cones` drops unused gates and orders the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.network.passes.factor import factor

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["MAX_GATES", "PASSES", "optimised"]

PASSES = (factor,)
"""In the order in which they are applied."""
MAX_GATES = 400_000
"""Larger networks are not optimised: the passes would take longer than they save."""
GATE_BYTES = 1000
"""Memory that the passes need for each gate, as measured."""


def optimised(network: Network, *, megabytes: int | None = None) -> Network:
    """Return an equivalent network with fewer gates.

    Networks for which that would take more than `megabytes` are returned unchanged.
    """
    gates = MAX_GATES if megabytes is None else min(MAX_GATES, (megabytes << 20) // GATE_BYTES)
    if network.gates > gates:
        return network
    for step in PASSES:
        network = step(network)
    return network

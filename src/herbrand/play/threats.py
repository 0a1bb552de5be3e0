"""Threats: fluents that are missing for the end of the game, as gates of a network.

Three cells of a line of four are taken and the fourth is free: no sum over cells can see that.  For any game,
a fluent is a *threat* if its place is *open* and `terminal` would become true with it; it is a threat in two
steps if another fluent would become a threat with it.  A place is open if no fluent is true of those that
exclude the fluent (of a group in which never two were true), or only the one that was true initially, such
as `(cell 3 2 blank)`.

The gates for all threats together are about three times those that `terminal` depends on, by the chain rule
backwards from the output, as a gradient costs no more than a few evaluations (Baur and Strassen 1983).  With
the other operand of an AND gate as the factor, and OR for sums, the result is the Boolean difference (Akers
1959) of `terminal` for a fluent where no gate depends on it in two ways, and implies it where `terminal`
depends on it monotonically.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from herbrand.network.alternatives import alternatives
from herbrand.network.gates import Gates
from herbrand.network.graph import renumbered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander, States
    from herbrand.network.network import Network

__all__ = ["NO_GATES", "Threats", "find_threats", "with_gates"]

NO_GATES: Final = np.zeros((0, 2), np.int32)
_STEPS = 2
"""Threats in up to so many steps."""
_MOST_GATES = 1 << 15
"""Threats that need more gates are left out."""
_STATES = 1024
"""States that tell which fluents exclude each other, at most."""


class Threats(NamedTuple):
    """The threats of a game."""

    gates: NDArray[np.int32]
    """[gates, 2] what `with_gates` adds to the network."""
    nodes: NDArray[np.int32]
    """[threats] nodes of the network with these gates, each true in the states where there is the threat."""
    missing: NDArray[np.int32]
    """[threats, 2] the number of steps, and the place of the fluent among all."""


def find_threats(expander: Expander, states: States) -> list[Threats]:
    """Return the threats of a game in one step, then those in up to two; shorter if there are no more.

    Sampled states tell which fluents exclude each other.
    """
    network = expander.network
    gates = Gates(network.inputs + network.gates)
    roots = {network.terminal}
    is_open: dict[int, int] | None = None
    rows: list[tuple[int, int, int]] = []
    threats_by_steps: list[Threats] = []
    for steps in range(1, _STEPS + 1):
        causes = _causes(network, gates, roots)
        if is_open is None:
            is_open = _open_places(expander, states, gates, sorted(causes))
        threats = [
            (gates.conjunction(cause, is_open[fluent]), steps, fluent)
            for fluent, cause in sorted(causes.items())
            if fluent in is_open
        ]
        threats = [threat for threat in threats if threat[0] > 1 and not threat[0] & 1]
        if not threats or len(gates.left) > _MOST_GATES:
            break
        rows += threats
        columns = np.array(rows, np.int32)
        nodes = columns[:, 0] >> 1
        nodes[nodes >= gates.first] -= network.gates - network.cones[0]
        operands = np.array([*zip(gates.left, gates.right, strict=True)], np.int32).reshape(-1, 2)
        threats_by_steps.append(Threats(operands, nodes, columns[:, 1:]))
        roots = {literal for literal, _, _ in threats}
    return threats_by_steps


def _causes(network: Network, gates: Gates, roots: Iterable[int]) -> dict[int, int]:
    """Return, for fluents by their places, the literal of the condition under which they make a root true.

    Fluents that always do or never do are left out, and all if that takes too many `gates`.
    """
    left, right, first = network.left.tolist(), network.right.tolist(), network.inputs
    causes: dict[int, int] = {}
    queue: list[int] = []
    queued: set[int] = set()

    def add(literal: int, condition: int) -> None:
        causes[literal] = gates.disjunction(causes.get(literal, 0), condition)
        if literal >> 1 >= first and literal >> 1 not in queued:
            queued.add(literal >> 1)
            heapq.heappush(queue, -(literal >> 1))

    for root in sorted(roots):
        add(root, 1)
    while queue:
        if len(gates.left) > _MOST_GATES:
            return {}
        node = -heapq.heappop(queue)
        a, b = (
            (gates.left[node - gates.first], gates.right[node - gates.first])
            if node >= gates.first
            else (left[node - first], right[node - first])
        )
        whole, missing = causes.pop(2 * node, 0), causes.pop(2 * node + 1, 0)
        if whole:
            add(a, gates.conjunction(whole, b))
            add(b, gates.conjunction(whole, a))
        if missing:
            add(a ^ 1, missing)
            add(b ^ 1, missing)
    return {
        (literal >> 1) - 1: cause
        for literal, cause in causes.items()
        if not literal & 1 and 1 <= literal >> 1 <= len(network.fluents) and cause > 1
    }


def _open_places(expander: Expander, states: States, gates: Gates, fluents: list[int]) -> dict[int, int]:
    """Return the literal that says whether the place of each fluent is open; none for initial fluents."""
    network, bits = expander.network, expander.bits(states[:_STATES])
    wanted = {fluent for fluent in fluents if not network.initial[fluent]}
    groups = {fluent: [fluent] for fluent in wanted}
    if wanted:
        for _, group in alternatives(network.terms, network.fluents.tolist()):
            narrowed = [f for f in group if f in wanted and not 1 < len(groups[f]) <= len(group)]
            if narrowed and (bits[:, group].sum(axis=1) <= 1).all():
                groups.update(dict.fromkeys(narrowed, group))
    return {
        fluent: next(
            (2 * (1 + other) for other in group if network.initial[other]),
            gates.all_of(2 * (1 + other) + 1 for other in group),
        )
        for fluent, group in sorted(groups.items())
    }


def with_gates(network: Network, operands: NDArray[np.int32]) -> Network:
    """Return a network with more gates at the end of the first cone.

    `operands`, [gates, 2], are literals in which the new gates have the next numbers after all nodes of the
    network.  They must belong to fluents, to gates of the first cone, or to new gates before: others raise
    `ValueError` here or when the circuit is made.
    """
    if not len(operands):
        return network
    more, end, first = len(operands), network.cones[0], network.inputs
    total = first + network.gates
    node = np.arange(total + more)
    node[first + end : total] += more
    node[total:] -= network.gates - end
    if not 0 <= operands.min() <= operands.max() < 2 * len(node):
        raise ValueError("operands of no node")
    renumber = partial(renumbered, node)

    def inserted(old: NDArray[np.int32], new: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.insert(renumber(old), end, renumber(new))

    loops = network.loops.copy()
    loops[:, :2] += np.int32(more) * (loops[:, :1] >= end)
    a, b, c = network.cones
    return replace(
        network,
        left=inserted(network.left, operands[:, 0]),
        right=inserted(network.right, operands[:, 1]),
        feedback=renumber(network.feedback),
        loops=loops,
        legal=renumber(network.legal),
        next=renumber(network.next),
        terminal=int(renumber(np.array([network.terminal], np.int32))[0]),
        goal=renumber(network.goal),
        sees=renumber(network.sees),
        cones=(a + more, b + more, c + more),
    )

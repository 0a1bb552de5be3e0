"""Domain transition graphs: how fluents of a group change into each other, and the distances between them.

A group has fluents of the same form of which never two were true in sampled states: the contents of a cell,
the places of a piece, the number of captures.  The successors of a fluent come from evaluating the network
with this one true, the others of the group false and all other fluents unknown (ternary simulation, Bryant
1987); shortest paths in that graph bound how far a counter or a piece has to go (Helmert 2006).  As the
groups are only observed, this is guidance for searches, not a proof.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.invariants.groups import observed_groups
from herbrand.network.ternary import TernarySimulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["UNREACHABLE", "Domains", "find_domains", "order_of"]

UNREACHABLE = np.float32(1e9)
"""The distance between fluents of which one never follows the other."""
_EACH = 2
"""The most groups with the same fluent: the place of a piece, and the content of a cell."""
_LARGEST = 700
"""The most fluents of a group."""


class Domains(NamedTuple):
    """Groups, and the steps from each of their fluents to each other."""

    starts: NDArray[np.int64]
    """[groups + 1] offsets of the fluents of each group in `members`."""
    members: NDArray[np.int64]
    """Fluents by index in the network."""
    tables: NDArray[np.int64]
    """[groups] offsets of the table of each group in `steps`."""
    steps: NDArray[np.float32]
    """For each group [size + 1, size]: steps from one fluent, or from none at the end, to another."""


def find_domains(
    network: Network, states: NDArray[np.bool_], deadline: float, matter: NDArray[np.int64] | None = None
) -> Domains:
    """Return the domains of the groups that hold in sampled `states`, [n, fluents], until the deadline.

    Groups with fluents that `matter`, by index, come first.  `deadline` is a time of `time.monotonic`.
    """
    important = frozenset(matter.tolist() if matter is not None else ())
    groups = sorted(_groups(network, states), key=important.isdisjoint)
    starts, tables = [0], [0]
    members: list[int] = []
    steps: list[NDArray[np.float32]] = []
    for group in groups:
        if time.monotonic() > deadline:
            break
        paths = _paths(_follows(network, np.array(group, np.int64)))
        if (paths <= 1).all():
            continue  # every distance is 1: no guidance
        steps.append(paths.ravel())
        members += group
        starts.append(len(members))
        tables.append(tables[-1] + paths.size)
    return Domains(
        np.array(starts, np.int64),
        np.array(members, np.int64),
        np.array(tables[:-1], np.int64),
        np.concatenate(steps) if steps else np.zeros(0, np.float32),
    )


def _groups(network: Network, states: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return groups of which never two fluents are true in the states, small ones first."""
    holding = [group for group in observed_groups(network, states) if len(group.fluents) <= _LARGEST]
    always = {group.fluents for group in holding if group.some}
    exclusive = {group.fluents for group in holding if not group.some}
    uses = np.zeros(len(network.fluents), np.int64)
    chosen = []
    for group in sorted(exclusive, key=lambda fluents: (fluents not in always, -len(fluents), fluents)):
        if (uses[list(group)] < _EACH).all():
            uses[list(group)] += 1
            chosen.append(group)
    return sorted(chosen, key=len)


def order_of(network: Network, group: Sequence[int]) -> list[int] | None:
    """Return the place of each fluent of a group in the row in which they follow each other.

    None where they do not: each may follow only its neighbours, as the numbers of a counter do.
    """
    follows = _follows(network, np.array(group, np.int64))
    follows[-1, :] = follows[:, -1] = False
    near = follows | follows.T
    np.fill_diagonal(near, val=False)
    count = near.sum(axis=1)
    if (count == 1).sum() != 2 or count.max() > 2:
        return None
    places = _paths(near)[int(np.argmax(count == 1))]
    return [int(place) for place in places] if places.max() < UNREACHABLE else None


def _follows(network: Network, group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which fluents of a group may follow which, [size + 1, size + 1]; the last stands for none."""
    follows = np.zeros((len(group) + 1, len(group) + 1), np.bool_)
    simulation = TernarySimulation(network)
    can, must, fluents = simulation.can, simulation.must, simulation.fluents
    for row in range(len(group) + 1):
        can[fluents], must[fluents] = True, False
        can[1 + group] = False
        if row < len(group):
            can[1 + group[row]] = must[1 + group[row]] = True
        can[simulation.moves] = True
        for _ in range(2):  # only moves that may be legal
            simulation.evaluate()
            can[simulation.moves] = simulation.possible(network.legal)
        if simulation.possible(np.array([network.terminal ^ 1], np.int32))[0]:
            follows[row, :-1] = simulation.possible(network.next[group])
            follows[row, -1] = simulation.possible(network.next[group] ^ 1).all()
    return follows


def _paths(follows: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the lengths of shortest paths to each fluent, [size + 1, size]."""
    paths = np.full(follows.shape, UNREACHABLE, np.float32)
    for first, row in enumerate(paths):
        frontier = np.arange(len(row)) == first
        length = 0
        while frontier.any():
            row[frontier] = length
            length += 1
            frontier = follows[frontier].any(axis=0) & (row == UNREACHABLE)
    return np.ascontiguousarray(paths[:, :-1])

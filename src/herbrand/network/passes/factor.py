"""Factors out common literals: `(a and b) or (a and c)` becomes `a and (b or c)`.

The core (`src/core/factor.cpp`) treats trees of gates that are used once as wide conjunctions, or,
under inverted edges, as terms of a disjunction.  In each disjunction the literal that most terms share is
factored out repeatedly (algebraic factoring; Brayton and McMullen 1982).  Then pairs of literals that many
conjunctions share get a gate of their own, the most frequent first.

Rules produce many common literals: each move of a piece repeats the conditions of all its moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand import core
from herbrand.network.cones import in_cones

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.network.network import Network

__all__ = ["factor"]


def factor(network: Network, exclusive: Iterable[Sequence[int]] = ()) -> Network:
    """Return an equal network with fewer gates; a network with loops is returned as it is.

    With `exclusive`, groups of fluents by their places, it is equal in states in which never two fluents of a
    group are true: there `a and not b` is `a`.
    """
    if len(network.loops):
        return network
    first = network.inputs
    rows = network.legal, network.next, network.goal, network.sees, np.array([network.terminal], np.int32)
    groups = [list(group) for group in exclusive]
    left, right, outputs = core.factor(
        network.left,
        network.right,
        first,
        np.concatenate(rows),
        np.cumsum([0, *map(len, groups)], dtype=np.int64),
        np.array([2 * (1 + fluent) for group in groups for fluent in group], np.int32),
    )
    legal, following, goal, sees, terminal = np.split(outputs, np.cumsum([len(row) for row in rows[:-1]]))
    small = replace(
        network,
        left=left,
        right=right,
        legal=legal,
        next=following,
        goal=goal,
        sees=sees,
        terminal=int(terminal[0]),
    )
    small = in_cones(small, first)
    return small if small.gates < network.gates else network

"""Compiled: many trees in the same arrays, each with a root of its own (`Forest`)."""

from __future__ import annotations

import numpy as np

from herbrand.compiled import compiled
from herbrand.play.search.descent import is_exact, uniform
from herbrand.play.search.growth import _add_position
from herbrand.play.search.tree import ALONE, EXPLORATION, JOINT, OVER, SINGLE

__all__ = ["add_up", "best_moves", "plant", "unsettled"]


@compiled
def plant(tree, states, roots):
    """Fill `roots[i]` with the position of state i."""
    for i in range(len(states)):
        roots[i] = _add_position(tree, states, i)[0]


@compiled
def unsettled(tree, roots):
    """Return for each root whether there is more to find out."""
    found = np.zeros(len(roots), np.bool_)
    for i in range(len(roots)):
        found[i] = roots[i] >= 0 and tree.kind[roots[i]] != OVER and not is_exact(tree, roots[i])
    return found


@compiled
def _promise(tree, at, arm, role):
    """Return the rank of an arm, 2 the best, and what it promises within its rank."""
    child = np.int64(tree.arm_child[arm]) if tree.kind[at] == ALONE and tree.mover[at] == role else -1
    if child < 0:
        count = tree.arm_count[arm]
        mean = tree.arm_total[arm] / count if count > 0.0 else 0.0
        return 1, mean - tree.settings[EXPLORATION] / np.sqrt(count + 1.0)
    low, high, count = tree.low[child, role], tree.high[child, role], tree.games[child]
    if low == high:
        # sure to be as good as anything can be: the shortest way; sure to be worst: the longest
        if low >= 1.0:
            return 2, -np.float64(tree.plies[child])
        if high <= 0.0:
            return 0, np.float64(tree.plies[child])
        return 1, low
    mean = tree.total[child, role] / count if count > 0.0 else 0.0
    if tree.settings[SINGLE]:
        mean = 0.5 * (mean + tree.best[child])
    return 1, min(max(mean - tree.settings[EXPLORATION] / np.sqrt(count + 1.0), low), high)


@compiled
def best_moves(tree, roots, roles, found):
    """Fill `found[i]` with the move of a role at a root that promises most; -1 if that was not opened."""
    for i in range(len(roots)):
        at, role = roots[i], roles[i]
        found[i] = -1
        if at < 0 or (tree.kind[at] != ALONE and tree.kind[at] != JOINT):
            continue
        begin = tree.first[at]
        for r in range(role):
            begin += tree.sizes[at, r]
        size = np.int64(tree.sizes[at, role])
        rank, highest = -1, 0.0
        arm = begin + min(np.int64(uniform(tree) * size), size - 1)  # among equals, any
        for _ in range(size):
            mine, promised = _promise(tree, at, arm, role)
            if mine > rank or (mine == rank and promised > highest):
                rank, highest = mine, promised
                found[i] = tree.move[arm]
            arm = arm + 1 if arm + 1 < begin + size else begin


@compiled
def add_up(tree, roots, groups, roles, base, values, roots_with, games):
    """Add the value of each move of role `roles[g]` at each root of group g to `values[g, move]`.

    `base[g]` is the number of the first of the role's moves; `roots_with` counts the roots at which a move
    was looked at, `games` the random games after it.
    """
    for i in range(len(roots)):
        at, group = roots[i], groups[i]
        role = roles[group]
        if at < 0 or (tree.kind[at] != ALONE and tree.kind[at] != JOINT):
            continue
        arm = tree.first[at]
        for r in range(role):
            arm += tree.sizes[at, r]
        for _ in range(tree.sizes[at, role]):
            count, value = tree.arm_count[arm], 0.0
            child = np.int64(tree.arm_child[arm]) if tree.kind[at] == ALONE and tree.mover[at] == role else -1
            if child >= 0:
                count = tree.games[child]
                value = tree.total[child, role] / count if count > 0.0 else 0.0
                if tree.low[child, role] == tree.high[child, role]:
                    value, count = tree.low[child, role], max(count, 1.0)
            elif count > 0.0:
                value = tree.arm_total[arm] / count
            if count > 0.0:
                move = tree.move[arm] - base[group]
                values[group, move] += value
                roots_with[group, move] += 1.0
                games[group, move] += count
            arm += 1

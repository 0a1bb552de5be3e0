"""Compiled: ways down the tree.

A *way* is the positions from the root to where it ends, each but the last with the arm that every
role took.  Ways of one round lie one after another in the arrays of `Ways`.  An arm that a way went
through counts, until the results are there, as if the games had been lost, so that the next
way of the round looks elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from herbrand.compiled import compiled
from herbrand.play.search.tree import (
    ALONE,
    AMAF,
    CHANCE,
    EXPLORATION,
    LEAF,
    OVER,
    REGRET,
    SERIAL,
    SINGLE,
    WEIGHT,
    edge_slot,
    hashed,
    mixed,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KNOWN", "MAKE", "OPEN", "VOID", "Ways", "descend", "is_exact", "joint_key", "new_ways"]

OPEN: Final = 0
"""The way ends at a leaf, which is to be opened."""
MAKE: Final = 1
"""It ends with a joint move that has not been made yet."""
KNOWN: Final = 2
"""It ends where the value is known, or where it came before on the same way."""
VOID: Final = 3
"""It ends at a leaf that another way of the round opens: nothing is learnt."""

_U = np.uint64
_LOOP = 64
"""Ways without a new leaf after which a round ends."""


class Ways(NamedTuple):
    """The ways of one round."""

    first: NDArray[np.int64]
    """[ways + 1] where each begins."""
    end: NDArray[np.int8]
    """[ways] how it ended."""
    position: NDArray[np.int32]
    """[steps]"""
    arm: NDArray[np.int64]
    """[steps, roles] the arm of each role; -1 at the last position, if no move was chosen there."""


def new_ways(most: int, roles: int, steps: int = 1 << 16) -> Ways:
    """Make room for so many ways with so many steps in all."""
    return Ways(
        np.zeros(most + 1, np.int64),
        np.zeros(most, np.int8),
        np.zeros(steps, np.int32),
        np.zeros((steps, roles), np.int64),
    )


@compiled
def uniform(tree):
    """Return a random number from 0 to 1, exclusive."""
    tree.random[0] += _U(0x9E3779B97F4A7C15)
    return np.float64(mixed(tree.random[0]) >> _U(11)) * (1.0 / 9007199254740992.0)


@compiled
def is_exact(tree, at):
    """Whether the values of a position are proved for all roles but chance."""
    chance = np.int64(tree.settings[CHANCE])
    for r in range(tree.low.shape[1]):
        if r != chance and tree.low[at, r] != tree.high[at, r]:
            return False
    return True


@compiled
def joint_key(tree, at, arms, row):
    """Return a number for the joint move `arms[row]` in a position, never 0."""
    key = hashed(tree.state, at)
    for r in range(arms.shape[1]):
        key = mixed(key ^ _U(tree.move[arms[row, r]])) + _U(0x9E3779B97F4A7C15)
    return key | _U(1)


@compiled
def _best_alone(tree, at, role, begin, end):
    """Return the arm of a role that alone has a choice: UCB1 on the values of the positions after it."""
    weight, constant, single = tree.settings[WEIGHT], tree.settings[EXPLORATION], tree.settings[SINGLE]
    # taking an array out of the tree counts references: once is enough
    games, total, lows, highs, best = tree.games, tree.total, tree.low, tree.high, tree.best
    arm_child, arm_virtual, arm_count = tree.arm_child, tree.arm_virtual, tree.arm_count
    amaf_count, amaf_total = tree.amaf_count, tree.amaf_total
    parent, equal = games[at], tree.settings[AMAF]
    width = constant * constant * np.log(parent + 2.0)
    sure = lows[at, role]
    unknown = total[at, role] / parent if parent > 0 else 0.5
    chosen, highest = begin, -1e300
    a = begin + min(np.int64(uniform(tree) * (end - begin)), end - begin - 1)  # among equals, any
    for _ in range(begin, end):
        a = a + 1 if a + 1 < end else begin
        child = arm_child[a]
        virtual = arm_virtual[a] * weight
        value = unknown
        low, high, count = 0.0, 1.0, 0.0
        if child >= 0:
            low, high = lows[child, role], highs[child, role]
            if high <= sure:  # cannot be better than what is sure
                if highest < -1.0 and low == high == sure:
                    chosen, highest = a, -2.0
                continue
            if low == high:
                return a
            count = games[child]
            if count > 0:
                value = total[child, role] / count
                if single:
                    value = 0.5 * (value + best[child])
        later = amaf_count[a]
        if equal > 0.0 and later > 0.0:
            share = later / (later + count + later * count / equal)
            value += share * (amaf_total[a] / later - value)
        if virtual:
            value *= (count + 1.0) / (count + 1.0 + virtual)
        value = min(max(value, low), high)
        upper = value + np.sqrt(width / (arm_count[a] + virtual + 1.0))
        if upper > highest:
            chosen, highest = a, upper
    return chosen


@compiled
def _best_joint(tree, at, begin, end):
    """Return the arm of a role while others choose at the same time: UCB1 on what the arm gave so far."""
    weight, constant = tree.settings[WEIGHT], tree.settings[EXPLORATION]
    width = constant * constant * np.log(tree.games[at] + 2.0)
    chosen, highest = begin, -1e300
    for a in range(begin, end):
        count = tree.arm_count[a] + tree.arm_virtual[a] * weight
        value = tree.arm_total[a] / count if count > 0 else 1.0
        upper = value + np.sqrt(width / (count + 1.0)) + 1e-3 * uniform(tree)
        if upper > highest:
            chosen, highest = a, upper
    return chosen


@compiled
def _by_regret(tree, begin, end):
    """Draw the arm of a role by regret matching, with a tenth of the choices even."""
    total = 0.0
    for a in range(begin, end):
        total += max(tree.arm_regret[a], 0.0)
    if total <= 0.0 or uniform(tree) < 0.1:
        return begin + min(np.int64(uniform(tree) * (end - begin)), end - begin - 1)
    rest = uniform(tree) * total
    for a in range(begin, end):
        rest -= max(tree.arm_regret[a], 0.0)
        if rest < 0.0:
            return np.int64(a)
    return np.int64(end - 1)


@compiled
def _choose(tree, at, arms, row):
    """Fill `arms[row]` with the arm of each role; return the position after it, -1 if it was not made yet."""
    chance = np.int64(tree.settings[CHANCE])
    begin = tree.first[at]
    for r in range(arms.shape[1]):
        size = np.int64(tree.sizes[at, r])
        end = begin + size
        if size == 1:
            arms[row, r] = begin
        elif r == chance:
            arms[row, r] = begin + min(np.int64(uniform(tree) * size), size - 1)
        elif tree.kind[at] == ALONE:
            arms[row, r] = _best_alone(tree, at, r, begin, end)
        elif tree.settings[REGRET]:
            arms[row, r] = _by_regret(tree, begin, end)
        else:
            arms[row, r] = _best_joint(tree, at, begin, end)
        begin = end
    if tree.kind[at] == ALONE:
        return np.int64(tree.arm_child[arms[row, tree.mover[at]]])
    edge = tree.edge_slots[edge_slot(tree, joint_key(tree, at, arms, row))] - 1
    return np.int64(tree.edge_child[edge]) if edge >= 0 else np.int64(-1)


@compiled
def descend(tree, ways, roots, most):
    """Go down at most `most` times, from each of the roots in turn; return the number of ways."""
    n, step, useless = 0, np.int64(0), 0
    started = tree.used[SERIAL]
    roles = ways.arm.shape[1]
    ways.first[0] = 0
    while n < most and useless < _LOOP:
        tree.used[SERIAL] += 1
        serial = tree.used[SERIAL]
        at = np.int64(roots[n % len(roots)])
        while True:
            ways.position[step] = at
            for r in range(roles):
                ways.arm[step, r] = -1
            kind = tree.kind[at]
            if (
                kind == OVER
                or is_exact(tree, at)
                or tree.seen[at] == serial
                or step + 2 >= len(ways.position)
            ):
                ways.end[n] = KNOWN
                useless += 1
                break
            if kind == LEAF:
                if tree.seen[at] > started:
                    ways.end[n] = VOID
                    useless += 4
                else:
                    ways.end[n] = OPEN
                tree.seen[at] = serial
                break
            tree.seen[at] = serial
            child = _choose(tree, at, ways.arm, step)
            for r in range(roles):
                tree.arm_virtual[ways.arm[step, r]] += 1
            if child < 0:
                ways.end[n] = MAKE
                break
            step += 1
            at = child
        step += 1
        n += 1
        ways.first[n] = step
        if step + 2 >= len(ways.position):
            break
    return n

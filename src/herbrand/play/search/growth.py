"""Compiled: opening leaves, new positions, and carrying results up.

A *row* is a joint move that is to be made: in the position `Rows.parent`, with the arms
`Rows.arm`.  All rows of a round are made in one pass over the network; those that lead to new positions
are *fresh*, and random games are played from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.compiled import compiled
from herbrand.play.search.descent import KNOWN, MAKE, OPEN, is_exact, joint_key, uniform
from herbrand.play.search.tree import (
    ALONE,
    ARMS,
    CHANCE,
    FULL,
    JOINT,
    LEAF,
    OVER,
    POSITIONS,
    REGRET,
    SUM,
    WEIGHT,
    add_edge,
    edge_slot,
    hashed,
    position_slot,
)
from herbrand.simulate.vectors import count_ones, lowest_bit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.play.search.tree import Tree

__all__ = ["Rows", "attach", "look_at_sums", "new_rows", "open_leaves", "play_leaves", "settle", "unproved"]

_U = np.uint64
_JOINTS = 64
"""Joint moves that are made when a position is opened in which several roles have a choice."""
_CHECKED = 1024
"""Joint moves up to which guaranteed values are carried up where roles move at once."""


class Rows(NamedTuple):
    """The joint moves of one round."""

    way: NDArray[np.int32]
    """[rows] the way that asks for it."""
    parent: NDArray[np.int64]
    """[rows] the position in which it is made."""
    arm: NDArray[np.int64]
    """[rows, roles]"""
    joint: NDArray[np.int32]
    """[rows, roles] the moves, by their numbers among the moves of all roles."""
    child: NDArray[np.int32]
    """[rows] the position after it; -1 if there was no room."""
    fresh: NDArray[np.int64]
    """The rows with new positions, as many as `attach` says."""
    games: NDArray[np.float64]
    """[rows] random games that were played after it."""
    total: NDArray[np.float64]
    """[rows, roles] their values."""


def new_rows(most: int, roles: int) -> Rows:
    """Make room for so many joint moves."""
    return Rows(
        np.zeros(most, np.int32),
        np.zeros(most, np.int64),
        np.zeros((most, roles), np.int64),
        np.zeros((most, roles), np.int32),
        np.zeros(most, np.int32),
        np.zeros(most, np.int64),
        np.zeros(most, np.float64),
        np.zeros((most, roles), np.float64),
    )


@compiled
def _last(ways, n):
    return ways.first[n + 1] - 1


@compiled
def _end_here(tree, at):
    """A position without legal moves in which the game is not over: nobody knows what that is worth."""
    tree.kind[at] = OVER
    for r in range(tree.low.shape[1]):
        tree.low[at, r] = 0.5
        tree.high[at, r] = 0.5


@compiled
def open_leaves(tree, ways, n, legal, bounds, places, widest, rows):
    """Give the leaves at the ends of the ways their arms, and list the joint moves to make.

    `legal[i]` are the packed legal moves at the i-th way that ends with `OPEN`.  At most
    `widest` joint moves are made from one leaf, drawn where there are more.  Returns the number of rows.
    """
    roles = tree.low.shape[1]
    used = np.int64(0)
    leaf = -1
    for way in range(n):
        end = ways.end[way]
        step = _last(ways, way)
        at = np.int64(ways.position[step])
        if end == MAKE and used < len(rows.way):
            rows.way[used] = way
            rows.parent[used] = at
            for r in range(roles):
                rows.arm[used, r] = ways.arm[step, r]
                rows.joint[used, r] = tree.move[ways.arm[step, r]]
            used += 1
        if end != OPEN:
            continue
        leaf += 1
        if tree.used[ARMS] + bounds[roles] > len(tree.move):
            tree.used[FULL] = 1
            continue
        first = tree.used[ARMS]
        a = first
        choosing, mover, stuck = 0, 0, False
        product = 1.0
        for r in range(roles):
            begin = a
            for j in range(places[r], places[r + 1]):
                word = legal[leaf, j]
                while word:
                    tree.move[a] = bounds[r] + 64 * (j - places[r]) + lowest_bit(word)
                    word &= word - _U(1)
                    tree.arm_count[a] = 0.0
                    tree.arm_total[a] = 0.0
                    tree.arm_virtual[a] = 0
                    tree.arm_child[a] = -1
                    tree.amaf_count[a] = 0.0
                    tree.amaf_total[a] = 0.0
                    tree.arm_regret[a] = 0.0
                    tree.arm_share[a] = 0.0
                    a += 1
            size = a - begin
            tree.sizes[at, r] = size
            product *= size
            if size == 0:
                stuck = True
            if size > 1:
                choosing += 1
                mover = r
        if stuck:
            _end_here(tree, at)
            continue
        tree.first[at] = first
        tree.mover[at] = mover
        tree.kind[at] = ALONE if choosing <= 1 else JOINT
        tree.used[ARMS] = a
        most = widest if choosing <= 1 else min(_JOINTS, widest)
        every = product <= most
        wanted = np.int64(product) if every else most
        wanted = min(wanted, len(rows.way) - used)
        shift = np.int64(uniform(tree) * product) if choosing <= 1 and not every else 0
        for k in range(wanted):
            rest = np.int64(k)
            if choosing <= 1 and not every:  # spread over the moves, which are in the order of the rules
                rest = (shift + np.int64(k * product / wanted)) % np.int64(product)
            begin = first
            for r in range(roles):
                size = np.int64(tree.sizes[at, r])
                if every or choosing <= 1:
                    arm = begin + rest % size
                    rest //= size
                else:
                    arm = begin + min(np.int64(uniform(tree) * size), size - 1)
                rows.arm[used, r] = arm
                rows.joint[used, r] = tree.move[arm]
                begin += size
            rows.way[used] = way
            rows.parent[used] = at
            used += 1
    return used


@compiled
def _add_position(tree, states, i):
    """Return the position of the i-th state and whether it is new; -1 if there is no room."""
    place = position_slot(tree, states, i)
    at = np.int64(tree.slots[place]) - 1
    if at >= 0:
        return at, False
    at = tree.used[POSITIONS]
    if at == len(tree.games):
        tree.used[FULL] = 1
        return np.int64(-1), False
    tree.used[POSITIONS] = at + 1
    tree.slots[place] = at + 1
    tree.kind[at] = LEAF
    tree.games[at] = 0.0
    tree.best[at] = 0.0
    tree.plies[at] = 0
    tree.seen[at] = 0
    for j in range(tree.state.shape[1]):
        tree.state[at, j] = states[i, j]
    for r in range(tree.low.shape[1]):
        tree.total[at, r] = 0.0
        tree.low[at, r] = 0.0
        tree.high[at, r] = 1.0
    return at, True


@compiled
def attach(tree, rows, used, after):
    """Find or make the positions `after[row]`; return how many are new."""
    # `_add_position` written out: handing the tree on counts references to all its arrays, for every row
    slots, state, games, best, total = tree.slots, tree.state, tree.games, tree.best, tree.total
    lows, highs, kinds, plies, seen = tree.low, tree.high, tree.kind, tree.plies, tree.seen
    arm_child, mover = tree.arm_child, tree.mover
    row_child, row_fresh, row_parent, row_arm = rows.child, rows.fresh, rows.parent, rows.arm
    words, roles, room = state.shape[1], lows.shape[1], len(games)
    mask = _U(len(slots) - 1)
    positions = tree.used[POSITIONS]
    fresh = 0
    for i in range(used):
        place = hashed(after, i) & mask
        child = np.int64(slots[place]) - 1
        while child >= 0:
            j = 0
            while j < words and state[child, j] == after[i, j]:
                j += 1
            if j == words:
                break
            place = (place + _U(1)) & mask
            child = np.int64(slots[place]) - 1
        if child < 0 and positions == room:
            tree.used[FULL] = 1
        elif child < 0:
            child = positions
            positions += 1
            slots[place] = positions
            kinds[child] = LEAF
            games[child] = 0.0
            best[child] = 0.0
            plies[child] = 0
            seen[child] = 0
            for j in range(words):
                state[child, j] = after[i, j]
            for r in range(roles):
                total[child, r] = 0.0
                lows[child, r] = 0.0
                highs[child, r] = 1.0
            row_fresh[fresh] = i
            fresh += 1
        row_child[i] = child
        if child < 0:
            continue
        at = row_parent[i]
        if kinds[at] == ALONE:
            arm_child[row_arm[i, mover[at]]] = child
        else:
            add_edge(tree, joint_key(tree, at, row_arm, i), at, child)
    tree.used[POSITIONS] = positions
    return fresh


@compiled
def play_leaves(ways, n, rows):
    """Take the ends of the ways themselves as fresh rows, when the tree is full; return how many."""
    used = np.int64(0)
    for way in range(n):
        if ways.end[way] in (OPEN, MAKE):
            rows.way[used] = way
            rows.child[used] = ways.position[_last(ways, way)]
            rows.fresh[used] = used
            used += 1
    return used


@compiled
def _value(goal):
    """The goal as a value; what is not known, or no number, is half of it."""
    return goal / 100.0 if goal >= 0 else 0.5


@compiled
def settle(tree, ways, n, rows, used, fresh, goals, lengths, grew, played):
    """Add the ends `goals[game, role]` of random games up to the root.

    Game i of g began after row `rows.fresh[i * fresh // g]`; one of length 0 began where the game is over.
    `grew` tells whether the rows are new moves (`attach`) or the ends of the ways (`play_leaves`).
    `played[move, word]` are the games in which a move was made, for `_later`; it may have no rows.
    """
    roles = tree.low.shape[1]
    for i in range(used):
        rows.games[i] = 0.0
        for r in range(roles):
            rows.total[i, r] = 0.0
    games = np.int64(len(lengths)) if fresh else np.int64(0)
    words = played.shape[1]
    high, highest = np.zeros((roles, words), np.uint64), np.zeros((roles, words), np.uint64)
    for game in range(games):
        row = rows.fresh[game * fresh // games]
        child = rows.child[row]
        if len(played):
            bit = _U(1) << _U(game & 63)
            for r in range(roles):
                if _value(goals[game, r]) >= 0.5:
                    high[r, game >> 6] |= bit
                if _value(goals[game, r]) > 0.5:
                    highest[r, game >> 6] |= bit
                if grew:
                    played[rows.joint[row, r], game >> 6] |= bit
        rows.games[row] += 1.0
        for r in range(roles):
            rows.total[row, r] += _value(goals[game, r])
        tree.best[child] = max(tree.best[child], _value(goals[game, 0]))
        if lengths[game] == 0 and tree.kind[child] == LEAF:
            tree.kind[child] = OVER
            for r in range(roles):
                tree.low[child, r] = _value(goals[game, r])
                tree.high[child, r] = tree.low[child, r]
    if grew:
        for k in range(fresh):
            row = rows.fresh[k]
            child = rows.child[row]
            tree.games[child] += rows.games[row]
            for r in range(roles):
                tree.total[child, r] += rows.total[row, r]
        each = max(1.0, len(lengths) / fresh) if fresh else 1.0
        for row in range(used):  # positions known before: what is known of them
            child = rows.child[row]
            if child >= 0 and rows.games[row] == 0.0 and tree.games[child] > 0.0:
                rows.games[row] = min(each, tree.games[child])
                for r in range(roles):
                    rows.total[row, r] = tree.total[child, r] / tree.games[child] * rows.games[row]
    row, game = 0, np.int64(0)
    some = np.zeros(words, np.uint64)
    value = np.zeros(roles, np.float64)
    for way in range(n):
        last = _last(ways, way)
        at = np.int64(ways.position[last])
        end = ways.end[way]
        weight, best = 0.0, 0.0
        value[:] = 0.0
        changed = False
        some[:] = _U(0)
        while row < used and rows.way[row] == way:
            child = rows.child[row]
            while len(played) and game < games and rows.fresh[game * fresh // games] == row:
                some[game >> 6] |= _U(1) << _U(game & 63)
                game += 1
            if child >= 0:
                weight += rows.games[row]
                best = max(best, tree.best[child])
                for r in range(roles):
                    value[r] += rows.total[row, r]
                    if tree.low[child, r] > 0.0 or tree.high[child, r] < 1.0:
                        changed = True
                    if grew and end == OPEN:
                        arm = rows.arm[row, r]
                        tree.arm_count[arm] += rows.games[row]
                        tree.arm_total[arm] += rows.total[row, r]
            row += 1
        if end == KNOWN:
            changed = True
            weight = tree.settings[WEIGHT]
            best = tree.best[at]
            for r in range(roles):
                if tree.low[at, r] == tree.high[at, r]:
                    value[r] = weight * tree.low[at, r]
                elif tree.games[at] > 0:
                    value[r] = weight * tree.total[at, r] / tree.games[at]
                else:
                    value[r] = 0.5 * weight
        for step in range(last, ways.first[way] - 1, -1):
            at = np.int64(ways.position[step])
            if ways.arm[step, 0] >= 0:
                for r in range(roles):
                    arm = ways.arm[step, r]
                    tree.arm_virtual[arm] -= 1
                    tree.arm_count[arm] += weight
                    tree.arm_total[arm] += value[r]
                if tree.settings[REGRET] and tree.kind[at] == JOINT and weight > 0.0:
                    _regret(tree, at, ways.arm, step, value, weight)
            if len(played):
                _later(tree, at, ways.arm, step, played, some, high, highest)
            tree.games[at] += weight
            for r in range(roles):
                tree.total[at, r] += value[r]
            tree.best[at] = max(tree.best[at], best)
            if changed and tree.kind[at] in (ALONE, JOINT):
                changed = tighten(tree, at) or end == KNOWN
            if is_exact(tree, at) and weight > 0.0:
                for r in range(roles):
                    if tree.low[at, r] == tree.high[at, r]:
                        value[r] = weight * tree.low[at, r]


@compiled
def _later(tree, at, arms, step, played, some, high, highest):
    """Add games, the set `some`, to what the moves of a position gave when they were made now or later.

    `high` and `highest` are the games in which each role got at least, and more than, half of the points.
    """
    begin = tree.first[at]
    chance = np.int64(tree.settings[CHANCE])
    for r in range(arms.shape[1]):
        size = np.int64(tree.sizes[at, r]) if tree.kind[at] == ALONE else np.int64(0)
        if arms[step, r] >= 0:
            move = tree.move[arms[step, r]]
            for w in range(len(some)):
                played[move, w] |= some[w]
        if size > 1 and r != chance:
            for a in range(begin, begin + size):
                move = tree.move[a]
                count, total = np.int64(0), np.int64(0)
                for w in range(len(some)):
                    if some[w]:
                        mine = played[move, w] & some[w]
                        count += np.int64(count_ones(mine))
                        total += np.int64(count_ones(mine & high[r, w]) + count_ones(mine & highest[r, w]))
                tree.amaf_count[a] += count
                tree.amaf_total[a] += 0.5 * total
        begin += size


@compiled
def _regret(tree, at, arms, step, value, weight):
    """Add to the regrets of roles that moved at once, and to their strategies (Lisý et al. 2013)."""
    roles = arms.shape[1]
    chance = np.int64(tree.settings[CHANCE])
    begin = tree.first[at]
    for r in range(roles):
        size = np.int64(tree.sizes[at, r])
        if size > 1 and r != chance:
            total = 0.0
            for a in range(begin, begin + size):
                total += max(tree.arm_regret[a], 0.0)
            played = arms[step, r]
            got = value[r] / weight
            for a in range(begin, begin + size):
                tree.arm_share[a] += max(tree.arm_regret[a], 0.0) / total if total > 0.0 else 1.0 / size
            for a in range(begin, begin + size):
                if a != played:
                    arms[step, r] = a
                    edge = tree.edge_slots[edge_slot(tree, joint_key(tree, at, arms, step))] - 1
                    if edge >= 0:
                        child = tree.edge_child[edge]
                        if tree.games[child] > 0.0:
                            tree.arm_regret[a] += tree.total[child, r] / tree.games[child] - got
            arms[step, r] = played
        begin += size


# -- proofs -------------------------------------------------------------------------------


@compiled
def tighten(tree, at):
    """Carry what is proved of the positions after one over to it; return whether that changed anything."""
    if tree.kind[at] == JOINT:
        return _tighten_joint(tree, at)
    roles = tree.low.shape[1]
    chance = np.int64(tree.settings[CHANCE])
    mover = np.int64(tree.mover[at])
    begin = tree.first[at]
    for r in range(mover):
        begin += tree.sizes[at, r]
    size = np.int64(tree.sizes[at, mover])
    changed = False
    for r in range(roles):
        if r == chance:
            continue
        low, high, least = 0.0, 0.0, 1.0
        lows, highs = np.float64(0.0), np.float64(0.0)
        for a in range(begin, begin + size):
            child = tree.arm_child[a]
            mine = tree.low[child, r] if child >= 0 else 0.0
            most = tree.high[child, r] if child >= 0 else 1.0
            low = max(low, mine)
            least = min(least, mine)
            high = max(high, most)
            lows += mine
            highs += most
        if mover == chance and size > 1:
            low, high = lows / size, highs / size
            if high - low < 1e-6:
                high = low
        elif r != mover:
            low = least
        if low > tree.low[at, r]:
            tree.low[at, r] = low
            changed = True
        if high < tree.high[at, r]:
            tree.high[at, r] = max(high, tree.low[at, r])
            changed = True
    changed = _opposed(tree, at) or changed
    if changed:
        _count_plies(tree, at, mover, begin, size)
    return changed


@compiled
def _opposed(tree, at):
    """Where goals always have the same sum, two players get at most what the other cannot make sure of."""
    total = tree.settings[SUM]
    if total < 0.0:
        return False
    chance = np.int64(tree.settings[CHANCE])
    changed = False
    one = 1 if chance == 0 else 0
    two = one + 1 if one + 1 != chance else one + 2
    for a, b in ((one, two), (two, one)):
        high = total - tree.low[at, b]
        if abs(high - tree.low[at, a]) < 1e-6:
            high = tree.low[at, a]
        if high < tree.high[at, a]:
            tree.high[at, a] = max(high, tree.low[at, a])
            changed = True
    return changed


@compiled
def _count_plies(tree, at, mover, begin, size):
    """Note how many steps the proof takes: the shortest way to win, the longest to lose."""
    exact = tree.low[at, mover] == tree.high[at, mover] and mover != np.int64(tree.settings[CHANCE])
    value = tree.low[at, mover]
    shortest = exact and value >= 0.5
    plies = -1
    for a in range(begin, begin + size):
        child = tree.arm_child[a]
        if child < 0 or (exact and tree.low[child, mover] != value):
            continue
        steps = tree.plies[child] + 1
        if plies < 0 or (steps < plies if shortest else steps > plies):
            plies = steps
    tree.plies[at] = max(plies, 0)


@compiled
def _tighten_joint(tree, at):
    """Carry over what each role can make sure of, whatever the others do at the same time."""
    roles = tree.low.shape[1]
    chance = np.int64(tree.settings[CHANCE])
    product = 1.0
    for r in range(roles):
        product *= tree.sizes[at, r]
    if product > _CHECKED:
        return False
    arms = np.zeros((1, roles), np.int64)
    place = np.zeros(roles, np.int64)
    largest = 0
    for r in range(roles):
        largest = max(largest, tree.sizes[at, r])
    least = np.ones((roles, largest), np.float64)
    high = np.zeros(roles, np.float64)
    plies = 0
    for k in range(np.int64(product)):
        rest = np.int64(k)
        begin = tree.first[at]
        for r in range(roles):
            size = np.int64(tree.sizes[at, r])
            place[r] = rest % size
            rest //= size
            arms[0, r] = begin + place[r]
            begin += size
        edge = tree.edge_slots[edge_slot(tree, joint_key(tree, at, arms, 0))] - 1
        child = tree.edge_child[edge] if edge >= 0 else -1
        for r in range(roles):
            low = tree.low[child, r] if child >= 0 else 0.0
            least[r, place[r]] = min(least[r, place[r]], low)
            high[r] = max(high[r], tree.high[child, r] if child >= 0 else 1.0)
        if child >= 0:
            plies = max(plies, tree.plies[child] + 1)
    changed = False
    for r in range(roles):
        if r == chance:
            continue
        low = 0.0
        for a in range(tree.sizes[at, r]):
            low = max(low, least[r, a])
        if low > tree.low[at, r]:
            tree.low[at, r] = low
            changed = True
        if high[r] < tree.high[at, r]:
            tree.high[at, r] = max(high[r], tree.low[at, r])
            changed = True
    changed = _opposed(tree, at) or changed
    if changed:
        tree.plies[at] = plies
    return changed


@compiled
def unproved(tree):
    """Forget what was proved, of all positions in which the game is not over."""
    for at in range(tree.used[POSITIONS]):
        if tree.kind[at] != OVER:
            for r in range(tree.low.shape[1]):
                tree.low[at, r] = 0.0
                tree.high[at, r] = 1.0


def look_at_sums(tree: Tree, goals: NDArray[np.int16]) -> None:
    """Find out from the goals of two players, [games, 2], whether they always have the same sum."""
    sums = goals.sum(axis=1)[(goals >= 0).all(axis=1)]
    if not len(sums):
        return
    known = tree.settings[SUM]
    if known == -2:
        known = tree.settings[SUM] = sums[0] / 100.0
    if (sums != round(100 * known)).any():
        tree.settings[SUM] = -1
        unproved(tree)

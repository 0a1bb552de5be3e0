"""A hash set of packed states, and counting on the graph of states; compiled.

The set is an open-addressing table of 64-bit entries: the number of a state plus one in the low half,
32 bits of its hash in the high half, 0 for an empty place.  The states themselves stand in one
array in the order in which they were added, so that the set takes 8 to 16 bytes a state
besides.

The graph is given by rows: the edges of state i are `starts[i] .. starts[i + 1]` of `children`, in the
order of the joint moves.
"""

from __future__ import annotations

import numpy as np

from herbrand.compiled import compiled
from herbrand.simulate.vectors import count_ones

__all__ = ["count_plays", "insert", "order", "random_values", "rebuild", "spread", "state_hash", "survey"]

_U = np.uint64
_LOW = np.uint64(0xFFFFFFFF)
_K1 = np.uint64(0xBF58476D1CE4E5B9)
_K2 = np.uint64(0x94D049BB133111EB)
_K3 = np.uint64(0x9E3779B97F4A7C15)


@compiled
def state_hash(rows, i):
    """Mix the words of a row (the finalizer of SplitMix64 after each)."""
    h = _K3
    for j in range(rows.shape[1]):
        h = (h ^ rows[i, j]) + _K3
        h = (h ^ (h >> _U(30))) * _K1
        h = (h ^ (h >> _U(27))) * _K2
        h ^= h >> _U(31)
    return h


@compiled
def rebuild(table, states, count):
    """Fill an empty table with the first `count` states."""
    mask = _U(len(table) - 1)
    for i in range(count):
        h = state_hash(states, i)
        place = h & mask
        while table[place]:
            place = (place + _U(1)) & mask
        table[place] = (h & ~_LOW) | _U(i + 1)


@compiled
def insert(table, states, count, rows, begin, end, numbers, origins, first_origin, parents):
    """Add `rows[begin:end]` to the set; `numbers[i]` becomes the number of row i in `states`.

    Of a new state, `parents` becomes `first_origin + origins[i]`.  There must be room for all of them.
    Returns the new count.
    """
    mask = _U(len(table) - 1)
    words = rows.shape[1]
    hashes = np.empty(64, np.uint64)
    found = np.empty(64, np.uint64)
    for first in range(begin, end, 64):
        last = min(first + 64, end)
        # loads that do not depend on each other wait for the memory together
        for i in range(first, last):
            h = state_hash(rows, i)
            hashes[i - first] = h
            found[i - first] = table[h & mask]
        touched = _U(0)
        for i in range(first, last):
            entry = found[i - first]
            if entry:
                touched ^= states[np.int64(entry & _LOW) - 1, 0]
        found[0] = touched
        for i in range(first, last):
            h = hashes[i - first]
            place = h & mask
            tag = h & ~_LOW
            while True:
                entry = table[place]
                if not entry:
                    for j in range(words):
                        states[count, j] = rows[i, j]
                    parents[count] = first_origin + origins[i]
                    numbers[i] = count
                    count += 1
                    table[place] = tag | _U(count)
                    break
                if entry & ~_LOW == tag:
                    at = np.int64(entry & _LOW) - 1
                    same = True
                    for j in range(words):
                        if states[at, j] != rows[i, j]:
                            same = False
                            break
                    if same:
                        numbers[i] = at
                        break
                place = (place + _U(1)) & mask
    return count


@compiled
def survey(
    states, over, moves, places, begin, counts, starts, branching, choosers, ever, always, ever_legal, stuck
):  # fmt: skip
    """Count the legal moves `moves` of states, whose numbers are `begin` and on; return how many are stuck.

    Fills `counts`, the sums of joint moves `starts`, and the numbers of the `stuck` ones; adds to the others
    what `StateSpace` says of them.  Joint moves are cut at 2**40 a state.
    """
    roles = len(places) - 1
    found = 0
    for i in range(len(over)):
        for j in range(states.shape[1]):
            ever[j] |= states[i, j]
            always[j] &= states[i, j]
        joints = np.int64(0 if over[i] else 1)
        choices = 0
        for r in range(roles):
            mine = np.int64(0)
            for j in range(places[r], places[r + 1]):
                mine += np.int64(count_ones(moves[i, j]))
            counts[begin + i, r] = mine
            joints = min(joints * mine, np.int64(1) << 40)
            if not over[i]:
                branching[r, 0] += mine
                if mine > 1:
                    branching[r, 1] += 1
                    choices += 1
        starts[begin + i + 1] = starts[begin + i] + joints
        if not over[i]:
            choosers[choices] += 1
            for j in range(moves.shape[1]):
                ever_legal[j] |= moves[i, j]
            if not joints:
                stuck[found] = begin + i
                found += 1
    return found


@compiled
def order(starts, children, sequence, longest):
    """Sort the states so that each comes before its successors (Kahn 1962).

    Fills `sequence` and `longest[i]`, the most joint moves that lead to state i.  Returns how
    many could be sorted: all of them when there is no circle.
    """
    states = len(starts) - 1
    waiting = np.zeros(states, np.int32)
    for e in range(len(children)):
        waiting[children[e]] += 1
    last = 0
    for i in range(states):
        longest[i] = 0
        if not waiting[i]:
            sequence[last] = i
            last += 1
    at = 0
    while at < last:
        i = sequence[at]
        at += 1
        for e in range(starts[i], starts[i + 1]):
            child = children[e]
            longest[child] = max(longest[child], longest[i] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                sequence[last] = child
                last += 1
    return last


@compiled
def count_plays(starts, children, sequence, low, high):
    """Count the lines of play from every state to an end, as 128-bit numbers.

    `sequence` has every state before its successors.  Returns False when a number does not fit.
    """
    for k in range(len(sequence) - 1, -1, -1):
        i = sequence[k]
        if starts[i] == starts[i + 1]:
            low[i], high[i] = _U(1), _U(0)
            continue
        a, b = _U(0), _U(0)
        for e in range(starts[i], starts[i + 1]):
            child = children[e]
            a += low[child]
            more = high[child] + (_U(1) if a < low[child] else _U(0))
            b += more
            if b < more:
                return False
        low[i], high[i] = a, b
    return True


@compiled
def spread(starts, children, low, high, low_after, high_after):
    """Move numbers of lines of play one step on: each state hands its number to its successors.

    Numbers have 128 bits.  Returns False when one does not fit.
    """
    for i in range(len(starts) - 1):
        a, b = low[i], high[i]
        if not a and not b:
            continue
        for e in range(starts[i], starts[i + 1]):
            child = children[e]
            low_after[child] += a
            more = b + (_U(1) if low_after[child] < a else _U(0))
            high_after[child] += more
            if high_after[child] < more:
                return False
    return True


@compiled
def random_values(starts, children, sequence, values):
    """Fill in the mean of the values of the successors, for every state that has some.

    `sequence` has every state before its successors.
    """
    for k in range(len(sequence) - 1, -1, -1):
        i = sequence[k]
        edges = starts[i + 1] - starts[i]
        if edges:
            for r in range(values.shape[1]):
                total = 0.0
                for e in range(starts[i], starts[i + 1]):
                    total += values[children[e], r]
                values[i, r] = total / edges

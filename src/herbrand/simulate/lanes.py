"""Compiled loops that ask a network about many given states at once, one state in each bit of a row.

A state is *packed*: fluent `f` is bit `f % 64` of word `f // 64` of a few 64-bit words.  A network is
evaluated on rows (`vectors`), in which one word holds the same fluent of 64 states; turning one
into the other is the transposition of squares of 64 by 64 bits.

The circuit of a network is passed as one tuple,
`(left, right, out, cones, loops, feedback, feedback_first, fluents, moves_first, pieces)`, with
`cones` an array and `pieces` the gates that have machine code of their own (`straight`);
`v` is the flat array of rows, of which the last one is free for `evaluate`.
`bounds[r]` is the first move of role r and `places[r]` the first word of its moves in a packed
set of legal moves, so that every role begins with a new word.
"""

from __future__ import annotations

import numpy as np

from herbrand.compiled import compiled
from herbrand.simulate.kernel import FEW, _count, _draw, _take, _take_lane_by_lane, evaluate_mixed
from herbrand.simulate.vectors import (
    count_ones,
    lowest_bit,
    row_any,
    row_fill,
    row_literal,
    row_mux,
    row_or,
)

__all__ = [
    "EXTRA_ROWS", "NO_VALUE", "SEVERAL_VALUES", "STUCK", "count_joints", "describe", "enumerate_joints",
    "goals", "rollout", "step",
]  # fmt: skip

_U = np.uint64
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_HALF = np.uint64(0x00000000FFFFFFFF)

NO_VALUE = -1
"""No goal value holds."""
SEVERAL_VALUES = -2
"""Several goal values hold, or one that is not a number from 0 to 100."""
EXTRA_ROWS = 34
"""Rows that `rollout` needs besides those of the nodes and one for each fluent."""
STUCK = -3
"""The playout came to a state in which a role has no legal move."""


@compiled
def _transpose(square):
    """Transpose 64 words as a square of bits, in place (Warren, Hacker's Delight, 7-3)."""
    distance = _U(32)
    mask = _HALF
    while distance:
        k = 0
        d = np.int64(distance)
        while k < 64:
            swapped = ((square[k] >> distance) ^ square[k + d]) & mask
            square[k] ^= swapped << distance
            square[k + d] ^= swapped
            k = (k + d + 1) & ~d
        distance >>= _U(1)
        mask ^= mask << distance


@compiled
def _load(v, width, fluents, states, parents, begin, end, square):
    """Put states `parents[i]`, `begin <= i < end`, into the lanes; the other lanes get the first of them.

    With an empty `parents` state i is meant.
    """
    words = len(width)
    for w in range(words):
        first = begin + 64 * w
        for j in range(states.shape[1]):
            for b in range(64):
                i = first + b
                if i >= end:
                    i = begin
                square[b] = states[parents[i] if len(parents) else i, j]
            _transpose(square)
            for b in range(min(64, fluents - 64 * j)):
                v[(1 + 64 * j + b) * words + w] = square[b]


@compiled
def _store(v, width, literals, first, last, place, out, begin, end, square):
    """Pack the values of `literals[first:last]` into `out[begin:end]`, from word `place` on."""
    words = len(width)
    for w in range(words):
        lane = begin + 64 * w
        if lane >= end:
            break
        lanes = min(64, end - lane)
        for j in range((last - first + 63) // 64):
            for b in range(64):
                k = first + 64 * j + b
                if k < last:
                    literal = literals[k]
                    word = v[(literal >> 1) * words + w]
                    square[b] = ~word if literal & 1 else word
                else:
                    square[b] = _U(0)
            _transpose(square)
            for b in range(lanes):
                out[lane + b, place + j] = square[b]


@compiled
def _run(v, width, circuit, begin, end):
    left, right, out, _, loops, feedback, feedback_first, _, _, pieces = circuit
    free = len(v) // len(width) - 1
    evaluate_mixed(v, width, left, right, out, begin, end, loops, feedback, feedback_first, free, pieces)


@compiled
def describe(v, width, circuit, states, legal, bounds, places, terminal, over, moves):
    """Find out which states are terminal, and the legal moves of each role.

    Fills `over[i]` and the packed sets of legal moves `moves[i]`.
    """
    cones, fluents = circuit[3], circuit[7]
    square = np.zeros(64, np.uint64)
    nothing = np.zeros(0, np.int64)
    words = len(width)
    for begin in range(0, len(states), 64 * words):
        end = min(begin + 64 * words, len(states))
        _load(v, width, fluents, states, nothing, begin, end, square)
        _run(v, width, circuit, 0, cones[0])
        for r in range(len(bounds) - 1):
            _store(v, width, legal, bounds[r], bounds[r + 1], places[r], moves, begin, end, square)
        for i in range(begin, end):
            word = v[(terminal >> 1) * words + ((i - begin) >> 6)]
            over[i] = ((word >> _U((i - begin) & 63)) ^ _U(terminal & 1)) & _U(1)


@compiled
def _read_goals(v, width, goal, goal_role, goal_value, row, begin, end, values):
    """Fill `values[i, role]` from the lanes of the states `begin <= i < end`; `row` is free."""
    words = len(width)
    for i in range(begin, end):
        for r in range(values.shape[1]):
            values[i, r] = NO_VALUE
    for k in range(len(goal)):
        row_literal(v, width, _U(row), _U(goal[k]))
        r = goal_role[k]
        for w in range(words):
            if begin + 64 * w >= end:
                break
            lanes = v[row * words + w]
            while lanes:
                i = begin + 64 * w + lowest_bit(lanes)
                lanes &= lanes - _U(1)
                if i < end:
                    values[i, r] = goal_value[k] if values[i, r] == NO_VALUE else SEVERAL_VALUES


@compiled
def goals(v, width, circuit, states, goal, goal_role, goal_value, values):
    """Fill `values[i, role]` with the goal values in the states; see `NO_VALUE`."""
    cones, fluents = circuit[3], circuit[7]
    square = np.zeros(64, np.uint64)
    nothing = np.zeros(0, np.int64)
    row = len(v) // len(width) - 1
    for begin in range(0, len(states), 64 * len(width)):
        end = min(begin + 64 * len(width), len(states))
        _load(v, width, fluents, states, nothing, begin, end, square)
        _run(v, width, circuit, 0, cones[0])
        _run(v, width, circuit, cones[1], cones[2])
        _read_goals(v, width, goal, goal_role, goal_value, row, begin, end, values)


@compiled
def step(v, width, circuit, states, parents, joints, following, after, sees, seen):
    """Make joint move `joints[i]` (numbers of moves) in state `parents[i]`: fills `after[i]`.

    With an empty `parents` state i is meant; a move -1 is none.  `seen[i]` is filled with the packed
    values of the literals `sees`.  Legality is not looked at.
    """
    cones, fluents, moves_first = circuit[3], circuit[7], circuit[8]
    square = np.zeros(64, np.uint64)
    words = len(width)
    roles = joints.shape[1]
    for begin in range(0, len(joints), 64 * words):
        end = min(begin + 64 * words, len(joints))
        _load(v, width, fluents, states, parents, begin, end, square)
        for i in range(begin, end):
            w, bit = (i - begin) >> 6, _U(1) << _U((i - begin) & 63)
            for r in range(roles):
                if joints[i, r] >= 0:
                    v[(moves_first + joints[i, r]) * words + w] |= bit
        _run(v, width, circuit, 0, cones[1])
        _store(v, width, following, 0, len(following), 0, after, begin, end, square)
        _store(v, width, sees, 0, len(sees), 0, seen, begin, end, square)
        for i in range(begin, end):
            w = (i - begin) >> 6
            for r in range(roles):
                if joints[i, r] >= 0:
                    v[(moves_first + joints[i, r]) * words + w] = _U(0)


@compiled
def count_joints(over, moves, places, counts):
    """Fill `counts[i]` with the number of joint moves of state i; none in terminal states.

    Counts that do not fit are cut at 2**62.
    """
    roles = len(places) - 1
    for i in range(len(over)):
        total = np.int64(0 if over[i] else 1)
        for r in range(roles):
            mine = np.int64(0)
            for j in range(places[r], places[r + 1]):
                mine += np.int64(count_ones(moves[i, j]))
            if mine and total > (np.int64(1) << 62) // mine:
                total = np.int64(1) << 62
            else:
                total *= mine
        counts[i] = total


@compiled
def enumerate_joints(moves, bounds, places, starts, begin, parents, joints):
    """List joint moves `begin, begin + 1, ...` of all states in order, as many as `joints` has room for.

    `starts` are the sums of the counts.  Joint moves of one state are in the order of their
    moves, the last role's changing fastest.
    """
    roles = len(places) - 1
    total = len(joints)
    largest = 1
    for r in range(roles):
        largest = max(largest, bounds[r + 1] - bounds[r])
    lists = np.empty((roles, largest), np.int64)
    sizes = np.empty(roles, np.int64)
    digits = np.empty(roles, np.int64)
    at = 0
    i = np.searchsorted(starts, begin, side="right") - 1
    while at < total:
        for r in range(roles):
            n = 0
            for j in range(places[r], places[r + 1]):
                word = moves[i, j]
                while word:
                    lists[r, n] = bounds[r] + 64 * (j - places[r]) + lowest_bit(word)
                    word &= word - _U(1)
                    n += 1
            sizes[r] = n
        rank = begin + at - starts[i]
        left = min(starts[i + 1] - starts[i] - rank, total - at)
        for r in range(roles - 1, -1, -1):
            digits[r] = rank % sizes[r] if sizes[r] else 0
            rank //= max(1, sizes[r])
        for _ in range(left):
            parents[at] = i
            for r in range(roles):
                joints[at, r] = lists[r, digits[r]]
            at += 1
            r = roles - 1
            while r >= 0:
                digits[r] += 1
                if digits[r] < sizes[r]:
                    break
                digits[r] = 0
                r -= 1
        i += 1


@compiled
def rollout(
    v, width, circuit, states, parents, legal, bounds, terminal, following, goal, goal_role, goal_value,
    generator, max_steps, values, lengths, stop, watched, record, played, final,
):  # fmt: skip
    """Play one uniformly random game from each of the states `parents[i]` to its end; return whether it did.

    Fills `values[i, role]` and `lengths[i]`; where a role has no legal move the values are `STUCK`,
    and games that reach `max_steps` have the values of their last state and length `-1 - steps`.
    `generator` is four rows of random state that is used up in place.  Gives up between two steps
    when another thread sets `stop[0]`; nothing that was filled in means anything then.  `record[step, role]`
    is filled with the moves of game `watched`, as far as it has room; -1 watches none.  `played[move, word]`
    becomes the set of games in which a move was made, if it has a row for each move and there are no more
    games than lanes; moves of roles with very many are left out.  `final[i]` becomes the packed last state,
    if it has rows.
    """
    cones, fluents, moves_first = circuit[3], circuit[7], circuit[8]
    words = len(width)
    roles = len(bounds) - 1
    nodes = circuit[6] + len(circuit[5]) + len(circuit[0])
    # the rows after those of the nodes
    playing, over, other, carry, random = nodes, nodes + 1, nodes + 2, nodes + 3, nodes + 4
    state, rank, total, buffer = nodes + 5, nodes + 9, nodes + 21, nodes + 33
    square = np.zeros(64, np.uint64)
    largest = 1
    for r in range(roles):
        size = bounds[r + 1] - bounds[r]
        if size > FEW:
            largest = max(largest, size)
    lists = np.empty((64 * words if largest > 1 else 1, largest), np.int32)
    listed = np.zeros(64 * words, np.int64)
    touched = np.zeros((roles, 64 * words), np.int64)
    many = np.zeros(roles, np.int64)
    stuck = np.zeros(words, np.uint64)
    true = np.empty(fluents, np.int32)
    for f in range(fluents):
        true[f] = 2 * (1 + f)
    v[state * words : (state + 4) * words] = generator
    stopped = False
    for begin in range(0, len(parents), 64 * words):
        end = min(begin + 64 * words, len(parents))
        _load(v, width, fluents, states, parents, begin, end, square)
        for w in range(words):
            lanes = min(64, max(0, end - begin - 64 * w))
            v[playing * words + w] = _ONES if lanes == 64 else (_U(1) << _U(lanes)) - _U(1)
        stuck[:] = _U(0)
        for n in range(max_steps + 1):
            _run(v, width, circuit, 0, cones[0])
            row_literal(v, width, _U(over), _U(terminal))
            for w in range(words):
                ended = v[over * words + w] & v[playing * words + w]
                v[playing * words + w] &= ~ended
                while ended:
                    lengths[begin + 64 * w + lowest_bit(ended)] = n
                    ended &= ended - _U(1)
            stopped = stop[0] != 0
            if stopped or n == max_steps or not row_any(v, width, _U(playing)):
                break
            for r in range(roles):
                first, last = bounds[r], bounds[r + 1]
                bits = 1
                while (1 << bits) <= last - first:
                    bits += 1
                if last - first <= FEW:
                    _count(v, width, bits, legal, first, last, total)
                    row_fill(v, width, _U(other), _U(0))
                    for b in range(bits):
                        row_or(v, width, _U(other), _U(other), _U(total + b))
                    _draw(v, width, bits, total, rank, state)
                    _take(v, width, bits, legal, first, last, moves_first, rank)
                else:
                    for t in range(many[r]):
                        row_fill(v, width, _U(moves_first + touched[r, t]), _U(0))
                    many[r] = _take_lane_by_lane(
                        v, width, legal, first, last, moves_first, state, random, playing,
                        lists, listed, touched[r],
                    )  # fmt: skip
                    row_fill(v, width, _U(other), _U(0))
                    for lane in range(64 * words):
                        if listed[lane]:
                            v[other * words + lane // 64] |= _U(1) << _U(lane % 64)
                for w in range(words):
                    bad = v[playing * words + w] & ~v[other * words + w]
                    if bad:
                        stuck[w] |= bad
                        v[playing * words + w] &= ~bad
                        while bad:
                            lengths[begin + 64 * w + lowest_bit(bad)] = n
                            bad &= bad - _U(1)
            for m in range(len(played)):
                for w in range(words):
                    played[m, w] |= v[(moves_first + m) * words + w] & v[playing * words + w]
            if begin <= watched < end and n < len(record):
                at, bit = (watched - begin) >> 6, _U((watched - begin) & 63)
                for r in range(roles):
                    for m in range(bounds[r], bounds[r + 1]):
                        if (v[(moves_first + m) * words + at] >> bit) & _U(1):
                            record[n, r] = m
            _run(v, width, circuit, cones[0], cones[1])
            for f in range(fluents):
                row_literal(v, width, _U(buffer + f), _U(following[f]))
            for f in range(fluents):  # games that are over stay where they are
                row_mux(v, width, _U(1 + f), _U(playing), _U(buffer + f), _U(1 + f))
        if stopped:
            break
        for w in range(words):
            late = v[playing * words + w]
            while late:
                lengths[begin + 64 * w + lowest_bit(late)] = -1 - max_steps
                late &= late - _U(1)
        if len(final):
            _store(v, width, true, 0, fluents, 0, final, begin, end, square)
        _run(v, width, circuit, cones[1], cones[2])
        _read_goals(v, width, goal, goal_role, goal_value, carry, begin, end, values)
        for w in range(words):
            while stuck[w]:
                i = begin + 64 * w + lowest_bit(stuck[w])
                stuck[w] &= stuck[w] - _U(1)
                for r in range(roles):
                    values[i, r] = STUCK
    for r in range(roles):
        for t in range(many[r]):
            row_fill(v, width, _U(moves_first + touched[r, t]), _U(0))
    v[moves_first * words : (moves_first + bounds[roles]) * words] = _U(0)
    generator[:] = v[state * words : (state + 4) * words]
    return not stopped

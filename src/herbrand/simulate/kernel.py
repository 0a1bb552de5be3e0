"""The compiled loop that plays many random games at once, one game in each bit of a row.

One *pass* moves every lane one step: evaluate `legal` and `terminal`; count what ended and
restart it; choose a move for each role; evaluate `next`; take over the new state.  Nothing
looks at a single lane except where a game ends, or where a role has very many moves.

Choosing is exact up to the width of the random numbers: the legal moves of a role are counted
with carry-save adders, the count is multiplied with a random fraction of `FRACTION` bits, and
the product's whole part is the rank of the move that is taken (bias below 2**-FRACTION for
each move), found by counting the rank down along the moves.  Where a role has very many
moves, few of them legal in any lane, the legal ones are listed for each lane instead.

Layout of the flat array of rows: the nodes of the network, then scratch rows; see `Plan`.
"""

from __future__ import annotations

import numpy as np

from herbrand.compiled import compiled
from herbrand.simulate.vectors import (
    call_code,
    count_ones,
    lowest_bit,
    row_and,
    row_any,
    row_copy,
    row_count_literals,
    row_draw,
    row_fill,
    row_gate,
    row_literal,
    row_mux,
    row_or,
    row_random,
    row_take_ranked,
    row_xor,
)

__all__ = ["FEW", "FRACTION", "evaluate", "evaluate_mixed", "play"]

FRACTION = 20
"""Random bits that decide one choice."""
FEW = 4095
"""Roles with more moves than this choose lane by lane: counting needs too many bits."""

_U = np.uint64
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


@compiled
def _row_count(v, width, row):
    total = _U(0)
    for w in range(len(width)):
        total += count_ones(v[row * len(width) + w])
    return np.int64(total)


@compiled
def evaluate(v, width, left, right, out, begin, end, loops, feedback, feedback_first, scratch):
    """Evaluate the gates `begin <= g < end`; loops to their fixpoint in all lanes.

    `out[g]` is the row that gate g writes, `scratch` a row to work in; `loops` are sorted by
    their first gate.
    """
    at = begin
    for k in range(len(loops)):
        a, b, c, d = loops[k, 0], loops[k, 1], loops[k, 2], loops[k, 3]
        if a < begin or a >= end:
            continue
        for g in range(at, a):
            row_gate(v, width, _U(out[g]), _U(left[g]), _U(right[g]))
        for f in range(c, d):
            row_fill(v, width, _U(feedback_first + f), _U(0))
        while True:
            for g in range(a, b):
                row_gate(v, width, _U(out[g]), _U(left[g]), _U(right[g]))
            changed = False
            for f in range(c, d):
                row_literal(v, width, _U(scratch), _U(feedback[f]))
                for w in range(len(width)):
                    if v[scratch * len(width) + w] != v[(feedback_first + f) * len(width) + w]:
                        changed = True
                        v[(feedback_first + f) * len(width) + w] = v[scratch * len(width) + w]
            if not changed:
                break
        at = b
    for g in range(at, end):
        row_gate(v, width, _U(out[g]), _U(left[g]), _U(right[g]))


@compiled
def evaluate_mixed(
    v, width, left, right, out, begin, end, loops, feedback, feedback_first, scratch, pieces
):  # fmt: skip
    """Evaluate gates as `evaluate` does, by machine code of their own where there is some (`straight`).

    `pieces` are rows of first gate, last gate + 1, address of the code; sorted, none across a cone's border.
    """
    at = begin
    for k in range(len(pieces)):
        a = pieces[k, 0]
        if a < begin or a >= end:
            continue
        if at < a:
            evaluate(v, width, left, right, out, at, a, loops, feedback, feedback_first, scratch)
        call_code(v, pieces[k, 2])
        at = pieces[k, 1]
    if at < end:
        evaluate(v, width, left, right, out, at, end, loops, feedback, feedback_first, scratch)


@compiled
def _count(v, width, bits, literals, begin, end, total):
    """Count the true literals in every lane, with as many registers as the number needs."""
    b, e, t = _U(begin), _U(end), _U(total)
    if bits <= 4:
        row_count_literals(v, width, (0,) * 4, literals, b, e, t)
    elif bits <= 6:
        row_count_literals(v, width, (0,) * 6, literals, b, e, t)
    elif bits <= 8:
        row_count_literals(v, width, (0,) * 8, literals, b, e, t)
    elif bits <= 10:
        row_count_literals(v, width, (0,) * 10, literals, b, e, t)
    else:
        row_count_literals(v, width, (0,) * 12, literals, b, e, t)


@compiled
def _draw(v, width, bits, total, rank, state):
    """Draw a rank below the count in every lane."""
    t, r, s, f = _U(total), _U(rank), _U(state), _U(FRACTION)
    if bits <= 4:
        row_draw(v, width, (0,) * 4, t, r, s, f)
    elif bits <= 6:
        row_draw(v, width, (0,) * 6, t, r, s, f)
    elif bits <= 8:
        row_draw(v, width, (0,) * 8, t, r, s, f)
    elif bits <= 10:
        row_draw(v, width, (0,) * 10, t, r, s, f)
    else:
        row_draw(v, width, (0,) * 12, t, r, s, f)


@compiled
def _take(v, width, bits, literals, begin, end, moves, rank):
    """Take the move with the drawn rank in every lane."""
    b, e, m, r = _U(begin), _U(end), _U(moves), _U(rank)
    if bits <= 4:
        row_take_ranked(v, width, (0,) * 4, literals, b, e, m, r)
    elif bits <= 6:
        row_take_ranked(v, width, (0,) * 6, literals, b, e, m, r)
    elif bits <= 8:
        row_take_ranked(v, width, (0,) * 8, literals, b, e, m, r)
    elif bits <= 10:
        row_take_ranked(v, width, (0,) * 10, literals, b, e, m, r)
    else:
        row_take_ranked(v, width, (0,) * 12, literals, b, e, m, r)


@compiled
def _take_lane_by_lane(v, width, legal, begin, end, moves, state, random, playing, lists, counts, touched):
    """List the legal moves of every lane and take one of each list.

    `lists[lane]` is filled with `counts[lane]` moves.  Returns how many moves were touched.
    """
    words = len(width)
    counts[:] = 0
    for m in range(begin, end):
        node, inverted = legal[m] >> 1, legal[m] & 1
        for w in range(words):
            lanes = v[node * words + w]
            if inverted:
                lanes = ~lanes
            lanes &= v[playing * words + w]
            while lanes:
                lane = w * 64 + lowest_bit(lanes)
                lanes &= lanes - _U(1)
                lists[lane, counts[lane]] = m
                counts[lane] += 1
    many = 0
    for w in range(words):
        row_random(v, width, _U(random), _U(state))
        # one word of fresh bits seeds a short sequence for the 64 lanes of this word
        word = v[random * words + w]
        for b in range(64):
            lane = w * 64 + b
            if counts[lane]:
                word += _U(0x9E3779B97F4A7C15)
                z = (word ^ (word >> _U(30))) * _U(0xBF58476D1CE4E5B9)
                z = (z ^ (z >> _U(27))) * _U(0x94D049BB133111EB)
                z ^= z >> _U(31)
                m = lists[lane, ((z >> _U(32)) * _U(counts[lane])) >> _U(32)]
                v[(moves + m) * words + w] |= _U(1) << _U(b)
                touched[many] = m
                many += 1
    return many


@compiled
def _end_games(v, width, ended, active, step, start, quota, histogram):
    """Count the games that end in the lanes of a row, and let these begin anew or rest; return how many."""
    words = len(width)
    games = 0
    for w in range(words):
        lanes = v[ended * words + w]
        while lanes:
            bit = lanes & (~lanes + _U(1))
            lanes ^= bit
            lane = w * 64 + lowest_bit(bit)
            games += 1
            histogram[step - start[lane]] += 1
            start[lane] = step + 1
            quota[lane] -= 1
            if quota[lane] == 0:
                v[active * words + w] &= ~bit
    return games


@compiled
def play(
    v, width, left, right, out, cones, loops, feedback, feedback_first, pieces,
    fluents, following, early, initial, moves_first, legal, role_moves, terminal, goal, goal_role,
    scratch, rows, quota, start, step, passes, max_steps,
    histogram, goal_counts, undefined, branching, totals, touched, lists, listed, example,
):  # fmt: skip
    """Play on for a number of passes.

    The network is given as `rows.Rows`, with the `pieces` that have code.  `early` are the literals of
    the next state that are inputs: they are copied to `buffer` before inputs change, and `following`
    looks there.

    `quota[lane]` is how many games the lane still has to begin, counting the present one,
    `start[lane]` the pass in which its game began, `step` the number of the next pass.
    Adds to `histogram[length]`, `goal_counts[k]`, `undefined[role]`, `branching[role]` and
    `totals` (transitions, playouts, truncated, stuck).  A game is stuck, and over, when some role
    has no legal move though the state is not terminal; `example` keeps the fluents of the first
    such state and `totals[4]` the role.  Returns the number of the next pass.
    """
    words = len(width)
    active, over, ended, carry, other, chosen, random, seen, twice, stuck = (
        scratch, scratch + 1, scratch + 2, scratch + 3, scratch + 4, scratch + 5,
        scratch + 6, scratch + 7, scratch + 8, scratch + 9,
    )  # fmt: skip
    state, buffer, rank, total = rows[0], rows[1], rows[2], rows[3]
    goals = len(goal)
    roles = len(role_moves) - 1
    many = np.zeros(roles, np.int64)
    for _ in range(passes):
        evaluate_mixed(
            v, width, left, right, out, np.int64(0), cones[0], loops, feedback, feedback_first, carry, pieces
        )
        row_literal(v, width, _U(over), _U(terminal))
        row_and(v, width, _U(over), _U(over), _U(active))
        row_copy(v, width, _U(ended), _U(over))
        totals[0] += _row_count(v, width, active) - _row_count(v, width, over)
        if step - totals[5] >= max_steps:
            # some game may have reached the limit: look at all lanes
            oldest = step
            for w in range(words):
                live = v[active * words + w] & ~v[over * words + w]
                while live:
                    bit = live & (~live + _U(1))
                    live ^= bit
                    lane = w * 64 + lowest_bit(bit)
                    if step - start[lane] >= max_steps:
                        v[ended * words + w] |= bit
                        totals[2] += 1
                        totals[0] -= 1
                    elif start[lane] < oldest:
                        oldest = start[lane]
            totals[5] = oldest
        if row_any(v, width, _U(ended)):
            if row_any(v, width, _U(over)):
                evaluate_mixed(
                    v, width, left, right, out, cones[1], cones[2], loops, feedback, feedback_first, carry,
                    pieces,
                )  # fmt: skip
                k = 0
                for r in range(roles):
                    row_fill(v, width, _U(seen), _U(0))
                    row_fill(v, width, _U(twice), _U(0))
                    begin = k
                    while k < goals and goal_role[k] == r:
                        row_literal(v, width, _U(carry), _U(goal[k]))
                        row_and(v, width, _U(other), _U(carry), _U(seen))
                        row_or(v, width, _U(twice), _U(twice), _U(other))
                        row_or(v, width, _U(seen), _U(seen), _U(carry))
                        k += 1
                    # seen and not twice and over: exactly one value at the end of a game
                    row_or(v, width, _U(seen), _U(seen), _U(twice))
                    row_xor(v, width, _U(seen), _U(seen), _U(twice))
                    row_and(v, width, _U(seen), _U(seen), _U(over))
                    undefined[r] += _row_count(v, width, over) - _row_count(v, width, seen)
                    for g in range(begin, k):
                        row_literal(v, width, _U(carry), _U(goal[g]))
                        row_and(v, width, _U(carry), _U(carry), _U(seen))
                        goal_counts[g] += _row_count(v, width, carry)
            totals[1] += _end_games(v, width, ended, active, step, start, quota, histogram)
        row_fill(v, width, _U(stuck), _U(0))
        for r in range(roles):
            begin, end = role_moves[r], role_moves[r + 1]
            size = end - begin
            bits = 1
            while (1 << bits) <= size:
                bits += 1
            row_xor(v, width, _U(chosen), _U(active), _U(ended))
            row_and(v, width, _U(chosen), _U(chosen), _U(active))  # the lanes that play on
            if size <= FEW:
                _count(v, width, bits, legal, begin, end, total)
                row_copy(v, width, _U(other), _U(total))
                for b in range(1, bits):
                    row_or(v, width, _U(other), _U(other), _U(total + b))
                for b in range(bits):
                    row_and(v, width, _U(carry), _U(total + b), _U(chosen))
                    branching[r] += _row_count(v, width, carry) << b
                _draw(v, width, bits, total, rank, state)
                _take(v, width, bits, legal, begin, end, moves_first, rank)
            else:
                at = r * 64 * words
                for t in range(many[r]):
                    row_fill(v, width, _U(moves_first + touched[at + t]), _U(0))
                many[r] = _take_lane_by_lane(
                    v, width, legal, begin, end, moves_first, state, random, chosen,
                    lists, listed, touched[at : at + 64 * words],
                )  # fmt: skip
                row_fill(v, width, _U(other), _U(0))
                for lane in range(64 * words):
                    if listed[lane]:
                        branching[r] += listed[lane]
                        v[other * words + lane // 64] |= _U(1) << _U(lane % 64)
            # a lane that plays on must have a legal move
            for w in range(words):
                bad = v[chosen * words + w] & ~v[other * words + w]
                if bad and totals[3] == 0 and not row_any(v, width, _U(stuck)):
                    totals[4] = r
                    bit = _U(lowest_bit(bad))
                    for f in range(fluents):
                        example[f] = (v[(1 + f) * words + w] >> bit) & _U(1)
                v[stuck * words + w] |= bad
        if row_any(v, width, _U(stuck)):
            row_or(v, width, _U(ended), _U(ended), _U(stuck))
            many_stuck = _end_games(v, width, stuck, active, step, start, quota, histogram)
            totals[0] -= many_stuck
            totals[1] += many_stuck
            totals[3] += many_stuck
        evaluate_mixed(
            v, width, left, right, out, cones[0], cones[1], loops, feedback, feedback_first, carry, pieces
        )
        for i in range(len(early)):
            row_literal(v, width, _U(buffer + i), _U(early[i]))
        if row_any(v, width, _U(ended)):
            for f in range(fluents):
                row_literal(v, width, _U(other), _U(following[f]))
                row_fill(v, width, _U(carry), _ONES if initial[f] else _U(0))
                row_mux(v, width, _U(1 + f), _U(ended), _U(carry), _U(other))
        else:
            for f in range(fluents):
                row_literal(v, width, _U(1 + f), _U(following[f]))
        step += 1
        if not row_any(v, width, _U(active)):
            break
    for r in range(roles):
        for t in range(many[r]):
            row_fill(v, width, _U(moves_first + touched[r * 64 * words + t]), _U(0))
    return step

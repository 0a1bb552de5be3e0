"""The compiled loop of `BatchEnv`: many games that are moved along together, one in each bit of a row.

Games are kept in *blocks* of as many lanes as a row has bits.  Between steps a block is its
fluents, its legal moves, whose turn it is, and which lanes are over, each as rows; one step loads a
block, evaluates the network (`simulate.kernel`), and unpacks what is told to the caller (`spread`).

Circuit, literals and scratch rows are passed as tuples; `BatchEnv` makes them.  In the flat array of
rows `v`, rows of the network come first (`simulate.rows`), then the rows named in `scratch`:

    buffer + f      the next value of fluent f
    options + m     whether move m is legal
    choice + p      has player p a choice?
    turn + p        is it player p's turn?
    mask + a        is move a of the player to move legal?
    square + ..     squares that are transposed
    total, rank, state    for drawing moves of chance
    work + 0 .. 7   single rows
"""

from __future__ import annotations

import numpy as np

from herbrand.compiled import compiled
from herbrand.envs.spread import put_word, row_swap, spread
from herbrand.simulate.kernel import FEW, _count, _draw, _take, evaluate
from herbrand.simulate.vectors import (
    count_ones,
    lowest_bit,
    row_and,
    row_any,
    row_copy,
    row_fill,
    row_literal,
    row_mux,
    row_or,
    row_random,
    row_xor,
)

__all__ = ["NEXT", "OFF", "SAME", "advance", "begin", "check", "sample", "unpack"]

_U = np.uint64
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_HALF = np.uint64(0x00000000FFFFFFFF)

OFF = 0
"""Games that are over stay where they are."""
NEXT = 1
"""Games that are over begin again in the next step."""
SAME = 2
"""Games that end begin again in the same step."""


@compiled
def _transpose(v, width, first):
    """Transpose the 64 rows from `first`, as a square of bits in each word (Warren, 7-3)."""
    distance = 32
    mask = _HALF
    while distance:
        k = 0
        while k < 64:
            row_swap(v, width, _U(first + k), _U(first + k + distance), _U(distance), mask)
            k = (k + distance + 1) & ~distance
        distance >>= 1
        mask ^= mask << _U(distance)


@compiled
def _emit(v, width, literals, square, out, packed, begin, end):
    """Write the values of literals in lanes `begin <= i < end` to bytes, lane by lane.

    A value is a byte, or packed a bit of a word.  What is written past the bytes of a lane is overwritten by
    the next one.
    """
    groups = (len(literals) + 63) // 64
    each = len(literals)
    for j in range(groups):
        for b in range(64):
            k = 64 * j + b
            if k < len(literals):
                row_literal(v, width, _U(square + k), _U(literals[k]))
            else:
                row_fill(v, width, _U(square + k), _U(0))
        _transpose(v, width, square + 64 * j)
    for w in range(len(width)):
        for b in range(64):
            lane = begin + 64 * w + b
            if lane >= end:
                return
            if packed:
                for j in range(groups):
                    put_word(out, _U(8 * (lane * groups + j)), v[(square + 64 * j + b) * len(width) + w])
            else:
                for j in range(groups):
                    spread(out, _U(lane * each + 64 * j), v[(square + 64 * j + b) * len(width) + w])


@compiled
def unpack(v, width, rows, place, literals, square, out, packed, lanes):
    """Write the values of literals to `out`, the rows from `place` being `rows[block, row]`; see `_emit`."""
    words = len(width)
    for k in range(len(rows)):
        _load(v, width, place, rows[k])
        first = 64 * words * k
        _emit(v, width, literals, square, out, packed, first, min(first + 64 * words, lanes))


@compiled
def _ones_below(word, place):
    """How many of the bits below a place are set."""
    if place <= 0:
        return 0
    if place < 64:
        word &= (_U(1) << _U(place)) - _U(1)
    return np.int64(count_ones(word))


@compiled
def _run(v, width, circuit, begin, end):
    left, right, out, _, loops, feedback, feedback_first, _, _, free = circuit
    evaluate(v, width, left, right, out, begin, end, loops, feedback, feedback_first, free)


@compiled
def _load(v, width, first, rows):
    for i in range(len(rows)):
        for w in range(len(width)):
            v[(first + i) * len(width) + w] = rows[i, w]


@compiled
def _store(v, width, first, rows):
    for i in range(len(rows)):
        for w in range(len(width)):
            rows[i, w] = v[(first + i) * len(width) + w]


@compiled
def _options(v, width, literals, roles, scratch):
    """Find out what every role may do: `options`, `choice`, `turn`; what is wrong is added to `errors`.

    Leaves in `work + 0` the lanes in which some role has no legal move, in `work + 1` those in which two
    players have a choice.
    """
    legal = literals[1]
    bounds, players, chance, _, idle = roles
    _, options, choice, turn, _, _, _, _, _, work = scratch
    none, clash, seen, carry, anyone, active = work, work + 1, work + 2, work + 3, work + 4, work + 5
    row_fill(v, width, _U(none), _U(0))
    row_fill(v, width, _U(clash), _U(0))
    row_fill(v, width, _U(anyone), _U(0))
    if chance >= 0:
        row_fill(v, width, _U(seen), _U(0))
        for m in range(bounds[chance], bounds[chance + 1]):
            row_literal(v, width, _U(options + m), _U(legal[m]))
            row_or(v, width, _U(seen), _U(seen), _U(options + m))
        for w in range(len(width)):
            v[none * len(width) + w] |= ~v[seen * len(width) + w]
    for p in range(len(players)):
        r = players[p]
        row_fill(v, width, _U(seen), _U(0))
        row_fill(v, width, _U(choice + p), _U(0))
        row_fill(v, width, _U(turn + p), _U(0))
        for m in range(bounds[r], bounds[r + 1]):
            row_literal(v, width, _U(options + m), _U(legal[m]))
            row_and(v, width, _U(carry), _U(seen), _U(options + m))
            row_or(v, width, _U(choice + p), _U(choice + p), _U(carry))
            row_or(v, width, _U(seen), _U(seen), _U(options + m))
            if not idle[m]:
                row_or(v, width, _U(turn + p), _U(turn + p), _U(options + m))
        for w in range(len(width)):
            v[none * len(width) + w] |= ~v[seen * len(width) + w]
        row_and(v, width, _U(carry), _U(anyone), _U(choice + p))
        row_or(v, width, _U(clash), _U(clash), _U(carry))
        row_or(v, width, _U(anyone), _U(anyone), _U(choice + p))
    # it is the turn of who has a choice, else of the first who does anything, else of the first
    row_copy(v, width, _U(active), _U(anyone))
    for p in range(len(players)):
        for w in range(len(width)):
            forced = v[(turn + p) * len(width) + w] & ~v[active * len(width) + w]
            v[active * len(width) + w] |= forced
            v[(turn + p) * len(width) + w] = forced | v[(choice + p) * len(width) + w]
    for w in range(len(width)):
        v[turn * len(width) + w] |= ~v[active * len(width) + w]


@compiled
def _whose_turn(v, width, turn, players, first, last, to_move):
    """Fill `to_move` from the rows `turn`; where there are two players, one row says it all."""
    words = len(width)
    for w in range(words):
        if first + 64 * w < last:
            spread(to_move, _U(first + 64 * w), v[(turn + 1) * words + w] if players == 2 else _U(0))
    for p in range(1, players if players > 2 else 1):
        for w in range(words):
            word = v[(turn + p) * words + w]
            while word:
                lane = first + 64 * w + lowest_bit(word)
                word &= word - _U(1)
                if lane < last:
                    to_move[lane] = p


@compiled
def _tell(v, width, roles, scratch, columns, store, told, k, first, last):
    """Unpack a block for the caller: observation, legal moves, whose turn it is."""
    number = roles[3]
    _, options, _, turn, mask, square, _, _, _, work = scratch
    seen, by_turn, packed = columns
    observation, legal, to_move = told[0], told[1], told[2]
    _emit(v, width, seen, square, observation, packed, first, last)
    players, most = number.shape
    if by_turn:
        for a in range(most):
            row_fill(v, width, _U(mask + a), _U(0))
            for p in range(players):
                if number[p, a] >= 0:
                    row_and(v, width, _U(work), _U(turn + p), _U(options + number[p, a]))
                    row_or(v, width, _U(mask + a), _U(mask + a), _U(work))
        listed = np.empty(most, np.int32)
        for a in range(most):
            listed[a] = 2 * (mask + a)
    else:
        listed = np.empty(players * most, np.int32)
        for p in range(players):
            for a in range(most):
                listed[p * most + a] = 2 * (options + number[p, a]) if number[p, a] >= 0 else 0
    _emit(v, width, listed, square, legal, packed, first, last)
    _whose_turn(v, width, turn, players if by_turn else 1, first, last, to_move)
    _whose_turn(v, width, turn, players if by_turn else 1, first, last, store[6])
    states, options_kept, turns = store[0], store[1], store[2]
    _store(v, width, 1, states[k])
    _store(v, width, options, options_kept[k])
    _store(v, width, turn, turns[k])


@compiled
def _restart(v, width, lanes, roles, scratch, start):
    """Put the lanes of row `lanes` into the initial state, all that follows from it too."""
    _, first_options, first_turn, values = start
    players = roles[1]
    _, options, _, turn, _, _, _, _, _, work = scratch
    constant = work + 7
    for i in range(1, len(values)):
        row_fill(v, width, _U(constant), _ONES if values[i] else _U(0))
        row_mux(v, width, _U(i), _U(lanes), _U(constant), _U(i))
    for m in range(len(first_options)):
        row_fill(v, width, _U(constant), _ONES if first_options[m] else _U(0))
        row_mux(v, width, _U(options + m), _U(lanes), _U(constant), _U(options + m))
    for p in range(len(players)):
        row_fill(v, width, _U(constant), _ONES if p == first_turn else _U(0))
        row_mux(v, width, _U(turn + p), _U(lanes), _U(constant), _U(turn + p))


@compiled
def begin(vs, width, circuit, literals, roles, scratch, columns, store, told, fresh, initial, errors, lanes):
    """Put the lanes whose bits are set in `fresh[block]` into the initial state; tell of all lanes."""
    fluents = circuit[7]
    states, over, steps = store[0], store[3], store[5]
    work = scratch[9]
    constant, chosen = work + 7, work + 6
    words = len(width)
    for k in range(len(states)):
        first = 64 * words * k
        last = min(first + 64 * words, lanes)
        v = vs[k if len(vs) > 1 else 0]
        _load(v, width, 1, states[k])
        for w in range(words):
            v[chosen * words + w] = fresh[k, w]
        for f in range(fluents):
            row_fill(v, width, _U(constant), _ONES if initial[f] else _U(0))
            row_mux(v, width, _U(1 + f), _U(chosen), _U(constant), _U(1 + f))
        for w in range(words):
            over[k, w] &= ~fresh[k, w]
            word = fresh[k, w]
            while word:
                lane = first + 64 * w + lowest_bit(word)
                word &= word - _U(1)
                if lane < last:
                    steps[lane] = 0
        _run(v, width, circuit, 0, circuit[3][0])
        _options(v, width, literals, roles, scratch)
        for w in range(words):
            if v[(work + 1) * words + w] & ~over[k, w]:
                errors[1] = 1
        _open(v, width, roles, scratch, over[k])
        _tell(v, width, roles, scratch, columns, store, told, k, first, last)


@compiled
def _open(v, width, roles, scratch, over):
    """Where the game is over every move is legal and it is the first player's turn."""
    bounds, players = roles[0], roles[1]
    _, options, _, turn, _, _, _, _, _, _ = scratch
    words = len(width)
    something = False
    for w in range(words):
        something |= over[w] != 0
    if something:
        for w in range(words):
            for m in range(bounds[-1]):
                v[(options + m) * words + w] |= over[w]
            for p in range(len(players)):
                v[(turn + p) * words + w] &= ~over[w]
            v[turn * words + w] |= over[w]


@compiled
def check(actions, number, store, held, words, by_turn, lanes):
    """Return the first lane in which an action is not legal, -1 where all are; lanes that are over pass."""
    options, over, to_move = store[1], store[3], store[6]
    most = number.shape[1]
    for k in range(len(over)):
        for w in range(words):
            first = 64 * (words * k + w)
            waits = over[k, w] | held[k, w]
            for b in range(min(64, lanes - first)):
                if (waits >> _U(b)) & _U(1):
                    continue
                lane = first + b
                for p in range(actions.shape[1]):
                    a = actions[lane, p]
                    if not 0 <= a < most:
                        return lane
                    m = number[_U(to_move[lane]) if by_turn else _U(p), _U(a)]
                    if m < 0 or not (options[k, _U(m), w] >> _U(b)) & _U(1):
                        return lane
    return -1


@compiled
def _aged(steps, first, last, going, begun):
    """Count a step in those of 64 lanes that go on, none in those that begin; return the largest count."""
    most = 0
    for lane in range(first, min(first + 64, last)):
        goes = np.int32((going >> _U(lane - first)) & _U(1))
        begins = np.int32((begun >> _U(lane - first)) & _U(1))
        steps[lane] = steps[lane] * (np.int32(1) - begins) + goes
        most = max(most, steps[lane])
    return most


@compiled
def _make(v, width, moves_first, number, to_move, actions, by_turn, playing, first, last):
    """Set the bits of the moves made in the lanes of row `playing`."""
    words = len(width)
    for w in range(words):
        goes = v[playing * words + w]
        for b in range(min(64, last - first - 64 * w)):
            bit = goes & (_U(1) << _U(b))
            lane = _U(first + 64 * w + b)
            if not bit:
                continue
            for p in range(actions.shape[1]):
                player = _U(to_move[lane]) if by_turn else _U(p)
                m = _U(number[player, _U(actions[lane, _U(p)])])
                v[(_U(moves_first) + m) * _U(words) + _U(w)] |= bit


@compiled
def advance(
    vs, width, circuit, literals, roles, scratch, columns, store, told, actions, start, mode, max_steps,
    held, errors, lanes,
):  # fmt: skip
    """Move every lane that is neither over nor held one step and tell what came of it.

    `actions[lane, p]` is the move of player p (of the player to move, in games by turns, whose legality
    `check` has seen).  `vs` has rows for each block, in which the values of the present state still
    stand, or one set for all blocks, which are evaluated again then.  `told` are observation, legal
    moves, whose turn, rewards, terminated, truncated, percepts, final observation; `errors` counts
    stuck lanes and notes games not by turns and ends without goals.
    """
    following, _, terminal, goal, goal_player, goal_value, sees = literals
    bounds, players, chance, number, _ = roles
    buffer, _, _, _, _, square, total, rank, state, work = scratch
    none, clash, ended, over_now, playing, other = work, work + 1, work + 2, work + 3, work + 4, work + 5
    cones, fluents, moves_first = circuit[3], circuit[7], circuit[8]
    states, options_kept, turns, over, generators, steps, to_move = store
    rewards, terminated, truncated, percepts, final = told[3], told[4], told[5], told[6], told[7]
    seen, by_turn, packed = columns
    words = len(width)
    for k in range(len(states)):
        first = 64 * words * k
        last = min(first + 64 * words, lanes)
        v = vs[k if len(vs) > 1 else 0]
        if len(vs) < len(states):
            _load(v, width, 1, states[k])
            _run(v, width, circuit, 0, cones[0])
        # the moves
        for p in range(len(players)):
            for m in range(bounds[players[p]], bounds[players[p] + 1]):
                if by_turn:
                    for w in range(words):
                        v[(moves_first + m) * words + w] = options_kept[k, m, w] & ~turns[k, p, w]
                else:
                    row_fill(v, width, _U(moves_first + m), _U(0))
        if chance >= 0:
            begin_moves, end_moves = bounds[chance], bounds[chance + 1]
            bits = 1
            while (1 << bits) <= end_moves - begin_moves:
                bits += 1
            _load(v, width, state, generators[k])
            _count(v, width, bits, literals[1], begin_moves, end_moves, total)
            _draw(v, width, bits, total, rank, state)
            _take(v, width, bits, literals[1], begin_moves, end_moves, moves_first, rank)
            _store(v, width, state, generators[k])
        for w in range(words):
            v[playing * words + w] = ~(over[k, w] | held[k, w])
        _make(v, width, moves_first, number, to_move, actions, by_turn, playing, first, last)
        # the next state
        _run(v, width, circuit, cones[0], cones[1])
        if len(sees):
            _emit(v, width, sees, square, percepts, False, first, last)
        for f in range(fluents):
            row_literal(v, width, _U(buffer + f), _U(following[f]))
        for f in range(fluents):
            row_mux(v, width, _U(1 + f), _U(playing), _U(buffer + f), _U(1 + f))
        for p in range(len(players)):
            for m in range(bounds[players[p]], bounds[players[p] + 1]):
                row_fill(v, width, _U(moves_first + m), _U(0))
        if mode == NEXT:
            for w in range(words):
                v[other * words + w] = over[k, w] & ~held[k, w]
            if row_any(v, width, _U(other)):
                for f in range(fluents):
                    row_fill(v, width, _U(work + 7), _ONES if start[0][f] else _U(0))
                    row_mux(v, width, _U(1 + f), _U(other), _U(work + 7), _U(1 + f))
        # what is true of it
        _run(v, width, circuit, 0, cones[0])
        _options(v, width, literals, roles, scratch)
        for w in range(words):
            v[playing * words + w] = ~(over[k, w] | held[k, w])
        row_literal(v, width, _U(over_now), _U(terminal))
        row_and(v, width, _U(over_now), _U(over_now), _U(playing))
        row_copy(v, width, _U(ended), _U(over_now))
        row_xor(v, width, _U(other), _U(playing), _U(over_now))
        row_and(v, width, _U(none), _U(none), _U(other))
        row_and(v, width, _U(clash), _U(clash), _U(other))
        if row_any(v, width, _U(clash)):
            errors[1] = 1
        row_or(v, width, _U(ended), _U(ended), _U(none))
        for w in range(words):
            word, going = v[none * words + w], v[playing * words + w]
            late = word & going
            begun = over[k, w] & ~held[k, w] if mode == NEXT else _U(0)
            if _aged(steps, first + 64 * w, last, going, begun) >= max_steps:
                for b in range(64):
                    lane = first + 64 * w + b
                    if lane < last and steps[lane] >= max_steps and (going >> _U(b)) & _U(1):
                        late |= _U(1) << _U(b)
            late &= ~v[over_now * words + w]
            v[ended * words + w] |= late
            errors[0] += _ones_below(word, last - first - 64 * w)
            if first + 64 * w < last:
                spread(terminated, _U(first + 64 * w), v[over_now * words + w])
                spread(truncated, _U(first + 64 * w), late)
        for lane in range(first, last):
            for p in range(rewards.shape[1]):
                rewards[lane, p] = 0.0
        if row_any(v, width, _U(over_now)):
            _run(v, width, circuit, cones[1], cones[2])
            _score(v, width, goal, goal_player, goal_value, over_now, other, first, last, rewards, errors)
        if mode == SAME:
            if row_any(v, width, _U(ended)):
                if len(final):
                    _emit(v, width, seen, square, final, packed, first, last)
                _restart(v, width, ended, roles, scratch, start)
                for w in range(words):
                    word = v[ended * words + w]
                    while word:
                        lane = first + 64 * w + lowest_bit(word)
                        word &= word - _U(1)
                        if lane < last:
                            steps[lane] = 0
        else:
            for w in range(words):
                kept = over[k, w] if mode == OFF else over[k, w] & held[k, w]
                over[k, w] = v[ended * words + w] | kept
            _open(v, width, roles, scratch, over[k])
        _tell(v, width, roles, scratch, columns, store, told, k, first, last)


@compiled
def _score(v, width, goal, goal_player, goal_value, over, row, first, last, rewards, errors):
    """Fill in the rewards of the lanes in row `over`; note where a player has not exactly one goal value."""
    words = len(width)
    found = 0
    for k in range(len(goal)):
        if goal_player[k] < 0:
            continue
        row_literal(v, width, _U(row), _U(goal[k]))
        row_and(v, width, _U(row), _U(row), _U(over))
        for w in range(words):
            word = v[row * words + w]
            while word:
                lane = first + 64 * w + lowest_bit(word)
                word &= word - _U(1)
                if lane < last:
                    rewards[lane, goal_player[k]] = goal_value[k]
                    found += 1
    for w in range(words):
        found -= rewards.shape[1] * _ones_below(v[over * words + w], last - first - 64 * w)
    if found:
        errors[2] = 1


@compiled
def _pick(v, width, options, size, state, taken, row):
    """Take one of many moves in every lane, lane by lane; sets the rows from `taken`."""
    words = len(width)
    counts = np.zeros(64 * words, np.int64)
    row_random(v, width, _U(row), _U(state))
    for turn in range(2):
        for m in range(size):
            for w in range(words):
                word = v[(options + m) * words + w]
                chosen = _U(0)
                while word:
                    lane = 64 * w + lowest_bit(word)
                    bit = word & (~word + _U(1))
                    word ^= bit
                    if turn == 0:
                        counts[lane] += 1
                    else:
                        if counts[lane] == 0:
                            chosen |= bit
                        counts[lane] -= 1
                v[(taken + m) * words + w] = chosen
        if turn == 0:
            for lane in range(64 * words):  # splitmix64 from one word of fresh bits for 64 lanes
                z = v[row * words + lane // 64] + _U(lane % 64 + 1) * _U(0x9E3779B97F4A7C15)
                z = (z ^ (z >> _U(30))) * _U(0xBF58476D1CE4E5B9)
                z = (z ^ (z >> _U(27))) * _U(0x94D049BB133111EB)
                z ^= z >> _U(31)
                counts[lane] = np.int64(((z >> _U(32)) * _U(counts[lane])) >> _U(32))


@compiled
def sample(v, width, roles, scratch, store, generators, actions, by_turn, lanes):
    """Draw a legal move for each player, all equally likely; `generators` are used up in place."""
    bounds, players, _, number, _ = roles
    _, options, _, _, _, square, total, rank, state, work = scratch
    options_kept, turns = store[1], store[2]
    words = len(width)
    place = np.full(bounds[-1], -1, np.int64)
    largest = 1
    for p in range(number.shape[0]):
        for a in range(number.shape[1]):
            if number[p, a] >= 0:
                place[number[p, a]] = a
        largest = max(largest, bounds[players[p] + 1] - bounds[players[p]])
    literals = np.empty(largest, np.int32)
    for k in range(len(options_kept)):
        first = 64 * words * k
        last = min(first + 64 * words, lanes)
        _load(v, width, options, options_kept[k])
        _load(v, width, state, generators[k])
        for p in range(len(players)):
            r = players[p]
            size = bounds[r + 1] - bounds[r]
            for m in range(size):
                literals[m] = 2 * (options + bounds[r] + m)
            if size > FEW:
                _pick(v, width, options + bounds[r], size, state, square, work)
            else:
                bits = 1
                while (1 << bits) <= size:
                    bits += 1
                _count(v, width, bits, literals, 0, size, total)
                _draw(v, width, bits, total, rank, state)
                _take(v, width, bits, literals, 0, size, square, rank)
            for m in range(size):
                for w in range(words):
                    word = v[(square + m) * words + w]
                    if by_turn:
                        word &= turns[k, p, w]
                    while word:
                        lane = first + 64 * w + lowest_bit(word)
                        word &= word - _U(1)
                        if lane < last:
                            actions[lane, 0 if by_turn else p] = place[bounds[r] + m]
        _store(v, width, state, generators[k])

"""Compiled: the rows of an alpha-beta search, and how all successors of a state are made at once.

A *row* is a state with what is known about it: its legal moves, whether the game is over there, and a
heuristic value.  Rows are a stack: the successors of a state stand after those of the states before it
on the way from the root.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from herbrand.analyse.table import state_hash
from herbrand.compiled import compiled
from herbrand.simulate.lanes import _load, _run, _store, _transpose
from herbrand.simulate.vectors import count_ones, lowest_bit, row_copy, row_fill, row_literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.simulate.expand import Expander

__all__ = [
    "AT_ONCE", "FULL", "HIGHEST", "LOWEST", "SCALE", "STUCK", "Judge", "Rows", "Rules", "evaluate_root",
    "judged", "make_successors", "mover_of", "new_rows", "no_judge", "node_bits", "rules_of",
]  # fmt: skip

SCALE: Final = 1000
"""What a goal value of 1 counts."""
LOWEST: Final = SCALE // 2
"""Between this and `HIGHEST` is every heuristic value, so that nothing looks proved that is not."""
HIGHEST: Final = 100 * SCALE - LOWEST
STUCK: Final = -2
"""What `make_successors` returns where a role has no legal move."""
AT_ONCE: Final = -1
"""What it returns where several roles have a choice."""
FULL: Final = -3
"""What it returns where there is no room."""

_U = np.uint64
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Rules(NamedTuple):
    """The outputs of a network, and whose goals count."""

    legal: NDArray[np.int32]
    bounds: NDArray[np.int64]
    """[roles + 1] the first move of each role."""
    places: NDArray[np.int64]
    """[roles + 1] the first word of each role in a set of legal moves."""
    terminal: int
    following: NDArray[np.int32]
    goal: NDArray[np.int32]
    """The literals of the role's goals."""
    goal_value: NDArray[np.int16]
    """Their values."""


class Judge(NamedTuple):
    """A heuristic value: a sum over features of a state, from `table`, and over its legal moves."""

    literals: NDArray[np.int32]
    """[features] nodes of the network, as literals, that are known once the legal moves are."""
    table: NDArray[np.int32]
    """[8 * words, 256] what each byte of the features counts; no rows without features."""
    mobility: NDArray[np.float64]
    """[roles] what each legal move of a role counts."""
    progress: NDArray[np.float64]
    """[2] what a point of the goal in a state that is not the last counts, and what having none."""
    bias: float


class Rows(NamedTuple):
    """The stack of states; see the module."""

    state: NDArray[np.uint64]
    """[rows, words]"""
    legal: NDArray[np.uint64]
    """[rows, words of moves]"""
    features: NDArray[np.uint64]
    """[rows, words of features]"""
    move: NDArray[np.int32]
    """[rows] the move that led there, among the moves of all roles; of the role that had a choice."""
    key: NDArray[np.uint64]
    over: NDArray[np.uint8]
    """[rows] 1 where the game is over."""
    value: NDArray[np.int64]
    """[rows] the goal times `SCALE` where the game is over, else the heuristic value."""
    order: NDArray[np.int64]
    """[rows] the highest is searched first."""


def rules_of(expander: Expander, role: int) -> Rules:
    """Return the outputs of a network for a role."""
    network = expander.network
    mine = np.flatnonzero(expander._goal_role == role)
    return Rules(
        network.legal,
        expander._bounds,
        expander._places,
        network.terminal,
        network.next,
        network.goal[mine],
        expander._goal_value[mine],
    )


def new_rows(expander: Expander, features: int, most: int) -> Rows:
    """Make room for so many states."""
    return Rows(
        np.zeros((most, expander.words), np.uint64),
        np.zeros((most, int(expander._places[-1])), np.uint64),
        np.zeros((most, -(-features // 64)), np.uint64),
        np.zeros(most, np.int32),
        np.zeros(most, np.uint64),
        np.zeros(most, np.uint8),
        np.zeros(most, np.int64),
        np.zeros(most, np.int64),
    )


@compiled
def _goals(v, width, rules, lane, goal):
    """Return the goal value in a lane; -1 without exactly one."""
    found = np.int64(-1)
    words = len(width)
    for k in range(len(goal)):
        literal = goal[k]
        word = v[(literal >> 1) * words + (lane >> 6)] >> _U(lane & 63)
        if (word ^ _U(literal)) & _U(1):
            if found >= 0 or rules.goal_value[k] < 0:
                return np.int64(-1)
            found = np.int64(rules.goal_value[k])
    return found


@compiled
def _judge(rows, rules, judge, i, goal):
    """Return the heuristic value of a row that has its features and legal moves."""
    total = judge.bias
    features, table = rows.features, judge.table
    if len(table):
        for j in range(features.shape[1]):
            word = features[i, j]
            for b in range(8):
                total += table[8 * j + b, np.int64((word >> _U(8 * b)) & _U(255))]
    for r in range(len(judge.mobility)):
        if judge.mobility[r] != 0.0:
            count = np.int64(0)
            for j in range(rules.places[r], rules.places[r + 1]):
                count += np.int64(count_ones(rows.legal[i, j]))
            total += judge.mobility[r] * count
    if judge.progress[0] != 0.0 or judge.progress[1] != 0.0:
        total += judge.progress[1] if goal < 0 else judge.progress[0] * goal
    return min(max(np.int64(total), np.int64(LOWEST)), np.int64(HIGHEST))


@compiled
def _look(v, width, circuit, rules, judge, rows, begin, end, square, leaves):
    """Fill the rows `begin <= i < end`, whose fluents are in the lanes: legal moves, end, value.

    Of `leaves` the legal moves are left out where their value does not need them.
    """
    cones = circuit[3]
    words = len(width)
    # taking an array out of a tuple counts references: once is enough
    legal, bounds, places, moves = rules.legal, rules.bounds, rules.places, rows.legal
    states, keys = rows.state, rows.key
    overs, values, terminal = rows.over, rows.value, rules.terminal
    _run(v, width, circuit, 0, cones[0])
    wanted = not leaves
    for r in range(len(judge.mobility)):
        wanted |= judge.mobility[r] != 0.0
    for r in range(len(bounds) - 1 if wanted else 0):
        _store(v, width, legal, bounds[r], bounds[r + 1], places[r], moves, begin, end, square)
    if len(judge.table):
        _store(v, width, judge.literals, 0, len(judge.literals), 0, rows.features, begin, end, square)
    any_over = judge.progress[0] != 0.0 or judge.progress[1] != 0.0
    for i in range(begin, end):
        lane = i - begin
        word = v[(terminal >> 1) * words + (lane >> 6)] >> _U(lane & 63)
        overs[i] = (word ^ _U(terminal)) & _U(1)
        if overs[i]:
            any_over = True
    if any_over:
        _run(v, width, circuit, cones[1], cones[2])
    for i in range(begin, end):
        goal = _goals(v, width, rules, i - begin, rules.goal) if any_over else np.int64(-1)
        if overs[i]:
            values[i] = SCALE * (goal if goal >= 0 else 50)
        else:
            values[i] = _judge(rows, rules, judge, i, goal)
        keys[i] = state_hash(states, i)


@compiled
def evaluate_root(v, width, circuit, rules, judge, rows):
    """Fill row 0, whose state is there."""
    square = np.zeros(64, np.uint64)
    fluents = circuit[7]
    for f in range(fluents):
        bit = (rows.state[0, f >> 6] >> _U(f & 63)) & _U(1)
        row_fill(v, width, _U(1 + f), _ALL if bit else _U(0))
    _look(v, width, circuit, rules, judge, rows, 0, 1, square, False)


@compiled
def judged(v, width, circuit, rules, judge, rows, states, some, values):
    """Fill `values[k]` with what state `some[k]` is worth; `rows` has room for as many as there are lanes."""
    square = np.zeros(64, np.uint64)
    for begin in range(0, len(some), 64 * len(width)):
        end = min(begin + 64 * len(width), len(some))
        _load(v, width, circuit[7], states, some, begin, end, square)
        _look(v, width, circuit, rules, judge, rows, 0, end - begin, square, True)
        for i in range(begin, end):
            values[i] = rows.value[i - begin]


@compiled
def mover_of(rules, rows, i):
    """Return the role that has a choice, 0 if none has; `AT_ONCE` or `STUCK`."""
    mover = np.int64(-1)
    places, legal = rules.places, rows.legal
    for r in range(len(places) - 1):
        count = np.int64(0)
        for j in range(places[r], places[r + 1]):
            count += np.int64(count_ones(legal[i, j]))
        if count == 0:
            return np.int64(STUCK)
        if count > 1:
            if mover >= 0:
                return np.int64(AT_ONCE)
            mover = np.int64(r)
    return max(mover, np.int64(0))


@compiled
def make_successors(v, width, circuit, rules, judge, rows, i, mover, first, square, leaves):
    """Fill the rows from `first` on with the successors of row i; return how many, or `FULL`.

    `mover` is the role that has a choice, or any where none has; `leaves` says that none of them will be
    searched.
    """
    cones, fluents, moves_first = circuit[3], circuit[7], circuit[8]
    buffer = circuit[6] + len(circuit[5]) + len(circuit[0])
    words = len(width)
    roles = len(rules.bounds) - 1
    states, legal, move = rows.state, rows.legal, rows.move
    bounds, places, following = rules.bounds, rules.places, rules.following
    count = np.int64(0)
    for j in range(places[mover], places[mover + 1]):
        word = legal[i, j]
        while word:
            if first + count >= len(move):
                return np.int64(FULL)
            move[first + count] = bounds[mover] + 64 * (j - places[mover]) + lowest_bit(word)
            word &= word - _U(1)
            count += 1
    for begin in range(first, first + count, 64 * words):
        end = min(begin + 64 * words, first + count)
        for j in range(states.shape[1]):
            bits = states[i, j]
            for f in range(64 * j, min(64 * j + 64, fluents)):
                row_fill(v, width, _U(1 + f), _U(0) - (bits & _U(1)))
                bits >>= _U(1)
        for r in range(roles):
            if r != mover:
                for j in range(places[r], places[r + 1]):
                    if legal[i, j]:
                        only = bounds[r] + 64 * (j - places[r]) + lowest_bit(legal[i, j])
                        row_fill(v, width, _U(moves_first + only), _ALL)
        for k in range(begin, end):
            lane = k - begin
            v[(moves_first + move[k]) * words + (lane >> 6)] |= _U(1) << _U(lane & 63)
        _run(v, width, circuit, 0, cones[1])
        for f in range(fluents):
            row_literal(v, width, _U(buffer + f), _U(following[f]))
        for f in range(fluents):
            row_copy(v, width, _U(1 + f), _U(buffer + f))
        for r in range(roles):
            if r != mover:
                for j in range(places[r], places[r + 1]):
                    if legal[i, j]:
                        only = bounds[r] + 64 * (j - places[r]) + lowest_bit(legal[i, j])
                        row_fill(v, width, _U(moves_first + only), _U(0))
        for k in range(begin, end):
            row_fill(v, width, _U(moves_first + move[k]), _U(0))
        _store_states(v, width, fluents, states, begin, end, square)
        _look(v, width, circuit, rules, judge, rows, begin, end, square, leaves)
    return count


@compiled
def _store_states(v, width, fluents, states, begin, end, square):
    """Pack the fluents in the lanes into the rows `begin <= i < end`."""
    words = len(width)
    for w in range(words):
        lanes = min(np.int64(64), end - begin - 64 * w)
        if lanes <= 0:
            break
        for j in range(states.shape[1]):
            last = min(np.int64(64), fluents - 64 * j)
            if lanes <= 8:  # few states: bit by bit is sooner done than a transposition
                for b in range(lanes):
                    square[b] = _U(0)
                for f in range(last):
                    word = v[(1 + 64 * j + f) * words + w]
                    for b in range(lanes):
                        square[b] |= ((word >> _U(b)) & _U(1)) << _U(f)
            else:
                for f in range(last):
                    square[f] = v[(1 + 64 * j + f) * words + w]
                for f in range(last, 64):
                    square[f] = _U(0)
                _transpose(square)
            for b in range(lanes):
                states[begin + 64 * w + b, j] = square[b]


@compiled
def node_bits(v, width, circuit, states, literals, out):
    """Fill `out[i]` with the values of literals in state i."""
    square = np.zeros(64, np.uint64)
    nothing = np.zeros(0, np.int64)
    for begin in range(0, len(states), 64 * len(width)):
        end = min(begin + 64 * len(width), len(states))
        _load(v, width, circuit[7], states, nothing, begin, end, square)
        _run(v, width, circuit, 0, circuit[3][0])
        _store(v, width, literals, 0, len(literals), 0, out, begin, end, square)


def no_judge(roles: int, features: Any = ()) -> Judge:
    """Return a heuristic that values everything alike."""
    return Judge(
        np.array(features, np.int32), np.zeros((0, 256), np.int32), np.zeros(roles), np.zeros(2), 50.0 * SCALE
    )

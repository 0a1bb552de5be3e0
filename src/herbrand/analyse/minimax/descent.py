"""Compiled: alpha-beta with a stack of frames, which stops when told to and goes on later.

A *frame* is a state on the way from the root that is being searched.  Values are for one role: where it
chooses the highest counts, elsewhere the lowest.  A value is *proved* when no heuristic value took part in
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from herbrand.analyse.minimax.nodes import SCALE, make_successors, mover_of
from herbrand.analyse.minimax.table import EXACT, LOWER, UPPER, probe, store
from herbrand.compiled import compiled
from herbrand.simulate.vectors import count_ones

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DEEPEST", "Frames", "Root", "begin", "go_on", "new_frames", "new_root"]

DEEPEST: Final = 200
"""Steps from the root that are looked at, at most."""

_NEW, _OPEN = 0, 1
_INFINITE = 1 << 19
_FIRST = np.int64(1) << 60
_DONE = np.int64(-1) << 60
_LATE = 3
"""Successors before the others are searched less deeply at first."""
_NOVEL = 20
"""What a fluent counts for the order that was true in no state searched from (the novelty of Lipovetzky and
Geffner 2012, between the states of a match): a fiftieth of a point of the goal, so that it decides
between successors that are valued about alike."""

TOP, NODES, SIMULTANEOUS, FINISHED, RESULT, HEURISTIC, MINE, NOBODY, SENT = range(9)
"""Places in `Frames.numbers`: the frame at work, states expanded, whether roles choose at once, whether the
iteration ended, its value, whether that is heuristic, the role, whether nothing is searched less deeply, the
number of states when a successor of the root was begun."""


class Frames(NamedTuple):
    """The way from the root; every array but the last two has `DEEPEST` places."""

    row: NDArray[np.int64]
    first: NDArray[np.int64]
    """Its successors' rows."""
    successors: NDArray[np.int64]
    """How many they are."""
    child: NDArray[np.int64]
    """The row of the successor that is being searched."""
    tried: NDArray[np.int64]
    """How many successors were searched."""
    reduced: NDArray[np.int64]
    """2 if the successor is searched less deeply, 1 if with a null window, 0 else."""
    alpha: NDArray[np.int64]
    beta: NDArray[np.int64]
    alpha_first: NDArray[np.int64]
    beta_first: NDArray[np.int64]
    best: NDArray[np.int64]
    choice: NDArray[np.int64]
    """The move with the best value."""
    proves: NDArray[np.int64]
    """1 if that value is proved."""
    heuristic: NDArray[np.int64]
    """1 if any value so far was heuristic."""
    depth: NDArray[np.int64]
    highest: NDArray[np.int64]
    """1 where the role itself chooses."""
    phase: NDArray[np.int64]
    numbers: NDArray[np.int64]
    """See `TOP`."""
    history: NDArray[np.int64]
    """[moves] how often a move was good enough to look no further."""


class Root(NamedTuple):
    """What is known of the successors of the root, in their order as rows."""

    value: NDArray[np.int64]
    """-1 if it was not searched in this iteration."""
    bound: NDArray[np.int64]
    """`EXACT`, or what the value is of the true one."""
    proved: NDArray[np.int64]
    nodes: NDArray[np.int64]
    """States expanded below it, in all iterations."""


def new_frames(moves: int) -> Frames:
    """Make room for one search."""
    way = [np.zeros(DEEPEST, np.int64) for _ in range(len(Frames._fields) - 2)]
    return Frames._make([*way, np.zeros(9, np.int64), np.zeros(moves, np.int64)])


def new_root(most: int) -> Root:
    """Make room for so many successors."""
    return Root(*(np.full(most, -1 if k == 0 else 0, np.int64) for k in range(4)))


@compiled
def _at(value, ply, sign):
    """Move a proved end by its distance from the root (sign -1), or back (sign 1)."""
    if value > 50 * SCALE:
        return value + sign * ply
    if value < 50 * SCALE:
        return value - sign * ply
    return value


@compiled
def begin(frames, depth):
    """Begin an iteration at row 0."""
    frames.numbers[TOP] = 0
    frames.numbers[FINISHED] = 0
    _push(frames, 0, np.int64(0), np.int64(-_INFINITE), np.int64(_INFINITE), np.int64(depth))


@compiled
def _push(frames, top, row, alpha, beta, depth):
    frames.row[top] = row
    frames.alpha[top] = alpha
    frames.beta[top] = beta
    frames.alpha_first[top] = alpha
    frames.beta_first[top] = beta
    frames.depth[top] = depth
    frames.phase[top] = _NEW


@compiled
def _enter(v, width, circuit, rules, judge, rows, frames, table, seen, root, top, square):
    """Open a frame; return whether its value is known at once, the value, and whether it is heuristic."""
    row = frames.row[top]
    depth = frames.depth[top]
    key = rows.key[row]
    hint = np.int64(-1)
    data = probe(table, key)
    if data:
        hint = np.int64((data >> np.uint64(33)) & np.uint64(0x3FFFFFFF)) - 1
        if top and (
            (data >> np.uint64(3)) & np.uint64(1)
            or np.int64((data >> np.uint64(4)) & np.uint64(511)) >= depth
        ):
            value = _at(np.int64((data >> np.uint64(13)) & np.uint64(0xFFFFF)), top, -1)
            bound = np.int64((data >> np.uint64(1)) & np.uint64(3))
            heuristic = np.int64(1) - np.int64((data >> np.uint64(3)) & np.uint64(1))
            if (
                bound == EXACT
                or (bound == LOWER and value >= frames.beta[top])
                or (bound == UPPER and value <= frames.alpha[top])
            ):
                return True, value, heuristic
    mover = mover_of(rules, rows, row)
    if mover < 0 or top + 2 >= DEEPEST:
        if mover == -1:
            frames.numbers[SIMULTANEOUS] = 1
        return True, rows.value[row], np.int64(1)
    last = depth <= 1 and top > 0
    first = row + 1 if top == 0 else frames.first[top - 1] + frames.successors[top - 1]
    count = make_successors(v, width, circuit, rules, judge, rows, row, mover, first, square, last)
    if count < 0:
        return True, rows.value[row], np.int64(1)
    frames.numbers[NODES] += 1
    highest = mover == frames.numbers[MINE]
    frames.first[top] = first
    frames.successors[top] = count
    frames.highest[top] = highest
    frames.tried[top] = 0
    frames.heuristic[top] = 0
    frames.proves[top] = 0
    frames.choice[top] = rows.move[first]
    frames.best[top] = -_INFINITE if highest else _INFINITE
    frames.phase[top] = _OPEN
    # taking an array out of a tuple counts references: once is enough
    values, overs, orders, moves, keys = rows.value, rows.over, rows.order, rows.move, rows.key
    history, states = frames.history, rows.state
    alpha_now, beta_now = frames.alpha[top], frames.beta[top]
    best_now, choice_now, proves_now = frames.best[top], frames.choice[top], np.int64(0)
    heuristic_now, tried_now = np.int64(0), np.int64(0)
    for k in range(first, first + count):
        value = values[k]
        heuristic = np.int64(0)
        if overs[k]:
            value = _at(value, top + 1, -1)
        elif last:
            heuristic = np.int64(1)
        else:
            # what the table knows of it may be enough, for what is proved always
            known = probe(table, keys[k])
            if known and top:
                deep = np.int64((known >> np.uint64(4)) & np.uint64(511)) >= depth - 1
                sure = np.int64((known >> np.uint64(3)) & np.uint64(1))
                bound = np.int64((known >> np.uint64(1)) & np.uint64(3))
                found = _at(np.int64((known >> np.uint64(13)) & np.uint64(0xFFFFF)), top + 1, -1)
                if (deep or sure) and (
                    (highest and bound != UPPER and found >= beta_now)
                    or (not highest and bound != LOWER and found <= alpha_now)
                ):
                    return True, found, np.int64(1) - sure
                if bound == EXACT:
                    value = found
            order = value if highest else 100 * SCALE - value
            order += history[moves[k]]
            for j in range(len(seen)):
                order += _NOVEL * np.int64(count_ones(states[k, j] & ~seen[j]))
            orders[k] = order
            if moves[k] == hint:
                orders[k] = _FIRST
            continue
        orders[k] = _DONE
        tried_now += 1
        heuristic_now |= heuristic
        if top == 0:
            root.value[k - first] = value
            root.bound[k - first] = EXACT
            root.proved[k - first] = 1
        if (value > best_now) if highest else (value < best_now):
            best_now = value
            choice_now = moves[k]
            proves_now = 1 - heuristic
    frames.best[top], frames.choice[top], frames.proves[top] = best_now, choice_now, proves_now
    frames.heuristic[top], frames.tried[top] = heuristic_now, tried_now
    if highest:
        frames.alpha[top] = max(frames.alpha[top], frames.best[top])
    else:
        frames.beta[top] = min(frames.beta[top], frames.best[top])
    if _enough(frames, top):
        return _close(rows, frames, table, top)
    if last:
        return _close(rows, frames, table, top)
    return False, np.int64(0), np.int64(0)


@compiled
def _enough(frames, top):
    """Whether no other successor can matter."""
    best = frames.best[top]
    if frames.highest[top]:
        return best >= frames.beta_first[top] or (frames.proves[top] and best > 100 * SCALE - DEEPEST - 1)
    return best <= frames.alpha_first[top] or (frames.proves[top] and best < DEEPEST + 1)


@compiled
def _close(rows, frames, table, top):
    """Return that a frame is done, its value and whether that is heuristic; keep it in the table."""
    best = frames.best[top]
    heuristic = frames.heuristic[top]
    bound = np.int64(EXACT)
    if best <= frames.alpha_first[top]:
        bound = np.int64(UPPER)
    elif best >= frames.beta_first[top]:
        bound = np.int64(LOWER)
    if frames.proves[top] and _enough(frames, top):
        heuristic = np.int64(0)
        # there may be a value that is better still, but not one that matters
    store(
        table, rows.key[frames.row[top]], _at(best, top, 1), min(max(frames.depth[top], 0), 511), bound,
        1 - heuristic, frames.choice[top],
    )  # fmt: skip
    return True, best, heuristic


@compiled
def _next_child(rows, frames, top):
    """Take the successor with the highest order that is left; -1 if none is."""
    first = frames.first[top]
    chosen, highest = np.int64(-1), np.int64(_DONE)
    for k in range(first, first + frames.successors[top]):
        if rows.order[k] > highest:
            chosen, highest = np.int64(k), rows.order[k]
    if chosen >= 0:
        rows.order[chosen] = _DONE
    return chosen


@compiled
def _send(frames, top, child, full):
    """Push a frame for a successor; with `full`, as deep and with the whole window."""
    alpha, beta = frames.alpha[top], frames.beta[top]
    forced = frames.successors[top] == 1
    depth = frames.depth[top] - (0 if forced else 1)
    frames.child[top] = child
    if top == 0:
        frames.numbers[SENT] = frames.numbers[NODES]
    frames.reduced[top] = 0
    if not full and frames.tried[top] >= 1:
        frames.reduced[top] = 1
        if frames.highest[top]:
            beta = alpha + 1
        else:
            alpha = beta - 1
        if depth >= 3 and frames.tried[top] >= _LATE and not frames.numbers[NOBODY]:
            frames.reduced[top] = 2
            depth -= 1 if frames.tried[top] < 4 * _LATE else 2
    _push(frames, top + 1, child, alpha, beta, depth)


@compiled
def go_on(v, width, circuit, rules, judge, rows, frames, table, seen, root, stop, most):
    """Go on with the iteration, for at most so many states; return whether it ended."""
    square = np.zeros(64, np.uint64)
    top = frames.numbers[TOP]
    last = frames.numbers[NODES] + most
    while True:
        if stop[0] or frames.numbers[NODES] >= last:
            frames.numbers[TOP] = top
            return False
        done, value, heuristic = False, np.int64(0), np.int64(0)
        if frames.phase[top] == _NEW:
            done, value, heuristic = _enter(
                v, width, circuit, rules, judge, rows, frames, table, seen, root, top, square
            )
        if not done:
            child = _next_child(rows, frames, top)
            if child < 0:
                done, value, heuristic = _close(rows, frames, table, top)
            else:
                _send(frames, top, child, False)
                top += 1
                continue
        while done:
            if top == 0:
                frames.numbers[TOP] = 0
                frames.numbers[FINISHED] = 1
                frames.numbers[RESULT] = value
                frames.numbers[HEURISTIC] = heuristic
                return True
            top -= 1
            alpha, beta = frames.alpha[top], frames.beta[top]
            highest = frames.highest[top]
            child = frames.child[top]
            better = value > alpha if highest else value < beta
            scouted = frames.reduced[top]
            if top == 0:
                root.nodes[child - frames.first[0]] += frames.numbers[NODES] - frames.numbers[SENT]
            if better and (scouted == 2 or (scouted and alpha < value < beta)):
                # the narrow or shallow search was not enough to say how good it is
                _send(frames, top, child, True)
                top += 1
                break
            if top == 0:
                k = child - frames.first[0]
                root.value[k] = value
                root.bound[k] = EXACT if alpha < value < beta else (UPPER if value <= alpha else LOWER)
                root.proved[k] = 1 - heuristic
            frames.tried[top] += 1
            frames.heuristic[top] |= heuristic
            if (value > frames.best[top]) if highest else (value < frames.best[top]):
                frames.best[top] = value
                frames.choice[top] = rows.move[child]
                frames.proves[top] = 1 - heuristic
            if highest:
                frames.alpha[top] = max(alpha, value)
            else:
                frames.beta[top] = min(beta, value)
            done = False
            if _enough(frames, top):
                depth = frames.depth[top]
                frames.history[rows.move[child]] += depth * depth
                if frames.history[rows.move[child]] > 50 * SCALE:
                    for m in range(len(frames.history)):
                        frames.history[m] //= 2
                done, value, heuristic = _close(rows, frames, table, top)

"""Compiled searches on the graph of states: what a role can force, and shortest circles.

The edges of state i are `starts[i] .. starts[i + 1]` of `children`, one for each joint move, in mixed
radix of `counts[i]`, the number of legal moves of each role, the last role's changing fastest.
States from `len(starts) - 1` on were not looked into: nothing is known of what follows them.
"""

from __future__ import annotations

import numpy as np

from herbrand.compiled import compiled

__all__ = ["NEVER", "certain", "force", "force_in_order", "induce", "lasso", "reply"]

NEVER = -1
"""The rank of a state in which a role cannot force what it wants."""


@compiled
def _best(i, starts, children, counts, role, rank, below):
    """Find the move of a role after which the worst rank is best; all ranks must be in `[0, below)`.

    Returns that rank and the number of the move, or `NEVER` twice.
    """
    stride = np.int64(1)
    for q in range(role + 1, counts.shape[1]):
        stride *= counts[i, q]
    mine = np.int64(counts[i, role])
    total = starts[i + 1] - starts[i]
    best, move = below, NEVER
    if total == 0:
        return NEVER, NEVER
    outer = total // (stride * mine)
    for a in range(mine):
        worst = 0
        for o in range(outer):
            first = starts[i] + (o * mine + a) * stride
            for e in range(first, first + stride):
                r = rank[children[e]]
                if r < 0 or r >= below:
                    worst = below
                    break
                worst = max(worst, r)
            if worst >= best:
                break
        if worst < best:
            best, move = worst, a
    if move < 0:
        return NEVER, NEVER
    return best, move


@compiled
def force_in_order(starts, children, counts, sequence, target, role, rank, move):
    """Find out from where a role can force a state of `target`, in a graph without circles.

    `sequence` has each state before its successors.  `rank[i]` becomes the number of steps in
    which it can do so, or `NEVER`, and `move[i]` which of its legal moves does it.
    """
    expanded = len(starts) - 1
    far = np.int64(1) << 30
    for k in range(len(sequence) - 1, -1, -1):
        i = sequence[k]
        rank[i] = NEVER
        move[i] = NEVER
        if target[i]:
            rank[i] = 0
        elif i < expanded:
            worst, a = _best(i, starts, children, counts, role, rank, far)
            if a >= 0:
                rank[i] = worst + 1
                move[i] = a


@compiled
def force(starts, children, counts, target, role, rank, move):
    """Do the same in any graph: the least fixpoint, one step at a time."""
    expanded = len(starts) - 1
    waiting = np.empty(expanded, np.int64)
    many = 0
    for i in range(len(target)):
        rank[i] = 0 if target[i] else NEVER
        move[i] = NEVER
        if i < expanded and not target[i] and starts[i + 1] > starts[i]:
            waiting[many] = i
            many += 1
    step = 1
    while True:
        left = 0
        for k in range(many):
            i = waiting[k]
            _, a = _best(i, starts, children, counts, role, rank, step)
            if a >= 0:
                rank[i] = step
                move[i] = a
            else:
                waiting[left] = i
                left += 1
        if left == many:
            return
        many = left
        step += 1


@compiled
def reply(i, a, starts, children, counts, role, rank):
    """Return an edge of state i with the role's a-th move, after which it can force nothing."""
    stride = np.int64(1)
    for q in range(role + 1, counts.shape[1]):
        stride *= counts[i, q]
    mine = np.int64(counts[i, role])
    outer = (starts[i + 1] - starts[i]) // (stride * mine)
    for o in range(outer):
        first = starts[i] + (o * mine + a) * stride
        for e in range(first, first + stride):
            if rank[children[e]] < 0:
                return e
    return np.int64(NEVER)


@compiled
def lasso(starts, children, depth, candidates, work, before):
    """Find a shortest line of play that comes back to a state where it was.

    `candidates` are states in the order of `depth`, with every circle through one of them.  Looks at
    `work` edges at most.  Returns the state where the circle begins, its length, and whether
    the search was finished; `before` is filled with how the circle runs, backwards, ending in a
    `NEVER`.
    """
    expanded = len(starts) - 1
    seen = np.full(len(depth), -1, np.int64)
    parent = np.empty(len(depth), np.int32)
    queue = np.empty(len(depth), np.int32)
    inside = np.zeros(len(depth), np.bool_)
    for c in candidates:
        inside[c] = True
    best, where, length = np.int64(1) << 40, np.int64(NEVER), np.int64(0)
    for number in range(len(candidates)):
        root = candidates[number]
        if depth[root] + 1 >= best:
            break
        queue[0] = root
        first, last = 0, 1
        level_end, steps = 1, 0
        found = False
        while first < last and not found:
            if first == level_end:
                level_end = last
                steps += 1
            if depth[root] + steps + 1 >= best:
                break
            i = queue[first]
            first += 1
            if i >= expanded:
                continue
            for e in range(starts[i], starts[i + 1]):
                work -= 1
                child = children[e]
                if child == root:
                    best, where, length = depth[root] + steps + 1, np.int64(root), steps + 1
                    k = 0
                    node = i
                    while node != root:
                        before[k] = node
                        node = parent[node]
                        k += 1
                    before[k] = NEVER
                    found = True
                    break
                if inside[child] and seen[child] != number:
                    seen[child] = number
                    parent[child] = i
                    queue[last] = child
                    last += 1
            if work < 0:
                return where, length, False
    return where, length, True


@compiled
def certain(left, right, first, loops, feedback, feedback_first, can, must):
    """Evaluate gates on what can be true and what must be true; see `ternary`.

    `loops` are sorted by their first gate; both kinds of knowledge are least fixpoints in them.
    """
    at = 0
    for k in range(len(loops) + 1):
        begin = loops[k, 0] if k < len(loops) else len(left)
        _certain(left, right, first, at, begin, can, must)
        if k == len(loops):
            break
        end = loops[k, 1]
        for f in range(loops[k, 2], loops[k, 3]):
            can[feedback_first + f] = must[feedback_first + f] = False
        changed = True
        while changed:
            _certain(left, right, first, begin, end, can, must)
            changed = False
            for f in range(loops[k, 2], loops[k, 3]):
                literal, node = feedback[f], feedback_first + f
                possible = not must[literal >> 1] if literal & 1 else can[literal >> 1]
                certainly = not can[literal >> 1] if literal & 1 else must[literal >> 1]
                if possible != can[node] or certainly != must[node]:
                    can[node], must[node] = possible, certainly
                    changed = True
        at = end


@compiled
def _certain(left, right, first, begin, end, can, must):
    for g in range(begin, end):
        a, b = left[g], right[g]
        can_a = not must[a >> 1] if a & 1 else can[a >> 1]
        can_b = not must[b >> 1] if b & 1 else can[b >> 1]
        must_a = not can[a >> 1] if a & 1 else must[a >> 1]
        must_b = not can[b >> 1] if b & 1 else must[b >> 1]
        can[first + g] = can_a and can_b
        must[first + g] = must_a and must_b


@compiled
def induce(
    starts, children, counts, over, sequence, begin, chance, values, length, top, best, ties, role, matrix
):  # fmt: skip
    """Backward induction: fill `values[i, role]` of states, each after its successors.

    Terminal states have their values.  `sequence[begin:]` was done before; what `chance` (a role, or -1)
    does is equally likely.  With `role` -1 at most one other role may choose, and takes the first
    move that is best for it; `ties[0]` counts the states in which another best move would be
    worth something else to somebody.  With a role, only its column of `values` is filled: what it
    gets at least, choosing at the same time as all others together.

    Returns -1 when everything is done; or the place in `sequence` of a state where mixing is
    needed, with the payoffs in `matrix` [moves of the role, moves of the others].  `best[i]` becomes
    the number of the move taken, or `NEVER` where no one chooses or choices are mixed.
    """
    roles = counts.shape[1]
    column = np.zeros(roles, np.float64)
    chosen = np.zeros(roles, np.float64)
    for k in range(begin - 1, -1, -1):
        i = sequence[k]
        best[i] = NEVER
        total = starts[i + 1] - starts[i]
        if over[i] or total == 0:
            continue
        mine = role
        if role < 0:
            for r in range(roles):
                if r != chance and counts[i, r] > 1:
                    mine = r
        rows = np.int64(1) if mine < 0 else np.int64(counts[i, mine])
        draws = np.int64(1) if chance < 0 else np.int64(counts[i, chance])
        columns = total // (rows * draws)
        if role < 0:
            first = True
            tie = False
            stride = np.int64(1)
            for q in range(max(mine, 0) + 1, roles):
                stride *= counts[i, q]
            outer = total // (stride * rows)
            for a in range(rows):
                column[:] = 0.0
                steps = np.int32(0)
                for o in range(outer):
                    begins = starts[i] + (o * rows + a) * stride
                    for e in range(begins, begins + stride):
                        column += values[children[e]]
                        steps = max(steps, length[children[e]] + 1)
                column /= draws
                better = first or column[mine] > chosen[mine]
                if not better and column[mine] == chosen[mine]:
                    same = True
                    for r in range(roles):
                        if column[r] != chosen[r]:
                            same = False
                    if not same:
                        tie = True
                    elif 2 * chosen[mine] >= top:
                        better = steps < length[i]
                    else:
                        better = steps > length[i]
                elif better:
                    tie = False
                if better:
                    chosen[:] = column
                    best[i] = a if mine >= 0 else NEVER
                    length[i] = steps
                    first = False
            values[i] = chosen
            if tie:
                ties[0] += 1
            continue
        matrix[: rows * columns] = 0.0
        for e in range(total):
            rest, a, o, scale = e, np.int64(0), np.int64(0), np.int64(1)
            for q in range(roles - 1, -1, -1):
                digit = rest % counts[i, q]
                rest //= counts[i, q]
                if q == role:
                    a = digit
                elif q != chance:
                    o += digit * scale
                    scale *= counts[i, q]
            matrix[a * columns + o] += values[children[starts[i] + e], role] / draws
        low = -np.inf
        for a in range(rows):
            worst = matrix[a * columns : (a + 1) * columns].min()
            if worst > low:
                low = worst
                best[i] = a
        high = np.inf
        for o in range(columns):
            most = -np.inf
            for a in range(rows):
                most = max(most, matrix[a * columns + o])
            high = min(high, most)
        values[i, role] = low
        if rows == 1:
            best[i] = NEVER
        if low < high:
            return k
    return np.int64(-1)

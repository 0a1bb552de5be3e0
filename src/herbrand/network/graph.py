"""The loops of network building that must be fast, as compiled functions over arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "add_gates",
    "build_gates",
    "cone_sizes",
    "conjuncts",
    "join",
    "mark_cone",
    "only_one",
    "rehash",
    "strong_components",
    "unknown_cone",
]

_I32 = np.int32


@compiled
def strong_components(
    start: NDArray[np.int64], edges: NDArray[np.int32], count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return nodes in an order in which called ones come first, and each one's component.

    Tarjan's algorithm, iterative, over `edges[start[n]:start[n + 1]]`.
    """
    index = np.empty(count, np.int32)
    index[:] = -1  # `np.full` would have to be compiled, too
    low = np.empty(count, np.int32)
    on_stack = np.empty(count, np.bool_)
    stack = np.empty(count, np.int32)
    work = np.empty(count, np.int32)
    place = np.empty(count, np.int64)
    order = np.empty(count, np.int32)
    component = np.empty(count, np.int32)
    depth = filled = done = seen = components = 0
    for root in range(count):
        if index[root] >= 0:
            continue
        work[0] = root
        place[0] = start[root]
        depth = 1
        index[root] = low[root] = seen
        seen += 1
        stack[filled] = root
        filled += 1
        on_stack[root] = True
        while depth:
            node = work[depth - 1]
            k = place[depth - 1]
            if k < start[node + 1]:
                place[depth - 1] = k + 1
                other = edges[k]
                if index[other] < 0:
                    index[other] = low[other] = seen
                    seen += 1
                    stack[filled] = other
                    filled += 1
                    on_stack[other] = True
                    work[depth] = other
                    place[depth] = start[other]
                    depth += 1
                elif on_stack[other] and index[other] < low[node]:
                    low[node] = index[other]
            else:
                depth -= 1
                if depth and low[node] < low[work[depth - 1]]:
                    low[work[depth - 1]] = low[node]
                if low[node] == index[node]:
                    while True:
                        filled -= 1
                        other = stack[filled]
                        on_stack[other] = False
                        component[other] = components
                        order[done] = other
                        done += 1
                        if other == node:
                            break
                    components += 1
    return order, component


@compiled
def _conjunction(a, b, left, right, gates, table, mask, first):
    """Return the literal of `a and b`, making a gate unless there is one; and the gate count."""
    if a > b:
        a, b = b, a
    if a == 0 or a == (b ^ 1):
        return 0, gates
    if a == 1 or a == b:  # noqa: PLR1714  # compiled: two comparisons, no set
        return b, gates
    slot = (
        (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F))
    ) >> np.uint64(20)
    where = np.int64(slot & np.uint64(mask))
    while True:
        gate = table[where]
        if gate < 0:
            break
        if left[gate] == a and right[gate] == b:
            return 2 * (first + gate), gates
        where = (where + 1) & mask
    table[where] = gates
    left[gates] = a
    right[gates] = b
    return 2 * (first + gates), gates + 1


@compiled
def build_gates(
    order, component, rule_start, rules, body_start, body, literal, first, feedback_first, capacity
):
    """Build the gates of all atoms.

    `literal[atom]` holds the literals of the inputs, -1 for atoms to be derived, and is filled
    in.  `rules[rule_start[a]:rule_start[a + 1]]` are the rules of atom a.  Feedback nodes are
    numbered from `feedback_first`; `first` is the node of gate 0.
    Returns left, right, gates, feedback atoms, loops.
    """
    size = 1
    while size < 2 * capacity + 16:
        size *= 2
    mask = size - 1
    table = np.empty(size, np.int32)
    table[:] = -1
    left = np.empty(capacity + 1, np.int32)
    right = np.empty(capacity + 1, np.int32)
    gates = np.int64(0)
    count = len(order)
    feedback = np.empty(count, np.int32)
    fed = np.empty(count, np.int32)
    fed[:] = -1
    feedbacks = 0
    loops = np.empty((count, 4), np.int32)
    loop_count = 0
    i = 0
    while i < count:
        j = i
        while j < count and component[order[j]] == component[order[i]]:
            j += 1
        gate_before, feedback_before = gates, feedbacks
        for k in range(i, j):
            atom = order[k]
            if literal[atom] >= 0:
                continue
            result = np.int64(1)  # the inverse of the disjunction
            for r in range(rule_start[atom], rule_start[atom + 1]):
                rule = rules[r]
                conjunction = np.int64(1)
                for b in range(body_start[rule], body_start[rule + 1]):
                    signed = body[b]
                    other = signed if signed > 0 else -signed
                    value = literal[other]
                    if value < 0:
                        if fed[other] < 0:
                            fed[other] = 2 * (feedback_first + feedbacks)
                            feedback[feedbacks] = other
                            feedbacks += 1
                        value = fed[other]
                    if signed < 0:
                        value ^= 1
                    conjunction, gates = _conjunction(
                        conjunction, np.int64(value), left, right, gates, table, mask, first
                    )
                    if conjunction == 0:
                        break
                result, gates = _conjunction(result, conjunction ^ 1, left, right, gates, table, mask, first)
                if result == 0:
                    break
            literal[atom] = result ^ 1
        if feedbacks > feedback_before:
            loops[loop_count, 0] = gate_before
            loops[loop_count, 1] = gates
            loops[loop_count, 2] = feedback_before
            loops[loop_count, 3] = feedbacks
            loop_count += 1
        i = j
    return left[:gates].copy(), right[:gates].copy(), feedback[:feedbacks].copy(), loops[:loop_count].copy()


@compiled
def mark_cone(left, right, first, feedback_first, feedback, loops, wanted):
    """Return for each gate whether the literals `wanted` depend on it; a loop counts as a whole."""
    gates = len(left)
    marked = np.empty(gates, np.bool_)
    marked[:] = False
    stack = np.empty(2 * gates + 2 * len(feedback) + len(wanted) + 16, np.int32)
    loop_done = np.empty(len(loops), np.bool_)
    loop_done[:] = False
    filled = 0
    for literal in wanted:
        stack[filled] = literal >> 1
        filled += 1
    while filled:
        filled -= 1
        node = stack[filled]
        if node < feedback_first:
            continue
        if node < first or len(loops):
            # a feedback node, or a gate that may be in a loop: mark the whole loop
            for k in range(len(loops)):
                inside = (
                    loops[k, 2] <= node - feedback_first < loops[k, 3]
                    if node < first
                    else loops[k, 0] <= node - first < loops[k, 1]
                )
                if inside and not loop_done[k]:
                    loop_done[k] = True
                    for g in range(loops[k, 0], loops[k, 1]):
                        if not marked[g]:
                            marked[g] = True
                            for x in (left[g] >> 1, right[g] >> 1):
                                if x >= first and not marked[x - first]:
                                    stack[filled] = x
                                    filled += 1
                    for f in range(loops[k, 2], loops[k, 3]):
                        x = feedback[f] >> 1
                        if x >= first and not marked[x - first]:
                            stack[filled] = x
                            filled += 1
        if node >= first and not marked[node - first]:
            marked[node - first] = True
            stack[filled] = left[node - first] >> 1
            stack[filled + 1] = right[node - first] >> 1
            filled += 2
    return marked


@compiled
def add_gates(left, right, first, begin, end, value, new_left, new_right, table, mask, nodes):
    """Add the gates `begin <= g < end` of one graph to another.

    `value[node]` holds the literals that the nodes of the first stand for in the second, which is
    filled in for the gates; the second has `nodes` nodes and room for all.  Returns how many it
    has then.
    """
    for g in range(begin, end):
        a = value[left[g] >> 1] ^ (left[g] & 1)
        b = value[right[g] >> 1] ^ (right[g] & 1)
        value[first + g], nodes = _conjunction(a, b, new_left, new_right, nodes, table, mask, 0)
    return nodes


@compiled
def join(literals, left, right, table, mask, nodes):
    """Add the conjunction of literals, halving again and again; return its literal and the node count."""
    row = literals.copy()
    count = len(row)
    if count == 0:
        return 1, nodes
    while count > 1:
        half = 0
        for i in range(0, count, 2):
            if i + 1 < count:
                row[half], nodes = _conjunction(row[i], row[i + 1], left, right, nodes, table, mask, 0)
            else:
                row[half] = row[i]
            half += 1
        count = half
    return row[0], nodes


@compiled
def only_one(literals, left, right, table, mask, nodes):
    """Add what says that exactly one of some literals is true; return its literal and the node count."""
    seen, twice = 0, 0
    for literal in literals:
        both, nodes = _conjunction(seen, literal, left, right, nodes, table, mask, 0)
        none, nodes = _conjunction(twice ^ 1, both ^ 1, left, right, nodes, table, mask, 0)
        twice = none ^ 1
        none, nodes = _conjunction(seen ^ 1, literal ^ 1, left, right, nodes, table, mask, 0)
        seen = none ^ 1
    found, nodes = _conjunction(seen, twice ^ 1, left, right, nodes, table, mask, 0)
    return found, twice ^ 1, nodes


@compiled
def rehash(left, right, table, mask, nodes):
    """Enter all gates into an empty table; a node that is none has left -1."""
    for node in range(nodes):
        a, b = left[node], right[node]
        if a < 0:
            continue
        slot = (
            (np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F))
        ) >> np.uint64(20)
        where = np.int64(slot & np.uint64(mask))
        while table[where] >= 0:
            where = (where + 1) & mask
        table[where] = node


@compiled
def unknown_cone(left, right, state, uses, root):
    """Return the gates that a node depends on and that are not defined yet, as wide conjunctions.

    Rows are written one after the other: a node, the number of its inputs, and these as literals.  A gate
    that is used once, and not inverted, has no row of its own: its inputs stand in the row of the gate
    that uses it.  `state` is 1 for nodes that have a row already, `uses` counts the uses of gates met so far;
    both are kept up to date.
    """
    met = [np.int64(root)]
    i = 0
    if left[root] < 0 or state[root] == 1:
        met.pop()
    else:
        state[root] = 2
    while i < len(met):
        node = met[i]
        i += 1
        for side in (left[node], right[node]):
            child = np.int64(side) >> 1
            if left[child] < 0 or state[child] == 1:
                continue
            uses[child] += 1
            if state[child] != 2:
                state[child] = 2
                met.append(child)
    stack = [np.int64(root)]
    rows = stack[1:]
    inner = stack[1:]
    while stack:
        node = stack.pop()
        if left[node] < 0 or state[node] == 1:
            continue
        state[node] = 1
        begin = len(rows)
        rows.append(node)
        rows.append(0)
        inner.append(np.int64(left[node]))
        inner.append(np.int64(right[node]))
        while inner:
            literal = inner.pop()
            child = literal >> 1
            if left[child] >= 0 and state[child] != 1:
                if not literal & 1 and uses[child] == 1:
                    inner.append(np.int64(left[child]))
                    inner.append(np.int64(right[child]))
                    continue
                stack.append(child)
            rows.append(literal)
            rows[begin + 1] += 1
    for node in met:
        if state[node] == 2:
            state[node] = 0
    return np.array(rows, np.int64)


@compiled
def conjuncts(left, right, first, literal):
    """Return the literals whose conjunction a literal is, as far as it is one."""
    stack = [np.int64(literal)]
    found = stack[1:]
    seen = set(stack)
    while stack:
        literal = stack.pop()
        gate = (literal >> 1) - first
        if literal & 1 or gate < 0:
            found.append(literal)
            continue
        for side in (left[gate], right[gate]):
            child = np.int64(side)
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return np.array(found, np.int32)


@compiled
def cone_sizes(left, right, first, literals, most):
    """Return how many gates each of some literals depends on; `most` where it is that many or more."""
    found = np.zeros(len(literals), np.int64)
    seen = np.full(len(left), -1, np.int32)
    stack = np.empty(2 * most + 2, np.int64)
    for i in range(len(literals)):
        stack[0] = literals[i] >> 1
        filled = 1
        while filled and found[i] < most:
            filled -= 1
            gate = stack[filled] - first
            if gate < 0 or seen[gate] == i:
                continue
            seen[gate] = i
            found[i] += 1
            stack[filled] = left[gate] >> 1
            stack[filled + 1] = right[gate] >> 1
            filled += 2
    return found

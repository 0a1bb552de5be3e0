"""From a ground program to a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.graph import build_gates, mark_cone, strong_components
from herbrand.network.network import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from herbrand.ground.program import GroundProgram

__all__ = ["wire"]

_NO_ROWS = np.zeros((0, 3), np.int64)


def wire(program: GroundProgram, roles: Sequence[int]) -> Network:
    """Build the network of a ground program; `roles` are terms in textual order.

    Structural hashing gives equal conjunctions one gate; gates that no output needs are left
    out, and those that are needed stand in the order of their cones.
    """
    place = {role: i for i, role in enumerate(roles)}
    true_rows = program.named.get("true", _NO_ROWS[:, :2])
    does_rows = program.named.get("does", _NO_ROWS)
    does_rows = (
        does_rows[[role in place for role in does_rows[:, 1].tolist()]] if len(does_rows) else does_rows
    )
    text = program.terms.text
    true_rows = true_rows[np.argsort([text(t) for t in true_rows[:, 1].tolist()], kind="stable")]
    move_order = sorted(
        range(len(does_rows)), key=lambda i: (place[int(does_rows[i, 1])], text(int(does_rows[i, 2])))
    )
    does_rows = does_rows[move_order] if len(does_rows) else does_rows

    count = program.atoms + 1
    literal = np.full(count, -1, np.int32)
    literal[0] = 1
    fluents, moves = len(true_rows), len(does_rows)
    literal[true_rows[:, 0]] = 2 * (1 + np.arange(fluents, dtype=np.int32))
    literal[does_rows[:, 0]] = 2 * (1 + fluents + np.arange(moves, dtype=np.int32))
    order, component = _order(program, count)
    rule_order = np.argsort(program.head, kind="stable").astype(np.int32)
    rule_start = np.searchsorted(program.head[rule_order], np.arange(count + 1)).astype(np.int64)
    capacity = len(program.body) + program.rules + 2
    feedback_first = 1 + fluents + moves
    # feedback nodes come before the gates, but how many there are is known only afterwards:
    # gates are built as if there were as many as atoms, and renumbered
    provisional = feedback_first + count
    left, right, feedback_atoms, loops = build_gates(
        order, component, rule_start, rule_order, program.start, program.body,
        literal, provisional, feedback_first, capacity,
    )  # fmt: skip
    literal[literal < 0] = 0  # atoms without rules are false

    def outputs(rows: NDArray[np.int64]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = literal[rows[:, 0]]
        return found

    legal = _by_term(program.named.get("legal", _NO_ROWS), outputs, does_rows[:, 1:])
    following = _by_term(program.named.get("next", _NO_ROWS[:, :2]), outputs, true_rows[:, 1:])
    terminal_rows = program.named.get("terminal", _NO_ROWS[:, :1])
    terminal = int(literal[terminal_rows[0, 0]]) if len(terminal_rows) else 0
    goal_rows = _of_roles(program.named.get("goal", _NO_ROWS), place)
    sees_rows = _of_roles(program.named.get("sees", _NO_ROWS), place)
    initial_terms = set(program.named.get("init", _NO_ROWS[:, :2])[:, 1].tolist())
    network = Network(
        terms=program.terms,
        roles=tuple(roles),
        fluents=true_rows[:, 1].copy(),
        moves=_placed(does_rows, place),
        left=left,
        right=right,
        feedback=literal[feedback_atoms],
        loops=loops,
        legal=legal,
        next=following,
        terminal=terminal,
        goal=outputs(goal_rows),
        goals=_placed(goal_rows, place),
        sees=outputs(sees_rows),
        percepts=_placed(sees_rows, place),
        initial=np.array([t in initial_terms for t in true_rows[:, 1].tolist()], dtype=np.bool_),
        cones=(0, 0, 0),
    )
    return _in_cones(network, provisional)


def _order(program: GroundProgram, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Order the atoms so that what a rule needs comes before what it gives."""
    lengths = np.diff(program.start)
    heads = np.repeat(program.head, lengths)
    by_head = np.argsort(heads, kind="stable")
    edges = np.abs(program.body)[by_head].astype(np.int32)
    start = np.searchsorted(heads[by_head], np.arange(count + 1)).astype(np.int64)
    order, component = strong_components(start, edges, count)
    return order, component


def _of_roles(rows: NDArray[np.int64], place: dict[int, int]) -> NDArray[np.int64]:
    keep = [role in place for role in rows[:, 1].tolist()]
    return rows[np.array(keep, dtype=bool)] if len(rows) else rows


def _placed(rows: NDArray[np.int64], place: dict[int, int]) -> NDArray[np.int64]:
    """Return (role counted from 0, term) of rows (atom, role term, term)."""
    pairs = [(place[role], term) for _, role, term in rows.tolist()]
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)


def _by_term(
    rows: NDArray[np.int64],
    outputs: Callable[[NDArray[np.int64]], NDArray[np.int32]],
    wanted: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Arrange the literals of rows by the terms of the inputs they belong to; others are false."""
    found = dict(zip(map(tuple, rows[:, 1:].tolist()), outputs(rows).tolist(), strict=True))
    return np.array([found.get(tuple(key), 0) for key in wanted.tolist()], dtype=np.int32)


def _cone(network: Network, provisional: int, wanted: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which gates the literals `wanted` depend on; `provisional` as in `_in_cones`."""
    found: NDArray[np.bool_] = mark_cone(
        network.left,
        network.right,
        provisional,
        1 + len(network.fluents) + len(network.moves),
        network.feedback,
        network.loops,
        wanted.astype(np.int32),
    )
    return found


def _in_cones(network: Network, provisional: int) -> Network:
    """Drop the gates that no output needs and put the others in the order of the cones.

    `provisional` is the node number of gate 0 in the literals of `network`.
    """
    feedback_first = 1 + len(network.fluents) + len(network.moves)
    legal, following, goal = (
        _cone(network, provisional, wanted)
        for wanted in (
            np.append(network.legal, np.int32(network.terminal)),
            np.concatenate((network.next, network.sees)),
            network.goal,
        )
    )
    # what both next and goal need is evaluated always, so that each can do without the other
    first_cone = legal | (following & goal)
    marked = np.where(first_cone, 0, np.where(following, 1, np.where(goal, 2, -1))).astype(np.int8)
    kept = np.flatnonzero(marked >= 0)
    order = kept[np.argsort(marked[kept], kind="stable")]
    used_loops = [i for i, (a, b, _, _) in enumerate(network.loops.tolist()) if b > a and marked[a] >= 0]
    used_feedback = np.array(
        [f for i in used_loops for f in range(network.loops[i, 2], network.loops[i, 3])], dtype=np.int64
    )
    first = feedback_first + len(used_feedback)
    node = np.zeros(provisional + network.gates, np.int64)
    node[:feedback_first] = np.arange(feedback_first)
    node[feedback_first + used_feedback] = feedback_first + np.arange(len(used_feedback))
    node[provisional + order] = first + np.arange(len(order))
    gate = np.zeros(network.gates + 1, np.int64)
    gate[order] = np.arange(len(order))

    def renumber(literals: NDArray[np.int32]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = (2 * node[literals >> 1] + (literals & 1)).astype(np.int32)
        return found

    loops = []
    fed = 0
    for i in used_loops:
        a, b, c, d = network.loops[i].tolist()
        loops.append((gate[a], gate[a] + b - a, fed, fed + d - c))
        fed += d - c
    levels = np.searchsorted(marked[order], [1, 2, 3])
    return Network(
        terms=network.terms,
        roles=network.roles,
        fluents=network.fluents,
        moves=network.moves,
        left=renumber(network.left[order]),
        right=renumber(network.right[order]),
        feedback=renumber(network.feedback[used_feedback]),
        loops=np.array(loops, dtype=np.int32).reshape(len(loops), 4),
        legal=renumber(network.legal),
        next=renumber(network.next),
        terminal=int(renumber(np.array([network.terminal], np.int32))[0]),
        goal=renumber(network.goal),
        goals=network.goals,
        sees=renumber(network.sees),
        percepts=network.percepts,
        initial=network.initial,
        cones=(int(levels[0]), int(levels[1]), int(levels[2])),
    )

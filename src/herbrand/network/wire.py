"""From a ground program to a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.cones import in_cones
from herbrand.network.graph import build_gates, strong_components
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
    literal[0] = 1  # a fluent that is a fact keeps its input, though nothing asks for it
    literal[does_rows[:, 0]] = 2 * (1 + fluents + np.arange(moves, dtype=np.int32))
    order, component = _order(program, count)
    rule_order = np.argsort(program.head, kind="stable").astype(np.int32)
    rule_start = np.searchsorted(program.head[rule_order], np.arange(count + 1)).astype(np.int64)
    feedback_first = 1 + fluents + moves
    # feedback nodes come before the gates, but how many there are is known only afterwards:
    # gates are built as if there were as many as atoms, and renumbered
    provisional = feedback_first + count
    left, right, feedback_atoms, loops = build_gates(
        order, component, rule_start, rule_order, program.start, program.body,
        literal, provisional, feedback_first,
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
    return in_cones(network, provisional)


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

"""Builds a network from a ground program."""

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

    Equal conjunctions share a gate (structural hashing); gates that no output needs are dropped, and the
    others are in the order of the cones.
    """
    role_index = {role: i for i, role in enumerate(roles)}
    true_rows = program.named.get("true", _NO_ROWS[:, :2])
    does_rows = program.named.get("does", _NO_ROWS)
    does_rows = (
        does_rows[[role in role_index for role in does_rows[:, 1].tolist()]] if len(does_rows) else does_rows
    )
    text = program.terms.text
    true_rows = true_rows[np.argsort([text(t) for t in true_rows[:, 1].tolist()], kind="stable")]
    move_order = sorted(
        range(len(does_rows)), key=lambda i: (role_index[int(does_rows[i, 1])], text(int(does_rows[i, 2])))
    )
    does_rows = does_rows[move_order] if len(does_rows) else does_rows

    count = program.atoms + 1
    literal = np.full(count, -1, np.int32)
    literal[0] = 1
    fluents, moves = len(true_rows), len(does_rows)
    literal[true_rows[:, 0]] = 2 * (1 + np.arange(fluents, dtype=np.int32))
    literal[0] = 1  # atom 0 is true: a fluent that is a fact has an input, but nothing depends on it
    literal[does_rows[:, 0]] = 2 * (1 + fluents + np.arange(moves, dtype=np.int32))
    order, component = _order(program, count)
    rule_order = np.argsort(program.head, kind="stable").astype(np.int32)
    rule_start = np.searchsorted(program.head[rule_order], np.arange(count + 1)).astype(np.int64)
    feedback_first = 1 + fluents + moves
    # feedback nodes are numbered before the gates, but their number is known only afterwards: gates are built
    # as if every atom had one, and renumbered
    provisional = feedback_first + count
    left, right, feedback_atoms, loops = build_gates(
        order, component, rule_start, rule_order, program.start, program.body,
        literal, provisional, feedback_first,
    )  # fmt: skip
    literal[literal < 0] = 0  # atoms without rules are false

    def outputs(rows: NDArray[np.int64]) -> NDArray[np.int32]:
        literals: NDArray[np.int32] = literal[rows[:, 0]]
        return literals

    legal = _by_term(program.named.get("legal", _NO_ROWS), outputs, does_rows[:, 1:])
    following = _by_term(program.named.get("next", _NO_ROWS[:, :2]), outputs, true_rows[:, 1:])
    terminal_rows = program.named.get("terminal", _NO_ROWS[:, :1])
    terminal = int(literal[terminal_rows[0, 0]]) if len(terminal_rows) else 0
    goal_rows = _of_roles(program.named.get("goal", _NO_ROWS), role_index)
    sees_rows = _of_roles(program.named.get("sees", _NO_ROWS), role_index)
    initial_terms = set(program.named.get("init", _NO_ROWS[:, :2])[:, 1].tolist())
    network = Network(
        terms=program.terms,
        roles=tuple(roles),
        fluents=true_rows[:, 1].copy(),
        moves=_role_pairs(does_rows, role_index),
        left=left,
        right=right,
        feedback=literal[feedback_atoms],
        loops=loops,
        legal=legal,
        next=following,
        terminal=terminal,
        goal=outputs(goal_rows),
        goals=_role_pairs(goal_rows, role_index),
        sees=outputs(sees_rows),
        percepts=_role_pairs(sees_rows, role_index),
        initial=np.array([t in initial_terms for t in true_rows[:, 1].tolist()], dtype=np.bool_),
        cones=(0, 0, 0),
    )
    return in_cones(network, provisional)


def _order(program: GroundProgram, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Order the atoms topologically: the atoms of a body before its head."""
    lengths = np.diff(program.start)
    heads = np.repeat(program.head, lengths)
    by_head = np.argsort(heads, kind="stable")
    edges = np.abs(program.body)[by_head].astype(np.int32)
    start = np.searchsorted(heads[by_head], np.arange(count + 1)).astype(np.int64)
    order, component = strong_components(start, edges, count)
    return order, component


def _of_roles(rows: NDArray[np.int64], role_index: dict[int, int]) -> NDArray[np.int64]:
    keep = [role in role_index for role in rows[:, 1].tolist()]
    return rows[np.array(keep, dtype=bool)] if len(rows) else rows


def _role_pairs(rows: NDArray[np.int64], role_index: dict[int, int]) -> NDArray[np.int64]:
    """Return (role counted from 0, term) of rows (atom, role term, term)."""
    pairs = [(role_index[role], term) for _, role, term in rows.tolist()]
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)


def _by_term(
    rows: NDArray[np.int64],
    outputs: Callable[[NDArray[np.int64]], NDArray[np.int32]],
    wanted: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the literals of rows in the order of the terms `wanted`; missing ones are false."""
    literal_of = dict(zip(map(tuple, rows[:, 1:].tolist()), outputs(rows).tolist(), strict=True))
    return np.array([literal_of.get(tuple(key), 0) for key in wanted.tolist()], dtype=np.int32)

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


def wire(program: GroundProgram, roles: Sequence[int]) -> Network:
    """Build the network of a ground program; `roles` are terms in textual order.

    Equal conjunctions share a gate (structural hashing); gates that no output needs are dropped, and the
    others are in the order of the cones.
    """
    role_index = {role: i for i, role in enumerate(roles)}

    def named(relation: str, arity: int) -> NDArray[np.int64]:
        return program.named.get(relation, np.zeros((0, 1 + arity), np.int64))

    def of_roles(relation: str) -> NDArray[np.int64]:
        rows = named(relation, 2)
        return rows[np.isin(rows[:, 1], roles)]

    text = program.terms.text
    true_rows, does_rows = named("true", 1), of_roles("does")
    true_rows = true_rows[np.argsort([text(t) for t in true_rows[:, 1].tolist()], kind="stable")]
    moves_in_order = sorted(does_rows.tolist(), key=lambda row: (role_index[row[1]], text(row[2])))
    does_rows = np.array(moves_in_order, np.int64).reshape(-1, 3)

    count = program.atoms + 1
    literal = np.full(count, -1, np.int32)
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

    goal_rows, sees_rows = of_roles("goal"), of_roles("sees")
    terminal = outputs(named("terminal", 0))
    network = Network(
        terms=program.terms,
        roles=tuple(roles),
        fluents=true_rows[:, 1].copy(),
        moves=_role_pairs(does_rows, role_index),
        left=left,
        right=right,
        feedback=literal[feedback_atoms],
        loops=loops,
        legal=_by_term(named("legal", 2), outputs, does_rows[:, 1:]),
        next=_by_term(named("next", 1), outputs, true_rows[:, 1:]),
        terminal=int(terminal[0]) if len(terminal) else 0,
        goal=outputs(goal_rows),
        goals=_role_pairs(goal_rows, role_index),
        sees=outputs(sees_rows),
        percepts=_role_pairs(sees_rows, role_index),
        initial=np.isin(true_rows[:, 1], named("init", 1)[:, 1]),
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
    return strong_components(start, edges, count)


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

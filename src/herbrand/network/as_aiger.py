"""Converts networks to AIGER: fluents are latches, moves are inputs.

`to_aiger` writes a network as it is; its outputs are `legal`, `terminal`, `goal` and `sees`,
named as in the rules.  The graph allows any inputs in any state: the file does not say that roles make one
legal move each, and none after the end.

`property_aiger` encodes these rules, so that every run of the graph is a play and a model checker needs no
constraints.  A role plays the first of its legal moves whose input is on.  An additional latch, `over`, is
set when the game has ended or some role has chosen no move, and stays on; bad states count only while it is
off.  All latches start at 0, inverted if the fluent is initially true, because some tools ignore reset
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.aiger import Aiger
from herbrand.network.gates import Gates
from herbrand.network.graph import renumbered
from herbrand.network.network import GOAL_VALUES
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["property_aiger", "to_aiger"]

OVER = "(over)"
"""The name of the latch that is set when a play is over."""


def to_aiger(network: Network) -> Aiger:
    """Return a network as AIGER; loops are unrolled (`unroll.unrolled`)."""
    flat = unrolled(network)
    outputs = flat.outputs("legal", "terminal", "goal", "sees")
    fluents, moves = len(flat.fluents), len(flat.moves)
    node = np.arange(flat.inputs + flat.gates)  # AIGER has moves before fluents
    node[1 : 1 + fluents] += moves
    node[1 + fluents : 1 + fluents + moves] -= fluents

    def renumber(literals: NDArray[np.int32]) -> NDArray[np.int64]:
        return renumbered(node, literals).astype(np.int64)

    return Aiger(
        inputs=tuple(flat.move_names),
        latches=tuple(flat.fluent_names),
        next=renumber(flat.next),
        reset=flat.initial,
        left=renumber(flat.left),
        right=renumber(flat.right),
        outputs=tuple(name for name, _ in outputs),
        output=renumber(np.array([literal for _, literal in outputs], np.int32)),
        comment="\n".join(f"role: {flat.terms.text(role)}" for role in flat.roles),
    )


def property_aiger(network: Network, wanted: Iterable[str] = ("playability",)) -> Aiger:
    """Return the plays of a game as AIGER with bad states as properties; see the module.

    `wanted` are the names of properties: `playability`, a state that is not terminal in which some role has
    no legal move; `terminal`; `win ROLE`, a terminal state in which the role's only goal value is 100;
    `goals`, a terminal state in which some role other than `random` does not have exactly one goal value, an
    integer from 0 to 100.
    """
    flat = unrolled(network)
    fluents, first = len(flat.fluents), flat.inputs
    moves = len(flat.moves)
    gates = Gates(1 + moves + fluents + 1)
    inverted = flat.initial.tolist()
    value = [0] * (first + flat.gates)
    value[1 : 1 + fluents] = [2 * (1 + moves + f) ^ inverted[f] for f in range(fluents)]
    left, right = flat.left.tolist(), flat.right.tolist()

    def literal(old: int) -> int:
        return value[old >> 1] ^ (old & 1)

    def run(begin: int, end: int) -> None:
        for g in range(begin, end):
            value[first + g] = gates.conjunction(literal(left[g]), literal(right[g]))

    run(0, flat.cones[0])
    legal = [literal(x) for x in flat.legal.tolist()]
    chosen_by_role, can_move = [], []
    owner = flat.moves[:, 0].tolist()
    for role in range(len(flat.roles)):
        chosen = 0
        for m in (m for m in range(moves) if owner[m] == role):
            wants = gates.conjunction(2 * (1 + m), legal[m])
            value[1 + fluents + m] = gates.conjunction(wants, chosen ^ 1)
            chosen = gates.disjunction(chosen, wants)
        chosen_by_role.append(chosen)
        can_move.append(gates.any_of(legal[m] for m in range(moves) if owner[m] == role))
    run(flat.cones[0], flat.gates)
    over = 2 * (1 + moves + fluents)
    terminal = literal(flat.terminal)
    stops = gates.any_of([over, terminal, *(chosen ^ 1 for chosen in chosen_by_role)])
    following = [literal(x) ^ inverted[f] for f, x in enumerate(flat.next.tolist())]
    names = {flat.terms.text(role): i for i, role in enumerate(flat.roles)}
    bad = []
    wanted = tuple(wanted)
    for name in wanted:
        kind, _, role_name = name.partition(" ")
        if kind == "playability":
            bad_literal = gates.conjunction(terminal ^ 1, gates.all_of(can_move) ^ 1)
        elif kind == "terminal":
            bad_literal = terminal
        elif kind == "win" and role_name in names:
            bad_literal = gates.conjunction(terminal, _hundred(flat, gates, names[role_name], literal))
        elif kind == "goals":
            players = [i for role, i in names.items() if role.lower() != "random"]
            unique = [_unique(flat, gates, role, literal) for role in players]
            bad_literal = gates.conjunction(terminal, gates.all_of(unique) ^ 1)
        else:
            raise ValueError(f"no property {name!r}")
        bad.append(gates.conjunction(over ^ 1, bad_literal))
    return Aiger(
        inputs=tuple(flat.move_names),
        latches=(*flat.fluent_names, OVER),
        next=np.array([*following, stops], np.int64),
        reset=np.zeros(fluents + 1, np.bool_),
        left=np.array(gates.left, np.int64),
        right=np.array(gates.right, np.int64),
        bad=wanted,
        bad_literal=np.array(bad, np.int64),
        comment="latches of fluents that hold at first are inverted",
    )


def _hundred(network: Network, gates: Gates, role: int, literal: Callable[[int], int]) -> int:
    """Return the literal of "the role's goal is 100, and no other value"."""
    text = network.terms.text
    pairs = zip(network.goals.tolist(), network.goal.tolist(), strict=True)
    values = [(text(value), literal(x)) for (owner, value), x in pairs if owner == role]
    hundred = gates.any_of(x for value, x in values if value == "100")
    return gates.all_of((hundred, *(x ^ 1 for value, x in values if value != "100")))


def _unique(network: Network, gates: Gates, role: int, literal: Callable[[int], int]) -> int:
    """Return the literal of "the role has exactly one goal value, an integer from 0 to 100"."""
    text = network.terms.text
    any_value = several = invalid = 0
    for (owner, value), x in zip(network.goals.tolist(), network.goal.tolist(), strict=True):
        if owner != role:
            continue
        several = gates.disjunction(several, gates.conjunction(any_value, literal(x)))
        any_value = gates.disjunction(any_value, literal(x))
        if text(value) not in GOAL_VALUES:
            invalid = gates.disjunction(invalid, literal(x))
    return gates.all_of((any_value, several ^ 1, invalid ^ 1))

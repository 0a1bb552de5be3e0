"""Converts networks to AIGER and back: fluents are latches, moves are inputs.

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

from herbrand.errors import GameError
from herbrand.network.aiger import Aiger
from herbrand.network.cones import in_cones
from herbrand.network.gates import Gates
from herbrand.network.network import Network
from herbrand.network.unroll import unrolled
from herbrand.rules.terms import TermTable, read_term
from herbrand.syntax.nodes import Function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["from_aiger", "property_aiger", "to_aiger"]

OVER = "(over)"
"""The name of the latch that is set when a play is over."""


def to_aiger(network: Network) -> Aiger:
    """Return a network as AIGER; loops are unrolled (`unroll.unrolled`)."""
    flat = unrolled(network)
    outputs = flat.outputs("legal", "terminal", "goal", "sees")
    renumber = _Renumbering(flat)
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


class _Renumbering:
    """Renumbers literals of a network: AIGER has moves before fluents."""

    def __init__(self, network: Network) -> None:
        fluents, moves = len(network.fluents), len(network.moves)
        node = np.arange(network.inputs + network.gates, dtype=np.int64)
        node[1 : 1 + fluents] += moves
        node[1 + fluents : 1 + fluents + moves] -= fluents
        self.node = node

    def __call__(self, literals: NDArray[np.int32]) -> NDArray[np.int64]:
        renumbered: NDArray[np.int64] = 2 * self.node[literals >> 1] + (literals & 1)
        return renumbered


def from_aiger(graph: Aiger, *, terms: TermTable | None = None) -> Network:
    """Return the network of a graph written by `to_aiger`, possibly optimised by other tools.

    Inputs, latches and outputs are identified by their names.  Bad states count as outputs, since some tools
    write outputs so.  Raises `GameError` if a name is missing or is not a GDL term.
    """
    table = terms or TermTable()
    fluents = _parse_names(table, graph.latches, "true", 1)[:, 0]
    does = _parse_names(table, graph.inputs, "does", 2)
    outputs = list(zip(graph.outputs, graph.output.tolist(), strict=True))
    outputs += zip(graph.bad, graph.bad_literal.tolist(), strict=True)
    kinds = {name.strip("(").split(" ")[0] for name, _ in outputs}
    if not kinds <= {"legal", "terminal", "goal", "sees"} or len(dict(outputs)) < len(outputs):
        raise GameError("the outputs of this AIGER file are not those of a game")
    first, moves = len(fluents), len(does)
    node = np.arange(graph.first + len(graph.left), dtype=np.int64)
    node[1 : 1 + moves] += first
    node[1 + moves : 1 + moves + first] -= moves

    def renumber(literals: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int32]:
        numbers = np.asarray(literals, np.int64)
        result: NDArray[np.int32] = (2 * node[numbers >> 1] + (numbers & 1)).astype(np.int32)
        return result

    def rows(kind: str) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        wanted = [(name, literal) for name, literal in outputs if name.startswith(f"({kind} ")]
        return _parse_names(table, [name for name, _ in wanted], kind, 2), renumber(
            [literal for _, literal in wanted]
        )

    legal_rows, legal = rows("legal")
    goals, goal = rows("goal")
    percepts, sees = rows("sees")
    if sorted(map(tuple, legal_rows.tolist())) != sorted(map(tuple, does.tolist())):
        raise GameError("in this AIGER file the moves that can be legal are not those that can be made")
    place = {tuple(row): i for i, row in enumerate(legal_rows.tolist())}
    roles = _roles(table, graph.comment, [*does[:, 0].tolist(), *goals[:, 0].tolist()])
    number = {role: i for i, role in enumerate(roles)}

    def with_role_numbers(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([(number[role], term) for role, term in rows.tolist()], np.int64).reshape(-1, 2)

    moves_placed = with_role_numbers(does)
    if (np.diff(moves_placed[:, 0]) < 0).any():
        raise GameError("the inputs of this AIGER file are not in the order of the roles")
    terminal = [literal for name, literal in outputs if name == "terminal"]
    network = Network(
        terms=table,
        roles=roles,
        fluents=fluents.copy(),
        moves=moves_placed,
        left=renumber(np.minimum(graph.left, graph.right)),
        right=renumber(np.maximum(graph.left, graph.right)),
        feedback=np.zeros(0, np.int32),
        loops=np.zeros((0, 4), np.int32),
        legal=legal[[place[tuple(row)] for row in does.tolist()]],
        next=renumber(graph.next),
        terminal=int(renumber(terminal)[0]) if terminal else 0,
        goal=goal,
        goals=with_role_numbers(goals),
        sees=sees,
        percepts=with_role_numbers(percepts),
        initial=graph.reset,
        cones=(0, 0, 0),
    )
    return in_cones(network, network.inputs)


def _parse_names(terms: TermTable, names: Iterable[str], kind: str, arity: int) -> NDArray[np.int64]:
    """Parse names such as `(does role move)` into rows of terms."""
    rows = []
    for name in names:
        term = read_term(name, fold=terms.folds_case) if name else None
        if not isinstance(term, Function) or term.name != kind or len(term.args) != arity:
            raise GameError(f"`{name}` in this AIGER file is not a ({kind} ...)")
        rows.append(tuple(map(terms.intern, term.args)))
    return np.array(rows, np.int64).reshape(len(rows), arity)


def _roles(terms: TermTable, comment: str, used: list[int]) -> tuple[int, ...]:
    """Return the roles in the order of the comment, then those only used in names."""
    declared = [
        terms.read(line.removeprefix("role: ")) for line in comment.splitlines() if line.startswith("role: ")
    ]
    return tuple(dict.fromkeys([*declared, *used]))


def property_aiger(network: Network, wanted: Iterable[str] = ("playability",)) -> Aiger:
    """Return the plays of a game as AIGER with bad states as properties; see the module.

    `wanted` are the names of properties: `playability`, a state that is not terminal in which some role has
    no legal move; `terminal`; `win ROLE`, a terminal state in which the role's goal is 100; `goals`, a
    terminal state in which some role other than `random` does not have exactly one goal value, an integer
    from 0 to 100.
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
    """Return the literal of "the role's goal is 100"."""
    text = network.terms.text
    return gates.any_of(
        literal(x)
        for (owner, value), x in zip(network.goals.tolist(), network.goal.tolist(), strict=True)
        if owner == role and text(value) == "100"
    )


def _unique(network: Network, gates: Gates, role: int, literal: Callable[[int], int]) -> int:
    """Return the literal of "the role has exactly one goal value, an integer from 0 to 100"."""
    text = network.terms.text
    any_value = several = invalid = 0
    for (owner, value), x in zip(network.goals.tolist(), network.goal.tolist(), strict=True):
        if owner != role:
            continue
        several = gates.disjunction(several, gates.conjunction(any_value, literal(x)))
        any_value = gates.disjunction(any_value, literal(x))
        if text(value) not in _VALUES:
            invalid = gates.disjunction(invalid, literal(x))
    return gates.all_of((any_value, several ^ 1, invalid ^ 1))


_VALUES = frozenset(map(str, range(101)))

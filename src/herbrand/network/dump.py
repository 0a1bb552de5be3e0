"""Writes networks as JSON and for Graphviz; `as_aiger` writes AIGER, `str(network)` is text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import GameError, HerbrandError
from herbrand.network.network import Network
from herbrand.rules.terms import TermTable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_DRAWN_NODES", "from_json", "to_dot", "to_json"]

MAX_DRAWN_NODES = 2000
"""Maximum number of nodes of a drawing."""
_FORM = "herbrand network 1"


def to_json(network: Network) -> dict[str, Any]:
    """Return a network as JSON values; `network.Network` explains the numbers."""
    text = network.terms.text

    def pairs(rows: Any) -> list[list[Any]]:
        return [[role, text(term)] for role, term in rows.tolist()]

    return {
        "form": _FORM,
        "roles": [text(role) for role in network.roles],
        "fluents": [text(fluent) for fluent in network.fluents.tolist()],
        "moves": pairs(network.moves),
        "initial": np.flatnonzero(network.initial).tolist(),
        "gates": np.stack((network.left, network.right), axis=1).tolist(),
        "feedback": network.feedback.tolist(),
        "loops": network.loops.tolist(),
        "legal": network.legal.tolist(),
        "next": network.next.tolist(),
        "terminal": network.terminal,
        "goals": pairs(network.goals),
        "goal": network.goal.tolist(),
        "percepts": pairs(network.percepts),
        "sees": network.sees.tolist(),
        "cones": list(network.cones),
        "folds_case": network.terms.folds_case,
    }


def from_json(value: Mapping[str, Any]) -> Network:
    """Return the network of a value of `to_json`; raises `GameError` if it is not a valid network."""
    if not isinstance(value, dict) or value.get("form") != _FORM:
        raise GameError(f"this is not a network: no form {_FORM!r}")
    try:
        network = _network(value)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, HerbrandError) as error:
        raise GameError(f"this is not a network: {type(error).__name__}: {error}") from error
    fault = _fault(network)
    if fault:
        raise GameError(f"this is not a network: {fault}")
    return network


def _network(value: Mapping[str, Any]) -> Network:
    terms = TermTable(folds_case=bool(value["folds_case"]))

    def numbers(name: str, columns: int = 0) -> Any:
        array = np.array(value[name], np.int32)
        return array.reshape(-1, columns) if columns else array.reshape(-1)

    def pairs(name: str) -> Any:
        rows = [(int(role), read(term)) for role, term in value[name]]
        return np.array(rows, np.int64).reshape(-1, 2)

    def read(text: str) -> int:
        number = terms.read(text)
        if terms.texts[number] is None:
            terms.texts[number] = text
        return number

    fluents = np.array([read(text) for text in value["fluents"]], np.int64)
    initial = np.zeros(len(fluents), np.bool_)
    initial[numbers("initial")] = True
    gates = numbers("gates", 2)
    a, b, c = map(int, value["cones"])
    return Network(
        terms=terms,
        roles=tuple(map(read, value["roles"])),
        fluents=fluents,
        moves=pairs("moves"),
        left=gates[:, 0].copy(),
        right=gates[:, 1].copy(),
        feedback=numbers("feedback"),
        loops=numbers("loops", 4),
        legal=numbers("legal"),
        next=numbers("next"),
        terminal=int(value["terminal"]),
        goal=numbers("goal"),
        goals=pairs("goals"),
        sees=numbers("sees"),
        percepts=pairs("percepts"),
        initial=initial,
        cones=(a, b, c),
    )


def _fault(network: Network) -> str | None:
    """Return the first inconsistency of a network as text, None if it is valid."""
    own = 2 * (network.inputs + np.arange(network.gates))
    last = 2 * (network.inputs + network.gates)
    sizes = (
        (network.legal, network.moves, "legal"),
        (network.next, network.fluents, "next"),
        (network.goal, network.goals, "goal"),
        (network.sees, network.percepts, "sees"),
    )
    for literals, rows, name in sizes:
        if len(literals) != len(rows):
            return f"{len(literals)} literals of `{name}` for {len(rows)} names"
    outputs = [network.legal, network.next, network.goal, network.sees, network.feedback]
    literals = np.concatenate([*outputs, [network.terminal]])
    for side in (network.left, network.right):
        if (side < 0).any() or (side >= own).any():
            return "a gate depends on itself or on a later one"
    if (literals < 0).any() or (literals >= last).any():
        return "a literal belongs to no node"
    for rows in (network.moves, network.goals, network.percepts):
        if len(rows) and not (rows[:, 0].min() >= 0 and rows[:, 0].max() < len(network.roles)):
            return "a role has no name"
    if (np.diff(network.moves[:, 0]) < 0).any():
        return "the moves are not sorted by role"
    loops = network.loops
    if len(loops) and not (
        (loops >= 0).all()
        and (loops[:, :2] <= network.gates).all()
        and (loops[:, 2:] <= len(network.feedback)).all()
    ):
        return "a loop goes beyond the gates"
    a, b, c = network.cones
    return None if 0 <= a <= b <= c == network.gates else "the cones do not cover the gates"


def to_dot(network: Network, max_nodes: int = MAX_DRAWN_NODES) -> str:
    """Return a network for Graphviz; a dashed edge inverts.

    Unused nodes are not drawn.  Raises `GameError` if there are more than `max_nodes` nodes.
    """
    nodes = network.inputs + network.gates
    if nodes > max_nodes:
        raise GameError(f"the network has {nodes} nodes: more than {max_nodes} are not drawn")
    names = ["false", *network.fluent_names, *network.move_names]
    names += [f"back {i}" for i in range(len(network.feedback))]
    first = network.inputs
    edges = [
        (literal, f"n{first + i}")
        for i, pair in enumerate(zip(network.left.tolist(), network.right.tolist(), strict=True))
        for literal in pair
    ]
    outputs = network.outputs("terminal", "legal", "goal", "sees", "next")
    edges += [(literal, f"o{i}") for i, (_, literal) in enumerate(outputs)]
    edges += [
        (literal, f"n{first - len(network.feedback) + i}")
        for i, literal in enumerate(network.feedback.tolist())
    ]
    used = {literal >> 1 for literal, _ in edges}
    lines = ["digraph network {", "  rankdir=LR;", "  node [shape=circle, label=and];"]
    lines += [f'  n{i} [shape=box, label="{_quoted(names[i])}"];' for i in range(first) if i in used]
    lines += [
        f'  o{i} [shape=box, style=rounded, label="{_quoted(name)}"];' for i, (name, _) in enumerate(outputs)
    ]
    lines += [
        f"  n{literal >> 1} -> {target}{' [style=dashed]' if literal & 1 else ''};"
        for literal, target in edges
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')

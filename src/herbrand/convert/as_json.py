"""Rules, and ground programs, as JSON values.

The formats are those of the JSON schemas `rules` and `ground` in `docs/reference/schemas`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from herbrand.errors import GameError
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Node, Not, Or, Rule, Variable

if TYPE_CHECKING:
    from herbrand.ground.program import GroundProgram
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Literal, Term
    from herbrand.syntax.tree import Tree

__all__ = ["ground_as_json", "rules_as_json", "rules_from_json", "write", "write_ground"]


def write(game: StateMachine) -> str:
    """Return the rules of a game as the text of a JSON document; see `rules_as_json`."""
    return json.dumps(rules_as_json(game.tree), indent=1, ensure_ascii=False)


def write_ground(game: StateMachine, *, seconds: float | None = None) -> str:
    """Return the ground program of a game as a JSON document, one rule a line; see `ground_as_json`.

    Raises `BudgetExceeded` after that many seconds, by default the limit of the game.
    """
    from herbrand.ground import ground

    game.require_playable()
    limits = game.limits if seconds is None else replace(game.limits, seconds=seconds)
    value = ground_as_json(ground(game.rules, limits=limits))
    lines = []
    for key, content in value.items():
        if isinstance(content, list):
            rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in content)
            lines.append(f" {json.dumps(key)}: [\n  {rows}\n ]" if content else f" {json.dumps(key)}: []")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(content)}")
    return "{\n" + ",\n".join(lines) + "\n}"


def ground_as_json(program: GroundProgram) -> dict[str, Any]:
    """Return a ground program as JSON values.

    Atoms are numbers from 1.  `atoms` has, at index i - 1, the KIF text of atom i, or null for an auxiliary
    one; `facts` are the named atoms that always hold; `inputs` the numbers of
    the `true` and `does` atoms, which no rule derives; a rule is `[head, [literal, ...]]`, where a negative
    number is a negative literal.
    """
    names: list[str | None] = [None] * program.atoms
    facts: list[str] = []
    inputs: list[int] = []
    text = program.terms.text
    for relation, rows in program.named.items():
        for atom, *args in rows.tolist():
            name = f"({' '.join([relation, *map(text, args)])})" if args else relation
            if atom == 0:
                facts.append(name)
            else:
                names[atom - 1] = names[atom - 1] or name
                if relation in ("true", "does"):
                    inputs.append(atom)
    heads, start, body = program.head.tolist(), program.start.tolist(), program.body.tolist()
    rules = [[head, body[start[i] : start[i + 1]]] for i, head in enumerate(heads)]
    return {
        "form": "herbrand ground 1",
        "atoms": names,
        "facts": sorted(facts),
        "inputs": sorted(set(inputs)),
        "rules": rules,
    }


def rules_from_json(value: dict[str, Any]) -> tuple[Rule, ...]:
    """Return the statements that `rules_as_json` describes; raises `GameError` for other values."""
    try:
        return tuple(
            Rule(_read_atom(statement["head"]), tuple(map(_read_literal, statement["body"])))
            for statement in value["statements"]
        )
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise GameError(f"not the rules of a game: {type(error).__name__}: {error}") from error


def _read_atom(value: dict[str, Any]) -> Atom:
    name = str(value["relation"])
    return Atom(name.lower(), tuple(map(_read_term, value["arguments"])), name)


def _read_literal(value: dict[str, Any]) -> Literal:
    if "relation" in value:
        return _read_atom(value)
    ((word, content),) = value.items()
    if word == "not":
        return Not(_read_literal(content))
    if word == "distinct":
        left, right = map(_read_term, content)
        return Distinct(left, right)
    if word not in ("and", "or"):
        raise ValueError(f"no literal {word!r}")
    return (And if word == "and" else Or)(tuple(map(_read_literal, content)))


def _read_term(value: Any) -> Term:
    if isinstance(value, str):
        return Constant(value.lower(), value)
    if "variable" in value:
        return Variable(value["variable"].lower(), value["variable"])
    name = str(value["function"])
    return Function(name.lower(), tuple(map(_read_term, value["arguments"])), name)


def rules_as_json(tree: Tree) -> dict[str, Any]:
    """Return a rulesheet as JSON values.

    `{"notation": ..., "statements": [{"head": ATOM, "body": [LITERAL, ...]}, ...]}`, where an atom is
    `{"relation": name, "arguments": [TERM, ...]}`, the other literals are `{"not": LITERAL}`,
    `{"and": [...]}`, `{"or": [...]}` and `{"distinct": [TERM, TERM]}`, and a term is a string for a
    constant, `{"variable": name}` or `{"function": name, "arguments": [TERM, ...]}`.
    """
    return {"notation": tree.notation, "statements": [_node(rule) for rule in tree.statements]}


def _node(node: Node) -> Any:
    match node:
        case Constant():
            return node.spelling
        case Variable():
            return {"variable": node.spelling}
        case Function() | Atom():
            kind = "function" if isinstance(node, Function) else "relation"
            return {kind: node.spelling, "arguments": [_node(arg) for arg in node.args]}
        case Not():
            return {"not": _node(node.literal)}
        case And() | Or():
            return {type(node).__name__.lower(): [_node(literal) for literal in node.literals]}
        case Distinct():
            return {"distinct": [_node(node.left), _node(node.right)]}
        case Rule():
            return {"head": _node(node.head), "body": [_node(literal) for literal in node.body]}
    raise TypeError(f"not a part of a rulesheet: {node!r}")

"""Rules as JSON values."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from herbrand.syntax.tree import And, Atom, Constant, Distinct, Function, Node, Not, Or, Rule, Variable

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.syntax.tree import Tree

__all__ = ["rules_as_json", "write"]


def write(game: Game) -> str:
    """Return the rules of a game as the text of a JSON document; see `rules_as_json`."""
    return json.dumps(rules_as_json(game.tree), indent=1, ensure_ascii=False)


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
        case Function():
            return {"function": node.spelling, "arguments": [_node(a) for a in node.args]}
        case Atom():
            return {"relation": node.spelling, "arguments": [_node(a) for a in node.args]}
        case Not():
            return {"not": _node(node.literal)}
        case And():
            return {"and": [_node(literal) for literal in node.literals]}
        case Or():
            return {"or": [_node(literal) for literal in node.literals]}
        case Distinct():
            return {"distinct": [_node(node.left), _node(node.right)]}
        case Rule():
            return {"head": _node(node.head), "body": [_node(literal) for literal in node.body]}
    raise TypeError(f"not a part of a rulesheet: {node!r}")

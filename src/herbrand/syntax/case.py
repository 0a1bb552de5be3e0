"""Case-sensitive interpretation of a rulesheet: `with_case`.

Names are normally compared without case.  Some systems compare them with case, and a sheet that spells
one name in two ways then means something else.  `with_case` returns the tree that those systems see, so
that their match records can be replayed and both interpretations compared.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from herbrand.syntax.nodes import Atom, Constant, Function, Node, Variable, rebuilt
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from herbrand.syntax.tree import Tree

__all__ = ["with_case"]

_KEYWORDS = frozenset({*ARITY, "random", "knows", "percept"})


def with_case(tree: Tree) -> Tree:
    """Return a tree in which names are equal only when they are spelled alike.

    Keywords keep their meaning in any case.
    """
    return replace(tree, statements=tuple(map(_cased, tree.statements)), folds_case=False)


def _name(name: str, spelling: str) -> str:
    return name if name in _KEYWORDS else spelling


def _cased(node: Node) -> Any:
    if isinstance(node, Constant | Variable):
        return type(node)(_name(node.name, node.spelling), node.spelling, node.start, node.end)
    new = rebuilt(node, _cased)
    if isinstance(new, Function | Atom):
        return type(new)(_name(new.name, new.spelling), new.args, new.spelling, new.start, new.end)
    return new

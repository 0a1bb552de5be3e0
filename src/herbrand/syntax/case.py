"""The other reading of letter case.

Names are compared without case.  Some systems compare them with case; a sheet that spells
one name in two ways then means something else.  `with_case` gives the tree that those
systems see, so that records they made can be replayed and the two readings compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand.syntax.nodes import Atom, Constant, Function, Node, Variable, rebuilt

if TYPE_CHECKING:
    from herbrand.syntax.tree import Tree

__all__ = ["with_case"]

_KEYWORDS = frozenset(
    "role base input init true does next legal goal terminal sees random knows percept".split()  # noqa: SIM905
)


def with_case(tree: Tree) -> Tree:
    """Return a tree in which names are equal only when they are spelled alike.

    Keywords keep their meaning in any case.
    """
    return tree.with_statements(tuple(map(_cased, tree.statements)), folds_case=False)


def _name(name: str, spelling: str) -> str:
    return name if name in _KEYWORDS else spelling


def _cased(node: Node) -> Any:
    if isinstance(node, Constant | Variable):
        return type(node)(_name(node.name, node.spelling), node.spelling, node.start, node.end)
    new = rebuilt(node, _cased)
    if isinstance(new, Function | Atom):
        return type(new)(_name(new.name, new.spelling), new.args, new.spelling, new.start, new.end)
    return new

"""The other reading of letter case.

Names are compared without case.  Some systems compare them with case; a sheet that spells
one name in two ways then means something else.  `with_case` gives the tree that those
systems see, so that records they made can be replayed and the two readings compared.
"""

from __future__ import annotations

from typing import TypeVar

from herbrand.syntax.tree import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Tree, Variable

__all__ = ["with_case"]

_KEYWORDS = frozenset(
    "role base input init true does next legal goal terminal sees random knows percept".split()  # noqa: SIM905
)
_N = TypeVar("_N", bound=Rule | Atom | Not | And | Or | Distinct | Constant | Variable | Function)


def with_case(tree: Tree) -> Tree:
    """Return a tree in which names are equal only when they are spelled alike.

    Keywords keep their meaning in any case.
    """
    statements = tuple(map(_cased, tree.statements))
    return Tree(
        statements,
        tree.source,
        tree.notation,
        tree.comments,
        tree.diagnostics,
        folds_case=False,
        ggdl=tree.ggdl,
    )


def _name(name: str, spelling: str) -> str:
    return name if name in _KEYWORDS else spelling


def _cased(node: _N) -> _N:
    if isinstance(node, Constant | Variable):
        return type(node)(_name(node.name, node.spelling), node.spelling, node.start, node.end)
    if isinstance(node, Function | Atom):
        args = tuple(map(_cased, node.args))
        return type(node)(_name(node.name, node.spelling), args, node.spelling, node.start, node.end)
    if isinstance(node, Not):
        return type(node)(_cased(node.literal), node.start, node.end)
    if isinstance(node, And | Or):
        return type(node)(tuple(map(_cased, node.literals)), node.start, node.end)
    if isinstance(node, Distinct):
        return type(node)(_cased(node.left), _cased(node.right), node.start, node.end)
    return type(node)(_cased(node.head), tuple(map(_cased, node.body)), node.start, node.end)

"""Rules from a Prolog program whose predicates take the state: `without_state_arguments`.

`herbrand convert --to prolog --style state` gives each relation that depends on the state the
argument `State`, each that depends on the joint move also `Inputs`, and looks up in these lists what is
true and done.  This module reverts that, so that such a program is a rulesheet again:

| in the program                          | in the rules            |
|-----------------------------------------|-------------------------|
| `member(P, State)`, `memberchk`         | `(true P)`              |
| `member(does(R, M), Inputs)`            | `(does R M)`            |
| `p(State, A)`, `p(State, Inputs, A)`    | `(p A)`                 |
| `next_fluent(...)`, `is_terminal(...)`  | `(next P)`, `terminal`  |

Only programs with the directive `module` of that style are touched: in others `State` is a variable
like any other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from herbrand.syntax.nodes import Atom, Function, Node, Variable, rebuilt

if TYPE_CHECKING:
    from herbrand.syntax.tree import Tree

__all__ = ["without_state_arguments"]

_MODULE: Final = re.compile(
    r"^:- module\([^\[\n]*\[\s*roles/1,\s*initial/1,\s*legals/3,\s*actions/2,\s*next/3,", re.MULTILINE
)
_NAMES: Final = {"next_fluent": "next", "is_terminal": "terminal"}


def without_state_arguments(tree: Tree) -> Tree:
    """Return the rules of a program in state style; any other tree unchanged."""
    if _MODULE.search(tree.source.text) is None:
        return tree
    return replace(tree, statements=tuple(map(_changed, tree.statements)))


def _changed(node: Node) -> Any:
    return _atom(node) if isinstance(node, Atom) else rebuilt(node, _changed)


def _atom(atom: Atom) -> Atom:
    where = (atom.start, atom.end)
    if atom.key in (("member", 2), ("memberchk", 2)):
        member, collection = atom.args
        if _is(collection, "state"):
            return Atom("true", (member,), None, *where)
        if _is(collection, "inputs") and isinstance(member, Function) and member.key == ("does", 2):
            return Atom("does", member.args, None, *where)
    args = atom.args
    for name in ("state", "inputs"):
        if args and _is(args[0], name):
            args = args[1:]
    new = _NAMES.get(atom.name)
    return Atom(new or atom.name, args, None if new else atom.spelling, *where)


def _is(term: object, name: str) -> bool:
    """Whether a term is the variable of the state or of the joint move; no rule has one of that name."""
    return isinstance(term, Variable) and term.name.lstrip("_") == name

"""Which argument of a move speaks of which argument of a fluent: found in the rules.

In `(<= (next (cell ?m ?n x)) (does xplayer (mark ?m ?n)))` the variables join the first argument of
`mark` with the first of `cell`, and the second with the second.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from herbrand.syntax.nodes import Atom, Function, Node, Variable, children

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from herbrand.draw.layers import Shape
    from herbrand.syntax.nodes import Rule, Term

__all__ = ["Links", "links", "stateless"]

Links = dict[tuple["Shape", int], Counter[tuple["Shape", int]]]
"""For each argument of a move, how often rules join it with arguments of fluents."""

_FLUENT = {"true", "next", "init", "base"}
_MOVE = {"legal": 1, "does": 1, "input": 1}


def links(statements: Iterable[Rule]) -> Links:
    """Count for each argument of a move the arguments of fluents that share a variable with it in a rule."""
    statements = list(statements)
    helpers = _helpers(statements)
    found: Links = defaultdict(Counter)
    for rule in statements:
        atoms = [rule.head, *_atoms(rule.body)]
        moves = [atom.args[1] for atom in atoms if atom.name in _MOVE and len(atom.args) == 2]
        joined: dict[str, Counter[tuple[Shape, int]]] = defaultdict(Counter)
        for atom in atoms:
            if atom.name in _FLUENT and len(atom.args) == 1:
                for place, name in _variables(atom.args[0]):
                    joined[name][place] += 4
            else:
                for i, arg in enumerate(atom.args):
                    if isinstance(arg, Variable):
                        for place in helpers.get(((atom.name, len(atom.args)), i), ()):
                            joined[arg.name][place] += 1
        for move in moves:
            for place, name in _variables(move):
                found[place].update(joined.get(name, {}))
    return dict(found)


def _helpers(statements: list[Rule]) -> Mapping[tuple[Shape, int], set[tuple[Shape, int]]]:
    """Return for each argument of a relation the arguments of fluents that its rules join with it."""
    found: dict[tuple[Shape, int], set[tuple[Shape, int]]] = defaultdict(set)
    for rule in statements:
        if rule.head.name in _FLUENT or rule.head.name in _MOVE or not rule.body:
            continue
        inside: dict[str, set[tuple[Shape, int]]] = defaultdict(set)
        for atom in _atoms(rule.body):
            if atom.name in _FLUENT and len(atom.args) == 1:
                for place, name in _variables(atom.args[0]):
                    inside[name].add(place)
        for i, arg in enumerate(rule.head.args):
            if isinstance(arg, Variable):
                found[(rule.head.name, len(rule.head.args)), i] |= inside.get(arg.name, set())
    return found


def _atoms(body: Iterable[Node]) -> Iterator[Atom]:
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, Atom):
            yield node
        else:
            stack.extend(children(node))


def _variables(term: Term) -> Iterator[tuple[tuple[Shape, int], str]]:
    if isinstance(term, Function):
        for i, arg in enumerate(term.args):
            if isinstance(arg, Variable):
                yield ((term.name, len(term.args)), i), arg.name


def stateless(statements: Iterable[Rule], arity: int) -> list[Shape]:
    """Return the relations of an arity that depend on no state: they may say what is beside what."""
    statements = list(statements)
    depends: dict[Shape, set[Shape]] = defaultdict(set)
    for rule in statements:
        key = rule.head.name, len(rule.head.args)
        depends[key] |= {(atom.name, len(atom.args)) for atom in _atoms(rule.body)}
    found = []
    for key in sorted(depends):
        if key[1] != arity or key[0] in _FLUENT or key[0] in _MOVE:
            continue
        seen, waiting = {key}, [key]
        while waiting:
            for other in depends.get(waiting.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        if not any(name in ("true", "does") for name, _ in seen):
            found.append(key)
    return found

"""Evidence about boards in the rules rather than the facts: variable names and static relations.

In `(cell ?x ?y ?content)` the author calls the first coordinate a column.  A relation
`(adjacent ?a ?b ?c ?d)` that gives each cell six neighbours makes the cells hexagons.  In
`(<= (next (cell ?m ?n x)) (does xplayer (mark ?m ?n)))` the variables link the first argument of
`mark` with the first of `cell`, and the second with the second.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from herbrand.check.dependency import dependency_graph
from herbrand.draw.terms import ordered
from herbrand.errors import HerbrandError
from herbrand.syntax.nodes import Function, Variable, atoms_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from herbrand.draw.boards.layers import Row, Shape
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Atom, Literal, Rule, Term

__all__ = ["Links", "Neighbours", "columns_first", "links", "neighbours", "static_relations"]

Links = dict[tuple["Shape", int], Counter[tuple["Shape", int]]]
"""For each argument of a move, how often rules join it with arguments of fluents."""

_FLUENT_CONTEXTS = {"true", "next", "init", "base"}
_MOVE_CONTEXTS = {"legal", "does", "input"}
_MOST_ROWS: Final = 20_000
"""Larger relations are ignored."""

_ACROSS = re.compile(r"(x|c|col|column|f|file)\d*\Z")
_UP = re.compile(r"(y|r|row|rank|h|height)\d*\Z")
_ROW = re.compile(r"(m|i|y|r|row)\d*\Z")
_COLUMN = re.compile(r"(n|j|x|c|col|column)\d*\Z")


def columns_first(statements: Iterable[Rule]) -> frozenset[str]:
    """Return the functions whose arguments the author calls `?x ?y`, `?col ?row` or `?file ?rank`.

    The names of variables mean nothing to the game, but they are the only hint a rulesheet
    gives at which of two numbers goes across.
    """
    votes: Counter[str] = Counter()
    for node in walk(*statements):
        if isinstance(node, Function):
            for one, two in pairwise(a.name for a in node.args if isinstance(a, Variable)):
                votes[node.name] += bool(_ACROSS.match(one) and _UP.match(two))
                votes[node.name] -= bool(_ROW.match(one) and _COLUMN.match(two))
    return frozenset(name for name, vote in votes.items() if vote > 0)


def static_relations(game: StateMachine, arity: int) -> list[list[Row]]:
    """Return the rows of each relation of this arity that depends on no state; none if it takes too long."""
    from herbrand.rules.from_rules import RulesEngine

    relations = []
    try:
        engine = game.engine_object("rules")
        assert isinstance(engine, RulesEngine)
        for name in _stateless(game.tree.statements, arity):
            rows = engine.static_extension(name, arity)
            if 0 < len(rows) <= _MOST_ROWS:
                relations.append([tuple(map(engine.terms.text, row)) for row in rows])
    except HerbrandError:
        return []
    return relations


def _stateless(statements: Iterable[Rule], arity: int) -> list[str]:
    graph = dependency_graph(statements)
    return [
        key[0]
        for key in sorted({rule.head.key for rule in statements if rule.head.arity == arity})
        if key[0] not in _FLUENT_CONTEXTS | _MOVE_CONTEXTS
        and not any(name in ("true", "does") for name, _ in graph.reachable(key))
    ]


@dataclass(frozen=True)
class Neighbours:
    """A relation between neighbouring cells whose six directions show that the cells are hexagons."""

    form: str
    """"hex" or "hex-left"."""
    first: frozenset[str]
    second: frozenset[str]

    def covers(self, first: Iterable[Row], second: Iterable[Row]) -> bool:
        """Whether the relation covers the coordinates of a board."""
        return {one[0] for one in first} <= self.first and {two[0] for two in second} <= self.second


def neighbours(pairs: Iterable[Row]) -> Neighbours | None:
    """Return the cells of a relation between neighbours, if they have six; None for others.

    A pair is two cells with two coordinates each.
    """
    around: dict[Row, set[Row]] = defaultdict(set)
    for a, b, c, d in pairs:
        around[a, b].add((c, d))
    cells = around.keys() | set().union(*around.values())
    first, second = (ordered({cell[i] for cell in cells}) for i in (0, 1))
    if first is None or second is None:
        return None
    offsets: Counter[frozenset[tuple[int, int]]] = Counter()
    for (a, b), near in around.items():
        x, y = first.index(a), second.index(b)
        offsets[frozenset((first.index(c) - x, second.index(d) - y) for c, d in near)] += 1
    largest = max(offsets, key=lambda some: (len(some), offsets[some]))
    straight = {(0, 1), (0, -1), (1, 0), (-1, 0)}
    for form, aslant in (("hex", {(1, -1), (-1, 1)}), ("hex-left", {(1, 1), (-1, -1)})):
        if largest == straight | aslant:
            return Neighbours(form, frozenset(first), frozenset(second))
    return None


def links(statements: Iterable[Rule]) -> Links:
    """Count for each argument of a move the arguments of fluents that share a variable with it in a rule."""
    statements = list(statements)
    helpers = _helpers(statements)
    counts: Links = defaultdict(Counter)
    for rule in statements:
        atoms = [rule.head, *_atoms(rule.body)]
        moves = [atom.args[1] for atom in atoms if atom.name in _MOVE_CONTEXTS and len(atom.args) == 2]
        joined: dict[str, Counter[tuple[Shape, int]]] = defaultdict(Counter)
        for atom in atoms:
            if atom.name in _FLUENT_CONTEXTS and len(atom.args) == 1:
                for place, name in _variables(atom.args[0]):
                    joined[name][place] += 4
            else:
                for i, arg in enumerate(atom.args):
                    if isinstance(arg, Variable):
                        for place in helpers.get(((atom.name, len(atom.args)), i), ()):
                            joined[arg.name][place] += 1
        for move in moves:
            for place, name in _variables(move):
                counts[place].update(joined.get(name, {}))
    return dict(counts)


def _helpers(statements: list[Rule]) -> Mapping[tuple[Shape, int], set[tuple[Shape, int]]]:
    """Return for each argument of a relation the arguments of fluents that its rules join with it."""
    fluents: dict[tuple[Shape, int], set[tuple[Shape, int]]] = defaultdict(set)
    for rule in statements:
        if rule.head.name in _FLUENT_CONTEXTS | _MOVE_CONTEXTS or not rule.body:
            continue
        inside: dict[str, set[tuple[Shape, int]]] = defaultdict(set)
        for atom in _atoms(rule.body):
            if atom.name in _FLUENT_CONTEXTS and len(atom.args) == 1:
                for place, name in _variables(atom.args[0]):
                    inside[name].add(place)
        for i, arg in enumerate(rule.head.args):
            if isinstance(arg, Variable):
                fluents[(rule.head.name, len(rule.head.args)), i] |= inside.get(arg.name, set())
    return fluents


def _atoms(body: Iterable[Literal]) -> Iterator[Atom]:
    return (atom for literal in body for atom, _ in atoms_of(literal))


def _variables(term: Term) -> Iterator[tuple[tuple[Shape, int], str]]:
    if isinstance(term, Function):
        for i, arg in enumerate(term.args):
            if isinstance(arg, Variable):
                yield ((term.name, len(term.args)), i), arg.name

"""The dependency graph of relations: components, strata, cycles.

The head of a rule depends on every relation of its body, *negatively* where the literal
stands under an odd number of `not`.  A program is stratified when no cycle has a negative
edge (Apt, Blair and Walker 1988); then its meaning is one perfect model, computed stratum by
stratum.

Published rulesheets often have `(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))`: a cycle by name,
though no instance depends on itself.  Therefore a finer graph has rules as nodes, with an
edge from rule A to rule B when a body literal of A unifies with the head of B;
`negative_rule_cycles` finds its cycles through negation.  A program without them becomes stratified in
the ordinary sense once each relation is split by rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herbrand.check.drawing import draw
from herbrand.check.normal import renamed_apart
from herbrand.check.relations import Edge, RelationGraph, shortest_path, show_relation, strongly_connected
from herbrand.errors import optional_import
from herbrand.syntax.nodes import And, Function, Rule, Variable, atoms_of
from herbrand.syntax.unification import unify_in_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.check.relations import Relation
    from herbrand.syntax.nodes import Atom, Term

__all__ = ["DependencyGraph", "RuleEdge", "dependency_graph", "negative_rule_cycles"]


@dataclass(frozen=True, slots=True)
class RuleEdge:
    """A body literal of `rule` unifies with the head of `other`."""

    rule: Rule
    literal: Atom
    negative: bool
    other: Rule


class DependencyGraph(RelationGraph):
    """The dependencies between the relations of a rulesheet, with drawings and exports.

    `str` gives one line per relation: its dependencies, with `~` before negative ones.
    """

    def to_dot(self) -> str:
        """Return the graph for Graphviz; negative edges are dashed, cycles are boxed."""
        lines = ["digraph dependencies {", "  rankdir=LR;", "  node [shape=plaintext];"]
        ids = {node: f"n{i}" for i, node in enumerate(self.nodes)}
        recursive = self.recursive
        for node in self.nodes:
            shape = ", shape=box" if node in recursive else ""
            label = show_relation(node).replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'  {ids[node]} [label="{label}"{shape}];')
        for edge in self.edges:
            style = " [style=dashed]" if edge.negative else ""
            lines.append(f"  {ids[edge.head]} -> {ids[edge.body]}{style};")
        return "\n".join([*lines, "}"])

    def to_svg(self) -> str:
        """Return an SVG drawing with strata as layers, each relation above those it depends on."""
        return draw(self)

    def _repr_svg_(self) -> str:
        """Return the drawing for notebooks."""
        return self.to_svg()

    def to_networkx(self) -> Any:
        """Return the graph as a `networkx.MultiDiGraph`, with edges from a relation to its dependencies.

        Nodes are (name, arity), with the attribute `recursive`; edges have `negative` and `rule`, the first
        rule with that dependency.  Raises `MissingExtra` without NetworkX.
        """
        with optional_import("a graph of NetworkX", "networkx"):
            import networkx as nx
        graph = nx.MultiDiGraph()
        for node in self.nodes:
            graph.add_node(node, recursive=node in self.recursive)
        for edge in self.edges:
            graph.add_edge(edge.head, edge.body, negative=edge.negative, rule=edge.rule)
        return graph


def dependency_graph(statements: Iterable[Rule]) -> DependencyGraph:
    """Return the dependency graph of statements."""
    nodes: dict[Relation, None] = {}
    edges: dict[tuple[Relation, Relation, bool], Edge] = {}
    for rule in statements:
        head = rule.head.key
        nodes.setdefault(head)
        for literal in rule.body:
            for atom, negative in atoms_of(literal):
                key = (head, atom.key, negative)
                if key not in edges:
                    nodes.setdefault(atom.key)
                    edges[key] = Edge(head, atom.key, negative, rule, atom)
    return DependencyGraph(tuple(nodes), tuple(edges.values()))


def negative_rule_cycles(
    graph: DependencyGraph, statements: Sequence[Rule]
) -> tuple[tuple[RuleEdge, ...], ...]:
    """Return a cycle with a negative edge for each unstratified component of the graph of rules.

    Each cycle begins with its negative edge.  An empty result means that the rules are
    stratified rule by rule.
    """
    suspects = {graph.component_of[edge.head] for edge in graph.negative_cycle_edges}
    if not suspects:
        return ()
    rules: dict[int, list[Rule]] = {number: [] for number in suspects}
    for rule in statements:
        number = graph.component_of[rule.head.key]
        if number in rules and rule.body:
            rules[number].append(rule)
    return tuple(cycle for number in sorted(rules) for cycle in _bad_cycles(rules[number]))


def _bad_cycles(rules: list[Rule]) -> Iterator[tuple[RuleEdge, ...]]:
    heads = _HeadIndex(rules)
    edges: list[list[tuple[int, RuleEdge]]] = []
    for rule in rules:
        targets: dict[tuple[int, bool], RuleEdge] = {}
        for atom, negative in atoms_of(And(rule.body)):
            for other in heads.unifying(atom):
                targets.setdefault((other, negative), RuleEdge(rule, atom, negative, rules[other]))
        edges.append([(other, edge) for (other, _), edge in targets.items()])
    components = strongly_connected(range(len(rules)), lambda i: (other for other, _ in edges[i]))
    for component in sorted(components, key=min):
        members = set(component)
        inner = {i: [pair for pair in edges[i] if pair[0] in members] for i in sorted(members)}
        bad = [(i, other, edge) for i, pairs in inner.items() for other, edge in pairs if edge.negative]
        if bad:
            start, after, first = bad[0]
            yield first, *(shortest_path(after, start, inner.__getitem__) if after != start else ())


class _HeadIndex:
    """Finds the rules whose heads unify with an atom."""

    def __init__(self, rules: list[Rule]) -> None:
        self._heads = [renamed_apart(Function("", rule.head.args)) for rule in rules]
        self._all: dict[Relation, list[int]] = {}
        self._by_symbol: dict[tuple[Relation, int, object], list[int]] = {}
        for i, rule in enumerate(rules):
            key = rule.head.key
            self._all.setdefault(key, []).append(i)
            for position, term in enumerate(rule.head.args):
                self._by_symbol.setdefault((key, position, _symbol(term)), []).append(i)

    def unifying(self, atom: Atom) -> Iterator[int]:
        """Yield the indices of the rules whose heads unify with `atom`, after renaming variables apart."""
        key = atom.key
        candidates = self._all.get(key, [])
        for position, term in enumerate(atom.args):
            symbol = _symbol(term)
            if symbol is not None:
                exact = self._by_symbol.get((key, position, symbol), [])
                free = self._by_symbol.get((key, position, None), [])
                if len(exact) + len(free) < len(candidates):
                    candidates = sorted(exact + free)
        pattern = Function("", atom.args)
        for i in candidates:
            if unify_in_place(pattern, self._heads[i], {}):
                yield i


def _symbol(term: Term) -> object:
    """Return the top symbol, which must agree for two terms to unify; None for a variable."""
    return None if isinstance(term, Variable) else term.key

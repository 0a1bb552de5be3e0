"""Which relation depends on which: components, strata, cycles.

The head of a rule depends on every relation of its body, *negatively* where the literal
stands under an odd number of `not`.  A program is stratified when no cycle has a negative
edge (Apt, Blair and Walker 1988); then its meaning is one perfect model, computed stratum by
stratum.

Real rulesheets often have `(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))`: a cycle by name,
though no instance depends on itself.  So there is a finer graph whose nodes are rules, with an
edge from rule A to rule B when a body literal of A unifies with the head of B;
`negative_rule_cycles` looks for its bad cycles.  A program without them becomes stratified in
the ordinary sense once each relation is split by rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from herbrand.errors import MissingExtra
from herbrand.syntax.tree import Constant, Function, Rule, Variable, atoms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from herbrand.syntax.tree import Atom, Term

__all__ = [
    "DependencyGraph",
    "Edge",
    "Relation",
    "RuleEdge",
    "dependency_graph",
    "negative_rule_cycles",
    "strongly_connected",
]

Relation: TypeAlias = tuple[str, int]
"""Name and arity of a relation."""

_Node = TypeVar("_Node", bound="Hashable")


@dataclass(frozen=True, slots=True)
class Edge:
    """`head` depends on `body`."""

    head: Relation
    body: Relation
    negative: bool
    rule: Rule = field(compare=False, repr=False)
    """The first rule that makes the edge."""
    literal: Atom = field(compare=False, repr=False)
    """The body atom in that rule."""

    def __str__(self) -> str:
        return f"{_show(self.head)} -> {'not ' if self.negative else ''}{_show(self.body)}"


@dataclass(frozen=True, slots=True)
class RuleEdge:
    """A body literal of `rule` unifies with the head of `other`."""

    rule: Rule
    literal: Atom
    negative: bool
    other: Rule


class DependencyGraph:
    """The dependencies between the relations of a rulesheet.

    Prints as one line a relation: what it depends on, `~` before negative dependencies.
    """

    def __init__(self, nodes: tuple[Relation, ...], edges: tuple[Edge, ...]) -> None:
        self.nodes = nodes
        """Every relation that occurs, in the order of first occurrence."""
        self.edges = edges
        """One edge for each (head, body, polarity), in the order of first occurrence."""
        self._from: dict[Relation, list[Edge]] = {node: [] for node in nodes}
        for edge in edges:
            self._from[edge.head].append(edge)
        self._reach: dict[Relation, frozenset[Relation]] = {}

    def __repr__(self) -> str:
        return f"DependencyGraph({len(self.nodes)} relations, {len(self.edges)} edges)"

    def __str__(self) -> str:
        lines = []
        for node in self.nodes:
            parts = [("~" if e.negative else "") + _show(e.body) for e in self._from[node]]
            lines.append(f"{_show(node)}: {' '.join(parts)}".rstrip())
        return "\n".join(lines)

    def edges_from(self, relation: Relation) -> tuple[Edge, ...]:
        """Return the edges from a relation to what it directly depends on."""
        return tuple(self._from.get(relation, ()))

    @cached_property
    def components(self) -> tuple[tuple[Relation, ...], ...]:
        """The strongly connected components, each after those it depends on."""
        return strongly_connected(self.nodes, lambda node: (e.body for e in self._from[node]))

    @cached_property
    def component_of(self) -> dict[Relation, int]:
        """Index into `components` for every relation."""
        return {node: i for i, component in enumerate(self.components) for node in component}

    @cached_property
    def recursive(self) -> frozenset[Relation]:
        """The relations that depend on themselves."""
        found = {node for component in self.components if len(component) > 1 for node in component}
        found |= {edge.head for edge in self.edges if edge.head == edge.body}
        return frozenset(found)

    def in_cycle(self, edge: Edge) -> bool:
        """Whether the edge lies on a cycle."""
        return self.component_of[edge.head] == self.component_of[edge.body]

    @cached_property
    def negative_cycle_edges(self) -> tuple[Edge, ...]:
        """The negative edges that lie on a cycle: none in a stratified program."""
        return tuple(edge for edge in self.edges if edge.negative and self.in_cycle(edge))

    @property
    def is_stratified(self) -> bool:
        """Whether no relation depends negatively on itself."""
        return not self.negative_cycle_edges

    @cached_property
    def strata(self) -> tuple[tuple[Relation, ...], ...]:
        """The relations by stratum, in an order of evaluation.

        A relation stands as low as possible: above what it depends on negatively, not below
        what it depends on positively.  A negative edge inside a cycle is passed over; ask
        `is_stratified` first.
        """
        level: dict[Relation, int] = {}
        for component in self.components:
            members = set(component)
            height = 0
            for node in component:
                for edge in self._from[node]:
                    if edge.body not in members:
                        height = max(height, level[edge.body] + edge.negative)
            level.update(dict.fromkeys(component, height))
        strata: list[list[Relation]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
        for node in self.nodes:
            strata[level[node]].append(node)
        return tuple(map(tuple, strata))

    def reachable(self, relation: Relation) -> frozenset[Relation]:
        """Return every relation that `relation` depends on, directly or not."""
        known = self._reach.get(relation)
        if known is None:
            seen: set[Relation] = set()
            stack = [relation]
            while stack:
                for edge in self._from.get(stack.pop(), ()):
                    if edge.body not in seen:
                        seen.add(edge.body)
                        stack.append(edge.body)
            known = self._reach[relation] = frozenset(seen)
        return known

    def depends_on(self, relation: Relation, other: Relation) -> bool:
        """Whether `relation` depends on `other`, directly or not; reflexive only in a cycle."""
        return other in self.reachable(relation)

    def path(
        self, relation: Relation, other: Relation, *, avoiding: Relation | None = None
    ) -> tuple[Edge, ...]:
        """Return a shortest chain of edges from `relation` to `other`; () when there is none.

        With `avoiding` the chain does not go through that relation.
        """
        came: dict[Relation, Edge] = {}
        queue = [relation]
        for node in queue:
            if node == avoiding:
                continue
            for edge in self._from.get(node, ()):
                if edge.body not in came:
                    came[edge.body] = edge
                    queue.append(edge.body)
                    if edge.body == other:
                        return _walk_back(came, relation, other)
        return ()

    def cycle(self, edge: Edge) -> tuple[Edge, ...]:
        """Return a shortest cycle that begins with `edge`; () when it lies on none."""
        if edge.head == edge.body:
            return (edge,)
        rest = self.path(edge.body, edge.head)
        return (edge, *rest) if rest else ()

    def to_dot(self) -> str:
        """Return the graph for Graphviz; negative edges are dashed, cycles are boxed."""
        lines = ["digraph dependencies {", "  rankdir=LR;", "  node [shape=plaintext];"]
        ids = {node: f"n{i}" for i, node in enumerate(self.nodes)}
        recursive = self.recursive
        for node in self.nodes:
            shape = ", shape=box" if node in recursive else ""
            label = _show(node).replace("\\", "\\\\").replace('"', '\\"')
            lines.append(f'  {ids[node]} [label="{label}"{shape}];')
        for edge in self.edges:
            style = " [style=dashed]" if edge.negative else ""
            lines.append(f"  {ids[edge.head]} -> {ids[edge.body]}{style};")
        return "\n".join([*lines, "}"])

    def to_svg(self) -> str:
        """Return a drawing with strata as layers, each relation above those it depends on."""
        from herbrand.check.drawn import draw

        return draw(self)

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.to_svg()

    def to_networkx(self) -> Any:
        """Return the graph as a `networkx.MultiDiGraph`, from what depends to what it depends on.

        Nodes are (name, arity), with the attribute `recursive`; edges have `negative` and `rule`, the first
        rule with that dependency.  Raises `MissingExtra` without NetworkX.
        """
        try:
            import networkx as nx
        except ImportError:
            raise MissingExtra("a graph of NetworkX", "networkx") from None
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


def strongly_connected(
    nodes: Iterable[_Node], successors: Callable[[_Node], Iterable[_Node]]
) -> tuple[tuple[_Node, ...], ...]:
    """Return the strongly connected components, successors first (Tarjan 1972, no recursion)."""
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    on_stack: set[_Node] = set()
    stack: list[_Node] = []
    found: list[tuple[_Node, ...]] = []
    for root in nodes:
        if root in index:
            continue
        work: list[tuple[_Node, Iterator[_Node]]] = [(root, iter(successors(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for successor in rest:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    work.append((successor, iter(successors(successor))))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    at = _last(stack, node)
                    component = tuple(stack[at:])
                    del stack[at:]
                    on_stack.difference_update(component)
                    found.append(component)
    return tuple(found)


def _last(stack: list[_Node], node: _Node) -> int:
    at = len(stack) - 1
    while stack[at] != node:
        at -= 1
    return at


def negative_rule_cycles(
    graph: DependencyGraph, statements: Sequence[Rule]
) -> tuple[tuple[RuleEdge, ...], ...]:
    """Return a cycle with a negative edge for each bad component of the graph of rules.

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
    edges: list[list[tuple[int, Atom, bool]]] = []
    for rule in rules:
        mine: dict[tuple[int, bool], Atom] = {}
        for literal in rule.body:
            for atom, negative in atoms_of(literal):
                for other in heads.unifying(atom):
                    mine.setdefault((other, negative), atom)
        edges.append([(other, atom, negative) for (other, negative), atom in mine.items()])
    components = strongly_connected(range(len(rules)), lambda i: (edge[0] for edge in edges[i]))
    for component in sorted(components, key=min):
        members = set(component)
        bad = [(i, edge) for i in sorted(members) for edge in edges[i] if edge[2] and edge[0] in members]
        if bad:
            start, first = bad[0]
            path = [(start, first)]
            came: dict[int, tuple[int, tuple[int, Atom, bool]]] = {}
            queue = [first[0]]
            for node in queue:
                for edge in edges[node]:
                    if edge[0] in members and edge[0] not in came:
                        came[edge[0]] = (node, edge)
                        queue.append(edge[0])
            back: list[tuple[int, tuple[int, Atom, bool]]] = []
            node = start
            while node != first[0]:
                back.append(came[node])
                node = came[node][0]
            path += reversed(back)
            yield tuple(RuleEdge(rules[i], edge[1], edge[2], rules[edge[0]]) for i, edge in path)


class _HeadIndex:
    """Finds the rules whose heads unify with an atom."""

    def __init__(self, rules: list[Rule]) -> None:
        self._rules = rules
        self._all: dict[Relation, list[int]] = {}
        self._by_symbol: dict[tuple[Relation, int, object], list[int]] = {}
        for i, rule in enumerate(rules):
            key = rule.head.key
            self._all.setdefault(key, []).append(i)
            for position, term in enumerate(rule.head.args):
                self._by_symbol.setdefault((key, position, _symbol(term)), []).append(i)

    def unifying(self, atom: Atom) -> Iterator[int]:
        """Yield the numbers of the rules whose heads unify with `atom`, variables kept apart."""
        key = atom.key
        candidates = self._all.get(key, [])
        for position, term in enumerate(atom.args):
            symbol = _symbol(term)
            if symbol is not None:
                exact = self._by_symbol.get((key, position, symbol), [])
                free = self._by_symbol.get((key, position, None), [])
                if len(exact) + len(free) < len(candidates):
                    candidates = sorted(exact + free)
        for i in candidates:
            if _unify_apart(atom.args, self._rules[i].head.args):
                yield i


def _symbol(term: Term) -> object:
    """Return what must agree for two terms to unify; None for a variable."""
    if isinstance(term, Variable):
        return None
    return term.name if isinstance(term, Constant) else term.key


def _unify_apart(left: Sequence[Term], right: Sequence[Term]) -> bool:
    """Whether two argument lists unify when their variables are kept apart."""
    binding: dict[tuple[int, str], tuple[int, Term]] = {}
    stack = [((0, a), (1, b)) for a, b in zip(left, right, strict=True)]
    while stack:
        (s, a), (t, b) = (_resolve(side, binding) for side in stack.pop())
        if isinstance(a, Variable):
            if not (isinstance(b, Variable) and (s, a.name) == (t, b.name)):
                if _contains(s, a.name, t, b, binding):
                    return False
                binding[s, a.name] = (t, b)
        elif isinstance(b, Variable):
            stack.append(((t, b), (s, a)))
        elif isinstance(a, Function) and isinstance(b, Function) and a.key == b.key:
            stack += (((s, x), (t, y)) for x, y in zip(a.args, b.args, strict=True))
        elif _symbol(a) != _symbol(b):
            return False
    return True


def _resolve(side: tuple[int, Term], binding: dict[tuple[int, str], tuple[int, Term]]) -> tuple[int, Term]:
    while isinstance(side[1], Variable):
        further = binding.get((side[0], side[1].name))
        if further is None:
            break
        side = further
    return side


def _contains(
    s: int, name: str, t: int, term: Term, binding: dict[tuple[int, str], tuple[int, Term]]
) -> bool:
    stack = [(t, term)]
    while stack:
        t, term = _resolve(stack.pop(), binding)
        if isinstance(term, Variable):
            if (t, term.name) == (s, name):
                return True
        elif isinstance(term, Function):
            stack += ((t, arg) for arg in term.args)
    return False


def _walk_back(came: dict[Relation, Edge], start: Relation, end: Relation) -> tuple[Edge, ...]:
    path = [came[end]]
    while path[-1].head != start:
        path.append(came[path[-1].head])
    return tuple(reversed(path))


def _show(relation: Relation) -> str:
    return f"{relation[0]}/{relation[1]}"

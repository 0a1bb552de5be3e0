"""Graphs of dependencies between relations: components, strata, paths, cycles.

Strongly connected components are those of Tarjan (1972), strata those of Apt, Blair and Walker (1988).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from herbrand.syntax.nodes import Atom, Rule

__all__ = ["Edge", "Relation", "RelationGraph", "shortest_path", "show_relation", "strongly_connected"]

Relation: TypeAlias = tuple[str, int]
"""Name and arity of a relation."""

_Node = TypeVar("_Node", bound="Hashable")
_Edge = TypeVar("_Edge")


@dataclass(frozen=True, slots=True)
class Edge:
    """`head` depends on `body`."""

    head: Relation
    body: Relation
    negative: bool
    rule: Rule = field(compare=False, repr=False)
    """The first rule with this dependency."""
    literal: Atom = field(compare=False, repr=False)
    """The body atom in that rule."""

    def __str__(self) -> str:
        return f"{show_relation(self.head)} -> {'not ' if self.negative else ''}{show_relation(self.body)}"


class RelationGraph:
    """The dependencies between the relations of a rulesheet.

    `str` gives one line per relation: its dependencies, with `~` before negative ones.
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
        return f"{type(self).__name__}({len(self.nodes)} relations, {len(self.edges)} edges)"

    def __str__(self) -> str:
        lines = []
        for node in self.nodes:
            parts = [("~" if e.negative else "") + show_relation(e.body) for e in self._from[node]]
            lines.append(f"{show_relation(node)}: {' '.join(parts)}".rstrip())
        return "\n".join(lines)

    def edges_from(self, relation: Relation) -> tuple[Edge, ...]:
        """Return the edges from a relation to its direct dependencies."""
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
        recursive = {node for component in self.components if len(component) > 1 for node in component}
        recursive |= {edge.head for edge in self.edges if edge.head == edge.body}
        return frozenset(recursive)

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

        A relation is as low as possible: above its negative dependencies, and not below
        its positive ones.  Negative edges inside cycles are ignored; test
        `is_stratified` first.
        """
        level: dict[Relation, int] = {}
        for component in self.components:
            members = set(component)
            below = [edge for node in component for edge in self._from[node] if edge.body not in members]
            height = max((level[edge.body] + edge.negative for edge in below), default=0)
            level.update(dict.fromkeys(component, height))
        strata: list[list[Relation]] = [[] for _ in range(max(level.values(), default=-1) + 1)]
        for node in self.nodes:
            strata[level[node]].append(node)
        return tuple(map(tuple, strata))

    def reachable(self, relation: Relation) -> frozenset[Relation]:
        """Return every relation that `relation` depends on, directly or not."""
        reachable = self._reach.get(relation)
        if reachable is None:
            visited: set[Relation] = set()
            stack = [relation]
            while stack:
                for edge in self._from.get(stack.pop(), ()):
                    if edge.body not in visited:
                        visited.add(edge.body)
                        stack.append(edge.body)
            reachable = self._reach[relation] = frozenset(visited)
        return reachable

    def depends_on(self, relation: Relation, other: Relation) -> bool:
        """Whether `relation` depends on `other`, directly or not; reflexive only in a cycle."""
        return other in self.reachable(relation)

    def path(
        self, relation: Relation, other: Relation, *, avoiding: Relation | None = None
    ) -> tuple[Edge, ...]:
        """Return a shortest chain of edges from `relation` to `other`; () when there is none.

        With `avoiding` the chain does not go through that relation.
        """

        def edges(node: Relation) -> Iterator[tuple[Relation, Edge]]:
            return ((edge.body, edge) for edge in self._from.get(node, ()) if node != avoiding)

        return shortest_path(relation, other, edges)

    def cycle(self, edge: Edge) -> tuple[Edge, ...]:
        """Return a shortest cycle that begins with `edge`; () when it lies on none."""
        if edge.head == edge.body:
            return (edge,)
        path = self.path(edge.body, edge.head)
        return (edge, *path) if path else ()


def strongly_connected(
    nodes: Iterable[_Node], successors: Callable[[_Node], Iterable[_Node]]
) -> tuple[tuple[_Node, ...], ...]:
    """Return the strongly connected components, successors first (Tarjan 1972, no recursion)."""
    index: dict[_Node, int] = {}
    low: dict[_Node, int] = {}
    on_stack: set[_Node] = set()
    stack: list[_Node] = []
    components: list[tuple[_Node, ...]] = []
    for root in nodes:
        if root in index:
            continue
        work: list[tuple[_Node, Iterator[_Node]]] = [(root, iter(successors(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, remaining = work[-1]
            for successor in remaining:
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
                    components.append(component)
    return tuple(components)


def _last(stack: list[_Node], node: _Node) -> int:
    at = len(stack) - 1
    while stack[at] != node:
        at -= 1
    return at


def shortest_path(
    start: _Node, end: _Node, edges: Callable[[_Node], Iterable[tuple[_Node, _Edge]]]
) -> tuple[_Edge, ...]:
    """Return the edges of a shortest path that has some; () when there is none.

    `edges` gives the edges from a node, each after the node to which it leads.
    """
    before: dict[_Node, tuple[_Node, _Edge]] = {}
    queue = [start]
    for node in queue:
        for target, edge in edges(node):
            if target not in before:
                before[target] = node, edge
                queue.append(target)
    path: list[_Edge] = []
    while end in before and (not path or end != start):
        end, edge = before[end]
        path.append(edge)
    return tuple(reversed(path))


def show_relation(relation: Relation) -> str:
    """Return a relation as `name/arity`."""
    return f"{relation[0]}/{relation[1]}"

"""Symmetries of the rules: ways to exchange fluents and moves after which the rules are the same.

Tic-tac-toe has eight, the turns and reflections of its board.  They are the automorphisms of a graph
of the ground rules, found by colour refinement and, where that does not tell vertices apart, by
trying (Weisfeiler and Leman 1968; McKay 1981).  Every one is checked rule by rule before it counts.
Roles stay what they are, and so do the initial state, ends and goals: states that a symmetry turns into
one another are worth the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.ground.program import GroundProgram
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Symmetries", "find_symmetries", "up_to_symmetry"]

_MOST_ELEMENTS = 5000
_MOST_RULES = 300_000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@dataclass(frozen=True)
class Symmetries:
    """A group of exchanges of fluents and of moves."""

    order: int
    """How many symmetries there are, the one that changes nothing among them."""
    generators: tuple[Mapping[str, str], ...]
    """Some, by which all others can be made: what fluents and moves, `(does ROLE MOVE)`, become if others."""
    base: int = field(default=0, repr=False)
    """How many choices settle a symmetry."""

    def __str__(self) -> str:
        return f"{self.order} symmetries, made by {len(self.generators)}"

    def permutations(self, fluents: tuple[str, ...]) -> NDArray[np.int64] | None:
        """Return all symmetries as permutations of some fluents, [order or fewer, fluents].

        None where there are more than some thousands, or where one leads out of these fluents.
        """
        place = {name: i for i, name in enumerate(fluents)}
        steps = []
        for generator in self.generators:
            images = [place.get(generator.get(name, name)) for name in fluents]
            if None in images:
                return None
            steps.append(np.array(images, np.int64))
        first = np.arange(len(fluents))
        known = {first.tobytes(): first}
        queue = [first]
        for one in queue:
            for step in steps:
                product = step[one]
                if known.setdefault(product.tobytes(), product) is product:
                    queue.append(product)
            if len(queue) > _MOST_ELEMENTS:
                return None
        return np.array(queue)


def up_to_symmetry(space: StateSpace, symmetries: Symmetries) -> int | None:
    """Return how many reachable states there are when those that a symmetry exchanges count once."""
    expander = space.expander
    elements = symmetries.permutations(expander.fluent_names)
    if elements is None:
        return None
    bits = expander.bits(space.states)
    least: list[bytes] | None = None
    for element in elements:
        turned = np.zeros_like(bits)
        turned[:, element] = bits
        rows = [row.tobytes() for row in np.packbits(turned, axis=1)]
        least = rows if least is None else list(map(min, least, rows))
    return len(set(least or ()))


def find_symmetries(game: StateMachine, *, budget: Budget | None = None) -> Symmetries:
    """Return the symmetries of the rules of a game.

    What is the same only in meaning, such as a path that the rules go through in one direction, is not
    always seen to be so.  Raises `BudgetExceeded` when the game does not ground within the budget, or
    they are not all found.
    """
    from herbrand.ground import ground

    budget = budget or Budget()
    program = ground(game.rules, limits=replace(game.limits, seconds=budget.left), shrink=False)
    if program.rules > _MOST_RULES:
        raise BudgetExceeded(f"{_MOST_RULES} rules", f"{program.rules} ground rules")
    return _Search(_Graph(program), budget).run()


class _Graph:
    """Atoms, rules, fluents and moves as vertices; edges say how they belong together."""

    def __init__(self, program: GroundProgram) -> None:
        self.program = program
        text = program.terms.text
        self.names: dict[int, str] = {}
        """What fluents and moves are called, by vertex."""
        self.colours: list[Any] = ["atom"] * (program.atoms + 1)
        edges: list[tuple[int, int, int]] = []
        labels = {"true": 1, "next": 2, "does": 3, "legal": 4, "head": 5, "body": 6, "not": 7}
        vertex: dict[tuple[str, ...], int] = {}
        always: dict[int, set[str]] = {}

        def of(*key: str) -> int:
            if key not in vertex:
                vertex[key] = len(self.colours)
                self.colours.append(key[0] if len(key) == 2 else key[:2])
                self.names[vertex[key]] = key[-1] if len(key) == 2 else f"(does {key[1]} {key[2]})"
            return vertex[key]

        for relation, rows in program.named.items():
            for atom, *terms in rows.tolist():
                args = list(map(text, terms))
                if relation in ("true", "next", "init", "base"):
                    node = of("fluent", args[0])
                elif relation in ("does", "legal", "input"):
                    node = of("move", *args)
                elif atom:
                    self.colours[atom] = (relation, *args)
                    continue
                else:
                    continue
                if atom:
                    edges.append((node, atom, labels[relation]))
                else:
                    always.setdefault(node, set()).add(relation)
        for node, relations in always.items():
            self.colours[node] = (self.colours[node], *sorted(relations - {"base", "input"}))
        body, starts = program.body.tolist(), program.start.tolist()
        rules = {
            (head, tuple(sorted(set(body[starts[i] : starts[i + 1]]))))
            for i, head in enumerate(program.head.tolist())
        }
        for head, literals in sorted(rules):
            node = len(self.colours)
            self.colours.append("rule")
            edges.append((node, head, labels["head"]))
            edges += [(node, abs(x), labels["body" if x > 0 else "not"]) for x in literals]
        self.edges = np.array(edges, np.int64).reshape(-1, 3)
        both = np.concatenate([self.edges, self.edges[:, [1, 0, 2]] + np.array([0, 0, 8])])
        both = both[np.argsort(both[:, 0], kind="stable")]
        self.to, self.label = both[:, 1], both[:, 2].astype(np.uint64)
        self.starts = np.searchsorted(both[:, 0], np.arange(len(self.colours)))
        self.ends = np.searchsorted(both[:, 0], np.arange(len(self.colours)), side="right")
        self.sorted_edges = np.unique(self.edges, axis=0)

    def __len__(self) -> int:
        return len(self.colours)

    def keeps(self, image: NDArray[np.int64]) -> bool:
        """Return whether a permutation of the vertices leaves the rules as they are."""
        if any(self.colours[v] != self.colours[w] for v, w in enumerate(image.tolist()) if v != w):
            return False
        moved = self.edges.copy()
        moved[:, :2] = image[moved[:, :2]]
        return bool(np.array_equal(np.unique(moved, axis=0), self.sorted_edges))


class _Search:
    def __init__(self, graph: _Graph, budget: Budget) -> None:
        self.graph = graph
        self.named = np.array(sorted(graph.names), np.int64)
        self.budget = budget
        kinds = {colour: i + 1 for i, colour in enumerate(sorted(set(map(repr, graph.colours))))}
        numbers = np.array([kinds[repr(colour)] for colour in graph.colours], np.uint64)
        self.first = self._refined(_mixed(numbers))

    def _refined(self, colours: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Refine colours by those of neighbours until no more vertices are told apart."""
        graph, kinds = self.graph, len(np.unique(colours))
        while True:
            if self.budget.left <= 0:
                raise BudgetExceeded(f"{self.budget.seconds:.3g} seconds", "while symmetries were looked for")
            near = _mixed(colours[graph.to] + graph.label * _FACTOR)
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(near)])
            after = _mixed(_mixed(colours) + sums[graph.ends] - sums[graph.starts])
            more = len(np.unique(after))
            if more == kinds:
                return after
            colours, kinds = after, more

    def _marked(self, colours: NDArray[np.uint64], vertex: int) -> NDArray[np.uint64]:
        marked = colours.copy()
        marked[vertex] = _mixed(marked[vertex : vertex + 1] + np.uint64(1))[0]
        return self._refined(marked)

    def _tie(self, colours: NDArray[np.uint64], *, named: bool) -> NDArray[np.int64] | None:
        """Return the vertices of the first colour that several have; None if there is none."""
        places = self.named if named else np.arange(len(colours))
        mine = np.sort(colours[places])
        same = np.flatnonzero(mine[1:] == mine[:-1])
        return None if not len(same) else np.flatnonzero(colours == mine[same[0]])

    def run(self) -> Symmetries:
        """Find generators, from the last choice to the first; the order is the product of the orbits.

        Choices among vertices without names come last: exchanging only them changes nothing.
        """
        chain = [self.first]
        cells = []
        levels = 0
        for named in (True, False):
            while (cell := self._tie(chain[-1], named=named)) is not None:
                cells.append(cell)
                chain.append(self._marked(chain[-1], int(cell[0])))
                levels += named
        generators: list[NDArray[np.int64]] = []
        order = 1
        for level in range(levels - 1, -1, -1):
            point, cell = int(cells[level][0]), cells[level]
            orbit = _orbit(point, generators)
            failed: set[int] = set()
            for other in cell.tolist():
                if other in orbit or other in failed:
                    continue
                image = self._image(chain[level + 1 :], cells[level + 1 :], self._marked(chain[level], other))
                if image is None:
                    failed |= _orbit(other, generators)
                else:
                    generators.append(image)
                    orbit = _orbit(point, generators)
            order *= len(orbit)
        return Symmetries(order, tuple(map(self._named, generators)), levels)

    def _image(
        self, chain: list[NDArray[np.uint64]], cells: list[NDArray[np.int64]], colours: NDArray[np.uint64]
    ) -> NDArray[np.int64] | None:
        """Find a symmetry that turns the colours of a chain of choices into these; None if there is none."""
        if not np.array_equal(np.sort(chain[0]), np.sort(colours)):
            return None
        if not cells:
            image = np.empty(len(colours), np.int64)
            image[np.argsort(chain[0])] = np.argsort(colours)
            return image if self.graph.keeps(image) else None
        colour = chain[0][cells[0][0]]
        for other in np.flatnonzero(colours == colour).tolist():
            found = self._image(chain[1:], cells[1:], self._marked(colours, other))
            if found is not None:
                return found
        return None

    def _named(self, image: NDArray[np.int64]) -> dict[str, str]:
        names = self.graph.names
        return {name: names[int(image[v])] for v, name in names.items() if int(image[v]) != v}


def _orbit(point: int, generators: list[NDArray[np.int64]]) -> set[int]:
    found, queue = {point}, [point]
    for one in queue:
        for image in generators:
            other = int(image[one])
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble numbers, so that sums of them tell sets apart."""
    mixed = (numbers ^ (numbers >> _SHIFT)) * _FACTOR
    mixed = (mixed ^ (mixed >> _SHIFT)) * _FACTOR
    found: NDArray[np.uint64] = mixed ^ (mixed >> _SHIFT)
    return found

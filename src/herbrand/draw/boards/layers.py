"""How one fluent lies on a board: which arguments are coordinates, which name a board, which are content."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.terms import ordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "BLANKS",
    "COMPASS",
    "LONGEST_ROW",
    "RINGS",
    "WALL",
    "Cell",
    "Coordinate",
    "FluentFacts",
    "Layer",
    "Row",
    "Shape",
    "read_layer",
]

BLANKS: Final = ("blank", "empty", "b", "none", "free", "clear", "e", "nil", "_", "available", "dot")
"""Names that mean an empty cell, the least ambiguous first."""
MOST_BOARDS: Final = 25
MOST_CONTENT: Final = 3
CROWD: Final = 8
"""Most things in one cell."""
LONGEST_ROW: Final = 64
MOST_KNOWN: Final = 500
"""More contents than this are not listed."""
RINGS: Final = ("inner", "middle", "outer")
COMPASS: Final = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
"""Names of places on rings, clockwise."""

Shape = tuple[str, int]
"""Name and number of arguments of a fluent."""
Coordinate = tuple[str, ...]
"""One part or, on a board of boards, several."""
Cell = tuple[Coordinate, Coordinate]
"""First and second coordinate."""
Row = tuple[str, ...]
"""The arguments of a fact, or a fact with its name."""

_SQUARE = re.compile(r"([A-Za-z])(\d{1,2})\Z")
WALL: Final = re.compile(r"wall|block", re.IGNORECASE)
"""Names of fluents that say where walls are."""


@dataclass(frozen=True)
class Layer:
    """The roles of the arguments of one fluent that places contents on a board."""

    shape: Shape
    first: tuple[int, ...] = ()
    """Argument positions that make up the first coordinate."""
    second: tuple[int, ...] = ()
    keys: tuple[int, ...] = ()
    """Argument positions that say which of several boards it is."""
    content: tuple[int, ...] = ()
    split: bool = False
    """Whether the first argument is letter and number in one, which count as two arguments."""
    edge: str = ""
    """For walls: the side of the cell, or "content" when the fluent says it; "between" two cells."""
    named: bool = False
    """Whether the name of the fluent is what lies there."""
    crowded: bool = False
    """Whether several things may stand in one cell."""
    prefixed: bool = False
    """Whether the name of the fluent stands before its content, which another layer of the board shares."""
    all_contents: frozenset[str] = frozenset()
    """Every content there may be."""

    def row(self, parts: Sequence[str]) -> Row:
        """Return the arguments of a fact as the positions count them."""
        row = tuple(parts[1:])
        if self.split and (match := _SQUARE.match(row[0])):
            row = (match[1], match[2], *row[1:])
        return row

    def cell(self, row: Sequence[str]) -> Cell:
        """Return the cell that a row of arguments refers to."""
        return tuple(row[i] for i in self.first), tuple(row[i] for i in self.second)

    def what(self, row: Sequence[str]) -> str:
        """Return the content that a row of arguments puts into its cell."""
        if self.named:
            return self.shape[0]
        what = " ".join(row[k] for k in self.content)
        return f"{self.shape[0]} {what}" if self.prefixed and what.lower() not in BLANKS else what


class FluentFacts:
    """The facts of one fluent: all that may be true, and those of each state."""

    def __init__(self, shape: Shape, base: list[Row], states: list[list[Row]], roles: set[str]) -> None:
        squares = [_SQUARE.match(parts[1]) if len(parts) > 1 else None for parts in base]
        self.shape = shape
        self.split = all(squares) and all(len({m[i] for m in squares if m}) > 1 for i in (1, 2))
        read = Layer(shape, split=self.split).row
        self.rows = list(map(read, base))
        """The arguments of every fact."""
        self.states = [list(map(read, state)) for state in states]
        self.initial = self.states[0]
        self.width = len(self.rows[0])
        self.values = [{row[i] for row in self.rows} for i in range(self.width)]
        self.is_role = [{value.lower() for value in values} <= roles for values in self.values]
        self.domains = [
            [] if is_role else ordered(values) or ordered({row[i] for row in self.initial}) or []
            for i, (values, is_role) in enumerate(zip(self.values, self.is_role, strict=True))
        ]
        """The domain in order of each argument that may be a coordinate, empty for others."""
        self.coordinates = [i for i, domain in enumerate(self.domains) if domain]

    def size(self, *at: int) -> int:
        """Return the number of cells that arguments span."""
        return prod(len(self.domains[i]) for i in at)

    def rest(self, *at: int) -> tuple[int, ...]:
        """Return the other arguments."""
        return tuple(k for k in range(self.width) if k not in at)

    def crowd(self, *at: int) -> int:
        """Return how many things stand in one cell at most, emptiness apart."""
        rest = self.rest(*at)
        most = 0
        for state in self.states:
            filled = [row for row in state if " ".join(row[k] for k in rest).lower() not in BLANKS]
            most = max(most, *Counter(tuple(row[i] for i in at) for row in filled).values(), 0)
        return most

    def layer(
        self,
        first: tuple[int, ...],
        second: tuple[int, ...],
        keys: tuple[int, ...] = (),
        *,
        crowded: bool = False,
    ) -> Layer:
        """Return the layer with these coordinates; a constant before them is no content."""
        rest = self.rest(*first, *second, *keys)
        content = tuple(k for k in rest if k > second[0] or len(self.values[k]) > 1) or rest
        contents = frozenset(" ".join(row[k] for k in content) for row in self.rows)
        kept = contents if len(contents) <= MOST_KNOWN else frozenset()
        return Layer(self.shape, first, second, keys, content, self.split, crowded=crowded, all_contents=kept)


def read_layer(fluent: FluentFacts, hints: Mapping[str, Any]) -> Layer | None:
    """Return how a fluent lies on a board; None when it does not look like it."""
    hint = hints.get("fluents", {}).get(fluent.shape[0])
    if hint is not None:
        first, second, keys, content = (
            tuple(hint.get(key, ())) for key in ("first", "second", "keys", "content")
        )
        edge, crowded = hint.get("edge", ""), bool(hint.get("crowded"))
        return Layer(fluent.shape, first, second, keys, content, fluent.split, edge, not content, crowded)
    if "/" in fluent.shape[0] and fluent.width == 3:
        return Layer(fluent.shape, (), (0,), (1,), (2,), all_contents=frozenset(fluent.shape[0].split("/")))
    ways = _walls, _grid, _nested, _copies, _crowded, _ragged, _row_of_places
    return next(filter(None, (read(fluent) for read in ways)), None)


def _walls(fluent: FluentFacts) -> Layer | None:
    """Read `(wall a b 3 4)`, between two cells, or `(wall 3 4 north)`, at the side of a cell."""
    if "wall" in fluent.shape[0].lower() and fluent.coordinates[:4] == [0, 1, 2, 3]:
        apart = fluent.values[0] & fluent.values[2]
        first, second = ((0, 2), (1, 3)) if apart else ((0, 1), (2, 3))
        return Layer(fluent.shape, first, second, content=fluent.rest(0, 1, 2, 3), edge="between")
    sided = fluent.width == 3 and {v.lower() for v in fluent.values[2]} <= {"north", "south", "east", "west"}
    if sided and WALL.search(fluent.shape[0]) and fluent.coordinates[:2] == [0, 1]:
        return Layer(fluent.shape, (0,), (1,), content=(2,), edge="content")
    return None


def _grid(fluent: FluentFacts) -> Layer | None:
    """Read a fluent as a board with at most one thing in each cell, adjacent coordinates first."""
    mean = sum(map(len, fluent.states)) / len(fluent.states)
    sizes = [len(state) for state in fluent.states]
    for i, j in sorted(combinations(fluent.coordinates, 2), key=lambda ij: (ij[1] - ij[0] > 1, ij)):
        rest, size = fluent.rest(i, j), fluent.size(i, j)
        if not 0 < len(rest) <= MOST_CONTENT or size < 4:
            continue
        if mean <= size / 4 and any(k < fluent.width - 1 and fluent.domains[k] for k in rest):
            continue  # the content looks like the name of one of several boards
        covered = len({(row[i], row[j]) for row in fluent.rows})
        # one fact in each state is a thing that moves, which may share its cell with others
        if fluent.crowd(i, j) <= 1 and 3 * covered >= size and (max(sizes) >= 2 or not any(sizes)):
            return fluent.layer((i,), (j,))
    return None


def _nested(fluent: FluentFacts) -> Layer | None:
    """Read a fluent as a board of boards."""
    if fluent.coordinates[:4] != [0, 1, 2, 3] or fluent.width != 5:
        return None
    small = all(len(fluent.domains[i]) <= 6 for i in range(4))
    return fluent.layer((0, 2), (1, 3)) if small and fluent.crowd(0, 1, 2, 3) <= 1 else None


def _copies(fluent: FluentFacts) -> Layer | None:
    """Read a fluent as several boards, named by the coordinate with the smallest domain."""
    chosen = fluent.coordinates[:3]
    if len(chosen) < 3:
        return None

    def likely(key: int) -> tuple[bool, int, int]:
        one, two = (fluent.size(k) for k in chosen if k != key)
        return one != two, fluent.size(key), key

    for key in sorted(chosen, key=likely):
        i, j = (k for k in chosen if k != key)
        rest = fluent.rest(key, i, j)
        if not 0 < len(rest) <= MOST_CONTENT or fluent.crowd(key, i, j) > 5:
            continue
        if len(fluent.values[key]) <= MOST_BOARDS and fluent.size(i, j) >= 4:
            return fluent.layer((i,), (j,), (key,))
    return None


def _crowded(fluent: FluentFacts) -> Layer | None:
    """Read a fluent as things that stand on a board, perhaps several in one cell."""
    for i, j in pairwise(range(fluent.width)):
        rest = fluent.rest(i, j)
        if not (fluent.size(i, j) and 0 < len(rest) <= MOST_CONTENT):
            continue
        whole = i == 0 and len({(row[0], row[1]) for row in fluent.initial}) == fluent.size(0, 1)
        large = min(fluent.size(i), fluent.size(j)) >= 3 and all(fluent.size(k) <= 4 for k in rest)
        if (whole or large) and 0 < fluent.crowd(i, j) <= CROWD:
            return fluent.layer((i,), (j,), crowded=True)
    return None


def _ragged(fluent: FluentFacts) -> Layer | None:
    """Read a fluent as rows of places whose names differ from row to row, or as rings."""
    if fluent.width != 3 or fluent.crowd(0, 1) > 2 or max(map(len, fluent.states)) < 12:
        return None
    rows: dict[str, set[str]] = defaultdict(set)
    for row in fluent.initial:
        rows[row[0]].add(row[1])
    if len(rows) < 3 or max(map(len, rows.values())) < 4:
        return None
    rings = set(rows) <= set(RINGS) and all(names <= set(COMPASS) for names in rows.values())
    if not rings and (ordered(rows) is None or any(ordered(names) is None for names in rows.values())):
        return None
    return fluent.layer((0,), (1,))


def _row_of_places(fluent: FluentFacts) -> Layer | None:
    """Read a fluent with two or three arguments as a row of places with something in each."""
    most = max(map(len, fluent.states))
    if fluent.width not in (2, 3) or most < 3:
        return None
    for i in (0, 1):
        values = fluent.values[i]
        contents = {tuple(row[k] for k in fluent.rest(i)) for row in fluent.rows}
        parts = {part for content in contents for part in content}
        numbers = all(re.fullmatch(r"[a-z]?\d+", part) for part in parts)
        if not 3 <= len(values) <= LONGEST_ROW or fluent.is_role[i] or fluent.crowd(i) > 1:
            continue
        if (len(contents) > max(30, 3 * len(values)) and not numbers) or (i == 0 and most < len(values) / 3):
            continue
        if i == 1 and fluent.width == 2 and fluent.size(0, 1) and len(contents) > 2 and most < len(values):
            continue  # some places have no number: marks on a grid rather than a number for each place
        if all(part[-1:].isdigit() for part in parts) and ordered(values) is None and len(values) < 6:
            continue
        return fluent.layer((), (i,))
    return None

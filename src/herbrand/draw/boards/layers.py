"""How one fluent lies on a board: which arguments are coordinates, which name a board, which are content."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.terms import ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "BLANKS",
    "COMPASS",
    "LONGEST_ROW",
    "RINGS",
    "Cell",
    "Coordinate",
    "Layer",
    "Row",
    "Shape",
    "read_layer",
]

BLANKS: Final = ("blank", "empty", "b", "none", "free", "clear", "e", "nil", "_", "available", "dot")
"""Names that mean an empty cell, the most telling first."""
MOST_BOARDS: Final = 25
MOST_CONTENT: Final = 3
CROWD: Final = 8
"""At most so many things stand in one cell."""
LONGEST_ROW: Final = 64
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
_WALL = re.compile(r"wall|block", re.IGNORECASE)


@dataclass(frozen=True)
class Layer:
    """How one fluent says what is where on a board."""

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
    known: frozenset[str] = frozenset()
    """Every content there may be."""

    def row(self, parts: Sequence[str]) -> Row:
        """Return the arguments of a fact as the positions count them."""
        row = tuple(parts[1:])
        if self.split and (match := _SQUARE.match(row[0])):
            row = (match[1], match[2], *row[1:])
        return row

    def cell(self, row: Sequence[str]) -> Cell:
        """Return the cell that a row of arguments speaks of."""
        return tuple(row[i] for i in self.first), tuple(row[i] for i in self.second)

    def what(self, row: Sequence[str]) -> str:
        """Return what a row of arguments puts into its cell."""
        if self.named:
            return self.shape[0]
        return " ".join([self.shape[0]] * self.prefixed + [row[k] for k in self.content])


def read_layer(
    shape: Shape,
    base: list[Row],
    states: list[list[Row]],
    roles: set[str],
    hints: Mapping[str, Any],
) -> Layer | None:
    """Return how a fluent lies on a board; None when it does not look like it."""
    told = hints.get("fluents", {}).get(shape[0])
    squares = [_SQUARE.match(parts[1]) for parts in base]
    split = bool(squares) and all(squares) and all(len({m[i] for m in squares if m}) > 1 for i in (1, 2))
    probe = Layer(shape, split=split)
    every = [probe.row(parts) for parts in base]
    per_state = [[probe.row(parts) for parts in state] for state in states]
    width = len(every[0])
    if told is not None:
        return Layer(
            shape,
            tuple(told.get("first", ())),
            tuple(told.get("second", ())),
            tuple(told.get("keys", ())),
            tuple(told.get("content", ())),
            split=split,
            edge=told.get("edge", ""),
            named=not told.get("content"),
            crowded=bool(told.get("crowded")),
        )
    domains: list[list[str] | None] = []
    for i in range(width):
        values = {row[i] for row in every}
        is_role = {v.lower() for v in values} <= roles
        shown = {row[i] for state in per_state[:1] for row in state}
        domains.append(None if is_role else ordered(values) or ordered(shown))
    at = [i for i in range(width) if domains[i]]

    def content_of(positions: Iterable[int]) -> tuple[int, ...]:
        taken = set(positions)
        return tuple(k for k in range(width) if k not in taken)

    if "/" in shape[0] and width == 3:
        return Layer(shape, (), (0,), (1,), (2,), known=frozenset(shape[0].split("/")))
    if "wall" in shape[0].lower() and len(at) >= 4 and at[:4] == [0, 1, 2, 3]:
        pairs = {row[0] for row in every} & {row[2] for row in every}
        first, second = ((0, 2), (1, 3)) if pairs else ((0, 1), (2, 3))
        return Layer(shape, first, second, content=content_of(at[:4]), edge="between")
    sides = {row[-1].lower() for row in every} if width == 3 and at[:2] == [0, 1] else set()
    if (
        sides
        and sides <= {"north", "south", "east", "west"}
        and re.search("wall|block", shape[0], re.IGNORECASE)
    ):
        return Layer(shape, (0,), (1,), content=(2,), edge="content")
    full = sum(map(len, per_state)) / max(len(per_state), 1)
    for i, j in sorted(combinations(at, 2), key=lambda ij: (ij[1] - ij[0] > 1, ij)):
        content = content_of((i, j))
        size = _size(domains, i, j)
        others = [k for k in content if domains[k] and k < width - 1 and len(domains[k] or ()) > 1]
        if not content or len(content) > MOST_CONTENT or size < 4:
            continue
        if others and full <= size / 4:
            continue
        if _is_key(per_state, (i, j), content) and _enough(per_state, every, (i, j), size):
            return _known(Layer(shape, (i,), (j,), content=content, split=split), every)
    if len(at) >= 4 and at[:4] == [0, 1, 2, 3] and len(content_of(at[:4])) in (0, 1):
        content = content_of(at[:4])
        if (
            content
            and _is_key(per_state, (0, 1, 2, 3), content)
            and all(len(domains[i] or ()) <= 6 for i in range(4))
        ):
            return _known(Layer(shape, (0, 2), (1, 3), content=content), every)
    for key, i, j in _three(at, domains):
        content = content_of((key, i, j))
        if len(content) <= MOST_CONTENT and content and _most(per_state, (key, i, j), content) <= 5:
            copies = {row[key] for row in every}
            if len(copies) <= MOST_BOARDS and _size(domains, i, j) >= 4:
                return _known(Layer(shape, (i,), (j,), (key,), content, split=split), every)
    return (
        _crowded(shape, every, per_state, domains, at, split)
        or _ragged(shape, every, per_state)
        or _row_of_places(shape, every, per_state, roles)
    )


def _ragged(shape: Shape, every: list[Row], states: list[list[Row]]) -> Layer | None:
    """Read a fluent as rows of places whose names differ from row to row, or as rings."""
    if len(every[0]) != 3 or _most(states, (0, 1), (2,)) > 2 or max(map(len, states)) < 12:
        return None
    rows: dict[str, set[str]] = defaultdict(set)
    for row in states[0]:
        rows[row[0]].add(row[1])
    if len(rows) < 3 or max(map(len, rows.values())) < 4:
        return None
    rings = set(rows) <= set(RINGS) and all(names <= set(COMPASS) for names in rows.values())
    if not rings and (ordered(rows) is None or any(ordered(names) is None for names in rows.values())):
        return None
    return _known(Layer(shape, (0,), (1,), content=(2,)), every)


def _crowded(
    shape: Shape,
    every: list[Row],
    states: list[list[Row]],
    domains: list[list[str] | None],
    at: list[int],
    split: bool,
) -> Layer | None:
    """Read a fluent as things that stand on a board, perhaps several in one cell."""
    for i, j in combinations(at, 2):
        content = tuple(k for k in range(len(every[0])) if k not in (i, j))
        if j - i > 1 or not content or len(content) > MOST_CONTENT:
            continue
        smallest = min(len(domains[i] or ()), len(domains[j] or ()))
        spoken = {(row[i], row[j]) for row in states[0]} if states else set()
        covered = i == 0 and len(spoken) == _size(domains, i, j)
        if not covered and (smallest < 3 or any(len(domains[k] or ()) > 4 for k in content)):
            continue
        if 0 < _most(states, (i, j), content) <= CROWD:
            return _known(Layer(shape, (i,), (j,), content=content, split=split, crowded=True), every)
    return None


def _most(states: list[list[Row]], at: tuple[int, ...], content: tuple[int, ...]) -> int:
    """Return how many things stand in one cell at most, emptiness apart."""
    most = 0
    for state in states:
        filled = [row for row in state if " ".join(row[k] for k in content).lower() not in BLANKS]
        if filled:
            most = max(most, *Counter(tuple(row[i] for i in at) for row in filled).values())
    return most


def _row_of_places(shape: Shape, every: list[Row], states: list[list[Row]], roles: set[str]) -> Layer | None:
    """Read a fluent with two arguments as a row of places with something in each."""
    width = len(every[0])
    if width not in (2, 3):
        return None
    for i in (0, 1):
        content = tuple(k for k in range(width) if k != i)
        values = {row[i] for row in every}
        if not 3 <= len(values) <= LONGEST_ROW or {v.lower() for v in values} <= roles:
            continue
        contents = {tuple(row[k] for k in content) for row in every}
        if len(contents) > max(30, 3 * len(values)) and not all(
            re.fullmatch(r"[a-z]?\d+", part) for one in contents for part in one
        ):
            continue
        if not any(len(state) >= 3 for state in states) or not _is_key(states, (i,), content):
            continue
        if i == 0 and all(len(state) < len(values) / 3 for state in states):
            continue
        if (
            i == 1
            and width == 2
            and ordered(values)
            and len(contents) > 2
            and ordered(c for (c,) in contents)
        ):
            if all(len(state) < len(values) for state in states):
                return None  # some places have no number: marks on a grid rather than a number for each place
        numeric = all(part[-1:].isdigit() for one in contents for part in one)
        if numeric and ordered(values) is None and len(values) < 6:
            continue
        return _known(Layer(shape, (), (i,), content=content), every)
    return None


def _known(layer: Layer, every: list[Row]) -> Layer:
    telling = tuple(k for k in layer.content if k > layer.second[0] or len({row[k] for row in every}) > 1)
    layer = replace(layer, content=telling or layer.content)
    contents = {" ".join(row[k] for k in layer.content) for row in every}
    return replace(layer, known=frozenset(contents) if len(contents) <= 500 else frozenset())


def _size(domains: list[list[str] | None], i: int, j: int) -> int:
    return len(domains[i] or ()) * len(domains[j] or ())


def _three(at: list[int], domains: list[list[str] | None]) -> list[tuple[int, int, int]]:
    """Return the ways to take one of three coordinates as the name of a board, the smallest domain first."""
    if len(at) < 3:
        return []
    chosen = at[:3]
    sizes = {i: len(domains[i] or ()) for i in chosen}

    def likely(key: int) -> tuple[bool, int, int]:
        one, two = (sizes[k] for k in chosen if k != key)
        return one != two, sizes[key], key

    ways = []
    for key in sorted(chosen, key=likely):
        i, j = (k for k in chosen if k != key)
        ways.append((key, i, j))
    return ways


def _is_key(states: list[list[Row]], at: tuple[int, ...], content: tuple[int, ...]) -> bool:
    """Whether the coordinates name at most one thing in every state, emptiness apart."""
    for state in states:
        seen: dict[Row, str] = {}
        for row in state:
            place = tuple(row[i] for i in at)
            what = " ".join(row[k] for k in content)
            old = seen.get(place)
            if old is not None and old.lower() not in BLANKS and what.lower() not in BLANKS:
                return False
            if old is None or old.lower() in BLANKS:
                seen[place] = what
    return True


def _enough(states: list[list[Row]], every: list[Row], at: tuple[int, int], size: int) -> bool:
    """Whether enough cells are spoken of for a board; one fact in each state is a thing that moves."""
    i, j = at
    covered = len({(row[i], row[j]) for row in every})
    return 3 * covered >= size and (any(len(state) >= 2 for state in states) or not any(states))

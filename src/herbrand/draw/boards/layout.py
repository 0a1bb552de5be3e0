"""The layout of a game on paper: boards and the pieces on them, rows of places, towers.

Nothing in GDL says that a fluent is a board.  A fluent is read as a grid when some of its arguments
have small ordered domains and name each cell at most once in every state that is known:

| arguments                  | example                  | read as                                    |
|----------------------------|--------------------------|--------------------------------------------|
| two coordinates, content   | `(cell 1 2 x)`           | a board                                    |
| three coordinates          | `(cell 1 2 3 x)`         | several boards, by the smallest domain     |
| four coordinates           | `(mark 1 2 3 1 x)`       | a board of boards                          |
| content, two coordinates   | `(location pacman 5 8)`  | things on a board, also several in one cell |
| two coordinates alone      | `(marked 1 2)`           | marks on a board                           |
| a letter with a number     | `(cell c3 red)`          | a board; a star when its rows differ in length |
| one coordinate, content    | `(pit p3 s4)`            | a row of places                            |
| a place with a name only   | `(piece red 4 a1)`       | a map, by what lies beside what (`maps`)   |

Layers with the same coordinates lie on one board.  Fluents for which everything is in exactly one of
them (`(blank c)`, `(cross c)`) are one row of places, and chains such as `(on a b)` are towers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import isqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from herbrand.draw.boards.layers import BLANKS, LONGEST_ROW, RINGS, WALL, FluentFacts, Layer, read_layer
from herbrand.draw.boards.rules import neighbours
from herbrand.draw.boards.together import (
    axes,
    is_control,
    is_ground,
    is_permutation,
    is_tower,
    joined,
    joined_base,
    partitions,
)
from herbrand.draw.maps import Map, read_map
from herbrand.draw.terms import arguments, natural, ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from herbrand.draw.boards.layers import Cell, Coordinate, Row, Shape
    from herbrand.draw.boards.rules import Neighbours
    from herbrand.draw.boards.vocabulary import Vocabulary

__all__ = ["BoardLayout", "Contents", "Layout", "find_layout"]

GRIDS: Final = frozenset({"square", "hex", "hex-left", "star", "folded"})
"""Forms of boards that have rows and columns."""
MOST_ON_MAPS: Final = 30
"""Different things that stand on a map."""

Relations = Sequence[Sequence["Row"]]
"""Relations that hold in every state, each with its rows."""


@dataclass(frozen=True)
class BoardLayout:
    """A grid; several when its layers have keys."""

    layers: tuple[Layer, ...]
    first: tuple[Coordinate, ...]
    """Domain of the first coordinate, in order; one empty coordinate for a row of places."""
    second: tuple[Coordinate, ...]
    copies: tuple[Row, ...] = ((),)
    """The values of the keys, one for each board."""
    cells: frozenset[Cell] = frozenset()
    """The cells that there are."""
    across: bool = False
    """Whether the first coordinate runs from left to right."""
    upward: bool = False
    """Whether the coordinate that does not run across counts upward."""
    form: str = "square"
    """"square", "hex" (each row half a cell further right), "hex-left", "star" and "ragged" (rows centred),
    "rings", "row", "folded" (a row as a square), "map"."""
    title: str = ""
    rack: bool = False
    """Whether things are dropped into it from above."""
    roads: frozenset[Row] = frozenset()
    """Of a map: which places are beside each other."""
    boxes: int = 0
    """Rows and columns of the boxes into which the board is divided, as in sudoku; 0 without them."""
    sides: Mapping[str, str] = field(default_factory=dict)
    """Roles that have to join two sides: "rows" is the one from the first row to the last, "columns"."""

    @property
    def nested(self) -> bool:
        """Whether this is a board of boards."""
        return bool(self.first) and len(self.first[0]) > 1

    @property
    def is_grid(self) -> bool:
        """Whether it has rows and columns: the boards that text and observation planes show."""
        return self.form in GRIDS

    @property
    def rows(self) -> tuple[Coordinate, ...]:
        """The coordinate of each row, from the top."""
        down = self.second if self.across else self.first
        return down[::-1] if self.upward else down

    @property
    def columns(self) -> tuple[Coordinate, ...]:
        """The coordinate of each column, from the left."""
        return self.first if self.across else self.second

    @cached_property
    def positions(self) -> Mapping[Cell, tuple[int, int]]:
        """Row and column of each cell of a grid, counted from 0 at the top and at the left."""
        if self.form == "folded":
            return {((), place): divmod(i, self.side) for i, place in enumerate(self.second)}
        rows, columns = self._taken
        downs, alongs = ({one: i for i, one in enumerate(some)} for some in (rows, columns))
        return {
            (c, r) if self.across else (r, c): (down, along)
            for r, down in downs.items()
            for c, along in alongs.items()
        }

    @property
    def labels(self) -> tuple[list[str], list[str]]:
        """The labels of the rows and the columns of a grid."""
        if self.form == "folded":
            names, side = [place for (place,) in self.second], self.side
            return [f"{names[i]}-{names[i + side - 1]}" for i in range(0, side * side, side)], [""] * side
        rows, columns = ([".".join(one) for one in some] for some in self._taken)
        return rows, columns

    @property
    def size(self) -> tuple[int, int]:
        """Number of rows and of columns of a grid."""
        rows, columns = self.labels
        return len(rows), len(columns)

    @property
    def side(self) -> int:
        """Number of rows and of columns of a folded row of places."""
        return isqrt(len(self.second))

    @property
    def _taken(self) -> tuple[list[Coordinate], list[Coordinate]]:
        """Rows and columns that have cells; walls may stand beyond them."""
        existing = [{cell[i] for cell in self.cells} for i in (0, 1)]
        down, along = existing[::-1] if self.across else existing
        rows = [row for row in self.rows if row in down or not down]
        return rows, [column for column in self.columns if column in along or not along]

    def copy_title(self, copy: int, name: str | None = None) -> str:
        """Return the name of one of the boards: of the fluent, and the values of its keys."""
        name = self.title if name is None else name
        return " ".join(("" if "/" in name else name, *self.copies[copy])).strip()


@dataclass
class Contents:
    """The contents of one board in a state."""

    cells: dict[Cell, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The contents of each cell that the facts mention, blanks included."""
    marks: dict[Cell, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Names of fluents that mark a cell with nothing more to say."""
    walls: list[tuple[Layer, Row]] = field(default_factory=list)


class Spot(NamedTuple):
    """Where a fact stands."""

    board: int
    copy: int
    layer: Layer
    row: Row
    """The arguments of the fact as the layer counts them."""


@dataclass(frozen=True)
class Layout:
    """How the states of one game are drawn."""

    roles: Row
    boards: tuple[BoardLayout, ...] = ()
    towers: tuple[Shape, ...] = ()
    rows: tuple[Shape, ...] = ()
    """Fluents whose arguments are a permutation, such as a pile of pancakes."""
    control: tuple[Shape, ...] = ()
    """Fluents that say whose turn it is."""
    partitions: tuple[tuple[Row, int], ...] = ()
    """Names and arity of fluents that give the content of each place."""
    axes: tuple[tuple[str, str, str], ...] = ()
    """Pairs of fluents that give a place by its two coordinates apart, and what to call them together."""
    lamps: Row = ()
    """Fluents without arguments, where nearly all fluents are so."""
    drawn: frozenset[Shape] = field(default_factory=frozenset)
    """Fluents that the boards, towers and rows show, or that say nothing more."""
    movable: frozenset[str] = field(default_factory=frozenset)
    """Things that can stand on something else in a tower."""
    bases: frozenset[str] = field(default_factory=frozenset)
    """Things that others can stand on and that never stand on anything themselves, such as pegs."""
    stock: frozenset[str] = field(default_factory=frozenset)
    """Pieces that may also be beside the boards, and the things in a list."""
    full: bool = False
    """Whether the initial state tells the content of every cell: `b` beside `w` is blank then, not black."""
    draughts: bool = False
    """Whether all pieces stand on squares of one colour."""
    hints: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _layers(self) -> dict[Shape, tuple[int, Layer]]:
        return {layer.shape: (i, layer) for i, board in enumerate(self.boards) for layer in board.layers}

    def facts(self, facts: Iterable[str]) -> list[Row]:
        """Split facts into parts, and join those that only together give a content or a place."""
        return joined([arguments(fact) for fact in sorted(set(facts))], self.partitions, self.axes)

    def joint(self, fact: Row) -> Shape:
        """Return the fluent that shows a fact: its own, or the one that it is joined into."""
        shape = fact[0], len(fact) - 1
        for names, arity in self.partitions:
            if fact[0] in names and arity == shape[1]:
                return "/".join(names), arity + 1
        return next(((joint, 3) for *names, joint in self.axes if fact[0] in names), shape)

    def spot(self, fact: Row) -> Spot | None:
        """Return where one of `facts` stands on a board; None for one that belongs to none."""
        number, layer = self._layers.get((fact[0], len(fact) - 1), (0, None))
        if layer is None:
            return None
        board, row = self.boards[number], layer.row(fact)
        key = tuple(row[k] for k in layer.keys)
        return Spot(number, board.copies.index(key), layer, row) if key in board.copies else None

    def contents(self, facts: Iterable[Row]) -> dict[tuple[int, int], Contents]:
        """Return the contents of each copy of each board, by the numbers of both."""
        result = {(i, k): Contents() for i, board in enumerate(self.boards) for k in range(len(board.copies))}
        for fact in facts:
            spot = self.spot(fact)
            if spot is None:
                continue
            one, layer = result[spot.board, spot.copy], spot.layer
            if layer.edge:
                one.walls.append((layer, spot.row))
            elif layer.named and not layer.crowded and len(self.boards[spot.board].layers) > 1:
                one.marks[layer.cell(spot.row)].append(layer.what(spot.row))
            else:
                one.cells[layer.cell(spot.row)].append(layer.what(spot.row))
        return result


def find_layout(
    vocabulary: Vocabulary,
    *,
    columns_first: Collection[str] = (),
    relations: Callable[[int], Relations] = lambda _: (),
    hints: Mapping[str, Any] | None = None,
) -> Layout:
    """Decide which fluents are boards, and how they lie.

    `columns_first` names fluents whose first coordinate is a column; `relations` returns the relations
    of an arity that hold in every state, and is called where they may tell which cells there are and what
    is beside them; `hints` is the content of a file of hints (`herbrand.draw.hints`).
    """
    hints = hints or {}
    roles = {role.lower() for role in vocabulary.roles}
    base = [arguments(fact) for fact in sorted(vocabulary.base)]
    states = [[arguments(fact) for fact in sorted(state)] for state in vocabulary.states]
    shapes = Counter((parts[0], len(parts) - 1) for parts in base)
    control = tuple(shape for shape in sorted(shapes) if is_control(shape, base, states, roles))
    parted = partitions(states, base, {shape[0] for shape in control})
    paired = axes(shapes)
    states = [joined(state, parted, paired) for state in states]
    base = joined_base(base, parted, paired)
    joints = {joint for _, _, joint in paired}
    grounded: set[str] = set()
    if joints:
        base, grounded = _on_ground(base, states, joints, relations(2))
    by_shape: dict[Shape, list[Row]] = defaultdict(list)
    for parts in base:
        by_shape[parts[0], len(parts) - 1].append(parts)
    in_states = {
        shape: [[parts for parts in state if (parts[0], len(parts) - 1) == shape] for state in states]
        for shape in by_shape
    }
    hidden = set(hints.get("hide", ()))
    towers = tuple(s for s in sorted(by_shape) if is_tower(s, in_states[s]) and s[0] not in hidden)
    rows = tuple(s for s in sorted(by_shape) if is_permutation(in_states[s], by_shape[s]))
    layers: list[tuple[Layer, FluentFacts]] = []
    bare: list[FluentFacts] = []
    for shape in sorted(by_shape, key=lambda s: (-s[1], natural(s[0]))):
        if shape in (*control, *towers, *rows) or shape[1] == 0 or shape[0] in hidden:
            continue
        fluent = FluentFacts(shape, by_shape[shape], in_states[shape], roles)
        layer = read_layer(fluent, hints)
        if layer is not None:
            layers.append((layer, fluent))
        else:
            bare.append(fluent)
    boards = _with_marks(_boards(layers), bare)
    hexes = set(map(neighbours, relations(4))) - {None} if boards else set()
    hexagonal = hexes.pop() if len(hexes) == 1 else None
    columns_first = {*columns_first, *joints}
    if not vocabulary.complete:
        boards = [b if b.title in grounded else replace(b, cells=frozenset()) for b in boards]
    finished = [_finished(board, columns_first, vocabulary, hexagonal, hints) for board in boards]
    if not finished and not towers and not rows:
        unread = [fluent for fluent in bare if fluent.shape[0] not in joints]
        finished = _drawn_on_maps(unread, [read_map(some, roles) for some in relations(2)])
    drawn = {layer.shape for board in finished for layer in board.layers} | set(towers) | set(rows)
    if towers:
        drawn |= {shape for shape in by_shape if is_ground(shape)}
    on, under = ({parts[i] for shape in towers for parts in by_shape[shape]} for i in (1, 2))
    lamps = tuple(name for name, arity in sorted(by_shape, key=lambda s: natural(s[0])) if arity == 0)
    return Layout(
        roles=vocabulary.roles,
        boards=tuple(finished),
        towers=towers,
        rows=rows,
        control=control,
        partitions=parted,
        axes=paired,
        lamps=lamps if 1 < len(lamps) <= LONGEST_ROW else (),
        drawn=frozenset(drawn),
        movable=frozenset(on),
        bases=frozenset(under - on),
        stock=_stock(finished, by_shape, control)
        | {part for shape in rows for parts in by_shape[shape] for part in parts[1:]},
        full=any(_is_full(board, in_states) for board in finished),
        draughts=any(_on_one_colour(board, in_states) for board in finished),
        hints=hints,
    )


_DIRECTION = re.compile(r"(north|south|east|west)\Z", re.IGNORECASE)
_ACROSS: Final = ("x", "c", "col", "column", "f", "file")


def _boards(layers: list[tuple[Layer, FluentFacts]]) -> list[BoardLayout]:
    """Make boards of the layers, several layers on one where they share the coordinates."""
    boards: list[BoardLayout] = []
    placed = [(layer, fluent, not any(fluent.states)) for layer, fluent in layers if layer.edge != "between"]
    for layer, fluent, unseen in sorted(placed, key=lambda p: (p[2], bool(p[0].keys), p[0].edge != "")):
        board = _board(layer, fluent)
        contents = layer.all_contents
        counted = layer.crowded and contents and all(content[-1:].isdigit() for content in contents)
        alike = [other for other in boards if (other.first, other.second) == (board.first, board.second)]
        if (layer.keys or counted) and any(other.copies == ((),) for other in alike):
            continue
        place = next((i for i, other in enumerate(boards) if _fits(board, other)), None)
        if place is not None:
            other = boards[place]
            larger = max((board, other), key=lambda one: len(one.first) * len(one.second))
            boards[place] = replace(
                other,
                layers=(*other.layers, _with_name(board, other)),
                first=larger.first,
                second=larger.second,
                cells=other.cells if unseen or layer.edge == "content" else other.cells | board.cells,
            )
        elif not boards or not unseen:
            boards.append(board)
    wide = next((i for i, board in enumerate(boards) if len(board.first) > 2 and not board.nested), None)
    between = tuple(layer for layer, _ in layers if layer.edge == "between")
    if wide is not None and between:
        boards[wide] = replace(boards[wide], layers=(*boards[wide].layers, *between))
    return boards


def _board(layer: Layer, fluent: FluentFacts) -> BoardLayout:
    """Return the board of one layer: the cells that each state mentions, if these are always the same."""
    rows = fluent.rows
    spoken = [set(map(layer.cell, state)) for state in fluent.states]
    if len(spoken) > 1 and all(some == spoken[0] for some in spoken):
        always = [row for row in rows if layer.cell(row) in spoken[0]]
        rows = always if 2 * len(spoken[0]) > len(set(map(layer.cell, rows))) else rows
    first, second = (_domain(rows, at, fluent.initial) for at in (layer.first, layer.second))
    copies = sorted({tuple(row[k] for k in layer.keys) for row in rows}, key=lambda key: [*map(natural, key)])
    cells = frozenset(map(layer.cell, rows))
    form = "square" if layer.first else "row"
    if layer.first == (0,) and layer.second == (1,):
        if {c[0] for c in first} <= set(RINGS):
            form = "rings"
            first = tuple((ring,) for ring in RINGS if (ring,) in first)
        elif ordered({c[0] for c in second}) is None:
            form, cells = "ragged", frozenset(spoken[0])
    return BoardLayout((layer,), first, second, tuple(copies), cells, form=form, title=layer.shape[0])


def _domain(rows: list[Row], positions: tuple[int, ...], initial: list[Row]) -> tuple[Coordinate, ...]:
    lists = []
    for position in positions:
        values, shown = ({row[position] for row in some} for some in (rows, initial))
        lists.append(ordered(values) or ordered(shown) or sorted(values, key=natural))
    return tuple(product(*lists))


def _fits(board: BoardLayout, other: BoardLayout) -> bool:
    """Whether a layer lies on a board that is there already."""
    one, two = board.layers[0], other.layers[0]
    if board.form != other.form or len(board.copies[0]) != len(other.copies[0]):
        return False
    if board.form == "row" and not (one.crowded and two.crowded):
        return False
    inside = set(board.first) <= set(other.first) and set(board.second) <= set(other.second)
    around = set(board.first) >= set(other.first) and set(board.second) >= set(other.second)
    if not inside and not (one.edge and around):
        return False
    if one.crowded is not two.crowded and min(map(len, (board.first, board.second))) < 2:
        return False
    alike = _stem(one.shape[0]) == _stem(two.shape[0]) and one.shape[0] != two.shape[0]
    return not alike or not board.cells & other.cells


def _with_name(board: BoardLayout, other: BoardLayout) -> Layer:
    """Put its name before the content of a layer, if another one can put the same into the same cell."""
    layer = board.layers[0]
    shared = layer.all_contents & set().union(*(one.all_contents for one in other.layers))
    if layer.named or not board.cells & other.cells or all(what.lower() in BLANKS for what in shared):
        return layer
    contents = {what if what.lower() in BLANKS else f"{layer.shape[0]} {what}" for what in layer.all_contents}
    return replace(layer, prefixed=True, all_contents=frozenset(contents))


def _stem(name: str) -> str:
    """Return what names such as `cell1`, `cell2`, `cell_a` have in common."""
    return re.sub(r"(_\w+|\d+)\Z", "", name)


def _with_marks(boards: list[BoardLayout], bare: list[FluentFacts]) -> list[BoardLayout]:
    """Add the fluents that name cells and nothing in them; a board of their own if there is none."""
    boards = list(boards)
    for fluent in bare:
        name, width = fluent.shape[0], fluent.width
        if width not in (2, 3) or any(fluent.is_role[:2]) or (width == 3 and not WALL.search(name)):
            continue
        first, second = fluent.values[:2]
        direction = _DIRECTION.search(name) if width == 2 and len(first) > 1 else None
        layer = Layer(fluent.shape, (0,), (1,), content=tuple(range(2, width)), named=width == 2)
        layer = replace(layer, edge="content" if width == 3 else direction[1].lower() if direction else "")
        for place, board in enumerate(boards):
            if board.form == "row" or board.nested or board.copies != ((),):
                continue
            if first <= {c[0] for c in board.first} and second <= {c[0] for c in board.second}:
                boards[place] = replace(board, layers=(*board.layers, layer))
                break
        else:
            one, two = ordered(first), ordered(second)
            if layer.edge or one is None or two is None or len(one) * len(two) < 9:
                continue
            if not (one[0].isalpha() and two[0].isalpha()) and _is_scattered(fluent):
                boards.append(_board(layer, fluent))
    return boards


def _is_scattered(fluent: FluentFacts) -> bool:
    """Whether pairs look like marks on a grid rather than like a value for each name."""
    repeated = any(len({row[0] for row in state}) < len(state) for state in fluent.states)
    covered = Counter(row[0] for row in fluent.rows)
    return repeated and len(covered) >= 3 and min(covered.values()) >= 2


def _drawn_on_maps(fluents: Sequence[FluentFacts], maps: Iterable[Map | None]) -> list[BoardLayout]:
    """Return the largest map on which fluents have a place, with them; a place that it lacks stands apart."""
    for drawn in sorted(filter(None, maps), key=lambda one: (-len(one.places), one.places)):
        layers, places = [], set(drawn.places)
        for fluent in fluents:
            for i, values in enumerate(fluent.values):
                there = values & set(drawn.places)
                if 2 * len(there) < len(drawn.places) or len(values - there) > 1:
                    continue
                content = fluent.rest(i)
                contents = {" ".join(row[k] for k in content) for row in fluent.rows}
                if len(contents) <= MOST_ON_MAPS:
                    possible = frozenset(contents if content else {fluent.shape[0]})
                    layer = Layer(fluent.shape, (), (i,), content=content, named=not content, crowded=True)
                    layers.append(replace(layer, all_contents=possible))
                    places |= values
                    break
        if layers:
            names = tuple((place,) for place in sorted(places, key=natural))
            title = layers[0].shape[0] if len(layers) == 1 else ""
            cells = frozenset(((), name) for name in names)
            board = BoardLayout(tuple(layers), ((),), names, cells=cells, form="map", title=title)
            return [replace(board, roads=drawn.roads)]
    return []


def _on_ground(
    base: list[Row], states: list[list[Row]], joints: set[str], pairs: Relations
) -> tuple[list[Row], set[str]]:
    """Let places made of two coordinates be those of a relation, such as the cells of a race track.

    It is the largest one that has every place of the initial state.  Return the fluents there may be
    then, and the names of those for which there is such a relation.
    """
    grounded = set()
    for joint in joints:
        start = {p[-2:] for p in states[0] if p[0] == joint}
        for some in sorted(map(set, pairs), key=len, reverse=True):
            if start and start <= some and ordered({a for a, _ in some}) and ordered({b for _, b in some}):
                things = {p[:-2] for p in base if p[0] == joint}
                base = [p for p in base if p[0] != joint]
                base += sorted((*thing, *cell) for thing in things for cell in some)
                grounded.add(joint)
                break
    return base, grounded


def _finished(
    board: BoardLayout,
    columns_first: Collection[str],
    vocabulary: Vocabulary,
    hexes: Neighbours | None,
    hints: Mapping[str, Any],
) -> BoardLayout:
    """Decide how a board lies: which way its coordinates run, and whether its cells are hexagons."""
    if board.form == "row":
        return replace(board, form="folded") if _is_square(board) else board
    if board.form in ("ragged", "rings"):
        return board
    layer = board.layers[0]
    names = {one.shape[0] for one in board.layers}
    columns = {name.lower() for name in columns_first}
    first, second = board.first[0][0], board.second[0][0]
    letters = first[:1].isalpha() and len(first) == 1 and second[-1:].isdigit()
    prefixed = first.rstrip("0123456789").lower() in _ACROSS and first[-1:].isdigit()
    rowlike = first.rstrip("0123456789").lower() in ("r", "y", "row")
    towards = any(one.edge for one in board.layers) and not layer.edge
    rack = _is_rack(board, vocabulary)
    across = letters or prefixed or bool({name.lower() for name in names} & columns) or towards or rack
    across = across and not rowlike
    form, upward = board.form, across
    if layer.split and not board.nested:
        counts = Counter(cell[0][0] for cell in board.cells)
        starts = {min(int(c[1][0]) for c in board.cells if c[0][0] == row) for row in counts}
        if len(set(counts.values())) > 2 and starts == {1}:
            form, across, upward = "star", False, False
    if hexes is not None and not board.nested and hexes.covers(board.first, board.second):
        form, across, upward = hexes.form, False, False
    hinted: dict[str, Any] = {}
    for name in sorted(names):
        hint = hints.get("boards", {}).get(name, {})
        hinted |= {key: hint[key] for key in ("form", "across", "upward", "rack", "sides") if key in hint}
    board = replace(board, across=across, upward=upward, form=form, rack=rack, boxes=_side_of_boxes(board))
    return replace(board, **hinted)


def _side_of_boxes(board: BoardLayout) -> int:
    """Return the side of the boxes of a sudoku: a square board with as many digits as it has rows."""
    side = isqrt(len(board.first))
    contents = {what for layer in board.layers for what in layer.all_contents if what.lower() not in BLANKS}
    is_square = len(board.first) == len(board.second) == side * side > 1
    return side if is_square and contents == {str(i) for i in range(1, side * side + 1)} else 0


def _is_rack(board: BoardLayout, vocabulary: Vocabulary) -> bool:
    """Whether the moves name columns of the board only."""
    if board.nested or len(board.first) < 4 or len(board.second) < 4 or not vocabulary.complete:
        return False
    moves = [arguments(move) for move in vocabulary.moves]
    named = [parts for parts in moves if len(parts) - 1 in (1, 1 + len(board.copies[0])) and len(parts) > 1]
    if any(len(parts) > 1 + 1 + len(board.copies[0]) for parts in moves):
        return False
    return bool(named) and {parts[1] for parts in named} == {column[0] for column in board.first}


def _stock(
    boards: Sequence[BoardLayout], base: Mapping[Shape, list[Row]], control: tuple[Shape, ...]
) -> frozenset[str]:
    """Find pieces of the boards that facts with one argument name."""
    contents = {content for board in boards for layer in board.layers for content in layer.all_contents}
    result: set[str] = set()
    for shape, facts in base.items():
        values = {parts[1] for parts in facts} if shape[1] == 1 and shape not in control else set()
        if len(values) > 2 and values <= contents:
            result |= values
    return frozenset(result)


def _is_full(board: BoardLayout, in_states: Mapping[Shape, list[list[Row]]]) -> bool:
    """Whether the initial state tells the content of every cell, other than `b` and `w`, too."""
    layer = board.layers[0]
    cells = {layer.cell(layer.row(parts)) for parts in in_states[layer.shape][0]}
    whole = len(cells) == (len(board.cells) or len(board.first) * len(board.second))
    return whole and not layer.keys and not layer.crowded and bool(layer.all_contents - {"b", "w"})


def _on_one_colour(board: BoardLayout, in_states: Mapping[Shape, list[list[Row]]]) -> bool:
    """Whether all pieces stand on squares of one colour in the initial state, as in draughts."""
    layer = board.layers[0]
    if board.form != "square" or board.nested or layer.keys or len(board.first) * len(board.second) < 24:
        return False
    rows = map(layer.row, in_states[layer.shape][0])
    pieces = [board.positions.get(layer.cell(row)) for row in rows if layer.what(row).lower() not in BLANKS]
    colours = [sum(place) % 2 for place in pieces if place is not None]
    return len(colours) >= 6 and len(set(colours)) == 1


def _is_square(board: BoardLayout) -> bool:
    """Whether a row of places `a` to `i` can be taken for a square."""
    places = [second[0] for second in board.second]
    joint = "/" in board.layers[0].shape[0]
    return joint and all(len(p) == 1 for p in places) and len(places) in (9, 16, 25)

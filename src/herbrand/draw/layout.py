"""What the fluents of a game are on paper: boards and what lies on them, rows of places, towers.

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
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.layers import BLANKS, LONGEST_ROW, RINGS, Layer, read_layer
from herbrand.draw.maps import Map, read_map
from herbrand.draw.terms import arguments, natural, ordered
from herbrand.draw.together import (
    axes,
    is_control,
    is_ground,
    is_permutation,
    is_tower,
    joined,
    joined_base,
    partitions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from herbrand.draw.layers import Cell, Shape
    from herbrand.draw.vocabulary import Vocabulary

__all__ = ["BoardLayout", "Layout", "Neighbours", "find_layout", "neighbours"]

MOST_ON_MAPS: Final = 30
"""Different things that stand on a map."""

Pairs = Sequence[Sequence[tuple[str, ...]]]
"""Relations of two things, each with what it holds for."""


@dataclass(frozen=True)
class BoardLayout:
    """A grid; several when its layers have keys."""

    layers: tuple[Layer, ...]
    first: tuple[tuple[str, ...], ...]
    """Domain of the first coordinate, in order; one empty coordinate for a row of places."""
    second: tuple[tuple[str, ...], ...]
    copies: tuple[tuple[str, ...], ...] = ((),)
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
    roads: frozenset[tuple[str, str]] = frozenset()
    """Of a map: which places are beside each other."""

    @property
    def nested(self) -> bool:
        """Whether this is a board of boards."""
        return bool(self.first) and len(self.first[0]) > 1


@dataclass(frozen=True)
class Layout:
    """How the states of one game are drawn."""

    roles: tuple[str, ...]
    boards: tuple[BoardLayout, ...] = ()
    towers: tuple[Shape, ...] = ()
    rows: tuple[Shape, ...] = ()
    """Fluents whose arguments are a permutation, such as a pile of pancakes."""
    control: tuple[Shape, ...] = ()
    """Fluents that say whose turn it is."""
    partitions: tuple[tuple[tuple[str, ...], int], ...] = ()
    """Names and arity of fluents that say of each place what is there."""
    axes: tuple[tuple[str, str, str], ...] = ()
    """Pairs of fluents that give a place by its two coordinates apart, and what to call them together."""
    lamps: tuple[str, ...] = ()
    """Fluents without arguments, where nearly all fluents are so."""
    drawn: frozenset[Shape] = field(default_factory=frozenset)
    """Fluents that the boards, towers and rows show, or that say nothing more."""
    movable: frozenset[str] = field(default_factory=frozenset)
    """What can stand on something else in a tower."""
    bases: frozenset[str] = field(default_factory=frozenset)
    """What things can stand on that never stands on anything itself, such as pegs."""
    stock: frozenset[str] = field(default_factory=frozenset)
    """Pieces that may also be beside the boards, and the things in a list."""
    draughts: bool = False
    """Whether all pieces stand on squares of one colour."""
    hints: Mapping[str, Any] = field(default_factory=dict)

    def facts(self, facts: Iterable[str]) -> list[tuple[str, ...]]:
        """Split facts into parts, with those joined that say one thing only together."""
        return joined([arguments(fact) for fact in sorted(set(facts))], self.partitions, self.axes)


def find_layout(
    vocabulary: Vocabulary,
    *,
    columns_first: Collection[str] = (),
    hexes: Neighbours | None = None,
    pairs: Callable[[], Pairs] = tuple,
    hints: Mapping[str, Any] | None = None,
) -> Layout:
    """Find out which fluents are boards.

    `columns_first` names fluents whose first coordinate is a column; `hexes` is what `neighbours`
    found about cells with six neighbours; `pairs` finds the relations of two things that hold in every
    state, and is asked where they may tell which cells there are; `hints` is what a file of hints says
    (`herbrand.draw.hints`).
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
        base, grounded = _on_ground(base, states, joints, pairs())
    by_shape: dict[Shape, list[tuple[str, ...]]] = defaultdict(list)
    for parts in base:
        by_shape[parts[0], len(parts) - 1].append(parts)
    in_states: dict[Shape, list[list[tuple[str, ...]]]] = {
        shape: [[p for p in state if p[0] == shape[0] and len(p) - 1 == shape[1]] for state in states]
        for shape in by_shape
    }
    hidden = set(hints.get("hide", ()))
    towers = tuple(s for s in sorted(by_shape) if is_tower(s, in_states[s]) and s[0] not in hidden)
    rows = tuple(s for s in sorted(by_shape) if is_permutation(in_states[s], by_shape[s]))
    candidates: list[tuple[Layer, list[tuple[str, ...]]]] = []
    bare: list[tuple[Shape, list[tuple[str, ...]]]] = []
    unread: list[Shape] = []
    for shape in sorted(by_shape, key=lambda s: (-s[1], natural(s[0]))):
        if shape in control or shape in towers or shape in rows or shape[1] == 0 or shape[0] in hidden:
            continue
        layer = read_layer(shape, by_shape[shape], in_states[shape], roles, hints)
        if layer is not None:
            candidates.append((layer, by_shape[shape]))
        else:
            if shape[0] not in joints:
                unread.append(shape)
            if shape[1] in (2, 3, 4):
                bare.append((shape, by_shape[shape]))
    boards = _boards(candidates, in_states)
    boards = _with_overlays(boards, bare, in_states, roles)
    columns_first = {*columns_first, *joints}
    finished = tuple(
        _finished(board, columns_first, vocabulary, hexes, hints)
        if vocabulary.complete or board.title in grounded
        else _finished(replace(board, cells=frozenset()), columns_first, vocabulary, hexes, hints)
        for board in boards
    )
    if not finished and not towers and not rows:
        finished = _drawn_on_maps(unread, by_shape, [read_map(some, roles) for some in pairs()])
    drawn = {layer.shape for board in finished for layer in board.layers} | set(towers) | set(rows)
    if towers:
        drawn |= {shape for shape in by_shape if is_ground(shape)}
    bare_names = tuple(name for name, arity in sorted(by_shape, key=lambda s: natural(s[0])) if arity == 0)
    return Layout(
        roles=vocabulary.roles,
        boards=finished,
        towers=towers,
        rows=rows,
        control=control,
        partitions=parted,
        axes=paired,
        lamps=bare_names if 1 < len(bare_names) <= LONGEST_ROW else (),
        drawn=frozenset(drawn),
        movable=frozenset(parts[1] for shape in towers for parts in by_shape[shape]),
        bases=frozenset(parts[2] for shape in towers for parts in by_shape[shape])
        - frozenset(parts[1] for shape in towers for parts in by_shape[shape]),
        stock=_stock(finished, by_shape, control)
        | {part for shape in rows for parts in by_shape[shape] for part in parts[1:]},
        draughts=_on_one_colour(finished, states[0]),
        hints=hints,
    )


_DIRECTION = re.compile(r"(north|south|east|west)\Z", re.IGNORECASE)
_ACROSS: Final = ("x", "c", "col", "column", "f", "file")


def _boards(
    candidates: list[tuple[Layer, list[tuple[str, ...]]]],
    in_states: Mapping[Shape, list[list[tuple[str, ...]]]],
) -> list[BoardLayout]:
    """Make boards of the layers, several layers on one where they share the coordinates."""
    boards: list[BoardLayout] = []
    for layer, base in sorted(candidates, key=lambda one: (bool(one[0].keys), one[0].edge != "")):
        rows = [layer.row(parts) for parts in base]
        if layer.edge == "between":
            continue
        board = _board(layer, rows, list(map(layer.row, in_states[layer.shape][0])))
        counted = (
            layer.crowded and bool(layer.known) and all(content[-1:].isdigit() for content in layer.known)
        )
        if (layer.keys or counted) and any(
            other.copies == ((),) and (board.first, board.second) == (other.first, other.second)
            for other in boards
        ):
            continue
        for place, other in enumerate(boards):
            if _fits(board, other):
                larger = max((board, other), key=lambda one: len(one.first) * len(one.second))
                boards[place] = replace(
                    other,
                    layers=(*other.layers, layer),
                    first=larger.first,
                    second=larger.second,
                    cells=frozenset() if layer.edge == "content" else other.cells | board.cells,
                )
                break
        else:
            boards.append(board)
    for layer, _ in candidates:
        if layer.edge == "between":
            for place, board in enumerate(boards):
                if len(board.first) > 2 and not board.nested:
                    boards[place] = replace(board, layers=(*board.layers, layer))
                    break
    return boards


def _board(layer: Layer, rows: list[tuple[str, ...]], initial: list[tuple[str, ...]]) -> BoardLayout:
    """Return the board of one layer."""
    first = _domain(rows, layer.first, initial)
    second = _domain(rows, layer.second, initial)
    copies = sorted(
        {tuple(row[k] for k in layer.keys) for row in rows}, key=lambda key: [natural(part) for part in key]
    )
    cells = frozenset(layer.cell(row) for row in rows)
    form = "square" if layer.first else "row"
    if layer.first == (0,) and layer.second == (1,):
        if {c[0] for c in first} <= set(RINGS):
            form = "rings"
            first = tuple((ring,) for ring in RINGS if (ring,) in first)
        elif ordered({c[0] for c in second}) is None:
            form, cells = "ragged", frozenset(layer.cell(row) for row in initial)
    return BoardLayout((layer,), first, second, tuple(copies), cells, form=form, title=layer.shape[0])


def _domain(
    rows: list[tuple[str, ...]], positions: tuple[int, ...], initial: list[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    lists = []
    for position in positions:
        values = {row[position] for row in rows}
        shown = {row[position] for row in initial}
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
    disjoint = not board.cells & other.cells
    return disjoint or not alike


def _stem(name: str) -> str:
    """Return what names such as `cell1`, `cell2`, `cell_a` have in common."""
    return re.sub(r"(_\w+|\d+)\Z", "", name)


def _with_overlays(
    boards: list[BoardLayout],
    bare: list[tuple[Shape, list[tuple[str, ...]]]],
    in_states: Mapping[Shape, list[list[tuple[str, ...]]]],
    roles: set[str],
) -> list[BoardLayout]:
    """Add the fluents that name cells and nothing in them; a board of their own if there is none."""
    boards = list(boards)
    for shape, base in bare:
        probe = Layer(shape)
        rows = [probe.row(parts) for parts in base]
        direction = _DIRECTION.search(shape[0])
        width = len(rows[0])
        values = [{row[i] for row in rows} for i in range(width)]
        if any({v.lower() for v in some} <= roles for some in values[:2]):
            continue
        layer = Layer(shape, (0,), (1,), content=tuple(range(2, width)), named=width == 2)
        if width == 3:
            if not ("wall" in shape[0].lower() or "block" in shape[0].lower()):
                continue
            layer = replace(layer, edge="content", content=(2,))
        elif width != 2:
            continue
        elif direction and len(values[0]) > 1:
            layer = replace(layer, edge=direction[1].lower())
        for place, board in enumerate(boards):
            if board.form == "row" or board.nested or board.copies != ((),):
                continue
            if all(v in {c[0] for c in board.first} for v in values[0]) and all(
                v in {c[0] for c in board.second} for v in values[1]
            ):
                boards[place] = replace(board, layers=(*board.layers, layer))
                break
        else:
            one, two = ordered(values[0]), ordered(values[1])
            if layer.edge or one is None or two is None or len(one) * len(two) < 9:
                continue
            if one[0].isalpha() and two[0].isalpha():
                continue
            if not _scattered(in_states[shape], rows):
                continue
            boards.append(_board(layer, rows, in_states[shape][0]))
    return boards


def _drawn_on_maps(
    shapes: Sequence[Shape],
    by_shape: Mapping[Shape, list[tuple[str, ...]]],
    maps: Iterable[Map | None],
) -> tuple[BoardLayout, ...]:
    """Return the largest map on which fluents have a place, with them; a place that it lacks stands apart."""
    for drawn in sorted(filter(None, maps), key=lambda one: (-len(one.places), one.places)):
        layers, places = [], set(drawn.places)
        for shape in shapes:
            base = by_shape[shape]
            for i in range(shape[1]):
                values = {parts[i + 1] for parts in base}
                there = values & set(drawn.places)
                if 2 * len(there) < len(drawn.places) or len(values - there) > 1:
                    continue
                content = tuple(k for k in range(shape[1]) if k != i)
                contents = {" ".join(parts[k + 1] for k in content) for parts in base}
                if len(contents) <= MOST_ON_MAPS:
                    layers.append(
                        Layer(
                            *(shape, (), (i,)),
                            content=content,
                            named=not content,
                            crowded=True,
                            known=frozenset(contents if content else {shape[0]}),
                        )
                    )
                    places |= values
                    break
        if layers:
            names = tuple((place,) for place in sorted(places, key=natural))
            title = layers[0].shape[0] if len(layers) == 1 else ""
            board = BoardLayout(tuple(layers), ((),), names, title=title, form="map", roads=drawn.roads)
            return (replace(board, cells=frozenset(((), name) for name in names)),)
    return ()


def _on_ground(
    base: list[tuple[str, ...]], states: list[list[tuple[str, ...]]], joints: set[str], pairs: Pairs
) -> tuple[list[tuple[str, ...]], set[str]]:
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


def _scattered(states: list[list[tuple[str, ...]]], rows: list[tuple[str, ...]]) -> bool:
    """Whether pairs look like marks on a grid rather than like a value for each name."""
    if any(len({p[1] for p in state}) < len(state) for state in states):
        repeated = True
    else:
        repeated = False
    covered = Counter(row[0] for row in rows)
    return repeated and len(covered) >= 3 and min(covered.values()) >= 2


def _finished(
    board: BoardLayout,
    columns_first: Collection[str],
    vocabulary: Vocabulary,
    hexes: Neighbours | None,
    hints: Mapping[str, Any],
) -> BoardLayout:
    """Decide how a board lies: which way its coordinates run, and whether its cells are hexagons."""
    if board.form == "row":
        return replace(board, form="folded") if _square_side(board) else board
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
    if hexes is not None and not board.nested and hexes.covers(board):
        form, across, upward = hexes.form, False, False
    for name in sorted(names):
        told = hints.get("boards", {}).get(name, {})
        form = told.get("form", form)
        across = told.get("across", across)
        upward = told.get("upward", upward)
        rack = told.get("rack", rack)
    return replace(board, across=across, upward=upward, form=form, rack=rack)


def _is_rack(board: BoardLayout, vocabulary: Vocabulary) -> bool:
    """Whether the moves name columns of the board only."""
    if board.nested or len(board.first) < 4 or len(board.second) < 4 or not vocabulary.complete:
        return False
    moves = [arguments(move) for move in vocabulary.moves]
    named = [parts for parts in moves if len(parts) - 1 in (1, 1 + len(board.copies[0])) and len(parts) > 1]
    if any(len(parts) > 1 + 1 + len(board.copies[0]) for parts in moves):
        return False
    columns = {column[0] for column in board.first}
    return bool(named) and {parts[1] for parts in named} == columns


def _stock(
    boards: tuple[BoardLayout, ...], base: Mapping[Shape, list[tuple[str, ...]]], control: tuple[Shape, ...]
) -> frozenset[str]:
    """Find pieces of the boards that facts with one argument name."""
    contents = {content for board in boards for layer in board.layers for content in layer.known}
    found: set[str] = set()
    for shape, facts in base.items():
        values = {parts[1] for parts in facts} if shape[1] == 1 and shape not in control else set()
        if len(values) > 2 and values <= contents:
            found |= values
    return frozenset(found)


def _on_one_colour(boards: tuple[BoardLayout, ...], state: list[tuple[str, ...]]) -> bool:
    """Whether all pieces stand on squares of one colour, as in draughts."""
    for board in boards:
        layer = board.layers[0]
        if board.form != "square" or board.nested or layer.keys or len(board.first) * len(board.second) < 24:
            continue
        places = []
        for parts in state:
            if (parts[0], len(parts) - 1) == layer.shape:
                row = layer.row(parts)
                cell = layer.cell(row)
                what = " ".join(row[k] for k in layer.content).lower()
                if what not in BLANKS and cell[0] in board.first and cell[1] in board.second:
                    places.append((board.first.index(cell[0]) + board.second.index(cell[1])) % 2)
        if len(places) >= 6 and len(set(places)) == 1:
            return True
    return False


def _square_side(board: BoardLayout) -> int:
    """Return 3, 4 or 5 for a row of places `a` to `i` that can be taken for a square."""
    places = [second[0] for second in board.second]
    if not (board.layers[0].shape[0].count("/") and all(len(p) == 1 for p in places)):
        return 0
    return {9: 3, 16: 4, 25: 5}.get(len(places), 0)


@dataclass(frozen=True)
class Neighbours:
    """What a relation that says what lies beside what tells about the form of the cells."""

    form: str
    """"hex" or "hex-left"."""
    first: frozenset[str]
    second: frozenset[str]

    def covers(self, board: BoardLayout) -> bool:
        """Whether the cells of a board are among those that the relation speaks of."""
        sides = ((board.first, self.first), (board.second, self.second))
        return all({one[0] for one in domain} <= known for domain, known in sides)


def neighbours(pairs: Iterable[tuple[str, ...]]) -> Neighbours | None:
    """Return the form of cells that have six neighbours; None for others.

    A pair is two cells with two coordinates each.
    """
    around: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    values: tuple[set[str], set[str]] = (set(), set())
    for a, b, c, d in pairs:
        around[a, b].add((c, d))
        values[0].update((a, c))
        values[1].update((b, d))
    first, second = ordered(values[0]), ordered(values[1])
    if first is None or second is None:
        return None
    place = {value: i for i, value in enumerate(first)}
    other = {value: i for i, value in enumerate(second)}
    offsets: Counter[frozenset[tuple[int, int]]] = Counter()
    for (a, b), near in around.items():
        offsets[frozenset((place[c] - place[a], other[d] - other[b]) for c, d in near)] += 1
    largest = max(offsets, key=lambda some: (len(some), offsets[some]))
    straight = {(0, 1), (0, -1), (1, 0), (-1, 0)}
    forms = {
        frozenset(straight | {(1, -1), (-1, 1)}): "hex",
        frozenset(straight | {(1, 1), (-1, -1)}): "hex-left",
    }
    form = forms.get(largest)
    return None if form is None else Neighbours(form, frozenset(first), frozenset(second))

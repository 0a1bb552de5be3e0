"""Boards as SVG: the places and contents of their cells, walls, frames and the last moves."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import cos, pi, sin, sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from herbrand.draw.clicks import dropped
from herbrand.draw.looks import COLOURS, Look, role_colours, spoken, words
from herbrand.draw.maps import arranged
from herbrand.draw.paper import LETTER, WIDTH, Part, cell_name, clickable, n, rect, text
from herbrand.draw.pieces import BOX, piece
from herbrand.draw.terms import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.draw.boards.layers import Cell, Layer
    from herbrand.draw.boards.layout import BoardLayout, Contents, Layout

__all__ = ["board_parts", "cell_places", "drawn_walls", "line", "placed", "title_of"]

LARGEST: Final = 56.0
SMALLEST: Final = 20.0
HEXAGONAL: Final = ("hex", "hex-left")
BOARD: Final = 460.0
"""The longer side of a large board."""


@dataclass(frozen=True)
class _Grid:
    """Where the cells of one board are."""

    board: BoardLayout
    size: float
    places: Mapping[Cell, tuple[float, float]]
    """Centre of each cell, from the corner of the board."""
    width: float
    height: float
    columns: list[tuple[str, float, float]]
    """Labels of the columns, with their places."""
    rows: list[tuple[str, float, float]]
    """Labels of the rows, with their places."""
    above: float = 0.0
    """Room for labels above the board."""
    flipped: bool = False
    """Whether the board is turned around."""

    def turned(self) -> _Grid:
        """Return the grid turned around; labels below and beside the board stay there."""
        w, h = self.width, self.height
        places = {cell: (w - x, h - y) for cell, (x, y) in self.places.items()}
        columns = [(label, w - x, h - y if self.above else y) for label, x, y in self.columns]
        rows = [(label, w - x if self.above else x, h - y) for label, x, y in self.rows]
        return replace(self, places=places, columns=columns, rows=rows, flipped=True)


def board_parts(
    layout: Layout,
    contents: Mapping[tuple[int, int], Contents],
    looks: Mapping[str, Look],
    last: Sequence[Sequence[str]],
    *,
    flipped: bool = False,
) -> list[Part]:
    """Draw all boards with their contents, which are those of `Layout.contents`."""
    parts: list[Part] = []
    grids = list(map(_grid, layout.boards))
    if flipped:
        grids = [grid.turned() if grid.board.is_grid and not grid.board.rack else grid for grid in grids]
    colours = role_colours(layout.roles)
    for (number, copy), inside in contents.items():
        board = layout.boards[number]
        titled = len(board.copies) > 1 or len(layout.boards) > 1
        title = board.copy_title(copy, title_of(board.title)) if titled else ""
        parts.append(_one_board(grids[number], number, copy, title, inside, looks, last, colours))
        parts[-1].broken = len(board.copies) == 4 and copy == 1
    return parts


def cell_places(layout: Layout) -> dict[str, tuple[float, float, float]]:
    """Return the middle and the size of each cell, in its board, by the names of `paper.cell_name`."""
    return {
        cell_name(number, copy, cell): (x, y, grid.size)
        for number, grid in enumerate(map(_grid, layout.boards))
        for copy in range(len(grid.board.copies))
        for cell, (x, y) in grid.places.items()
    }


def drawn_walls(board: BoardLayout, walls: Iterable[tuple[Layer, Sequence[str]]]) -> str:
    """Draw walls, which are those of `Contents`, from the corner of a board."""
    grid = _grid(board)
    return "".join(line for layer, row in walls for line in _wall(layer, row, grid))


def cell_words(board: BoardLayout, cell: Cell) -> str:
    """Name a cell for people.

    It is `e4` for a letter and a number, and tells rows from columns where both are numbers.
    """
    (one, two) = ".".join(cell[0]), ".".join(cell[1])
    if not board.is_grid or board.form == "folded":
        return " ".join(filter(None, (one, two)))
    if len(one) == 1 and one.isalpha() and two.isdecimal():
        return f"{one}{two}"
    row, column = (two, one) if board.across else (one, two)
    return f"row {row}, column {column}"


def title_of(name: str) -> str:
    """Return the name of a fluent as words; nothing for one made of several."""
    return "" if "/" in name else " ".join(words(name))


def _one_board(
    grid: _Grid,
    number: int,
    copy: int,
    title: str,
    inside: Contents,
    looks: Mapping[str, Look],
    last: Sequence[Sequence[str]],
    colours: Mapping[str, str],
) -> Part:
    board, size, contents, rack = grid.board, grid.size, inside.cells, grid.board.rack
    walls = [wall for layer, row in inside.walls for wall in _wall(layer, row, grid)]
    possible = (looks.get(what.lower()) for layer in board.layers for what in layer.all_contents)
    chess = any(look is not None and look.kind in ("chess", "draughts") for look in possible)
    top = (22.0 if title else 0.0) + grid.above
    left = 20.0 if grid.rows else 0.0
    svg: list[str] = []
    if title:
        svg.append(text(left, 8, title, "title start"))
    svg.append(f'<g transform="translate({n(left)} {n(top)})">')
    chequered = chess and not board.nested and board.form == "square"
    exist = board.cells
    if chequered and 2 * len(exist) == len(board.first) * len(board.second):
        exist = frozenset()  # draughts: the other squares exist, but are always empty
    if rack:
        svg.append(rect("rack", -4, -4, grid.width + 8, grid.height + 8, 10))
    if board.form == "rings":
        svg += _frames(grid)
    elif board.form == "map":
        svg += _roads(grid)
    svg += _sides(grid, colours)
    filled: list[Cell] = []
    for cell, (x, y) in grid.places.items():
        if exist and cell not in exist and cell not in contents:
            continue
        there = [(looks[name.lower()], name) for name in contents.get(cell, ())]
        inhabitants = [(look, spoken(name, look)) for look, name in there if look.kind != "none"]
        if grid.flipped:
            inhabitants = [(replace(look, turn=look.turn + 180), what) for look, what in inhabitants]
        description = ", ".join(filter(None, (title, cell_words(board, cell))))
        description += f": {', '.join(what for _, what in inhabitants)}" if inhabitants else ""
        filled += [cell] * bool(inhabitants)
        drawn = _ground(board, cell, x, y, size, chequered=chequered, rack=rack)
        if board.form == "map" and not inhabitants:
            drawn += text(x, y, _shortened(cell[1][0], size), "label")
        drawn += _crowd(inhabitants, x, y, size)
        svg.append(clickable(cell_name(number, copy, cell), description, drawn))
    svg += [_around("mark", grid, *grid.places[cell], 3.0) for cell in inside.marks if cell in grid.places]
    svg += walls
    svg += _boxes(grid)
    if board.form != "rings":
        svg += _frames(grid)
    svg += _trail(grid, number, copy, [*last, *dropped(board, number, copy, last, filled)])
    svg += [text(x, y, label, "label") for label, x, y in (*grid.columns, *grid.rows)]
    svg.append("</g>")
    bottom = 20.0 if any(y > grid.height for _, _, y in grid.columns) else 0.0
    description = _description(title or title_of(board.title) or "board", contents, looks)
    wide = left + grid.width + (20.0 if any(x > grid.width for _, x, _ in grid.rows) else 0.0)
    return Part(max(wide, len(title) * LETTER), top + grid.height + bottom, svg, [description])


def _description(title: str, contents: Mapping[Cell, list[str]], looks: Mapping[str, Look]) -> str:
    """Describe the pieces on a board in words."""
    by_content: dict[str, list[str]] = defaultdict(list)
    empty = 0
    for cell, names in contents.items():
        for name in names:
            if looks[name.lower()].kind == "none":
                empty += 1
            else:
                by_content[spoken(name, looks[name.lower()])].append(" ".join((*cell[0], *cell[1])))
    groups = [f"{name} at {', '.join(cells)}" for name, cells in sorted(by_content.items())]
    if empty:
        groups.append(f"{empty} empty")
    return f"{title}: {'; '.join(groups) or 'empty'}"


def _grid(board: BoardLayout) -> _Grid:
    """Decide on the places of the cells."""
    first, second = board.first, board.second
    if board.form == "folded":
        size, side = LARGEST, board.side * LARGEST
        places = {c: ((x + 0.5) * size, (y + 0.5) * size) for c, (y, x) in board.positions.items()}
        return _Grid(board, size, places, side, side, [], [])
    if board.form == "row":
        size = max(SMALLEST * 1.4, min(LARGEST, WIDTH / min(len(second), 16)))
        across = min(len(second), 16)
        down = -(-len(second) // across)
        places, labels = {}, []
        for i, two in enumerate(second):
            x, top = (i % across + 0.5) * size, (i // across) * (size + 18)
            places[(), two] = (x, top + size / 2)
            labels.append((_shortened(two[0], size), x, top + size + 9))
        wide = min(across, len(second)) * size
        return _Grid(board, size, places, wide, down * (size + 18) - 18, labels, [])
    if board.form == "map":
        return _map(board)
    many = len(board.copies)
    shorter = BOARD if many == 1 else 300.0 if many <= 4 else 180.0
    if board.form in HEXAGONAL:
        return _hexagons(board, shorter)
    columns, rows = board.columns, board.rows
    size = max(SMALLEST, min(LARGEST, shorter / max(len(columns), len(rows))))
    if board.form in ("star", "ragged"):
        return _star(board, size)
    if board.form == "rings":
        return _rings(board)
    inner_x, inner_y = _inner(columns), _inner(rows)
    gap = 8.0 if board.nested else 0.0
    xs = {c: (i + 0.5) * size + gap * (i // inner_x) for i, c in enumerate(columns)}
    ys = {r: (i + 0.5) * size + gap * (i // inner_y) for i, r in enumerate(rows)}
    places = {(a, b): (xs[a], ys[b]) if board.across else (xs[b], ys[a]) for a, b in product(first, second)}
    width = len(columns) * size + gap * ((len(columns) - 1) // inner_x)
    height = len(rows) * size + gap * ((len(rows) - 1) // inner_y)
    if board.nested:
        return _Grid(board, size, places, width, height, [], [])
    step = 2 if size < 26 else 1
    x_labels = [(c[0], xs[c], height + 11) for c in columns[::step]]
    y_labels = [(r[0], -11.0, ys[r]) for r in rows[::step]]
    return _Grid(board, size, places, width, height, x_labels, y_labels)


def _shortened(label: str, size: float) -> str:
    """Return as much of a label as has room below a cell."""
    room = max(2, int(size / 6))
    return label if len(label) <= room else f"{label[: room - 1]}…"


def _inner(domain: Sequence[tuple[str, ...]]) -> int:
    """Return how many coordinates share the outermost part."""
    return sum(one[0] == domain[0][0] for one in domain) if len(domain[0]) > 1 else len(domain)


def _hexagons(board: BoardLayout, shorter: float) -> _Grid:
    """Place hexagons: each row half a cell further to one side than the one above it."""
    rows, columns = board.rows, board.columns
    step = 0.5 if board.form == "hex" else -0.5
    spread = len(columns) + 0.5 * (len(rows) - 1)
    size = max(SMALLEST, min(LARGEST, 1.25 * shorter / spread))
    high = size * 2 / sqrt(3)
    shift = 0.0 if step > 0 else 0.5 * (len(rows) - 1)
    places = {}
    for (i, one), (j, two) in product(enumerate(rows), enumerate(columns)):
        cell = (two, one) if board.across else (one, two)
        places[cell] = ((j + 0.5 + step * i + shift) * size, (0.75 * i + 0.5) * high)
    existing = [cell for cell in places if not board.cells or cell in board.cells]
    low = min(places[cell][0] for cell in existing) - size / 2
    places = {cell: (x - low, y) for cell, (x, y) in places.items()}
    width = max(places[cell][0] for cell in existing) + size / 2
    height = (0.75 * (len(rows) - 1) + 1) * high
    by_row, by_column = defaultdict(list), defaultdict(list)
    for cell in existing:
        one, two = cell[::-1] if board.across else cell
        by_row[one].append(places[cell])
        by_column[two].append(places[cell])
    columns_at = []
    for column, some in by_column.items():  # where a column does not begin at the top, its name is below it
        first, last = min(some, key=itemgetter(1)), max(some, key=itemgetter(1))
        x, y = (first[0], first[1] - high / 2 - 8) if first[1] < high else (last[0], last[1] + high / 2 + 8)
        columns_at.append((column[0], x + (-step if y < first[1] else step) * size / 2, y))
    rows_at = [(r[0], min(some)[0] - size / 2 - 11, min(some)[1]) for r, some in by_row.items()]
    return _Grid(board, size, places, width, height, columns_at, rows_at, above=16.0)


def _rings(board: BoardLayout) -> _Grid:
    """Place the points of the compass on squares inside each other."""
    size = 44.0
    middle = len(board.first) * size + size / 2
    places = {}
    for i, one in enumerate(board.first):
        for two in board.second:
            dx = ("e" in two[0]) - ("w" in two[0])
            dy = ("s" in two[0]) - ("n" in two[0])
            places[one, two] = (middle + dx * (i + 1) * size, middle + dy * (i + 1) * size)
    return _Grid(board, size * 0.8, places, 2 * middle, 2 * middle, [], [])


def _map(board: BoardLayout) -> _Grid:
    """Place the places of a map."""
    where = arranged(tuple(two[0] for two in board.second), board.roads)
    wide, high = max(x for x, _ in where.values()), max(y for _, y in where.values())
    step = min(74.0, 640 / max(wide, high, 1))
    size = max(SMALLEST, 0.6 * step)
    places: dict[Cell, tuple[float, float]] = {
        ((), (name,)): (x * step + size / 2, y * step + size / 2) for name, (x, y) in where.items()
    }
    return _Grid(board, size, places, wide * step + size, high * step + size, [], [])


def _roads(grid: _Grid) -> list[str]:
    """Draw the lines between the places of a map."""
    svg = []
    for a, b in sorted(grid.board.roads):
        svg.append(line("frame", *grid.places[(), (a,)], *grid.places[(), (b,)]))
    return svg


def _star(board: BoardLayout, size: float) -> _Grid:
    """Place rows of different lengths so that their middles stand in one line."""
    by_row: dict[tuple[str, ...], list[Cell]] = defaultdict(list)
    for cell in board.cells:
        by_row[cell[0]].append(cell)
    widest = max(map(len, by_row.values()))
    places = {}
    for i, one in enumerate(board.first):
        cells = sorted(by_row.get(one, ()), key=lambda cell: natural(cell[1][0]))
        for j, cell in enumerate(cells):
            places[cell] = ((widest - len(cells)) / 2 * size + (j + 0.5) * size, (i + 0.5) * size * 0.88)
    rows = [(one[0], -11.0, (i + 0.5) * size * 0.88) for i, one in enumerate(board.first)]
    return _Grid(board, size, places, widest * size, len(board.first) * size * 0.88, [], rows)


def _ground(
    board: BoardLayout, cell: Cell, x: float, y: float, size: float, *, chequered: bool, rack: bool
) -> str:
    """Draw an empty cell."""
    if board.form in HEXAGONAL:
        return _polygon("cell", _corners(x, y, size))
    if board.form in ("star", "ragged", "rings", "map"):
        return f'<circle class="cell" cx="{n(x)}" cy="{n(y)}" r="{n(size * 0.44)}"/>'
    if rack:
        return f'<circle class="rack-hole" cx="{n(x)}" cy="{n(y)}" r="{n(size * 0.4)}"/>'
    kind = "cell"
    if chequered:
        i, j = board.first.index(cell[0]), board.second.index(cell[1])
        kind = "dark" if (i + j) % 2 == (0 if board.across else 1) else "light"
    half = size / 2
    return rect(kind, x - half, y - half, size, size, 6 if board.form == "row" else 0)


def _crowd(inside: list[tuple[Look, str]], x: float, y: float, size: float) -> str:
    """Draw the contents of a cell, side by side if there are several."""
    if not inside:
        return ""
    if len(inside) == 1:
        return placed(piece(*inside[0]), x, y, size)
    ground = [one for one in inside if one[0].kind in ("block", "burnt", "dot")]
    others = [one for one in inside if one not in ground]
    if ground and len(others) == 1:
        return placed(piece(*ground[0]), x, y, size) + placed(piece(*others[0]), x, y, size * 0.86)
    across = 2 if len(inside) <= 4 else 3
    shown, part, drawn = inside[: across * across], size / across, ""
    rows = -(-len(shown) // across)
    for i, one in enumerate(shown):
        left, down = i % across + 0.5, i // across + 0.5 - rows / 2
        drawn += placed(piece(*one), x - size / 2 + left * part, y + down * part, part)
    return drawn


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Write a line of a class of the style sheet."""
    return f'<line class="{kind}" x1="{n(x1)}" y1="{n(y1)}" x2="{n(x2)}" y2="{n(y2)}"/>'


def _polygon(kind: str, corners: Iterable[tuple[float, float]]) -> str:
    points = " ".join(f"{n(x)},{n(y)}" for x, y in corners)
    return f'<polygon class="{kind}" points="{points}"/>'


def placed(svg: str, x: float, y: float, size: float) -> str:
    """Put a piece with its middle at a place."""
    if not svg:
        return ""
    scale = size / BOX
    return f'<g transform="translate({n(x - size / 2)} {n(y - size / 2)}) scale({scale:.4g})">{svg}</g>'


def _around(kind: str, grid: _Grid, x: float, y: float, inset: float) -> str:
    """Draw a line around a cell, a little inside of it."""
    if grid.board.form in HEXAGONAL:
        return _polygon(kind, _corners(x, y, grid.size - 2 * inset))
    half = grid.size / 2 - inset
    return rect(kind, x - half, y - half, 2 * half, 2 * half, 4)


_SIDES: Final = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}


def _wall(layer: Layer, row: Sequence[str], grid: _Grid) -> list[str]:
    """Draw a wall at one side of a cell, or between two cells."""
    if layer.edge == "between":
        return _between(layer, row, grid)
    side = row[layer.content[0]].lower() if layer.edge == "content" else layer.edge
    place = grid.places.get(layer.cell(row))
    if place is None or side not in _SIDES:
        return []
    dx, dy = _SIDES[side]
    half = grid.size / (-2 if grid.flipped else 2)
    x, y = place[0] + dx * half, place[1] - dy * half
    return [_bar(x, y, abs(half), upright=dx != 0)]


def _bar(x: float, y: float, half: float, *, upright: bool) -> str:
    """Draw a wall as long as the side of a cell with its middle at a place."""
    across, along = (0.0, half) if upright else (half, 0.0)
    return line("wall", x - across, y - along, x + across, y + along)


def _between(layer: Layer, row: Sequence[str], grid: _Grid) -> list[str]:
    """Draw a wall between two cells, or a post where four meet."""
    places = [grid.places.get(((a,), (b,))) for a, b in zip(*layer.cell(row), strict=True)]
    if layer.content and row[layer.content[0]].lower() in ("none", "blank", "b", "empty"):
        return []
    if len(places) != 2 or places[0] is None or places[1] is None:
        return []
    (x1, y1), (x2, y2) = places[0], places[1]
    x, y, half = (x1 + x2) / 2, (y1 + y2) / 2, grid.size / 2
    if abs(x1 - x2) > 1 and abs(y1 - y2) > 1:
        if not layer.content:
            return []
        colour = COLOURS.get(row[layer.content[0]].lower(), "ink")
        return [f'<circle class="f-{colour} o-ink" cx="{n(x)}" cy="{n(y)}" r="{n(half * 0.35)}"/>']
    return [_bar(x, y, half, upright=abs(x1 - x2) > 1)]


def _boxes(grid: _Grid) -> list[str]:
    """Draw the lines between the boxes of a sudoku."""
    board, size = grid.board, grid.size
    places = [k * board.boxes * size for k in range(1, board.boxes)]
    upright = [line("frame", x, 0.0, x, grid.height) for x in places]
    return upright + [line("frame", 0.0, y, grid.width, y) for y in places]


def _corners(x: float, y: float, size: float) -> list[tuple[float, float]]:
    """Return the corners of a hexagon, clockwise from the top."""
    radius = size / sqrt(3)
    return [(x + radius * sin(pi / 3 * k), y - radius * cos(pi / 3 * k)) for k in range(6)]


def _sides(grid: _Grid, colours: Mapping[str, str]) -> list[str]:
    """Colour the sides that roles have to join."""
    board, size = grid.board, grid.size
    if board.form not in HEXAGONAL:
        w, h = grid.width, grid.height
        lines = {
            "rows": ((0, -2, w, -2), (0, h + 2, w, h + 2)),
            "columns": ((-2, 0, -2, h), (w + 2, 0, w + 2, h)),
        }
        sides = board.sides.items()
        return [line(f"side s-{colours[role]}", *ends) for axis, role in sides for ends in lines[axis]]
    # the edges of a hexagon that lie at a side, by the corners that they begin with
    left, right = ((3, 4), (0, 1)) if board.form == "hex" else ((4, 5), (1, 2))
    edges = {"rows": ((5, 0), (2, 3)), "columns": (left, right)}
    svg, taken = [], set()
    for axis in sorted(board.sides, reverse=True):
        kind = f"side s-{colours[board.sides[axis]]}"
        cells = board.rows if axis == "rows" else board.columns
        for end, corners in zip((cells[0], cells[-1]), edges[axis], strict=True):
            for cell, (x, y) in grid.places.items():
                row, column = cell[::-1] if board.across else cell
                for k in corners if end == (row if axis == "rows" else column) else ():
                    if (cell, k) not in taken:
                        around, at = _corners(x, y, size), (k + 3) % 6 if grid.flipped else k
                        svg.append(line(kind, *around[at], *around[(at + 1) % 6]))
                        taken.add((cell, k))
    return svg


def _frames(grid: _Grid) -> list[str]:
    """Draw the edge of a board; on a board of boards, of each of them."""
    board = grid.board
    if board.rack or board.form in ("hex", "hex-left", "star", "ragged", "row", "map"):
        return []
    if board.form == "rings":
        return _ring_lines(grid)
    if not board.nested:
        has_gaps = board.cells and len(board.cells) < len(board.first) * len(board.second)
        return [] if has_gaps else [rect("frame", 0, 0, grid.width, grid.height, 2)]
    corners: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (one, two), place in grid.places.items():
        corners[one[0], two[0]].append(place)
    half = grid.size / 2
    frames = []
    for some in corners.values():
        x, y = min(p[0] for p in some) - half, min(p[1] for p in some) - half
        width, height = max(p[0] for p in some) + half - x, max(p[1] for p in some) + half - y
        frames.append(rect("frame", x, y, width, height, 2))
    return frames


def _ring_lines(grid: _Grid) -> list[str]:
    """Draw the lines of a board of rings: the squares and what joins their sides."""
    middle, step = grid.width / 2, grid.size / 0.8
    rings = len(grid.board.first)
    svg = [
        rect("frame", middle - i * step, middle - i * step, 2 * i * step, 2 * i * step)
        for i in range(1, rings + 1)
    ]
    for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        inner, outer = ((middle + dx * i * step, middle + dy * i * step) for i in (1, rings))
        svg.append(line("frame", *inner, *outer))
    return svg


def _trail(grid: _Grid, number: int, copy: int, last: Sequence[Sequence[str]]) -> list[str]:
    """Show the last moves: a frame around each cell, an arrow from the first to the last."""
    by_name = {cell_name(number, copy, cell): place for cell, place in grid.places.items()}
    svg: list[str] = []
    for move in last:
        places = [by_name[name] for name in move if name in by_name]
        svg += [_around("last", grid, x, y, 2.0) for x, y in places]
        for one, two in pairwise(places):
            svg += _arrow(one, two, grid.size)
    return svg


def _arrow(start: tuple[float, float], end: tuple[float, float], size: float) -> list[str]:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = sqrt(dx * dx + dy * dy)
    if length < 1:
        return []
    ux, uy = dx / length, dy / length
    x1, y1 = start[0] + ux * size * 0.3, start[1] + uy * size * 0.3
    x2, y2 = end[0] - ux * size * 0.36, end[1] - uy * size * 0.36
    tip = (end[0] - ux * size * 0.12, end[1] - uy * size * 0.12)
    wide = size * 0.15
    corners = (tip, (x2 - uy * wide, y2 + ux * wide), (x2 + uy * wide, y2 - ux * wide))
    return [line("last-arrow", x1, y1, x2, y2), _polygon("last-head", corners)]

"""States as text: a board where the facts describe one, a table of facts elsewhere.

Nothing in GDL says that a fluent is a board.  A fluent is taken for one when two of its
arguments have small ordered domains (numbers, letters, `c1 c2 c3`) and name each cell at
most once, and something is left to stand in the cells:

    >>> print(draw(["(cell 1 1 x)", "(cell 1 2 b)", "(cell 2 1 b)", "(cell 2 2 o)", "(control white)"]))
      1 2
    1 x .
    2 . o
    <BLANKLINE>
    control  white

A state without a board is not drawn at all:

    >>> draw(["(heap a 3)", "(heap b 4)"]) is None
    True
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from herbrand.draw.terms import arguments, natural, ordered
from herbrand.syntax.nodes import Function, Node, Variable, children

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from herbrand.syntax.nodes import Rule

__all__ = ["Cell", "cells", "columns_first", "draw", "table"]

MOST_CONTENT: Final = 2
"""What stands in a cell has at most this many arguments, such as `white king`."""
MOST_BOARDS: Final = 16
"""A fluent with more boards than this is not drawn."""
WIDTH: Final = 78
"""Boards stand side by side up to this width."""

BLANKS: Final = ("blank", "empty", "b", "none", "free", "clear", "e", "nil", "_")
"""Names that mean an empty cell, the most telling first."""

_SQUARE = re.compile(r"([A-Za-z])(\d{1,2})\Z")
_CHESS = {"pawn": "p", "knight": "n", "bishop": "b", "rook": "r", "queen": "q", "king": "k"}
_CHESS_PIECE = re.compile(
    r"(w|b|white|black)[ _-]?(pawn|knight|bishop|rook|queen|king|[pnbrqk])\Z", re.IGNORECASE
)
_ACROSS = re.compile(r"(x|c|col|column|f|file)\d*\Z")
_UP = re.compile(r"(y|r|row|rank|h|height)\d*\Z")
_ROW = re.compile(r"(m|i|y|r|row)\d*\Z")
_COLUMN = re.compile(r"(n|j|x|c|col|column)\d*\Z")


@dataclass
class _Board:
    """One grid: which symbol-bearing content stands in which cell."""

    title: str
    first: Sequence[str]
    """Domain of the first coordinate, in order."""
    second: Sequence[str]
    cells: dict[tuple[str, str], str] = field(default_factory=dict)
    """Content of every cell that the facts speak of."""
    possible: set[str] = field(default_factory=set)
    """Content of this and other states, as far as known."""
    across: bool = False
    """Whether the first coordinate runs from left to right (and the second upward)."""
    places: tuple[int, int] = (0, 1)
    """Which arguments are the coordinates."""
    key: dict[int, str] = field(default_factory=dict)
    """Arguments that name this board, among several of one fluent."""
    splits: bool = False
    """Whether the first argument is a square such as `a1`, which counts as two arguments."""


def draw(
    facts: Iterable[str], base: Iterable[str] = (), *, columns_first: Collection[str] = ()
) -> str | None:
    """Draw the facts of a state as one or more boards; None when no fluent looks like one.

    `base` holds facts that can be true in other states (any superset will do): with them a
    board keeps its size and its letters while it fills.  `columns_first` names the fluents whose
    first coordinate is a column and whose second counts upward; others are drawn like a
    matrix, but for letter and number, which are drawn like a chess board.
    """
    present = [(fact, arguments(fact)) for fact in sorted(set(facts), key=str.lower)]
    possible = [arguments(fact) for fact in set(base)]
    groups = _by_shape([parts for _, parts in present])
    wider = _by_shape(possible)
    boards: list[_Board] = []
    used: set[tuple[str, int]] = set()
    shapes = sorted(groups.keys() | wider.keys(), key=lambda shape: (-shape[1], shape[0]))
    for shape in shapes:
        if shape[1] == 2 and boards:
            continue
        found = _boards(shape, groups.get(shape, []), wider.get(shape, []), shape[0] in columns_first)
        if found:
            boards += found
            used.add(shape)
    boards = _merged(boards)
    if not boards:
        return None
    contents = {content for board in boards for content in board.cells.values()}
    symbols = _symbols(contents.union(*(b.possible for b in boards)), full=all(map(_is_full, boards)))
    parts = [_side_by_side([_draw_board(board, symbols, titled=len(boards) > 1) for board in boards])]
    if legend := _legend(contents, symbols):
        parts.append(legend)
    rest = [fact for fact, parts in present if (parts[0], len(parts) - 1) not in used]
    if rest:
        parts.append(table(rest))
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a fact stands on a board."""

    board: str
    """The fluent, and what names the board where it describes several."""
    size: tuple[int, int]
    """Rows and columns of the board as it is drawn."""
    row: int
    """Counted from 0 at the top."""
    column: int
    content: str
    """What stands there."""


def cells(
    facts: Iterable[str], base: Iterable[str], *, columns_first: Collection[str] = ()
) -> dict[str, Cell]:
    """Return where the facts of `base` that belong to a board stand on it; see `draw`.

    `facts` are those of one state, which tell what is content and what names a board.

        >>> found = cells(["(cell 1 1 x)"], [f"(cell {i} {j} x)" for i in (1, 2) for j in (1, 2)])
        >>> found["(cell 2 1 x)"].row, found["(cell 2 1 x)"].content
        (1, 'x')
    """
    base = sorted(set(base))
    split = {fact: arguments(fact) for fact in base}
    groups, wider = _by_shape([arguments(fact) for fact in facts]), _by_shape(split.values())
    boards: dict[tuple[str, int], list[_Board]] = {}
    for shape in sorted(wider, key=lambda shape: (-shape[1], shape[0])):
        if shape[1] == 2 and boards:
            continue
        found = _boards(shape, groups.get(shape, []), wider[shape], shape[0] in columns_first)
        if found:
            boards[shape] = found
    places = {}
    for fact, (name, *given) in split.items():
        for board in boards.get((name, len(given)), ()):
            row = [given[0][0], given[0][1:], *given[1:]] if board.splits else given
            if all(row[place] == value for place, value in board.key.items()):
                places[fact] = _cell(board, row, name)
    return places


def _cell(board: _Board, arguments: list[str], name: str) -> Cell:
    """Return where a fact with these arguments stands on a board."""
    i, j = board.places
    down, along = board.first.index(arguments[i]), board.second.index(arguments[j])
    size = len(board.first), len(board.second)
    if board.across:
        down, along, size = size[1] - 1 - along, down, (size[1], size[0])
    rest = [value for k, value in enumerate(arguments) if k not in (i, j) and k not in board.key]
    return Cell(board.title, size, down, along, " ".join(rest) or name)


def table(facts: Iterable[str]) -> str:
    """List facts, one line for each fluent name, and one for each fact where there are several arguments.

    >>> print(table(["(step 3)", "(heap a 3)", "(heap b 4)", "over"]))
    heap  a 3
          b 4
    over
    step  3
    """
    rows: dict[str, list[str]] = defaultdict(list)
    for fact in sorted(set(facts), key=lambda fact: natural(fact.strip("()"))):
        inside = fact[1:-1] if fact.startswith("(") else fact
        name, _, arguments = inside.partition(" ")
        rows[name].append(arguments)
    width = max(map(len, rows), default=0)
    lines: list[str] = []
    for name, values in rows.items():
        if all(" " not in value for value in values):
            values = wrap(
                " ".join(values), max(WIDTH - width - 2, 20), break_long_words=False, break_on_hyphens=False
            ) or [""]
        lines += [f"{name if i == 0 else '':{width}}  {value}".rstrip() for i, value in enumerate(values)]
    return "\n".join(lines)


def columns_first(statements: Iterable[Rule]) -> frozenset[str]:
    """Return the functions whose arguments the author calls `?x ?y`, `?col ?row` or `?file ?rank`.

    The names of variables mean nothing to the game, but they are the only hint a rulesheet
    gives at which of two numbers goes across.
    """
    votes: Counter[str] = Counter()
    stack: list[Node] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, Function):
            names = [a.name for a in node.args if isinstance(a, Variable)]
            for one, two in pairwise(names):
                votes[node.name] += bool(_ACROSS.match(one) and _UP.match(two))
                votes[node.name] -= bool(_ROW.match(one) and _COLUMN.match(two))
        stack.extend(children(node))
    return frozenset(name for name, vote in votes.items() if vote > 0)


def _by_shape(facts: Iterable[tuple[str, ...]]) -> dict[tuple[str, int], list[tuple[str, ...]]]:
    """Group by name and number of arguments; the arguments alone are kept."""
    groups: dict[tuple[str, int], list[tuple[str, ...]]] = defaultdict(list)
    for name, *rest in facts:
        groups[name, len(rest)].append(tuple(rest))
    return groups


def _boards(
    shape: tuple[str, int], facts: list[tuple[str, ...]], base: list[tuple[str, ...]], across: bool
) -> list[_Board]:
    """Return the boards that one fluent describes; none when it does not look like one."""
    every = [*facts, *base]
    squares = [_SQUARE.match(row[0]) for row in every] if shape[1] >= 1 else []
    splits = bool(squares) and all(squares)
    splits = splits and all(len({m[i] for m in squares if m}) > 1 for i in (1, 2))
    if splits:
        facts, base = ([(row[0][0], row[0][1:], *row[1:]) for row in rows] for rows in (facts, base))
        every = [*facts, *base]
    if not every or len(every[0]) < 2:
        return []
    width = len(every[0])
    domains = [ordered({row[i] for row in every}) for i in range(width)]
    for size, (i, j) in product(range(MOST_CONTENT + 1), combinations(range(width), 2)):
        first, second = domains[i], domains[j]
        if first is None or second is None:
            continue
        found = _grid(shape[0], facts, base, (i, j), (first, second), size)
        if found:
            for board in found:
                letters = board.first[0].isalpha() and board.second[0].isdigit()
                board.across = across or letters
                board.splits = splits
            return found
    return []


def _grid(
    name: str,
    facts: list[tuple[str, ...]],
    base: list[tuple[str, ...]],
    at: tuple[int, int],
    domains: tuple[list[str], list[str]],
    arguments: int,
) -> list[_Board]:
    """Read facts as boards with coordinates at two positions, if that names every cell once.

    `arguments` tells how many arguments say what is in a cell.

    What stands before the coordinates is content when the coordinates alone are a key, and
    names one of several boards otherwise.
    """
    i, j = at
    every = [*facts, *base]
    others = [k for k in range(len(every[0])) if k not in at]
    size = len(domains[0]) * len(domains[1])
    if size < 4:
        return []
    if not arguments:
        if others:
            return []
        if domains[0][0].isalpha() and domains[1][0].isalpha():
            return []
        likely = not _is_function(facts, *domains) if base else _scattered(facts)
        cells = {(row[i], row[j]): name for row in facts}
        return [_Board(name, *domains, cells, places=at)] if likely else []
    covered = len({(row[i], row[j]) for row in every}) if base else 0
    if len(facts) < 4 and 2 * covered < size:
        return []
    for keys in ([], [k for k in others if k < i]):
        content = [k for k in others if k not in keys]
        if len(content) != arguments:
            continue
        names = dict.fromkeys(tuple(row[k] for k in keys) for row in every) if keys else {(): None}
        grids: dict[tuple[str, ...], dict[tuple[str, str], str]] = {key: {} for key in names}
        if not all(
            _put(grids[tuple(row[k] for k in keys)], (row[i], row[j]), " ".join(row[k] for k in content))
            for row in facts
        ):
            continue
        if len(grids) <= MOST_BOARDS:
            possible = {" ".join(row[k] for k in content) for row in every}
            return [
                _Board(
                    " ".join((name, *key)),
                    *domains,
                    grids[key],
                    possible,
                    places=at,
                    key=dict(zip(keys, key, strict=True)),
                )
                for key in sorted(grids, key=_natural_key)
            ]
    return []


def _put(cells: dict[tuple[str, str], str], at: tuple[str, str], content: str) -> bool:
    """Put something into a cell; nothing but emptiness may be there already."""
    old = cells.get(at)
    empty = old is None or old.lower() in BLANKS
    if empty:
        cells[at] = content
    return empty or content.lower() in BLANKS


def _is_function(facts: list[tuple[str, ...]], first: list[str], second: list[str]) -> bool:
    """Whether the pairs give every name one value, like the sizes of heaps."""
    return any(sorted(row[i] for row in facts) == sorted(domain) for i, domain in enumerate((first, second)))


def _scattered(facts: list[tuple[str, ...]]) -> bool:
    """Whether pairs look like marks on a grid rather than like a value for each name."""
    return (
        len(facts) >= 4
        and all(len({row[i] for row in facts}) >= 3 for i in (0, 1))
        and all(max(Counter(row[i] for row in facts).values()) >= 2 for i in (0, 1))
    )


def _merged(boards: list[_Board]) -> list[_Board]:
    """Join boards that fill different cells of one grid, such as even and odd squares."""
    merged: list[_Board] = []
    for board in boards:
        for other in merged:
            if (
                (other.first, other.second, other.across) == (board.first, board.second, board.across)
                and other.title != board.title
                and " " not in other.title + board.title
                and board.cells
                and not other.cells.keys() & board.cells.keys()
            ):
                other.cells |= board.cells
                other.possible |= board.possible
                other.title += f"+{board.title}"
                break
        else:
            merged.append(board)
    return merged


def _is_full(board: _Board) -> bool:
    return len(board.cells) == len(board.first) * len(board.second)


def _symbols(contents: set[str], *, full: bool) -> dict[str, str]:
    """Choose a short text for every content: `.` for empty, FEN letters for chess pieces."""
    symbols: dict[str, str] = {}
    folded = {content.lower(): content for content in contents}
    blank = next((folded[name] for name in BLANKS if name in folded), None)
    if blank in ("b", "B") and "w" in folded and not full:
        blank = None  # black and white on a board that does not mention its empty cells
    if blank is not None:
        symbols[blank] = "."
    pieces = {c: m for c in contents if c not in symbols and (m := _CHESS_PIECE.match(c))}
    if len(pieces) >= 2:
        for content, match in pieces.items():
            symbols[content] = _piece(match).upper() if match[1][0] in "wW" else _piece(match)
    taken = set(symbols.values()) | {"."}
    for content in sorted(contents - symbols.keys(), key=lambda c: (len(c), c)):
        if content.isdecimal():
            symbols[content] = content
            continue
        wanted = [c for c in content if c.isalnum()]
        letters = [*wanted[:1], *(c.upper() for c in wanted[:1]), *wanted, *(c.upper() for c in wanted)]
        spare = [*"*#@+%&$=!?", *"abcdefghijklmnopqrstuvwxyz", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
        symbols[content] = next((c for c in [*letters, *spare] if c not in taken), content)
        taken.add(symbols[content])
    return symbols


def _piece(match: re.Match[str]) -> str:
    name = match[2].lower()
    return _CHESS.get(name, name)


def _legend(contents: set[str], symbols: dict[str, str]) -> str:
    """Explain the letters that are not themselves the name of what they stand for."""
    entries = []
    for content in sorted(contents):
        symbol, match = symbols[content], _CHESS_PIECE.match(content)
        if match and symbol.lower() == _piece(match):
            entries.append("capitals: white")
        elif symbol not in (content, "."):
            entries.append(f"{symbol} {content}")
    return "  ".join(dict.fromkeys(entries))


def _draw_board(board: _Board, symbols: dict[str, str], *, titled: bool) -> list[str]:
    """Draw one board with its coordinates at the edge."""
    rows, columns = board.first, board.second
    if board.across:
        rows, columns = list(reversed(board.second)), board.first
    holes = any(symbols[content] == "." for content in board.cells.values())
    missing = " " if holes else "."
    texts = [
        [symbols.get(board.cells.get((c, r) if board.across else (r, c), ""), missing) for c in columns]
        for r in rows
    ]
    width = max(map(len, [*columns, *(text for line in texts for text in line)]))
    edge = max(map(len, rows))
    lines = [f"{'':{edge}} " + " ".join(f"{c:>{width}}" for c in columns)]
    for label, line in zip(rows, texts, strict=True):
        lines.append(f"{label:>{edge}} " + " ".join(f"{text:>{width}}" for text in line))
    return [f"{board.title}:", *lines] if titled else lines


def _side_by_side(drawings: list[list[str]]) -> str:
    """Put drawings next to each other as far as the width goes."""
    bands: list[list[list[str]]] = [[]]
    used = 0
    for drawing in drawings:
        width = max(map(len, drawing)) + 3
        if bands[-1] and used + width > WIDTH:
            bands.append([])
            used = 0
        bands[-1].append(drawing)
        used += width
    return "\n\n".join(map(_band, bands))


def _band(drawings: list[list[str]]) -> str:
    widths = [max(map(len, drawing)) for drawing in drawings]
    lines = []
    for i in range(max(map(len, drawings))):
        cells = [
            f"{drawing[i] if i < len(drawing) else '':{width}}"
            for drawing, width in zip(drawings, widths, strict=True)
        ]
        lines.append("   ".join(cells).rstrip())
    return "\n".join(lines)


def _natural_key(parts: tuple[str, ...]) -> list[list[tuple[int, int, str]]]:
    return [natural(part) for part in parts]

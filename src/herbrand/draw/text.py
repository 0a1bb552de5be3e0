"""States as text: boards where the facts describe some, a table of facts elsewhere.

What is a board is recognised by `herbrand.draw.boards`; here it is written down.

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
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.draw.boards.layers import BLANKS
from herbrand.draw.boards.layout import find_layout
from herbrand.draw.boards.vocabulary import Vocabulary
from herbrand.draw.clicks import dropped
from herbrand.draw.looks import content_looks, with_others
from herbrand.draw.paper import cell_name
from herbrand.draw.terms import arguments, natural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from herbrand.draw.boards.layers import Cell
    from herbrand.draw.boards.layout import BoardLayout, Contents, Layout
    from herbrand.draw.looks import Look

__all__ = ["Paint", "as_text", "draw", "table"]

Paint: TypeAlias = Callable[[str, str], str]
"""Returns a text with the escape sequences for a colour: one of `style.PIECES`, `muted`, or `last` for the
marks of the last move."""

WIDTH: Final = 78
"""Boards stand side by side up to this width."""

_ESCAPE = re.compile("\x1b\\[[0-9;]*m")
_CHESS = {"pawn": "p", "knight": "n", "bishop": "b", "rook": "r", "queen": "q", "king": "k"}


def draw(
    facts: Iterable[str], base: Iterable[str] = (), *, columns_first: Collection[str] = ()
) -> str | None:
    """Draw facts that are all that is known as one or more boards; None when no fluent looks like one.

    `base` holds facts that can be true in other states (any superset will do): with them a
    board keeps its size and its letters while it fills.  `columns_first` names the fluents whose
    first coordinate is a column and whose second counts upward; others are drawn like a
    matrix, but for letter and number, which are drawn like a chess board.
    """
    facts = set(facts)
    return as_text(facts, find_layout(Vocabulary.of(facts, base), columns_first=columns_first))


def as_text(
    facts: Iterable[str], layout: Layout, *, last: Sequence[Sequence[str]] = (), paint: Paint | None = None
) -> str | None:
    """Draw the facts of a state as the boards of its game; None when it has none with rows and columns.

    `last` has the cells of the moves made last, by the names of `paper.cell_name`, which get brackets.
    """
    present = sorted(set(facts), key=str.lower)
    grids = {i for i, board in enumerate(layout.boards) if board.is_grid}
    if not grids:
        return None
    contents = {at: one for at, one in layout.contents(layout.facts(present)).items() if at[0] in grids}
    merged = {at: _merged(one) for at, one in contents.items()}
    shown = {what for cells in merged.values() for names in cells.values() for what in names}
    layers = [layer for i in grids for layer in layout.boards[i].layers if not layer.edge]
    possible = shown.union(*(layer.all_contents for layer in layers))
    every = with_others(content_looks(layout), possible, layout)
    looks_of = {content: every[content.lower()] for content in possible}
    pieces = _pieces(looks_of)
    symbols = _symbols(looks_of, pieces)
    paint = paint or _plain
    painted = {
        content: paint(symbol, "muted" if symbol == "." else looks_of[content].colour)
        for content, symbol in symbols.items()
    }
    drawings = []
    for (i, k), cells in merged.items():
        board = layout.boards[i]
        filled = [cell for cell, names in cells.items() if any(symbols[name] != "." for name in names)]
        marked = {name for move in (*last, *dropped(board, i, k, last, filled)) for name in move}
        drawings.append(
            _draw_board(
                board,
                {cell: "".join(painted[name] for name in names) for cell, names in cells.items()},
                "" if any(symbols[name] == "." for names in cells.values() for name in names) else ".",
                board.copy_title(k) if len(merged) > 1 else "",
                {cell for cell in board.positions if cell_name(i, k, cell) in marked},
                paint,
            )
        )
    drawn = {layer.shape for layer in layers}
    rest = [fact for fact in present if layout.joint(arguments(fact)) not in drawn]
    parts = _side_by_side(drawings), _legend(shown, symbols, pieces, painted), table(rest)
    return "\n\n".join(filter(None, parts))


def _plain(text: str, _: str) -> str:
    return text


def _width(text: str) -> int:
    """Return the number of characters that are seen."""
    return len(_ESCAPE.sub("", text))


def _merged(contents: Contents) -> dict[Cell, list[str]]:
    """Return the contents and marks of each cell; blanks only where there is nothing else."""
    cells = {cell: list(names) for cell, names in contents.cells.items()}
    for cell, names in contents.marks.items():
        cells[cell] = cells.get(cell, []) + names
    return {
        cell: [name for name in names if name.lower() not in BLANKS] or names[:1] if len(names) > 1 else names
        for cell, names in cells.items()
    }


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
        content = fact[1:-1] if fact.startswith("(") else fact
        name, _, arguments = content.partition(" ")
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


def _pieces(looks: Mapping[str, Look]) -> dict[str, str]:
    """Return FEN letters for the pieces of chess, where there are white and black ones."""
    pieces = {content: look for content, look in looks.items() if look.kind == "chess"}
    if {look.colour for look in pieces.values()} != {"white", "black"}:
        return {}
    letters = {content: _CHESS[look.text] for content, look in pieces.items()}
    return {c: letter.upper() if pieces[c].colour == "white" else letter for c, letter in letters.items()}


def _symbols(looks: Mapping[str, Look], pieces: Mapping[str, str]) -> dict[str, str]:
    """Choose a short text for every content: `.` for empty, FEN letters for chess pieces."""
    symbols = {**pieces, **{content: "." for content, look in looks.items() if look.kind == "none"}}
    used_symbols = set(symbols.values()) | {"."}
    for content in sorted(looks.keys() - symbols.keys(), key=lambda c: (len(c), c)):
        if content.isdecimal():
            symbols[content] = content
            continue
        wanted = [c for c in content if c.isalnum()]
        letters = [*wanted[:1], *(c.upper() for c in wanted[:1]), *wanted, *(c.upper() for c in wanted)]
        spare = "*#@+%&$=!?abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        symbols[content] = next((c for c in [*letters, *spare] if c not in used_symbols), content)
        used_symbols.add(symbols[content])
    return symbols


def _legend(
    contents: set[str], symbols: Mapping[str, str], pieces: Mapping[str, str], painted: Mapping[str, str]
) -> str:
    """Explain the letters that differ from the names of the contents that they stand for."""
    entries = []
    for content in sorted(contents):
        if content in pieces:
            entries.append("capitals: white")
        elif symbols[content] not in (content, "."):
            entries.append(f"{painted[content]} {content}")
    return "  ".join(dict.fromkeys(entries))


def _draw_board(
    board: BoardLayout,
    cells: Mapping[Cell, str],
    empty: str,
    title: str,
    marked: Collection[Cell],
    paint: Paint,
) -> list[str]:
    """Draw one board with its coordinates at the edge; `empty` fills the cells that no fact mentions."""
    rows, columns = board.labels
    texts = [["" for _ in columns] for _ in rows]
    marks = [[False for _ in columns] for _ in rows]
    for cell, (down, along) in board.positions.items():
        if cell in cells:
            texts[down][along] = cells[cell]
        elif empty and (not board.cells or cell in board.cells):
            texts[down][along] = paint(empty, "muted")
        marks[down][along] = cell in marked
    width = max(map(_width, [*columns, *(text for line in texts for text in line)]))
    edge = max(map(len, rows))
    if board.form == "star":
        shifts = [sum(not text for text in line) * (width + 1) // 2 for line in texts]
        columns = []
    else:
        slope = {"hex": 1, "hex-left": -1}.get(board.form, 0) * (width + 1)
        shifts = [(i if slope >= 0 else i + 1 - len(rows)) * slope // 2 for i in range(len(rows))]
    head = f"{'':{edge + 1 + shifts[0]}}{' '.join(f'{label:>{width}}' for label in columns)}"
    lines = [f"{title}:"] if title else []
    lines += [head] if any(columns) else []
    for label, shift, line, marked_in in zip(rows, shifts, texts, marks, strict=True):
        between = [
            paint("]["[now] if now != before else "|", "last") if now or before else " "
            for before, now in pairwise([False, *marked_in, False])
        ]
        row = "".join(
            f"{before}{'':{width - _width(text)}}{text}" for before, text in zip(between, line, strict=False)
        )
        lines.append(f"{label:>{edge}}{'':{shift}}{row}{between[-1].strip()}")
    return lines


def _side_by_side(drawings: list[list[str]]) -> str:
    """Put drawings next to each other as far as the width goes."""
    bands: list[list[list[str]]] = [[]]
    used = 0
    for drawing in drawings:
        width = max(map(_width, drawing)) + 3
        if bands[-1] and used + width > WIDTH:
            bands.append([])
            used = 0
        bands[-1].append(drawing)
        used += width
    return "\n\n".join(map(_band, bands))


def _band(drawings: list[list[str]]) -> str:
    widths = [max(map(_width, drawing)) for drawing in drawings]
    lines = []
    for i in range(max(map(len, drawings))):
        row = [drawing[i] if i < len(drawing) else "" for drawing in drawings]
        cells = [f"{text}{'':{width - _width(text)}}" for text, width in zip(row, widths, strict=True)]
        lines.append("   ".join(cells).rstrip())
    return "\n".join(lines)

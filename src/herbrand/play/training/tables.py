"""Tables of a value model: the combinations of fluents in which a sum of fluents is not enough.

A table has an entry for each combination of eight fluents: what lies on a few cells of a board that are in a
row or a square.  Three of a line and a free cell, or a corner with the cell beside it, are worth more or less
than their parts.  All tables of a *kind* (a row of four cells, in one direction) share entries beside those
of their own, so that what is learned in one place is known in all of them (Lucas 2008; Jaskowski 2014).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from herbrand.draw.boards.squares import find_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from herbrand.game import Game

__all__ = ["NO_TABLES", "ValueTables", "find_tables"]

_BITS: Final = 8
"""Fluents of a table: a byte of the features."""
_MOST_TABLES: Final = 1024
_ROUNDING: Final = 1e-6
_DIRECTIONS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Of rows: rows and columns from one cell to the next."""

_Place: TypeAlias = tuple[int, int]
"""Row and column."""


class ValueTables(NamedTuple):
    """The fluents of tables."""

    literals: NDArray[np.int32]
    """[tables, 8] the literals whose values are the bits of the number of an entry; 0 for none."""
    kind: NDArray[np.int32]
    """[tables] the number of the kind, from 0."""

    @property
    def kinds(self) -> int:
        """The number of kinds."""
        return int(self.kind.max(initial=-1)) + 1


NO_TABLES: Final = ValueTables(np.zeros((0, _BITS), np.int32), np.zeros(0, np.int32))


def find_tables(game: Game, shares: NDArray[np.float64]) -> ValueTables:
    """Return tables for the boards of a game; none where it has no board.

    `shares`, [fluents], says in which share of the states of play each fluent is true: those that never
    change are left out, and of each cell the content that it mostly has, which the others tell.
    """
    numbers = {fact: i for i, fact in enumerate(game.expander.fluent_names)}
    boards: dict[str, dict[_Place, dict[str, int]]] = {}
    for fact, cell in find_cells(game.artist.layout, numbers).items():
        contents = boards.setdefault(cell.board, {}).setdefault((cell.row, cell.column), {})
        contents[cell.content] = numbers[fact]
    found: list[list[int]] = []
    kinds: list[int] = []
    for _, cells in sorted(boards.items()):
        wanted = _contents(cells, shares)
        size = _BITS // max(1, len(wanted))
        if not wanted or size < 2:
            continue
        for windows in _windows(sorted(cells), size):
            kind = max(kinds, default=-1) + 1
            for window in windows:
                literals = [2 * (1 + cells[at][c]) if c in cells[at] else 0 for at in window for c in wanted]
                found.append(literals + [0] * (_BITS - len(literals)))
                kinds.append(kind)
    if not 0 < len(found) <= _MOST_TABLES:
        return NO_TABLES
    return ValueTables(np.array(found, np.int32), np.array(kinds, np.int32))


def _contents(cells: dict[_Place, dict[str, int]], shares: NDArray[np.float64]) -> list[str]:
    """Return the contents that vary; where cells always have one, without that which they mostly have."""
    totals: defaultdict[str, float] = defaultdict(float)
    for some in cells.values():
        for content, fluent in some.items():
            totals[content] += float(shares[fluent])
    varying = sorted({c for some in cells.values() for c, fluent in some.items() if 0 < shares[fluent] < 1})
    if varying and min(sum(shares[f] for f in some.values()) for some in cells.values()) > 1 - _ROUNDING:
        varying.remove(max(varying, key=lambda content: totals[content]))
    return varying


def _windows(cells: list[_Place], size: int) -> Iterator[list[list[_Place]]]:
    """Yield the rows in each direction, then the squares, of so many cells."""
    there = set(cells)
    shapes = [[(i * down, i * along) for i in range(size)] for down, along in _DIRECTIONS]
    if size >= 4:
        shapes.append([(i, j) for i in range(2) for j in range(size // 2)])
    for shape in shapes:
        windows = ([(row + down, column + along) for down, along in shape] for row, column in cells)
        yield [window for window in windows if there.issuperset(window)]

"""Where the fluents of a game stand on its boards."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.draw.boards.layout import Layout

__all__ = ["BoardCell", "find_cells"]


@dataclass(frozen=True, slots=True)
class BoardCell:
    """Where a fluent stands on a board."""

    board: str
    """The name of the fluent, and what names the board where there are several."""
    size: tuple[int, int]
    """Rows and columns of the board as it is drawn."""
    row: int
    """Counted from 0 at the top."""
    column: int
    content: str
    """The content of the cell."""


def find_cells(layout: Layout, facts: Iterable[str]) -> dict[str, BoardCell]:
    """Return those facts that stand on a board and where; empty when the facts describe none.

    Where there are boards of different sizes, those of the most facts are taken, with smaller ones in their
    upper left corner.
    """
    cells: dict[str, BoardCell] = {}
    for fact in facts:
        for spot in filter(None, map(layout.spot, layout.facts([fact]))):
            board, name = layout.boards[spot.board], spot.layer.shape[0]
            place = board.positions.get(spot.layer.cell(spot.row)) if board.is_grid else None
            if place is not None and spot.layer.edge != "between":
                content = spot.layer.what(spot.row).removeprefix(f"{name} ")
                cells[fact] = BoardCell(board.copy_title(spot.copy, name), board.size, *place, content)
    sizes = Counter(cell.size for cell in cells.values())
    rows, columns = max(sizes, key=lambda size: (sizes[size], size), default=(0, 0))
    return {fact: cell for fact, cell in cells.items() if cell.size[0] <= rows and cell.size[1] <= columns}

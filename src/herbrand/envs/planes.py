"""Observations of states for learners: planes where the facts describe a board, else one number per fluent.

A *view* is a list of columns, each the place of a fluent among the fluents of the network, or -1 for what
is never true; unpacking those columns lane by lane gives arrays of the view's shape.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.game import Game

__all__ = ["MOST_SPREAD", "Cell", "View", "find_board", "make_view"]

MOST_SPREAD: Final = 32
"""Most fluents beside the board that become planes of their own, all ones or all zeros."""


@dataclass(frozen=True, slots=True)
class View:
    """The fluents that are observed, and their shape."""

    kind: str
    """"planes" or "fluents"."""
    shape: tuple[int, ...]
    """(rows, columns, planes), or (planes, rows, columns), or (fluents,)."""
    columns: NDArray[np.int32]
    """The fluent of each element in the order of the shape, -1 for none."""
    names: tuple[str, ...]
    """The name of each plane or element, such as `cell x` or `(control white)`."""
    hidden: tuple[str, ...] = ()
    """Fluents that no element tells; empty unless a board was declared that leaves them out."""


@dataclass(frozen=True, slots=True)
class Cell:
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


def find_board(game: Game) -> dict[str, Cell]:
    """Return the fluents that stand on a board and where; empty when the facts describe none.

    The boards are those that are drawn (`herbrand.draw.boards`).  Where there are boards of different
    sizes, those of the most fluents are taken, with smaller ones in their upper left corner.
    """
    layout = game.artist.layout
    cells: dict[str, Cell] = {}
    for fact in game.expander.fluent_names:
        for spot in filter(None, map(layout.spot, layout.facts([fact]))):
            board, name = layout.boards[spot.board], spot.layer.shape[0]
            place = board.positions.get(spot.layer.cell(spot.row)) if board.is_grid else None
            if place is not None and spot.layer.edge != "between":
                content = spot.layer.what(spot.row).removeprefix(f"{name} ")
                cells[fact] = Cell(board.copy_title(spot.copy, name), board.size, *place, content)
    sizes = Counter(cell.size for cell in cells.values())
    rows, columns = max(sizes, key=lambda size: (sizes[size], size), default=(0, 0))
    return {fact: cell for fact, cell in cells.items() if cell.size[0] <= rows and cell.size[1] <= columns}


def make_view(
    fluents: Sequence[str],
    board: Mapping[str, Cell] | None,
    *,
    channels_first: bool = False,
    rest: bool | None = None,
) -> View:
    """Return the view of a board, or of the bare fluents where `board` is None or empty.

    `rest` says whether fluents beside the board become planes; None means that they do if there are at
    most `MOST_SPREAD`, and that else there are no planes but bare fluents.
    """
    numbers = {fact: i for i, fact in enumerate(fluents)}
    others = [fact for fact in fluents if not board or fact not in board]
    if not board or (rest is None and len(others) > MOST_SPREAD):
        return View("fluents", (len(fluents),), np.arange(len(fluents), dtype=np.int32), tuple(fluents))
    rows, columns = (max(cell.size[i] for cell in board.values()) for i in (0, 1))
    kinds = sorted({(cell.board, cell.content) for cell in board.values()})
    extra = [] if rest is False else others
    planes = np.full((rows, columns, len(kinds) + len(extra)), -1, np.int32)
    place = {kind: i for i, kind in enumerate(kinds)}
    for fact, cell in board.items():
        planes[cell.row, cell.column, place[cell.board, cell.content]] = numbers[fact]
    for i, fact in enumerate(extra):
        planes[:, :, len(kinds) + i] = numbers[fact]
    if channels_first:
        planes = planes.transpose(2, 0, 1)
    names = [title if title == content else f"{title} {content}".strip() for title, content in kinds]
    columns_of = np.ascontiguousarray(planes).reshape(-1)
    hidden = () if extra == others else tuple(others)
    return View("planes", planes.shape, columns_of, (*names, *extra), hidden)

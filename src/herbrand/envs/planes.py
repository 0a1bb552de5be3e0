"""Observations of states for learners: planes where the facts describe a board, else one number per fluent.

A *view* is a list of columns, each the place of a fluent among the fluents of the network, or -1 for what
is never true; unpacking those columns lane by lane gives arrays of the view's shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.draw.boards.squares import BoardCell, find_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.game import Game

__all__ = ["MOST_SPREAD", "View", "find_board", "make_view"]

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


def find_board(game: Game) -> dict[str, BoardCell]:
    """Return the fluents that stand on a board, and where: as it is drawn (`herbrand.draw.boards`)."""
    return find_cells(game.artist.layout, game.expander.fluent_names)


def make_view(
    fluents: Sequence[str],
    board: Mapping[str, BoardCell] | None,
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

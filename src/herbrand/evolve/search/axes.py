"""The axes of the archive."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from herbrand.evolve.blocks.board_game import BoardGame
from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.evolve.blocks.turns import Simultaneous

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.evolve.blocks.design import Design

__all__ = ["AXES", "cell_of", "kind_of"]

AXES: Final[dict[str, tuple[float, ...]]] = {
    "search_length": (6, 10, 16, 24, 36),
    "branching": (3, 6, 12, 24),
}
"""Measures with the bounds between their cells; the third axis is `kind_of`.

For games too large for searching players, the length of random games counts."""


def cell_of(design: Design, measures: Mapping[str, float]) -> tuple[str, ...]:
    """Return the cell of a game: a range for each of `AXES`, and its kind."""
    ranges = []
    for name, bounds in AXES.items():
        value = measures.get(name, measures.get("length", 0.0))
        number = bisect_right(bounds, value)
        low = bounds[number - 1] if number else 0
        ranges.append(f"{low:g}-{bounds[number]:g}" if number < len(bounds) else f"{low:g}-")
    return (kind_of(design), *ranges)


def kind_of(design: Design) -> str:
    """Return `cards`, `hidden`, `at once` or the type of the board; for rewritten rules, of the origin."""
    if isinstance(design, Rewritten):
        return "rules" if design.origin is None else kind_of(design.origin)
    if not isinstance(design, BoardGame):
        return "cards"
    if design.fog or (design.bank and design.bank.dice):
        return "hidden"
    if isinstance(design.turn, Simultaneous):
        return "at once"
    return type(design.board).__name__.lower()

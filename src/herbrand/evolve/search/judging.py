"""Judge a game by its measures: whether it is discarded, its quality, and its cell of the archive."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from herbrand.evolve.blocks.board_game import BoardGame
from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.evolve.blocks.turns import Simultaneous

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.evolve.blocks.design import Design

__all__ = ["AXES", "CHEAP", "RUNGS", "cell_of", "kind_of", "quality", "reason_against"]

CHEAP: Final = ("completion", "length", "branching", "agency", "balance", "draws")
"""Measures of random games, on which the filters depend."""

LEAST: Final[dict[str, tuple[float, str]]] = {
    "completion": (1.0, "some random games do not end"),
    "length": (4.0, "over at once"),
    "branching": (1.5, "hardly a choice"),
    "agency": (0.25, "hardly ever a choice"),
    "balance": (0.25, "one side nearly always wins at random"),
}
"""Minimum of each measure, and the reason for discarding games below it."""
MAX_DRAWS: Final = 0.95
"""Maximum share of draws in random games."""
RUNGS: Final = (1, 4, 16)
"""Positions that the players of the ladder expand before each move."""
AXES: Final[dict[str, tuple[float, ...]]] = {
    "search_length": (6, 10, 16, 24, 36),
    "branching": (3, 6, 12, 24),
}
"""Measures with the bounds between their cells; the third axis is `kind_of`.

For games too large for searching players, the length of random games counts."""


def reason_against(measures: Mapping[str, float]) -> str:
    """Return the reason for discarding a game by its cheap measures; empty if it passes."""
    for name, (least, reason) in LEAST.items():
        if measures.get(name, 0.0) < least:
            return reason
    return "hardly ever a winner" if measures.get("draws", 0.0) > MAX_DRAWS else ""


def quality(measures: Mapping[str, float]) -> float:
    """Return the quality of a game between 0 and 1, from its measures.

    Games between searching players must be fair and decisive:

        search_balance · (1 - search_draws²) · (skill + depth/2 + min(1, 2·drama) + uncertainty) / 4

    The four terms of the mean resemble criteria of Browne and Maire (*Evolutionary game design*, 2010): skill
    matters, more skill matters more, players can recover from being behind, and the outcome stays open for
    long.  Depth counts the rungs of the ladder `RUNGS` worth climbing, at most two.

    For games too large for searching players only random games count, with at most a quarter of the quality,
    by how often there is a choice:

        balance · (1 - draws²) · agency / 4
    """
    value = defaultdict(float, measures)
    if "search_balance" not in measures:
        return round(value["balance"] * (1 - value["draws"] ** 2) * value["agency"] / 4, 6)
    depth = min(1.0, max(0.0, value["depth"]) / (len(RUNGS) - 1))
    play = max(0.0, value["skill"]) + depth + min(1.0, 2 * value["drama"]) + value["uncertainty"]
    return round(value["search_balance"] * (1 - value["search_draws"] ** 2) * play / 4, 6)


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

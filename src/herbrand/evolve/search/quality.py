"""The quality of a game as one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RUNGS", "quality"]

RUNGS: Final = (1, 4, 16)
"""Positions that the players of the ladder expand before each move."""


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
    if "search_balance" not in measures:
        decisive = measures.get("balance", 0.0) * (1 - measures.get("draws", 0.0) ** 2)
        return round(decisive * measures.get("agency", 0.0) / 4, 6)
    fair = measures.get("search_balance", 0.0)
    decided = 1 - measures.get("search_draws", 0.0) ** 2
    play = (
        max(0.0, measures.get("skill", 0.0))
        + min(1.0, max(0.0, measures.get("depth", 0.0)) / (len(RUNGS) - 1))
        + min(1.0, 2 * measures.get("drama", 0.0))
        + measures.get("uncertainty", 0.0)
    )
    return round(fair * decided * play / 4, 6)

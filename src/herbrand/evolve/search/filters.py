"""Filters that discard uninteresting games before they are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHEAP", "LEAST", "reason_against"]

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


def reason_against(measures: Mapping[str, float]) -> str:
    """Return the reason for discarding a game by its cheap measures; empty if it passes."""
    for name, (least, reason) in LEAST.items():
        if measures.get(name, 0.0) < least:
            return reason
    return "hardly ever a winner" if measures.get("draws", 0.0) > MAX_DRAWS else ""

"""What is sifted out before a game is measured: nobody would play it twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHEAP", "LEAST", "reason_against"]

CHEAP: Final = ("completion", "length", "branching", "agency", "balance", "draws")
"""Measures that are taken first: of random games only."""

LEAST: Final[dict[str, tuple[float, str]]] = {
    "completion": (1.0, "some random games do not end"),
    "length": (4.0, "over at once"),
    "branching": (1.5, "hardly a choice"),
    "agency": (0.25, "hardly ever a choice"),
    "balance": (0.25, "one side nearly always wins at random"),
}
"""The least of a measure that is good enough, and what is said about less."""
MOST_DRAWS: Final = 0.95
"""More draws than this in random games are too many."""


def reason_against(measures: Mapping[str, float]) -> str:
    """Say why a game is not worth measuring, by what random games show; empty if it is."""
    for name, (least, reason) in LEAST.items():
        if measures.get(name, 0.0) < least:
            return reason
    return "hardly ever a winner" if measures.get("draws", 0.0) > MOST_DRAWS else ""

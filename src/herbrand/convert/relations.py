"""The dependency graph of a game's relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.game import Game

__all__ = ["dot"]


def dot(game: Game) -> str:
    """Return the dependency graph for Graphviz; negative edges are dashed, cycles are boxed."""
    return game.rules.graph.to_dot()

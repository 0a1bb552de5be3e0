"""The dependency graph of a game's relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["dot"]


def dot(game: StateMachine) -> str:
    """Return the dependency graph for Graphviz; negative edges are dashed, cycles boxed."""
    return game.rules.graph.to_dot()

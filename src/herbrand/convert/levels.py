"""Levels of relations: static, dependent on the state, or also on the joint move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from herbrand.check.dependency import DependencyGraph

__all__ = ["DOES", "INTERFACE", "MOVE", "STATE", "STATIC", "TRUE", "level_of", "needed"]

TRUE: Final = ("true", 1)
DOES: Final = ("does", 2)
STATIC, STATE, MOVE = 0, 1, 2
INTERFACE: Final = (
    *(("role", 1), ("init", 1), ("legal", 2), ("next", 1), ("sees", 2), ("goal", 2)),
    ("terminal", 0),
)
"""The relations that define plays."""


def level_of(graph: DependencyGraph, relation: tuple[str, int]) -> int:
    """Return `STATIC`, `STATE` or `MOVE`."""
    reached = graph.reachable(relation)
    if relation == DOES or DOES in reached:
        return MOVE
    return STATE if relation == TRUE or TRUE in reached else STATIC


def needed(graph: DependencyGraph) -> frozenset[tuple[str, int]]:
    """Return the relations on which plays depend; usually without `base` and `input`."""
    return frozenset(INTERFACE).union(*(graph.reachable(relation) for relation in INTERFACE))

"""Draw an automaton as SVG: states in columns, arrows, final states with two circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["draw"]

_COLUMN = 150
_ROW = 56
_RADIUS = 18


def draw(
    title: str,
    states: Sequence[Iterable[str]],
    final: Mapping[int, Sequence[int | None]],
    depths: Iterable[int],
    arrows: Mapping[tuple[int, int], Sequence[str]],
) -> str:
    """Return the drawing.

    `states` has the facts of each state, `final` the goal values of final ones, `depths` the column of each
    state (-1 for the first), `arrows` the labels of the transitions between two states.
    """
    from herbrand.runtime.rendering import render

    columns: dict[int, list[int]] = {}
    for state, depth in enumerate(depths):
        columns.setdefault(max(depth, 0), []).append(state)
    height = max(map(len, columns.values())) * _ROW + 40
    place = {
        state: (70 + depth * _COLUMN, 20 + (row + 0.5) * (height - 40) / len(column))
        for depth, column in columns.items()
        for row, state in enumerate(column)
    }
    drawing = render(
        "analyse/automata/automaton.svg",
        title=title,
        width=(max(columns) + 1) * _COLUMN + 40,
        height=height,
        radius=_RADIUS,
        states=[
            {"x": place[state][0], "y": place[state][1], "facts": facts, "goals": final.get(state)}
            for state, facts in enumerate(states)
        ],
        arrows=[(*ends, labels) for ends, labels in arrows.items()],
    )
    return f"{drawing}\n"

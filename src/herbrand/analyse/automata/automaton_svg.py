"""Draw an automaton as SVG: states in columns, arrows, final states with two circles."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["draw"]

_COLUMN = 150
_ROW = 56
_RADIUS = 18
_LABELLED = 60
"""The most arrows with visible labels; the labels of more arrows are tooltips."""


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
    columns: dict[int, list[int]] = {}
    for state, depth in enumerate(depths):
        columns.setdefault(max(depth, 0), []).append(state)
    tallest = max(map(len, columns.values()))
    height = tallest * _ROW + 40
    width = (max(columns) + 1) * _COLUMN + 40
    place = {
        state: (70 + depth * _COLUMN, 20 + (row + 0.5) * (height - 40) / len(column))
        for depth, column in columns.items()
        for row, state in enumerate(column)
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}"',
        f' width="{width}" height="{height:.0f}" font-family="sans-serif" font-size="10">',
        f"<title>{escape(title)}</title>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"',
        ' orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
        _arrow(place[0][0] - 50, place[0][1], place[0][0] - _RADIUS, place[0][1], "", 0),
    ]
    for (source, target), labels in arrows.items():
        text = "; ".join(labels)
        shown = labels[0] + (f" +{len(labels) - 1}" if len(labels) > 1 else "")
        parts.append(_between(place[source], place[target], text, shown if len(arrows) <= _LABELLED else ""))
    for state, (x, y) in place.items():
        goals = final.get(state)
        tip = escape("\n".join(sorted(states[state])))
        label = f"q{state}"
        parts.append(f'<g><title>{tip}</title><circle cx="{x}" cy="{y:.1f}" r="{_RADIUS}" class="state"')
        parts.append(f' fill="{"#eef" if goals is None else "#efe"}" stroke="#333"/>')
        if goals is not None:
            parts.append(f'<circle cx="{x}" cy="{y:.1f}" r="{_RADIUS - 3}" fill="none" stroke="#333"/>')
            values = " ".join("-" if g is None else str(g) for g in goals)
            parts.append(
                f'<text x="{x}" y="{y + _RADIUS + 10:.1f}" text-anchor="middle">{escape(values)}</text>'
            )
        parts.append(f'<text x="{x}" y="{y + 3.5:.1f}" text-anchor="middle">{label}</text></g>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _between(source: tuple[float, float], target: tuple[float, float], text: str, shown: str) -> str:
    (x1, y1), (x2, y2) = source, target
    if source == target:
        loop = f"M{x1 - 8} {y1 - _RADIUS + 2:.1f}c-14 -30 30 -30 16 0"
        title = f"<title>{escape(text)}</title>"
        return f'<path d="{loop}" fill="none" stroke="#555" marker-end="url(#head)">{title}</path>'
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    begin, end = (x1 + ux * _RADIUS, y1 + uy * _RADIUS), (x2 - ux * _RADIUS, y2 - uy * _RADIUS)
    bend = 30.0 if x2 <= x1 else 0.0  # arrows back or within a column bend around other states
    return _arrow(*begin, *end, text, bend, shown)


def _arrow(x1: float, y1: float, x2: float, y2: float, text: str, bend: float, shown: str = "") -> str:
    middle = ((x1 + x2) / 2 + bend, (y1 + y2) / 2 + bend)
    path = f"M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}"
    title = f"<title>{escape(text)}</title>" if text else ""
    line = f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#head)">{title}</path>'
    if shown:
        line += (
            f'<text x="{middle[0]:.1f}" y="{middle[1] - 2:.1f}" text-anchor="middle" fill="#555" '
            f'font-size="8">{escape(shown)}</text>'
        )
    return line

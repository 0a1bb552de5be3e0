"""Draw a dependency graph as SVG: strata as layers, each relation above its dependencies.

Layered drawing after Sugiyama, Tagawa and Toda (1981): rows from the graph, then a few sweeps that move
each relation to the mean of its neighbours.  Colours are attributes, so that a page can override them
in its style sheet; edges have `data-from` and `data-to`, relations `data-relation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.check.relations import Relation, RelationGraph

__all__ = ["draw"]

ROW: Final = 62
HIGH: Final = 28
GAP: Final = 16
LETTER: Final = 7.3
"""Width of a character in pixels."""
MOST_WIDE: Final = 1100
"""Maximum width of a row in pixels; a wider one is wrapped."""
SWEEPS: Final = 6


def draw(graph: RelationGraph, *, title: str = "What each relation depends on") -> str:
    """Return the drawing; relations without edges are omitted."""
    from herbrand.runtime.rendering import render

    tied = {end for edge in graph.edges for end in (edge.head, edge.body)}
    wide = {node: LETTER * len(_label(node)) + 22 + 14 * (node in graph.recursive) for node in tied}
    bands = [_rows(graph, [node for node in stratum if node in tied], wide) for stratum in graph.strata]
    rows = [row for band in bands for row in band]  # from below
    _order(rows, graph)
    width = max((_width(row, wide) for row in rows), default=0.0) + 40
    place: dict[Relation, tuple[float, float]] = {}
    height = ROW * len(rows) + 26 * sum(map(bool, bands)) + 12
    y = height - 12.0
    strata = []
    for number, band in enumerate(bands):
        if not band:
            continue
        bottom, y = y, y - 26
        for row in band:
            x = (width - _width(row, wide)) / 2
            for node in row:
                place[node] = (x + wide[node] / 2, y - ROW + 17)
                x += wide[node] + GAP
            y -= ROW
        strata.append((number, y, bottom))
    drawing = render(
        "check/dependencies.svg",
        title=title,
        width=width,
        height=height,
        high=HIGH,
        bands=strata,
        graph=graph,
        nodes=[node for row in rows for node in row],
        place=place,
        wide=wide,
    )
    return f"{drawing}\n"


def _label(node: Relation) -> str:
    return f"{node[0]}/{node[1]}"


def _width(row: list[Relation], wide: Mapping[Relation, float]) -> float:
    return sum(wide[node] + GAP for node in row) - GAP


def _rows(
    graph: RelationGraph, stratum: list[Relation], wide: Mapping[Relation, float]
) -> list[list[Relation]]:
    """Divide a stratum into rows, each relation above its dependencies in the stratum."""
    members = set(stratum)
    depth: dict[Relation, int] = {}
    for component in graph.components:
        if component[0] not in members:
            continue
        below = [
            depth[edge.body]
            for node in component
            for edge in graph.edges_from(node)
            if edge.body in members and edge.body not in component
        ]
        depth.update(dict.fromkeys(component, 1 + max(below, default=-1)))
    rows: list[list[Relation]] = []
    for level in range(max(depth.values(), default=-1) + 1):
        row: list[Relation] = []
        for node in (node for node in stratum if depth[node] == level):
            if row and _width([*row, node], wide) > MOST_WIDE:
                rows.append(row)
                row = []
            row.append(node)
        rows.append(row)
    return rows


def _order(rows: list[list[Relation]], graph: RelationGraph) -> None:
    """Order each row so that edges are short and rarely cross."""
    ties: dict[Relation, list[Relation]] = {node: [] for row in rows for node in row}
    for edge in graph.edges:
        if edge.head != edge.body:
            ties[edge.head].append(edge.body)
            ties[edge.body].append(edge.head)
    where = {node: (i + 0.5) / len(row) for row in rows for i, node in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            mean = {}
            for node in row:
                near = ties[node] or [node]
                mean[node] = sum(where[other] for other in near) / len(near)
            row.sort(key=lambda node, mean=mean: mean[node])  # type: ignore[misc]
            where.update({node: (i + 0.5) / len(row) for i, node in enumerate(row)})

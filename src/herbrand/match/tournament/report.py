"""A tournament report: a self-contained HTML page with tables and SVG plots; the plot of ratings alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.match.tournament.results import ReplacedMoves
from herbrand.runtime.rendering import Markup, render

if TYPE_CHECKING:
    from herbrand.match.tournament.results import Results

__all__ = ["page", "plot"]

WIDTH: Final = 720
"""Width of the plots, in pixels."""


def page(results: Results) -> str:
    """Return the page."""
    ratings, progress = _ratings(results, alone=False), _progress(results)
    replaced = [row["player"] for row in results.table if _replaced(row)]
    text = render(
        "match/tournament/report.html", results=results, ratings=ratings, progress=progress, replaced=replaced
    )
    return f"{text}\n"


def plot(results: Results) -> str:
    """Return the plot of the ratings with their intervals as an SVG file."""
    return f"{_ratings(results, alone=True)}\n"


def _ratings(results: Results, *, alone: bool) -> Markup:
    """Draw each rating with its interval."""
    rows = [{**row, "replaced": _replaced(row)} for row in results.table]
    low = min(row["elo"] - row["margin"] for row in rows)
    high = max(row["elo"] + row["margin"] for row in rows)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    left, top, line = 150, 10, 28
    size = {"width": WIDTH, "left": left, "top": top, "line": line, "bottom": top + line * len(rows)}
    right = 110 if any(row["replaced"] for row in rows) else 30
    scale = (WIDTH - left - right) / max(1.0, high - low)
    return render(
        "match/tournament/ratings.svg", alone=alone, rows=rows, ticks=ticks, low=low, scale=scale, **size
    )


def _replaced(row: dict[str, Any]) -> str:
    """Return how many moves of a player were replaced; empty if none."""
    total = ReplacedMoves(**row["replaced"]).total
    return f"{total} replaced" if total else ""


def _progress(results: Results) -> Markup | None:
    """Draw the points of each player over the encounters; None before the first."""
    if not results.progress:
        return None
    left, top, bottom = 50, 10, 250
    most = max(1.0, *(points for step in results.progress for points in step.values()))
    scale = (bottom - top) / most
    players: list[dict[str, Any]] = []
    for row in results.table:
        points = [0.0, *(step[row["player"]] for step in results.progress)]
        label_y = bottom - points[-1] * scale
        if players:  # labels do not cover each other
            label_y = max(label_y, players[-1]["label_y"] + 16)
        players.append({"name": row["player"], "points": points, "label_y": label_y})
    size = {"width": WIDTH, "left": left, "top": top, "bottom": bottom}
    return render(
        "match/tournament/progress.svg",
        players=players,
        ticks=_ticks(0, most),
        scale=scale,
        across=(WIDTH - left - 150) / len(results.progress),
        height=max(bottom + 30, int(players[-1]["label_y"]) + 20),
        **size,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from about `low` to about `high`."""
    size = 1.0
    while (high - low) / size > 8:
        size *= 2.5 if str(size)[0] == "2" else 2
    first = int(low // size)
    return [size * number for number in range(first, int(high // size) + 2)]

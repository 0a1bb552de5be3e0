"""Statistics of playouts as a picture: lengths, and goal values of each role."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.engine.playouts import Simulation

__all__ = ["FORMATS", "save_chart"]

FORMATS = (".svg", ".png", ".pdf")
"""Endings that a chart may be saved under."""
_COLOURS = ("#3b6ea5", "#c8553d", "#588157", "#8e6c8a", "#b08900", "#4a5759")
_MOST_BARS = 60


def save_chart(simulation: Simulation, path: str | Path) -> None:
    """Draw the lengths of the playouts and the goals of each role, and save the picture.

    The ending of `path` is one of `FORMATS`.  Raises `HerbrandError` for another ending or when
    matplotlib is not installed, `OSError` when the file cannot be written.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise HerbrandError(f"no chart can be saved as {str(path)!r}: the endings are {', '.join(FORMATS)}")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise HerbrandError(
            "drawing charts needs matplotlib: install it, or herbrand with the extra [plots]"
        ) from None
    roles = list(simulation.goals)
    shown = roles[: len(_COLOURS)]
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    lengths, goals = figure.subplots(1, 2)
    _draw_lengths(lengths, simulation)
    _draw_goals(goals, simulation, shown)
    for axes in (lengths, goals):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel("share of playouts")
        axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    more = f" (first {len(shown)} of {len(roles)} roles)" if len(shown) < len(roles) else ""
    figure.suptitle(f"{simulation.game}: {simulation.playouts:,} random playouts{more}".replace(",", " "))
    figure.savefig(path, dpi=150)


def _draw_lengths(axes: Any, simulation: Simulation) -> None:
    total = max(sum(simulation.lengths.values()), 1)
    low, high = min(simulation.lengths, default=0), max(simulation.lengths, default=0)
    wide = (high - low) // _MOST_BARS + 1
    bars: dict[int, int] = {}
    for length, count in simulation.lengths.items():
        start = low + (length - low) // wide * wide
        bars[start] = bars.get(start, 0) + count
    starts = sorted(bars)
    middles = [start + (wide - 1) / 2 for start in starts]
    shares = [bars[start] / total for start in starts]
    axes.bar(middles, shares, width=0.9 * wide, color=_COLOURS[0])
    mean = simulation.length["mean"]
    axes.axvline(mean, color="#222222", linewidth=1)
    axes.annotate(
        f" mean {mean:.2f}", (mean, 1), xycoords=("data", "axes fraction"), va="top", fontsize="small"
    )
    axes.set_xlabel("steps of a playout" + (f", {wide} to a bar" if wide > 1 else ""))


def _draw_goals(axes: Any, simulation: Simulation, roles: list[str]) -> None:
    values = sorted({value for role in roles for value in simulation.goals[role].distribution})
    width = 0.8 / max(len(roles), 1)
    for i, role in enumerate(roles):
        goal = simulation.goals[role]
        total = max(sum(goal.distribution.values()) + goal.undefined, 1)
        places = [place - 0.4 + width * (i + 0.5) for place in range(len(values))]
        shares = [goal.distribution.get(value, 0) / total for value in values]
        mean = "no value" if goal.mean is None else f"mean {goal.mean:.2f}"
        axes.bar(places, shares, width=0.95 * width, color=_COLOURS[i], label=f"{role}: {mean}")
    step = len(values) // 20 + 1
    axes.set_xticks(range(0, len(values), step), [str(value) for value in values[::step]])
    axes.set_xlabel("goal value")
    if roles:
        axes.legend(frameon=False, fontsize="small", ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

"""The plot of a training: ratings over time, as an SVG file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.rendering import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.play.training.trainer import Snapshot

__all__ = ["plot"]

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 700, 40, 260


def plot(game: str, snapshots: Sequence[Snapshot]) -> str:
    """Return the ratings of the snapshots over the minutes of training; the first model has 0."""
    seconds = [0.0, *(snapshot.seconds for snapshot in snapshots)]
    elos = [0.0, *(snapshot.elo for snapshot in snapshots)]
    step = 50.0
    while (max(elos) - min(elos)) / step > 8:
        step *= 2
    low, high = step * (min(elos) // step), step * (max(elos) // step + 1)

    def height(elo: float) -> float:
        return _BOTTOM - (elo - low) / (high - low) * (_BOTTOM - _TOP)

    across = (_RIGHT - _LEFT) / max(seconds[-1], 1e-9)
    ticks = [low + step * k for k in range(round((high - low) / step) + 1)]
    text = render(
        "play/training/progress.svg",
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_RIGHT,
        title=f"{game}: Elo above the values at the beginning",
        ticks=[{"y": round(height(tick), 1), "text": f"{tick:.0f}"} for tick in ticks],
        points=[(_LEFT + across * at, height(elo)) for at, elo in zip(seconds, elos, strict=True)],
        end=f"{seconds[-1] / 60:.3g} minutes",
    )
    return f"{text}\n"

"""The plot of a training: its progress over time, as an SVG file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.rendering import render

if TYPE_CHECKING:
    from herbrand.play.training.interface import Training

__all__ = ["plot"]

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 700, 40, 260


def plot(training: Training) -> str:
    """Return the plot that a training describes by `chart`, over its minutes."""
    title, step, points = training.chart()
    seconds, values = zip(*points, strict=True)
    while (max(values) - min(values)) / step > 8:
        step *= 2
    low, high = step * (min(values) // step), step * (max(values) // step + 1)

    def height(value: float) -> float:
        return _BOTTOM - float((value - low) / (high - low)) * (_BOTTOM - _TOP)

    across = (_RIGHT - _LEFT) / max(seconds[-1], 1e-9)
    ticks = [low + step * k for k in range(round((high - low) / step) + 1)]
    text = render(
        "play/training/progress.svg",
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_RIGHT,
        title=title,
        ticks=[{"y": round(height(tick), 1), "text": f"{tick:g}"} for tick in ticks],
        points=[(_LEFT + across * at, height(value)) for at, value in points],
        end=f"{seconds[-1] / 60:.3g} minutes",
    )
    return f"{text}\n"

"""Charts as SVG with labels for screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.runtime.rendering import Markup, render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["bars", "lines"]

MAX_BARS: Final = 40
LEFT: Final = 26
"""Beginning of the lines, after the numbers beside grid lines."""
RIGHT: Final = 350
"""End of the lines, before their names."""
HEIGHT: Final = 110


def bars(counts: Mapping[str, int], unit: str) -> Markup:
    """Draw a histogram: how often each number, which is a key of JSON, occurred."""
    if not counts:
        return Markup('<p class="muted">nothing</p>')
    numbers = {int(key): count for key, count in counts.items()}
    low, high = min(numbers), max(numbers)
    width = (high - low) // MAX_BARS + 1 if len(numbers) > MAX_BARS else 1
    grouped: dict[int, int] = {}
    for number, count in sorted(numbers.items()):
        first = low + (number - low) // width * width
        grouped[first] = grouped.get(first, 0) + count
    gapless = high - low < MAX_BARS * width and unit == "steps"
    firsts = range(low, high + 1, width) if gapless else grouped
    total = sum(numbers.values())
    columns = [
        {
            "first": first,
            "label": f"{first}" if width == 1 else f"{first} to {first + width - 1}",
            "count": grouped.get(first, 0),
            "percent": 100 * grouped.get(first, 0) / total,
        }
        for first in firsts
    ]
    step = min(60.0, 420 / len(columns))
    return render(
        "web/bars.svg",
        unit=unit,
        columns=columns,
        highest=max(grouped.values()),
        step=step,
        width=f"{max(len(columns) * step, 60):.0f}",
        label=", ".join(f"{first}: {100 * n / total:.0f} %" for first, n in list(grouped.items())[:30]),
    )


def lines(
    values: Mapping[str, Sequence[float | None]], steps: Sequence[int], title: str, colours: Mapping[str, str]
) -> Markup:
    """Draw a line chart: for each name its values, from 0 to 100, over the steps, in the name's colour.

    A script may move the marker with class `now`; `data-left` and `data-step` are the offset of step 0 and
    the distance between steps.  Each line is labelled at its end, so that colours are not needed to tell
    lines apart.
    """
    last = max(steps[-1], 1) if steps else 1
    drawn: list[dict[str, Any]] = []
    for name, line in values.items():
        points = [(step, value) for step, value in zip(steps, line, strict=True) if value is not None]
        if not points:
            continue
        label_y = 14 + HEIGHT * (1 - points[-1][1] / 100)
        while any(abs(label_y - other["label_y"]) < 12 for other in drawn):
            label_y -= 12
        drawn.append({"colour": colours[name], "name": name, "points": points, "label_y": label_y})
    size = {"left": LEFT, "right": RIGHT, "height": HEIGHT, "across": (RIGHT - LEFT) / last}
    return render("web/lines.svg", title=title, lines=drawn, last=last, **size)

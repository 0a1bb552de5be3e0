"""Charts as SVG with labels for screen readers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from herbrand.web.markup import Markup, raw, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["bars", "lines"]

MAX_BARS: Final = 40
WIDTH: Final = 420
HEIGHT: Final = 110
MARGIN: Final = 26
"""Space for the numbers beside grid lines."""


def bars(counts: Mapping[int, int], unit: str) -> Markup:
    """Draw a histogram: how often each number occurred."""
    if not counts:
        return tag("p", "nothing", class_="muted")
    low, high = min(counts), max(counts)
    bin_width = (high - low) // MAX_BARS + 1 if len(counts) > MAX_BARS else 1
    grouped: dict[int, int] = {}
    for number, count in counts.items():
        start = low + (number - low) // bin_width * bin_width
        grouped[start] = grouped.get(start, 0) + count
    starts = (
        list(range(low, high + 1, bin_width))
        if high - low < MAX_BARS * bin_width and unit == "steps"
        else sorted(grouped)
    )
    top, total = max(grouped.values()), sum(counts.values())
    step = min(60.0, 420 / max(len(starts), 1))
    parts = []
    for i, start in enumerate(starts):
        count = grouped.get(start, 0)
        height = 110 * count / top
        label = f"{start}" if bin_width == 1 else f"{start} to {start + bin_width - 1}"
        parts.append(
            f"<g><title>{label} {unit}: {100 * count / total:.1f} %</title>"
            f'<rect class="column" x="{i * step + 1:.1f}" y="{118 - height:.1f}" '
            f'width="{max(step - 2, 1):.1f}" height="{height:.1f}" rx="1.5"/></g>'
        )
        if len(starts) <= 12 or i % (len(starts) // 8 + 1) == 0:
            parts.append(f'<text x="{i * step + step / 2:.1f}" y="134">{start}</text>')
    label = ", ".join(f"{start}: {100 * grouped[start] / total:.0f} %" for start in sorted(grouped)[:30])
    return raw(
        f'<svg class="chart" viewBox="0 0 {max(len(starts) * step, 60):.0f} 142" role="img" '
        f'aria-label="{unit}: {label}">{"".join(parts)}</svg>'
    )


def lines(values: Mapping[str, Sequence[float | None]], steps: Sequence[int], title: str) -> Markup:
    """Draw a line chart: for each name its values, from 0 to 100, over the steps.

    A script may move the marker with class `now`; `data-left` and `data-step` are the offset of step 0 and
    the distance between steps.  Each line is labelled at its end, so that colours are not needed to tell
    lines apart.
    """
    last = max(steps[-1], 1) if steps else 1
    across = (WIDTH - MARGIN - 70) / last
    parts = []
    for level in (0, 50, 100):
        y = 10 + HEIGHT * (1 - level / 100)
        parts.append(f'<line class="grid" x1="{MARGIN}" x2="{WIDTH - 70}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="end" x="{MARGIN - 5}" y="{y + 4:.1f}">{level}</text>')
    ends: list[float] = []
    labels = []
    for number, (name, line) in enumerate(values.items()):
        defined = [(step, value) for step, value in zip(steps, line, strict=True) if value is not None]
        if not defined:
            continue
        points = " ".join(
            f"{MARGIN + across * step:.1f},{10 + HEIGHT * (1 - value / 100):.1f}" for step, value in defined
        )
        parts.append(f'<polyline class="line l{number % 6}" points="{points}"/>')
        y = 14 + HEIGHT * (1 - defined[-1][1] / 100)
        while any(abs(y - other) < 12 for other in ends):
            y -= 12
        ends.append(y)
        short = name if len(name) <= 10 else f"{name[:9]}…"
        parts.append(
            f'<text class="start t{number % 6}" x="{WIDTH - 66}" y="{y:.1f}"><title>{escape(name)}</title>'
            f"{escape(short)}</text>"
        )
        labels.append(f"{name} from {defined[0][1]:.0f} to {defined[-1][1]:.0f}")
    parts.append(f'<line class="now" x1="{MARGIN}" x2="{MARGIN}" y1="6" y2="{HEIGHT + 14}"/>')
    parts.append(f'<text x="{WIDTH - 70}" y="{HEIGHT + 26}">step {last}</text>')
    return raw(
        f'<svg class="chart lines" viewBox="0 0 {WIDTH} {HEIGHT + 32}" data-left="{MARGIN}" '
        f'data-step="{across:.4f}" role="img" aria-label="{escape(title)}: {escape(", ".join(labels))}">'
        f"{''.join(parts)}</svg>"
    )

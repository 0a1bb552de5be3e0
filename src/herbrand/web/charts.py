"""Charts as SVG, each with a text for those who cannot see it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from herbrand.web.markup import Markup, raw, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["bars", "lines"]

MOST_BARS: Final = 40
WIDE: Final = 420
HIGH: Final = 110
MARGIN: Final = 26
"""Room for the numbers beside lines."""


def bars(counts: Mapping[int, int], unit: str) -> Markup:
    """Draw how often each number occurred, as SVG with a text for those who cannot see it."""
    if not counts:
        return tag("p", "nothing", class_="muted")
    low, high = min(counts), max(counts)
    wide = (high - low) // MOST_BARS + 1 if len(counts) > MOST_BARS else 1
    grouped: dict[int, int] = {}
    for number, count in counts.items():
        start = low + (number - low) // wide * wide
        grouped[start] = grouped.get(start, 0) + count
    starts = (
        list(range(low, high + 1, wide))
        if high - low < MOST_BARS * wide and unit == "steps"
        else sorted(grouped)
    )
    top, total = max(grouped.values()), sum(counts.values())
    step = min(60.0, 420 / max(len(starts), 1))
    parts = []
    for i, start in enumerate(starts):
        count = grouped.get(start, 0)
        height = 110 * count / top
        label = f"{start}" if wide == 1 else f"{start} to {start + wide - 1}"
        parts.append(
            f"<g><title>{label} {unit}: {100 * count / total:.1f} %</title>"
            f'<rect class="column" x="{i * step + 1:.1f}" y="{118 - height:.1f}" '
            f'width="{max(step - 2, 1):.1f}" height="{height:.1f}" rx="1.5"/></g>'
        )
        if len(starts) <= 12 or i % (len(starts) // 8 + 1) == 0:
            parts.append(f'<text x="{i * step + step / 2:.1f}" y="134">{start}</text>')
    spoken = ", ".join(f"{start}: {100 * grouped[start] / total:.0f} %" for start in sorted(grouped)[:30])
    return raw(
        f'<svg class="chart" viewBox="0 0 {max(len(starts) * step, 60):.0f} 142" role="img" '
        f'aria-label="{unit}: {spoken}">{"".join(parts)}</svg>'
    )


def lines(values: Mapping[str, Sequence[float | None]], steps: Sequence[int], said: str) -> Markup:
    """Draw a line for each name: its values, from 0 to 100, over the steps.

    The element `now` is a mark that a script may move; the drawing says where a step is by `data-left` and
    `data-step`.  Each line has its name at its end, so that colours alone say nothing.
    """
    last = max(steps[-1], 1) if steps else 1
    across = (WIDE - MARGIN - 70) / last
    parts = []
    for level in (0, 50, 100):
        y = 10 + HIGH * (1 - level / 100)
        parts.append(f'<line class="grid" x1="{MARGIN}" x2="{WIDE - 70}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="end" x="{MARGIN - 5}" y="{y + 4:.1f}">{level}</text>')
    ends: list[float] = []
    spoken = []
    for number, (name, line) in enumerate(values.items()):
        known = [(step, value) for step, value in zip(steps, line, strict=True) if value is not None]
        if not known:
            continue
        points = " ".join(
            f"{MARGIN + across * step:.1f},{10 + HIGH * (1 - value / 100):.1f}" for step, value in known
        )
        parts.append(f'<polyline class="line l{number % 6}" points="{points}"/>')
        y = 14 + HIGH * (1 - known[-1][1] / 100)
        while any(abs(y - other) < 12 for other in ends):
            y -= 12
        ends.append(y)
        short = name if len(name) <= 10 else f"{name[:9]}…"
        parts.append(
            f'<text class="start t{number % 6}" x="{WIDE - 66}" y="{y:.1f}"><title>{escape(name)}</title>'
            f"{escape(short)}</text>"
        )
        spoken.append(f"{name} from {known[0][1]:.0f} to {known[-1][1]:.0f}")
    parts.append(f'<line class="now" x1="{MARGIN}" x2="{MARGIN}" y1="6" y2="{HIGH + 14}"/>')
    parts.append(f'<text x="{WIDE - 70}" y="{HIGH + 26}">step {last}</text>')
    return raw(
        f'<svg class="chart lines" viewBox="0 0 {WIDE} {HIGH + 32}" data-left="{MARGIN}" '
        f'data-step="{across:.4f}" role="img" aria-label="{escape(said)}: {escape(", ".join(spoken))}">'
        f"{''.join(parts)}</svg>"
    )

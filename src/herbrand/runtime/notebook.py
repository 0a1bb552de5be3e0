"""HTML for notebooks, used by `_repr_html_` methods.

Text from rulesheets is escaped.  Colours are inherited from the page, for light and dark notebooks.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from herbrand.runtime.rendering import Markup, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Markup", "bars", "block", "column", "table"]

_WIDTH: Final = 320
_HEIGHT: Final = 90
_MOST_BARS: Final = 60


def block(title: object, *parts: object, note: str = "") -> Markup:
    """Return a titled block: the title in bold, a note beside it, the parts below each other."""
    return render("runtime/block.html", title=title, parts=parts, note=note)


def table(
    rows: Iterable[Sequence[object]], head: Sequence[str] = (), *, numbers: Iterable[int] = ()
) -> Markup:
    """Return a table; the columns `numbers` are set to the right, and None is a dash.

    >>> table([("a", 1)], numbers=[1]).count("text-align:right")
    1
    """
    return render("runtime/table.html", rows=rows, head=head, numbers=set(numbers))


def column(lines: Iterable[object]) -> Markup:
    """Return lines in a monospaced font."""
    return render("runtime/column.html", lines=lines)


def bars(counts: Mapping[int, int], title: str) -> Markup:
    """Draw a histogram as SVG; with many numbers, neighbours share a bar."""
    if not counts:
        return Markup()
    low, high = min(counts), max(counts)
    wide = (high - low) // _MOST_BARS + 1
    heights: Counter[int] = Counter()
    for number, count in counts.items():
        heights[(number - low) // wide] += count
    return render(
        "runtime/bars.svg",
        title=title,
        width=_WIDTH,
        height=_HEIGHT,
        heights=sorted(heights.items()),
        highest=max(heights.values()),
        places=max(heights) + 1,
        low=low,
        high=high,
        wide=wide,
        ends=[(0, "start", low), (_WIDTH, "end", high)] if high > low else [(_WIDTH / 2, "middle", low)],
    )

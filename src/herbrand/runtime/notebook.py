"""HTML for notebooks, used by `_repr_html_` methods.

Text from rulesheets is escaped.  Colours are inherited from the page, for light and dark notebooks.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Markup", "bars", "block", "column", "table", "text"]

_WIDTH = 320
_HEIGHT = 90
_MOST_BARS = 60
_BLUE = "#3b6ea5"


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Return any value as HTML: escaped unless it is `Markup`; None is a dash.

    >>> text("a < b"), text(Markup("<b>a</b>")), text(None)
    ('a &lt; b', '<b>a</b>', '–')
    """
    if isinstance(value, Markup):
        return value
    return Markup("–" if value is None else escape(str(value)))


def block(title: object, *parts: object, note: str = "") -> Markup:
    """Return a titled block: the title in bold, a note beside it, the parts below each other."""
    beside = f' <span style="opacity:.7">{escape(note)}</span>' if note else ""
    body = "".join(f'<div style="margin:.35em 0">{text(part)}</div>' for part in parts if part != "")
    return Markup(f'<div class="herbrand"><div><b>{text(title)}</b>{beside}</div>{body}</div>')


def table(
    rows: Iterable[Sequence[object]], head: Sequence[str] = (), *, numbers: Iterable[int] = ()
) -> Markup:
    """Return a table; the columns `numbers` are set to the right.

    >>> table([("a", 1)], numbers=[1]).count("text-align:right")
    1
    """
    right = set(numbers)

    def cell(kind: str, index: int, value: object) -> str:
        side = "right" if index in right else "left"
        return f'<{kind} style="text-align:{side};vertical-align:top">{text(value)}</{kind}>'

    def row(kind: str, values: Sequence[object]) -> str:
        return f"<tr>{''.join(cell(kind, index, value) for index, value in enumerate(values))}</tr>"

    top = f"<thead>{row('th', head)}</thead>" if head else ""
    body = "".join(row("td", values) for values in rows)
    return Markup(f"<table>{top}<tbody>{body}</tbody></table>")


def column(lines: Iterable[object]) -> Markup:
    """Return lines in a monospaced font."""
    return Markup(f'<pre style="margin:0">{chr(10).join(text(line) for line in lines)}</pre>')


def bars(counts: Mapping[int, int], title: str) -> Markup:
    """Draw a histogram as SVG; with many numbers, neighbours share a bar."""
    if not counts:
        return Markup("")
    low, high = min(counts), max(counts)
    wide = (high - low) // _MOST_BARS + 1
    heights: dict[int, int] = {}
    for number, count in counts.items():
        place = (number - low) // wide
        heights[place] = heights.get(place, 0) + count
    places, most = max(heights) + 1, max(heights.values())
    step = _WIDTH / places
    shapes = []
    for place, count in sorted(heights.items()):
        tall = _HEIGHT * count / most
        first = low + place * wide
        shown = f"{first}" if wide == 1 else f"{first}–{min(first + wide - 1, high)}"
        shapes.append(
            f'<rect x="{place * step + 0.05 * step:.1f}" y="{_HEIGHT - tall:.1f}" width="{0.9 * step:.1f}" '
            f'height="{tall:.1f}" fill="{_BLUE}"><title>{shown}: {count}</title></rect>'
        )
    ends = [(0, "start", low), (_WIDTH, "end", high)] if high > low else [(_WIDTH / 2, "middle", low)]
    labels = [
        f'<text x="{x:g}" y="{_HEIGHT + 14}" font-size="11" text-anchor="{anchor}" fill="currentColor">'
        f"{end}</text>"
        for x, anchor, end in ends
    ]
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT + 18}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT + 18}" role="img" font-family="sans-serif">'
        f"<title>{escape(title)}</title>{''.join(shapes)}{''.join(labels)}</svg>"
    )

"""The building blocks of a picture: pieces of SVG of a known size."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from herbrand.draw.boards.layers import Cell

__all__ = ["LETTER", "WIDTH", "Part", "cell_name", "clickable", "fitted", "item_name", "n", "rect", "text"]

WIDTH: Final = 900.0
"""Things stand side by side up to this width."""
LETTER: Final = 7.1
"""Average width of a letter of 13 pixels."""


@dataclass
class Part:
    """Something of a known size, drawn from its upper left corner."""

    width: float
    height: float
    svg: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    broken: bool = False
    """Whether the next part begins a new line."""


def cell_name(board: int, copy: int, cell: Cell) -> str:
    """Return the name of a cell in `data-cell`: board, copy of the board, coordinates."""
    return f"{board}.{copy}:{','.join(cell[0])}:{','.join(cell[1])}"


def item_name(item: str) -> str:
    """Return the name of a thing in a tower in `data-cell`."""
    return f"item:{item}"


def n(number: float) -> str:
    """Write a coordinate: two digits after the point are enough."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def text(x: float, y: float, content: str, kind: str = "", more: str = "") -> str:
    """Write a text with its middle at a place (of class `start`: its beginning); `more` are attributes."""
    return f'<text class="{kind}" x="{n(x)}" y="{n(y)}"{more}>{escape(content)}</text>'


def fitted(content: str, width: float) -> str:
    """Return the size of letters with which a text has room in a width, as an attribute."""
    size = min(15.0, max(8.0, 1.6 * width / max(len(content), 1)))
    return f' font-size="{n(size)}"'


def rect(kind: str, x: float, y: float, width: float, height: float, radius: float = 0) -> str:
    """Write a rectangle of a class of the style sheet."""
    rx = f' rx="{n(radius)}"' if radius else ""
    return f'<rect class="{kind}" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}"{rx}/>'


def clickable(name: str, label: str, inside: str) -> str:
    """Group the drawing of a place that moves may refer to; screen readers read the `label`."""
    place, words = escape(name, quote=True), escape(label, quote=True)
    return f'<g class="hb-cell" data-cell="{place}" data-say="{words}">{inside}</g>'

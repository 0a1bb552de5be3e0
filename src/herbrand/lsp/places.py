"""Offsets in a text and places as the protocol counts them.

herbrand counts code points from 0; the Language Server Protocol counts lines from 0 and, within a
line, units of an encoding that client and server agree on, mostly UTF-16.  Lines end with LF, CR or
CRLF and with nothing else, whatever Python's `splitlines` thinks of form feeds.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.diagnostic import Span

if TYPE_CHECKING:
    from herbrand.diagnostic import Source

__all__ = ["Places"]

_UNITS: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Places:
    """Converts between offsets in one text and positions in one encoding.

    >>> from herbrand.diagnostic import Source
    >>> places = Places(Source("(role 𝔸) ; b"))
    >>> places.position(7)
    0:8
    >>> places.offset(lsp.Position(0, 8))
    7
    """

    def __init__(self, source: Source, encoding: str = "utf-16") -> None:
        self.text = source.text
        self.starts = source.line_starts
        self._codec, self._width = _UNITS.get(encoding, _UNITS["utf-16"])
        self._plain = encoding == "utf-32" or self.text.isascii()
        """Whether every character is one unit."""

    def units(self, start: int, end: int) -> int:
        """Return how many units text[start:end] has."""
        if self._plain:
            return max(0, end - start)
        # a lone half of a surrogate pair is no text, but clients can send one
        return len(self.text[start:end].encode(self._codec, "surrogatepass")) // self._width

    def position(self, offset: int) -> lsp.Position:
        """Return the place of an offset; one outside of the text is clipped."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return lsp.Position(line, self.units(self.starts[line], offset))

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the range of text[start:end]."""
        return lsp.Range(self.position(start), self.position(end))

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a place; behind the end of a line means its end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[max(position.line, 0)]
        end = self.line_end(max(position.line, 0))
        if self._plain:
            return min(start + max(position.character, 0), end)
        wanted = max(position.character, 0)
        if self.units(start, end) <= wanted:
            return end
        low, high = start, end  # the last offset with at most so many units before it
        while low < high:
            middle = (low + high + 1) // 2
            if self.units(start, middle) <= wanted:
                low = middle
            else:
                high = middle - 1
        return low

    def span(self, wanted: lsp.Range) -> Span:
        """Return the offsets of a range; one that runs backwards is turned round."""
        start, end = self.offset(wanted.start), self.offset(wanted.end)
        return Span(min(start, end), max(start, end))

    def line_end(self, line: int) -> int:
        """Return the offset at which a line ends, before what ends it."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.starts[line + 1]
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return end

"""Conversion between offsets and positions of the protocol.

Offsets count code points from 0.  The Language Server Protocol counts lines from 0 and, within a line, code
units of a negotiated encoding, usually UTF-16.  Lines end with LF, CR or CRLF only, unlike in Python's
`splitlines`.
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
    """Converts between offsets and positions of one text in one encoding.

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
        """Whether every character is one code unit."""

    def units(self, start: int, end: int) -> int:
        """Return the number of code units in text[start:end]."""
        if self._plain:
            return max(0, end - start)
        # clients can send lone surrogates
        return len(self.text[start:end].encode(self._codec, "surrogatepass")) // self._width

    def position(self, offset: int) -> lsp.Position:
        """Return the position of an offset, which is clipped to the text."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return lsp.Position(line, self.units(self.starts[line], offset))

    def range(self, start: int, end: int) -> lsp.Range:
        """Return the range of text[start:end]."""
        return lsp.Range(self.position(start), self.position(end))

    def offset(self, position: lsp.Position) -> int:
        """Return the offset of a position; beyond the end of a line means its end."""
        if position.line >= len(self.starts):
            return len(self.text)
        start = self.starts[max(position.line, 0)]
        end = self.line_end(max(position.line, 0))
        if self._plain:
            return min(start + max(position.character, 0), end)
        wanted = max(position.character, 0)
        if self.units(start, end) <= wanted:
            return end
        low, high = start, end  # bisect for the last offset with at most `wanted` units before it
        while low < high:
            middle = (low + high + 1) // 2
            if self.units(start, middle) <= wanted:
                low = middle
            else:
                high = middle - 1
        return low

    def span(self, wanted: lsp.Range) -> Span:
        """Return the offsets of a range, swapping its ends if necessary."""
        start, end = self.offset(wanted.start), self.offset(wanted.end)
        return Span(min(start, end), max(start, end))

    def line_end(self, line: int) -> int:
        """Return the offset of the end of a line, without its terminator."""
        if line + 1 >= len(self.starts):
            return len(self.text)
        start, end = self.starts[line], self.starts[line + 1]
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return end

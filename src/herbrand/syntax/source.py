"""Texts with a name, and places in them.

Offsets count code points of `Source.text`.  Lines and columns start at 1; a column counts
code points, or UTF-16 units where an editor wants them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

__all__ = ["Position", "Source", "Span"]

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range of offsets [start, end) in a source."""

    start: int
    end: int


class Position(NamedTuple):
    """A place as people count: both numbers start at 1."""

    line: int
    column: int


class Source:
    """A text and where it came from."""

    def __init__(self, text: str, name: str = "<string>") -> None:
        self.text = text
        self.name = name
        """Path or label, as diagnostics show it."""
        self._last_line = (0, "")  # thousands of findings may be about one long line

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {len(self.text)} characters)"

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of each line; LF, CR and CRLF end a line."""
        return [0, *(m.end() for m in _LINE_END.finditer(self.text))]

    def position(self, offset: int, *, utf16: bool = False) -> Position:
        """Return line and column of an offset; `utf16` counts columns in UTF-16 units."""
        line = bisect_right(self.line_starts, offset)
        start = self.line_starts[line - 1]
        if utf16:
            column = len(self.text[start:offset].encode("utf-16-le")) // 2
        else:
            column = offset - start
        return Position(line, column + 1)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place counted from 1, clipped to the text."""
        if line > len(self.line_starts):
            return len(self.text)
        return min(self.line_starts[max(line, 1) - 1] + max(column, 1) - 1, len(self.text))

    def line_text(self, line: int) -> str:
        """Return the text of a line without its line end."""
        number, text = self._last_line
        if number != line:
            start = self.line_starts[line - 1]
            end = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
            text = self.text[start:end].rstrip("\r\n")
            self._last_line = (line, text)
        return text

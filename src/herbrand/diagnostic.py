"""Diagnostics as data: problems in a source text, with their locations and fixes.

A diagnostic is reported by a *check*, named for what it flags (`unsafe-variable`); the
catalogue of checks is `herbrand.check.catalogue`, the renderers are in
`herbrand.check.render`.  Wording: a message begins in lower case, has no full stop, quotes
the offending text in backticks, and stands alone; `help` says what to do.

Places are offsets in a `Source`, which count code points.  Lines and columns start at 1; a column counts
code points, or UTF-16 units where an editor wants them.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

__all__ = [
    "Diagnostic",
    "Edit",
    "Fix",
    "Label",
    "Position",
    "Severity",
    "Source",
    "Span",
    "Spanned",
    "apply_fixes",
]

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range of offsets [start, end) in a source."""

    start: int
    end: int


class Spanned(Protocol):
    """Anything that covers the offsets [start, end) of a source: a span, a token, a node of a tree."""

    @property
    def start(self) -> int:
        """Offset of the first character."""

    @property
    def end(self) -> int:
        """Offset after the last character."""


class Position(NamedTuple):
    """Line and column, both counted from 1."""

    line: int
    column: int


class Source:
    """A text and its origin."""

    def __init__(self, text: str, name: str = "<string>") -> None:
        self.text = text
        self.name = name
        """Path or label, as diagnostics show it."""
        self._last_line = (0, "")  # cache: thousands of diagnostics may be about one long line

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
        """Return the offset of a line and column counted from 1, clipped to the text."""
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


class Severity(enum.Enum):
    """How serious a diagnostic is."""

    ERROR = "error"
    """The game cannot be played as written."""
    WARNING = "warning"
    """The game can be played, but probably not as intended, or not by every system."""
    NOTE = "note"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for notes: sorts the worst first."""
        return ("error", "warning", "note").index(self.value)


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary location with a short remark, such as "first used here"."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of edits that repairs the source."""

    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A problem reported by a check."""

    check: str
    """Name of the check, a key of the catalogue."""
    severity: Severity
    message: str
    source: Source = field(compare=False, repr=False)
    span: Span
    """The primary location."""
    labels: tuple[Label, ...] = ()
    help: str | None = None
    """How to fix it."""
    notes: tuple[str, ...] = ()
    fix: Fix | None = None

    @property
    def is_error(self) -> bool:
        """Whether the game is unplayable because of it."""
        return self.severity is Severity.ERROR


def apply_fixes(text: str, diagnostics: tuple[Diagnostic, ...]) -> tuple[str, tuple[Diagnostic, ...]]:
    """Apply every fix that overlaps no earlier one.

    Returns the new text and the diagnostics whose fixes were applied, in textual order.
    """
    occupied: list[tuple[int, int]] = []
    edits: list[Edit] = []
    applied: list[Diagnostic] = []
    for diagnostic in sorted(diagnostics, key=lambda d: d.span.start):
        fix = diagnostic.fix
        if fix is None or any(_overlaps(e, span) for e in fix.edits for span in occupied):
            continue
        occupied += [(e.span.start, e.span.end) for e in fix.edits]
        edits += fix.edits
        applied.append(diagnostic)
    # from the end, so that offsets stay valid; at equal offsets, insertions go before replacements
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end), reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text, tuple(applied)


def _overlaps(edit: Edit, other: tuple[int, int]) -> bool:
    start, end = other
    if edit.span.start == edit.span.end == start == end:
        return True
    return edit.span.start < end and start < edit.span.end

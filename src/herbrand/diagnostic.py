"""Diagnostics: what is wrong with a text, where, why, and how to repair it.  Data only.

A diagnostic is found by a *check*, named for what it flags (`unsafe-variable`); the
catalogue of checks is `herbrand.check.catalogue`, the renderers are in
`herbrand.check.render`.  Wording: a message begins in lower case, has no full stop, quotes
the offending text in backticks, and stands alone; `help` says what to do.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.syntax.source import Source, Span

__all__ = ["Diagnostic", "Edit", "Fix", "Label", "Severity", "apply_fixes"]


class Severity(enum.Enum):
    """How bad it is."""

    ERROR = "error"
    """The game cannot be played as written."""
    WARNING = "warning"
    """It can be played, but probably not as meant, or not everywhere."""
    NOTE = "note"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for notes: sorts the worst first."""
        return ("error", "warning", "note").index(self.value)


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place with a short remark, such as "first used here"."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of `span` by `text`; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair that can be applied to the source."""

    message: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of one check."""

    check: str
    """Name of the check, a key of the catalogue."""
    severity: Severity
    message: str
    source: Source = field(compare=False, repr=False)
    span: Span
    """The primary place."""
    labels: tuple[Label, ...] = ()
    help: str | None = None
    """What to do about it."""
    notes: tuple[str, ...] = ()
    fix: Fix | None = None

    @property
    def is_error(self) -> bool:
        """Whether this makes the game unplayable."""
        return self.severity is Severity.ERROR


def apply_fixes(text: str, diagnostics: tuple[Diagnostic, ...]) -> tuple[str, tuple[Diagnostic, ...]]:
    """Apply every fix that overlaps no earlier one.

    Returns the new text and the diagnostics whose fixes were applied, in textual order.
    """
    taken: list[tuple[int, int]] = []
    edits: list[Edit] = []
    applied: list[Diagnostic] = []
    for diagnostic in sorted(diagnostics, key=lambda d: d.span.start):
        fix = diagnostic.fix
        if fix is None or any(_overlaps(e, span) for e in fix.edits for span in taken):
            continue
        taken += [(e.span.start, e.span.end) for e in fix.edits]
        edits += fix.edits
        applied.append(diagnostic)
    # from the end; at one place what is inserted goes before what is replaced
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end), reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text, tuple(applied)


def _overlaps(edit: Edit, taken: tuple[int, int]) -> bool:
    start, end = taken
    if edit.span.start == edit.span.end == start == end:
        return True
    return edit.span.start < end and start < edit.span.end

"""Renderers of diagnostics: text with carets, one line, JSON, SARIF.

    error[unsafe-variable]: `?y` in the head is not bound by the body
      --> games/ticTacToe.kif:41:20
       |
    41 | (<= (next (cell ?x ?y b))
       |                    ^^ never bound
    42 |     (true (cell ?x 1 b)))
       |
    help: bind `?y` in a positive literal

Carets mark the primary location, dashes the labels.  Marks are aligned by the display width of
characters; control characters, which could act on a terminal, and bidirectional controls
are replaced.  Columns count code points and start at 1.
"""

from __future__ import annotations

import json as json_module
import unicodedata
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from herbrand.diagnostic import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.diagnostic import Diagnostic, Label, Source, Span

__all__ = ["json", "json_value", "line", "printable", "sarif", "sarif_value", "text"]

TAB: Final = 4
"""Number of spaces shown for a tab, at any column."""
WIDTH: Final = 140
"""Maximum width of a line; a longer one is cut around the primary location."""
CONTEXT: Final = 2
"""Maximum number of lines shown after the last marked one if they continue its statement."""

_LONG: Final = 4 * WIDTH
"""Length above which a line is cut without measuring its width."""

_COLORS: Final = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_BOLD, _BLUE = "1", "34"


# -- text with carets ----------------------------------------------------------------------------


def text(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Render diagnostics as paragraphs with source excerpts, separated by empty lines.

    `color` adds ANSI codes.
    """
    paint = _paint if color else _plain
    return "\n\n".join("\n".join(_paragraph(d, paint)) for d in diagnostics)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A marked range of one line, in code points."""

    start: int
    end: int
    sign: str
    message: str


def _paragraph(d: Diagnostic, paint: Any) -> Iterable[str]:
    severity = _COLORS[d.severity]
    source = d.source
    place = source.position(d.span.start)
    yield paint(f"{d.severity.value}[{d.check}]", f"{severity};1") + paint(f": {printable(d.message)}", _BOLD)
    marks = _marks(d)
    shown = _lines(source, marks)
    gutter = len(str(max(shown, default=place.line)))
    yield f"{' ' * (gutter - 1)} {paint('-->', _BLUE)} {printable(source.name)}:{place.line}:{place.column}"
    bar = paint(f"{' ' * gutter} |", _BLUE)
    if shown:
        yield bar
    previous = shown[0] - 1 if shown else 0
    for number in shown:
        if number != previous + 1:
            yield paint("...", _BLUE)
        previous = number
        window = _Window(source.line_text(number), marks.get(number, []))
        yield f"{paint(f'{number:>{gutter}} |', _BLUE)} {window.text}".rstrip()
        for row in window.rows():
            yield f"{bar} " + "".join(
                paint(piece, severity if sign == "^" else _BLUE) if sign else piece for piece, sign in row
            )
    if shown and (d.help or d.notes):
        yield bar
    if d.help:
        yield f"{paint('help', _BOLD)}: {printable(d.help)}"
    for note in d.notes:
        yield f"{paint('note', _BOLD)}: {printable(note)}"


def _marks(d: Diagnostic) -> dict[int, list[_Mark]]:
    """Return the marks of a diagnostic by line; a multi-line range is marked on its first line."""
    by_line: dict[int, list[_Mark]] = {}
    primary = next((label.message for label in d.labels if label.span == d.span), "")
    secondary: list[Label] = [label for label in d.labels if label.span != d.span]
    for span, sign, message in ((d.span, "^", primary), *((x.span, "-", x.message) for x in secondary)):
        number, column = d.source.position(min(span.start, len(d.source.text)))
        length = len(d.source.line_text(number))
        start = min(column - 1, length)
        end = max(start + 1, min(start + span.end - span.start, length))
        by_line.setdefault(number, []).append(_Mark(start, end, sign, message))
    return by_line


def _lines(source: Source, marks: dict[int, list[_Mark]]) -> list[int]:
    """Return the lines to show: marked ones, single lines between them, continuations of the last."""
    if not source.text.strip():
        return []
    numbers = sorted(marks)
    shown: list[int] = []
    for number in numbers:
        if shown and number == shown[-1] + 2:
            shown.append(number - 1)
        shown.append(number)
    for number in range(numbers[-1] + 1, min(numbers[-1] + CONTEXT, len(source.line_starts)) + 1):
        line_text = source.line_text(number)
        if not line_text.strip() or line_text[0] not in " \t":
            break
        shown.append(number)
    return shown


class _Window:
    """The visible part of a line, and the rows of marks under it."""

    def __init__(self, line_text: str, marks: list[_Mark]) -> None:
        first, last = 0, len(line_text)
        if last > _LONG or sum(_width(_shown(c)) for c in line_text) > WIDTH:
            focus = min((m.start for m in marks if m.sign == "^"), default=marks[0].start if marks else 0)
            first = max(0, focus - WIDTH // 3)
            last = min(last, first + WIDTH)
        cells = [_shown(c) for c in line_text[first:last]]
        before, after = "…" if first else "", "…" if last < len(line_text) else ""
        self.text = f"{before}{''.join(cells)}{after}"
        columns = list(accumulate(map(_width, cells), initial=len(before)))
        self._marks: list[tuple[int, int, str, str]] = []
        for mark in sorted(marks, key=lambda m: (m.start, m.sign)):
            start = min(max(mark.start - first, 0), len(columns) - 1)
            end = min(max(mark.end - first, start), len(columns) - 1)
            width = max(columns[end] - columns[start], 1)
            self._marks.append((columns[start], columns[start] + width, mark.sign, mark.message))

    def rows(self) -> Iterable[list[tuple[str, str]]]:
        """Yield the rows of marks; overlapping marks go to separate rows."""
        remaining = sorted(self._marks, key=lambda mark: (mark[2] != "^", mark[0]))
        while remaining:
            placed: list[tuple[int, int, str, str]] = []
            later: list[tuple[int, int, str, str]] = []
            for start, end, sign, message in remaining:
                tail = f" {printable(message)}" if message else ""
                last = end + _text_width(tail)
                if all(start > other_last or other_start > last for other_start, other_last, _, _ in placed):
                    placed.append((start, last, sign * (end - start) + tail, sign))
                else:
                    later.append((start, end, sign, message))
            row: list[tuple[str, str]] = []
            at = 0
            for start, last, piece, sign in sorted(placed):
                row += [(" " * (start - at), ""), (piece, sign)]
                at = last
            yield row
            remaining = later


def printable(message: str) -> str:
    """Make a text printable on one line of a terminal: control characters cannot act on it."""
    if message.isprintable():
        return message
    return "".join(_shown(c) for c in " ".join(message.splitlines()))


def _shown(character: str) -> str:
    if character == "\t":
        return " " * TAB
    category = unicodedata.category(character)
    if category in ("Cc", "Cs") or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        return "\ufffd"
    return character


def _width(cell: str) -> int:
    if len(cell) != 1:
        return len(cell)
    if " " <= cell <= "~":
        return 1
    if unicodedata.combining(cell) or unicodedata.category(cell) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1


def _text_width(shown: str) -> int:
    if shown.isascii() and shown.isprintable():
        return len(shown)
    return sum(map(_width, shown))


def _plain(piece: str, _code: str) -> str:
    return piece


def _paint(piece: str, code: str) -> str:
    return f"\x1b[{code}m{piece}\x1b[0m"


# -- one line ------------------------------------------------------------------------------------


def line(diagnostics: Iterable[Diagnostic]) -> str:
    """Render each diagnostic on one line: `file:line:column: error[check] message`."""
    return "\n".join(
        f"{printable(d.source.name)}:{place.line}:{place.column}: {d.severity.value}[{d.check}] "
        f"{printable(d.message)}"
        for d in diagnostics
        for place in (d.source.position(d.span.start),)
    )


# -- JSON ----------------------------------------------------------------------------------------


def json_value(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return diagnostics as JSON values; `end_line` and `end_column` are exclusive."""
    return [_object(d) for d in diagnostics]


def json(diagnostics: Iterable[Diagnostic]) -> str:
    """Render diagnostics as a JSON list."""
    return json_module.dumps(json_value(diagnostics), indent=2, ensure_ascii=False)


def _object(d: Diagnostic) -> dict[str, Any]:
    fix = None
    if d.fix is not None:
        edits = [{**_place(d.source, edit.span), "text": edit.text} for edit in d.fix.edits]
        fix = {"message": d.fix.message, "edits": edits}
    return {
        "check": d.check,
        "severity": d.severity.value,
        "message": d.message,
        "file": d.source.name,
        **_place(d.source, d.span),
        "help": d.help,
        "notes": list(d.notes),
        "labels": [{**_place(d.source, x.span), "message": x.message} for x in d.labels],
        "fix": fix,
    }


def _place(source: Source, span: Span) -> dict[str, int]:
    start, end = source.position(span.start), source.position(span.end)
    return {"line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column}


# -- SARIF ---------------------------------------------------------------------------------------

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(diagnostics: Iterable[Diagnostic]) -> str:
    """Render diagnostics as a SARIF 2.1.0 log (OASIS standard, 2020)."""
    return json_module.dumps(sarif_value(diagnostics), indent=2, ensure_ascii=False)


def sarif_value(diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """Return a SARIF log as JSON values: one run with its rules and results."""
    from herbrand import __version__
    from herbrand.check.catalogue import CHECKS

    listed = list(diagnostics)
    names = sorted({d.check for d in listed})
    rules: list[dict[str, Any]] = []
    for name in names:
        rule: dict[str, Any] = {"id": name}
        check = CHECKS.get(name)
        if check is not None:
            rule |= {
                "shortDescription": {"text": check.title},
                "fullDescription": {"text": f"{check.what} {check.why}"},
                "help": {"text": check.explain(), "markdown": check.explain()},
                "defaultConfiguration": {"level": check.severity.value},
                "properties": {"code": check.code, "stage": check.stage},
            }
        rules.append(rule)
    driver = {"name": "herbrand", "version": __version__, "semanticVersion": __version__, "rules": rules}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(d, names.index(d.check)) for d in listed],
            }
        ],
    }


def _result(d: Diagnostic, rule: int) -> dict[str, Any]:
    message = ". ".join(part for part in (d.message, d.help, *d.notes) if part)
    result: dict[str, Any] = {
        "ruleId": d.check,
        "ruleIndex": rule,
        "level": d.severity.value,
        "message": {"text": message},
        "locations": [{"physicalLocation": _location(d.source, d.span)}],
    }
    if d.labels:
        result["relatedLocations"] = [
            {"id": i, "physicalLocation": _location(d.source, x.span), "message": {"text": x.message}}
            for i, x in enumerate(d.labels)
        ]
    if d.fix is not None:
        replacements = [
            {"deletedRegion": _region(d.source, edit.span), "insertedContent": {"text": edit.text}}
            for edit in d.fix.edits
        ]
        change = {"artifactLocation": {"uri": _uri(d.source.name)}, "replacements": replacements}
        result["fixes"] = [{"description": {"text": d.fix.message}, "artifactChanges": [change]}]
    return result


def _location(source: Source, span: Span) -> dict[str, Any]:
    return {"artifactLocation": {"uri": _uri(source.name)}, "region": _region(source, span)}


def _region(source: Source, span: Span) -> dict[str, int]:
    place = _place(source, span)
    return {
        "startLine": place["line"],
        "startColumn": place["column"],
        "endLine": place["end_line"],
        "endColumn": place["end_column"],
    }


def _uri(name: str) -> str:
    """Return a URI reference for a path or a label."""
    from urllib.parse import quote

    return quote(name.replace("\\", "/"), safe="/:" if name[1:3] == ":\\" else "/")

"""Semantic tokens: the kind of each word, for highlighting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.diagnostic import Span

if TYPE_CHECKING:
    from herbrand.lsp.document import OpenSheet

__all__ = ["LEGEND", "tokens"]

_KINDS: Final = {
    "keyword": "keyword",
    "relation": "function",
    "fluent": "property",
    "move": "method",
    "percept": "event",
    "role": "class",
    "number": "number",
    "constant": "enumMember",
    "function": "struct",
    "variable": "variable",
    "type": "type",
    "parameter": "parameter",
    "comment": "comment",
}
"""The protocol's token type for each kind of name."""
_NUMBER: Final = {kind: number for number, kind in enumerate(_KINDS)}

LEGEND: Final = lsp.SemanticTokensLegend(list(_KINDS.values()), ["definition"])


def tokens(sheet: OpenSheet, span: Span | None = None) -> list[int]:
    """Return the semantic tokens of a text or a part of it, in the protocol's relative encoding."""
    places = sheet.places
    span = span or Span(0, len(sheet.text))
    words = [
        (o.start, o.end, _NUMBER[o.kind], int(bool(o.defines)))
        for o in sheet.names.all
        if o.end > span.start and o.start < span.end
    ]
    comment = _NUMBER["comment"]
    for one in sheet.tree.comments:
        if one.end > span.start and one.start < span.end:
            words += [(start, end, comment, 0) for start, end in _lines(sheet, one.start, one.end)]
    words.sort()
    data: list[int] = []
    line = column = last = 0
    for start, end, kind, modifier in words:
        if start < last:
            continue  # tokens must not overlap
        last = end
        at = places.position(start)
        data += (
            at.line - line,
            at.character - column if at.line == line else at.character,
            places.units(start, end),
            kind,
            modifier,
        )
        line, column = at.line, at.character
    return data


def _lines(sheet: OpenSheet, start: int, end: int) -> list[tuple[int, int]]:
    """Split a comment into lines, since not every editor supports multi-line tokens."""
    first = sheet.places.position(start).line
    lines: list[tuple[int, int]] = []
    while start < end:
        stop = min(end, sheet.places.line_end(first))
        if stop > start:
            lines.append((start, stop))
        first += 1
        if first >= len(sheet.places.starts):
            break
        start = sheet.places.starts[first]
    return lines

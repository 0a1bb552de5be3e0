"""The structure of a sheet: symbols, folding ranges and selection ranges."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.lsp.document import OpenSheet
    from herbrand.lsp.names import Key, Statement

__all__ = ["folds", "selection", "symbols", "workspace_symbols"]

_KINDS: Final = {
    "role": lsp.SymbolKind.Class,
    "init": lsp.SymbolKind.Constructor,
    "base": lsp.SymbolKind.Property,
    "next": lsp.SymbolKind.Property,
    "legal": lsp.SymbolKind.Method,
    "input": lsp.SymbolKind.Method,
    "goal": lsp.SymbolKind.Number,
    "terminal": lsp.SymbolKind.Event,
    "sees": lsp.SymbolKind.Event,
}
_TITLE: Final = 80


def _runs(sheet: OpenSheet) -> Iterator[tuple[Key, list[Statement]]]:
    """Yield runs of consecutive statements about the same relation."""
    for key, run in groupby(sheet.names.statements, key=lambda s: s.head):
        yield key, list(run)


def symbols(sheet: OpenSheet) -> list[lsp.DocumentSymbol]:
    """Return the outline: an entry for each run of statements about a relation, with the statements in it."""
    outline: list[lsp.DocumentSymbol] = []
    for key, run in _runs(sheet):
        children = [_symbol(sheet, s) for s in run]
        name = f"{key[1]}/{key[2]}" if key[0] == "relation" else key[1]
        if len(run) == 1:
            outline.append(children[0])
            continue
        start, end = run[0].start, max(s.end for s in run)
        outline.append(
            lsp.DocumentSymbol(
                name=name or run[0].title[:_TITLE],
                detail=f"{len(run)} statements",
                kind=_kind(key),
                range=sheet.places.range(start, end),
                selection_range=children[0].selection_range,
                children=children,
            )
        )
    return outline


def _symbol(sheet: OpenSheet, statement: Statement) -> lsp.DocumentSymbol:
    place = sheet.places.range(statement.start, statement.end)
    title = statement.title
    shown = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    return lsp.DocumentSymbol(shown or "statement", _kind(statement.head), place, place)


def _kind(key: Key) -> lsp.SymbolKind:
    return _KINDS.get(key[1], lsp.SymbolKind.Function)


def workspace_symbols(sheet: OpenSheet, uri: str, query: str) -> Iterator[lsp.WorkspaceSymbol]:
    """Yield the names defined in a sheet that contain the letters of a query in order."""
    seen: set[Key] = set()
    letters = query.lower()
    for occurrence in sheet.names.all:
        kind = occurrence.kind
        if not occurrence.defines or occurrence.key in seen or kind in ("keyword", "number", "variable"):
            continue
        seen.add(occurrence.key)
        name = occurrence.key[1]
        rest = iter(name)
        if all(letter in rest for letter in letters):
            yield lsp.WorkspaceSymbol(
                location=lsp.Location(uri, sheet.places.range(occurrence.start, occurrence.end)),
                name=name,
                kind=lsp.SymbolKind.Function if kind == "relation" else lsp.SymbolKind.Property,
                container_name=kind,
            )


def folds(sheet: OpenSheet) -> list[lsp.FoldingRange]:
    """Return the folding ranges: statements over several lines, runs of statements, blocks of comments."""
    ranges: dict[tuple[int, int], lsp.FoldingRange] = {}

    def add(start: int, end: int, kind: lsp.FoldingRangeKind | None) -> None:
        first, last = sheet.places.position(start).line, sheet.places.position(end).line
        if last > first:
            ranges.setdefault((first, last), lsp.FoldingRange(first, last, kind=kind))

    for statement in sheet.names.statements:
        add(statement.start, statement.end, None)
    for key, run in _runs(sheet):
        if len(run) > 2 and key[1]:
            add(run[0].start, run[-1].end, lsp.FoldingRangeKind.Region)
    block: list[int] = []
    for line in [*sorted(sheet.comments), -1]:
        comment = sheet.comments.get(line)
        alone = comment is not None and not sheet.text[sheet.places.starts[line] : comment.start].strip()
        if alone and (not block or line == block[-1] + 1):
            block.append(line)
            continue
        if len(block) > 1:
            add(sheet.comments[block[0]].start, sheet.comments[block[-1]].end, lsp.FoldingRangeKind.Comment)
        block = [line] if alone else []
    for comment in sheet.tree.comments:
        add(comment.start, comment.end, lsp.FoldingRangeKind.Comment)
    return [ranges[key] for key in sorted(ranges)]


def selection(sheet: OpenSheet, positions: Sequence[lsp.Position]) -> list[lsp.SelectionRange]:
    """Return for each position the word, the enclosing brackets, the statement and the sheet."""
    result: list[lsp.SelectionRange] = []
    for position in positions:
        at = sheet.places.offset(position)
        spans = {(0, len(sheet.text))}
        number = sheet.names.statement_at(at)
        if number >= 0:
            statement = sheet.names.statements[number]
            if statement.start <= at <= statement.end:
                spans.add((statement.start, statement.end))
                spans |= set(_brackets(sheet.text, statement.start, statement.end, at))
        name = sheet.names.at(at)
        if name is not None:
            spans.add((name.start, name.end))
        nested: lsp.SelectionRange | None = None
        low, high = -1, len(sheet.text) + 1
        for start, end in sorted(spans, key=lambda s: (s[0] - s[1], s[0])):
            if low <= start and end <= high:
                nested = lsp.SelectionRange(sheet.places.range(start, end), nested)
                low, high = start, end
        assert nested is not None  # the sheet itself
        result.append(nested)
    return result


def _brackets(text: str, start: int, end: int, at: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of brackets in a statement that enclose an offset."""
    stack: list[int] = []
    for index in range(start, end):
        if text[index] in "([{":
            stack.append(index)
        elif text[index] in ")]}" and stack:
            opened = stack.pop()
            if opened <= at <= index + 1:
                yield opened, index + 1

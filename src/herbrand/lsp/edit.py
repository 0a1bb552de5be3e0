"""Edits of a sheet: renaming and formatting."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.diagnostic import Source
from herbrand.errors import GameError, HerbrandError
from herbrand.lsp.names_ggdl import KEYWORDS as GGDL_KEYWORDS
from herbrand.syntax.layout import format_text
from herbrand.syntax.names import KEYWORDS

if TYPE_CHECKING:
    from herbrand.lsp.document import Document, OpenSheet
    from herbrand.lsp.names import Occurrence

__all__ = ["CannotRename", "formatting", "prepare_rename", "range_formatting", "rename"]


class CannotRename(HerbrandError, ValueError):
    """A name cannot be renamed, or not to the new name."""


_PREFIX_NAME: Final = re.compile(r"[^\s();,?~¬!\\<&|][^\s();,]*")
_OTHER_NAME: Final = re.compile(r"[a-z0-9]\w*")
_CAPITAL: Final = re.compile(r"[A-Z_]\w*")
_GGDL_NAME: Final = re.compile(r"[^\W_]\w*")
_GGDL_VARIABLE: Final = re.compile(r"[^\W\d]\w*'*")


def prepare_rename(sheet: OpenSheet, position: lsp.Position) -> lsp.PrepareRenamePlaceholder | None:
    """Return the name at a position; None if it cannot be renamed."""
    occurrence = sheet.names.at(sheet.places.offset(position))
    if occurrence is None or occurrence.kind in ("keyword", "number"):
        return None
    return lsp.PrepareRenamePlaceholder(
        sheet.places.range(occurrence.start, occurrence.end), sheet.text[occurrence.start : occurrence.end]
    )


def rename(document: Document, position: lsp.Position, new: str) -> lsp.WorkspaceEdit | None:
    """Rename all occurrences of a name.

    Returns None if there is no name at the position; raises `CannotRename` if the new name is not valid in
    this notation or already has another meaning.
    """
    sheet = document.sheet
    occurrence = sheet.names.at(sheet.places.offset(position))
    if occurrence is None:
        return None
    new = new.strip()
    _check_new_name(sheet, occurrence, new)
    edits: list[lsp.TextEdit] = []
    for use in sheet.names.of(occurrence):
        old = sheet.text[use.start : use.end]
        sign = old[0] if occurrence.kind == "variable" and old[0] in "?\\" else ""
        if sign and new.startswith(sign):
            sign = ""
        edits.append(lsp.TextEdit(sheet.places.range(use.start, use.end), f"{sign}{new}"))
    return lsp.WorkspaceEdit(changes={document.uri: edits})


def _check_new_name(sheet: OpenSheet, occurrence: Occurrence, new: str) -> None:
    """Raise `CannotRename` if a name cannot be renamed to `new`."""
    notation = sheet.tree.notation
    old = sheet.text[occurrence.start : occurrence.end]
    if occurrence.kind == "keyword":
        raise CannotRename(f"`{old}` has a fixed meaning and cannot be renamed")
    is_variable = occurrence.kind == "variable"
    bare = new.lstrip("?\\") if is_variable else new
    folded = bare.lower()
    if is_variable:
        pattern = {"prefix": _PREFIX_NAME, "ggdl": _GGDL_VARIABLE}.get(
            notation, _CAPITAL if old[0] != "?" else _GGDL_VARIABLE
        )
    else:
        pattern = {"prefix": _PREFIX_NAME, "ggdl": _GGDL_NAME}.get(notation, _OTHER_NAME)
    if not pattern.fullmatch(bare):
        raise CannotRename(f"`{new}` is not a {'variable' if is_variable else 'name'} in this notation")
    words = GGDL_KEYWORDS if notation == "ggdl" else KEYWORDS
    is_reserved = folded in words or (notation == "prefix" and bare in (":-", "<=", "⇐", "←"))
    if is_reserved and not is_variable:
        raise CannotRename(f"`{new}` has a fixed meaning")
    sort, name, number = occurrence.key
    is_used = any(
        key[:2] == (sort, folded) and (sort != "variable" or key[2] == number) for key in sheet.names.by_key
    )
    if folded != name and is_used:
        where = " in this statement" if is_variable else ""
        raise CannotRename(f"`{new}` already has another meaning{where}")


def formatting(sheet: OpenSheet) -> list[lsp.TextEdit] | None:
    """Return the edits that format a sheet; None for other notations than prefix and on syntax errors."""
    if sheet.tree.notation != "prefix":
        return None
    try:
        after = format_text(sheet.source)
    except GameError:
        return None
    return _difference(sheet, 0, len(sheet.text), after)


def range_formatting(sheet: OpenSheet, wanted: lsp.Range) -> list[lsp.TextEdit] | None:
    """Return the edits that format the statements which a range touches."""
    if sheet.tree.notation != "prefix" or any(d.is_error for d in sheet.tree.diagnostics):
        return None
    span = sheet.places.span(wanted)
    touched = [s for s in sheet.names.statements if s.start <= span.end and span.start <= s.end]
    if not touched:
        return []
    start, end = min(s.start for s in touched), max(s.end for s in touched)
    try:
        after = format_text(Source(sheet.text[start:end]))
    except GameError:
        return None
    return _difference(sheet, start, end, after.rstrip("\n"))


def _difference(sheet: OpenSheet, start: int, end: int, after: str) -> list[lsp.TextEdit]:
    """Return an edit that replaces text[start:end], without the common lines at both ends."""
    before = sheet.text[start:end]
    if before == after:
        return []
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    begin = start + sum(map(len, old[:first]))
    stop = end - sum(map(len, old[len(old) - last :]))
    text = "".join(new[first : len(new) - last])
    return [lsp.TextEdit(sheet.places.range(begin, stop), text)]

"""The formatter of prefix text: canonical layout that preserves everything the author wrote.

It works on words and parentheses, not on the tree, so that spelling, comments and redundant
forms are preserved.  The layout is the one that authors
use: a rule with two or more conditions is broken after its head, with every condition on a line
of its own, four columns to the right; everything else stands on one line where it fits and is
broken likewise where it does not.  A comment at the end of a line stays there, one on a line of
its own too, and one blank line between statements is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from herbrand.errors import GameError
from herbrand.syntax.reader import read_prefix
from herbrand.syntax.tokens import ARROWS, TOKEN

if TYPE_CHECKING:
    from herbrand.diagnostic import Source

__all__ = ["format_text"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_INDENT = 4
_UNFORMATTED = frozenset({"left-over-text", "commented-rules", "foreign-comment"})
"""Warnings about text that is no statement."""
_MOST_ON_A_LINE = 3
"""Maximum number of parts of a rule on one line: arrow, head and a single condition."""


def format_text(source: Source, *, width: int = 100) -> str:
    """Return prefix text in canonical layout, with lines of at most `width` characters if possible.

    Formatting again changes nothing, and the text reads as the same tree.  Raises `GameError`
    with the diagnostics when the text has syntax errors.
    """
    diagnostics = read_prefix(source).diagnostics
    errors = tuple(d for d in diagnostics if d.is_error or d.check in _UNFORMATTED)
    if errors:
        raise GameError(f"`{source.name}` has syntax errors and was not formatted", errors)
    writer = _Writer(width)
    for piece in _pieces(source.text):
        writer.statement(piece)
    return writer.text()


@dataclass(slots=True)
class _Word:
    text: str
    blank_before: bool = False


@dataclass(slots=True)
class _Remark:
    """A comment."""

    text: str
    own_line: bool
    blank_before: bool = False


@dataclass(slots=True)
class _List:
    items: list[_Piece] = field(default_factory=list)
    blank_before: bool = False
    is_rule: bool = False
    flat: str | None = ""
    """The list on one line; None if a comment or a second condition forces line breaks."""


_Piece: TypeAlias = _Word | _Remark | _List


def _pieces(text: str) -> list[_Piece]:
    """Split a text without syntax errors into nested lists of words and comments."""
    sheet = _List()
    stack = [sheet]
    last = 0
    for token in TOKEN.finditer(text):
        word, items = token[0], stack[-1].items
        breaks = len(_LINE_END.findall(text[last : token.start()]))
        is_blank = breaks > 1 and bool(sheet.items)
        if word == "(":
            new = _List(blank_before=is_blank)
            items.append(new)
            stack.append(new)
        elif word == ")":
            _set_flat(stack.pop())
        elif word[0] == ";":
            items.append(_Remark(word.rstrip(), breaks > 0 or not last, is_blank))
        else:
            is_arrow = word in ARROWS and all(isinstance(item, _Remark) for item in items)
            items.append(_Word("<=" if is_arrow else word, is_blank))
            stack[-1].is_rule |= is_arrow
        last = token.end()
    return sheet.items


def _set_flat(piece: _List) -> None:
    parts = [_flat(item) for item in piece.items]
    flat_parts = [part for part in parts if part is not None]
    is_broken = len(flat_parts) < len(parts) or (piece.is_rule and len(parts) > _MOST_ON_A_LINE)
    piece.flat = None if is_broken else f"({' '.join(flat_parts)})"


def _flat(piece: _Piece) -> str | None:
    if isinstance(piece, _Remark):
        return None
    return piece.text if isinstance(piece, _Word) else piece.flat


class _Writer:
    """Lays pieces out in lines."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.line = ""
        self.is_ended = True
        """Whether the current line is complete, because a comment ends it."""

    def text(self) -> str:
        """Return the formatted text."""
        if self.line:
            self.new_line(0)
        return "\n".join([*self.lines, ""]) if self.lines else ""

    def new_line(self, indent: int) -> None:
        """Start a new line."""
        self.lines.append(self.line.rstrip())
        self.line = " " * indent
        self.is_ended = False

    def statement(self, piece: _Piece) -> None:
        """Write a top-level piece."""
        if isinstance(piece, _Remark) and not piece.own_line and self.line:
            self.line += f" {piece.text}"
            return
        if self.line:
            self.new_line(0)
        if piece.blank_before:
            self.lines.append("")
        self.is_ended = False
        if isinstance(piece, _Remark):
            self.line += piece.text
        else:
            self.piece(piece, 0)

    def piece(self, piece: _Word | _List, closing: int) -> None:
        """Write a word or a list, leaving room for `closing` parentheses on its last line."""
        flat = _flat(piece)
        if flat is not None and (
            isinstance(piece, _Word) or len(self.line) + len(flat) + closing <= self.width
        ):
            self.line += flat
        elif isinstance(piece, _List):
            self.broken(piece, closing)

    def broken(self, piece: _List, closing: int) -> None:
        """Write a list over several lines."""
        indent = len(self.line)
        inside = indent + _INDENT
        self.line += "("
        first = next((item for item in piece.items if not isinstance(item, _Remark)), None)
        beside_name = int(isinstance(first, _Word))  # a head follows `<=`, an operand `or`
        item_count = 0
        for number, item in enumerate(piece.items):
            if isinstance(item, _Remark):
                if item.own_line:
                    self.new_line(inside)
                elif not self.line.endswith("("):
                    self.line += " "
                self.line += item.text
                self.is_ended = True
                continue
            if self.is_ended or item_count > beside_name:
                self.new_line(inside)
            elif item_count:
                self.line += " "
            is_last = number == len(piece.items) - 1
            self.piece(item, closing + 1 if is_last else 0)
            item_count += 1
        if self.is_ended:
            self.new_line(indent)
        self.line += ")"

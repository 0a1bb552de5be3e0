"""Nested lists of malformed prefix text: where each starts and ends, and which parentheses are missing.

`list_at` reads one list regardless of what follows.  A list that is never closed ends where the next
statement evidently begins: at a parenthesis in the first column.  Inside such a *torn* list the
indentation tells which inner list lost its parenthesis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from herbrand.syntax.tokens import ARITY, ARROWS, CONNECTIVES, MAX_DEPTH, TOKEN

__all__ = [
    "Item",
    "Lists",
    "Seq",
    "Symbol",
    "Torn",
    "connective_of",
    "first_word",
    "is_arrow",
    "is_rule",
    "left_over",
    "list_at",
    "list_without",
    "looks_like_literal",
    "name_of_statement",
    "unclosed_parentheses",
]

_LINE_END = re.compile(r"[\r\n]")
_PARENTHESIS = re.compile(r"[()]|;[^\r\n]*")
_NEW_STATEMENT = re.compile(
    r"\([\s\ufeff]*(?:<=|⇐|←|:-|(?:init|next|base|input)(?=[\s();\ufeff]))", re.IGNORECASE
)

_RESUME = re.compile(r";|[\r\n][ \t]*(?=\()")
"""Where statements go on after text that is none."""
_SCRATCH = re.compile(r"[ \t]*(?::-|<-|\.[ \t]*(?:[\r\n]|\Z))")
_WORDS_BEHIND = re.compile(r"[ \t]+[^\s();\ufeff]+[^();\r\n]*(?:[;\r\n]|\Z)")
"""A line of words; one with a parenthesis may be a statement that lost one."""
_NOTHING = re.compile(r"\(\s*\)[ \t]*(?:[\r\n]|\Z)")


class Symbol:
    """A word of the text."""

    __slots__ = ("end", "start", "text")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end


class Seq:
    """A list of the text, or words to be read as one."""

    __slots__ = ("closed", "end", "items", "start")

    def __init__(self, items: list[Item], start: int, end: int, *, closed: bool = True) -> None:
        self.items = items
        self.start = start
        self.end = end
        self.closed = closed
        """Whether both parentheses are present in the text."""


Item: TypeAlias = Symbol | Seq


@dataclass(slots=True)
class Torn:
    """Parentheses that were opened at `opened` and should have been closed at `at`."""

    opened: list[int]
    at: int


@dataclass(slots=True)
class Lists:
    """Result of `list_at`: the list, the offset after it, and its missing parentheses."""

    root: Seq
    end: int
    torn: list[Torn]
    comments: list[tuple[int, int]]
    deep: int | None = None
    """Offset where the nesting exceeded `MAX_DEPTH`; the list must then not be used."""


def is_line_start(text: str, offset: int) -> bool:
    """Whether the character is the first of its line (the first line does not count)."""
    return offset > 0 and text[offset - 1] in "\r\n"


def unclosed_parentheses(text: str) -> list[int]:
    """Return the offsets of all `(` that no `)` closes, in textual order."""
    stack: list[int] = []
    for match in _PARENTHESIS.finditer(text):
        first = match.group()[0]
        if first == "(":
            stack.append(match.start())
        elif first == ")" and stack:
            stack.pop()
    return stack


def list_at(text: str, start: int, end: int, *, is_open: bool) -> Lists:
    """Read the list that begins at `start`; `is_open` when it is known never to be closed."""
    stop, is_torn = _extent(text, start, end, is_open=is_open)
    if is_torn:
        by_indentation = _read(text, start, stop, by_indentation=True)
        if by_indentation is not None:
            return by_indentation
    lists = _read(text, start, stop, by_indentation=False)
    assert lists is not None
    return lists


def list_without(text: str, start: int, end: int, ignored: int) -> Lists | None:
    """Read text[start:end] without the parenthesis at `ignored`; None when it is not one list."""
    lists = _read(text, start, end, by_indentation=True, ignored=ignored)
    return lists if lists is not None and not lists.torn and lists.deep is None else None


def _extent(text: str, start: int, end: int, *, is_open: bool) -> tuple[int, bool]:
    """Return the end of the list, and whether it is torn there."""
    depth = 0
    for match in _PARENTHESIS.finditer(text, start, end):
        first = match.group()[0]
        if first == "(":
            at = match.start()
            if depth and is_line_start(text, at) and (is_open or _NEW_STATEMENT.match(text, at)):
                return at, True
            depth += 1
        elif first == ")":
            depth -= 1
            if not depth:
                return match.end(), False
    return end, True


def _read(text: str, start: int, stop: int, *, by_indentation: bool, ignored: int = -1) -> Lists | None:
    """Read the list in text[start:stop]; None on an unmatched closing parenthesis."""
    lists = Lists(Seq([], start, stop), stop, [], [])
    stack: list[Seq] = []
    last = start
    for match in TOKEN.finditer(text, start, stop):
        word, (at, end) = match.group(), match.span()
        first = word[0]
        if at == ignored:
            continue
        if first == ";":
            lists.comments.append((at, end))
            continue
        if first == "(":
            if by_indentation and len(stack) > 1:
                _close_by_indentation(text, at, last, stack, lists)
            new = Seq([], at, at)
            if stack:
                stack[-1].items.append(new)
            else:
                lists.root = new
            stack.append(new)
            if len(stack) > MAX_DEPTH:
                lists.deep = at
                return lists
        elif first == ")":
            if not stack:
                return None
            stack.pop().end = end
        elif not stack:
            return None
        else:
            stack[-1].items.append(Symbol(word, at, end))
        last = end
    if stack:
        _close(stack, 0, last, lists)
    return lists


def _close_by_indentation(text: str, at: int, last: int, stack: list[Seq], lists: Lists) -> None:
    """Close the lists that began at or right of the column where this line begins."""
    if not _LINE_END.search(text, last, at):
        return
    column = _column(text, at)
    keep = len(stack)
    while keep > 1 and _column(text, stack[keep - 1].start) >= column:
        keep -= 1
    if keep < len(stack):
        _close(stack, keep, last, lists)


def _close(stack: list[Seq], keep: int, at: int, lists: Lists) -> None:
    """Close all lists but the first `keep` at offset `at`, and record the missing parentheses."""
    lists.torn.append(Torn([seq.start for seq in stack[keep:]], at))
    for seq in stack[keep:]:
        seq.end = at
        seq.closed = False
    del stack[keep:]


def _column(text: str, at: int) -> int:
    line_start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return len(text[line_start:at].expandtabs(8))


def is_arrow(item: Item) -> bool:
    """Whether an item is an arrow such as `<=`."""
    return isinstance(item, Symbol) and item.text in ARROWS


def is_rule(item: Item) -> bool:
    """Whether an item is a list that begins with an arrow."""
    return isinstance(item, Seq) and bool(item.items) and is_arrow(item.items[0])


def first_word(item: Item) -> str:
    """Return the word that a list begins with, in lower case; "" for anything else."""
    first = item.items[0] if isinstance(item, Seq) and item.items else None
    return first.text.lower() if isinstance(first, Symbol) else ""


def connective_of(item: Item) -> str | None:
    """Return the connective that a list begins with, or None."""
    word = first_word(item)
    return word if word in CONNECTIVES else None


def looks_like_literal(item: Item) -> bool:
    """Whether a list begins with a connective or a relation that has a fixed meaning."""
    word = first_word(item)
    return word in CONNECTIVES or word in ARITY


def name_of_statement(item: Item) -> str | None:
    """Return the name of the relation that a statement is about, in lower case; None if it has none."""
    if isinstance(item, Seq):
        items = item.items
        head = next((part for part in items if not is_arrow(part)), None)
        begins_with_head = len(items) > 1 and (is_arrow(items[0]) or is_arrow(items[1]))
        if head is not None and (begins_with_head or isinstance(head, Seq)):
            return name_of_statement(head)
        item = head or item
    is_name = isinstance(item, Symbol) and item.text[0] != "?" and item.text.lower() not in CONNECTIVES
    return item.text.lower() if isinstance(item, Symbol) and is_name else None


def left_over(text: str, start: int, end: int) -> int:
    """Return the end of text from the word at `start` that is no statement, or `start` if it may be one.

    It is none if an arrow or a full stop of Prolog follows the word or the call `word(...)`, or if the
    word is followed by others only, or by an empty list.  Such text extends to the next line that begins
    with a parenthesis or a comment.
    """
    word = TOKEN.match(text, start, end)
    if word is None or not _is_scratch(text, word[0], word.end(), end):
        return start
    resume = _RESUME.search(text, word.end(), end)
    stop = end if resume is None else resume.start()
    return start + len(text[start:stop].rstrip())


def _is_scratch(text: str, word: str, at: int, end: int) -> bool:
    """Whether a word that ends at `at` begins text that is no statement."""
    if ":-" in word or "<-" in word or word.endswith("."):
        return True
    if text.startswith("(", at, end):
        if _NOTHING.match(text, at, end):
            return True
        at, is_torn = _extent(text, at, end, is_open=False)
        return not is_torn and _SCRATCH.match(text, at, end) is not None
    return _SCRATCH.match(text, at, end) is not None or _WORDS_BEHIND.match(text, at, end) is not None

"""Tokenizer of the infix notations: textbook style, later HRF, and Prolog.

The tokenizer decides everything that depends on characters and lines: what is a comment, which
operators are synonyms, which parentheses match, and how names that differ only in case are
distinguished.  The parser (`herbrand.syntax.infix`) uses four parallel lists and not the text.

A single `;` or `#` starts a comment in some files and is an operator in others.  Position decides:
first on a line and outside all parentheses it starts a comment, anywhere else it is the
operator (`;` is "or", `#` is "different").  `;;` always starts a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from herbrand.syntax.names import PROLOG_OPERATORS
from herbrand.syntax.nodes import Comment
from herbrand.syntax.tokens import KEYWORDS

if TYPE_CHECKING:
    from herbrand.diagnostic import Source

__all__ = ["InfixTokens", "is_closed", "tokenize", "unquote"]

END_OF_FILE: Final = 0
NAME: Final = 1
NUMBER: Final = 2
QUOTED: Final = 3
VARIABLE: Final = 4
LEFT: Final = 5
RIGHT: Final = 6
COMMA: Final = 7
AND: Final = 8
OR: Final = 9
NOT: Final = 10
DIFFERENT: Final = 11
IF: Final = 12
STOP: Final = 13
REFUSED: Final = 14
"""An operator of Prolog that GDL does not have."""
LEFT_LIST: Final = 15
RIGHT_LIST: Final = 16
TRANSITION: Final = 17
JUNK: Final = 18

_NAME_TAIL = r"(?:(?:[-+*]+|/|\.)\w+)*"
_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<capital>[A-Z]\w*)  # a variable
  | (?P<word>[^\W_]\w*{_NAME_TAIL})                      # a constant or a word operator
  | (?P<left>\()
  | (?P<right>\))
  | (?P<comma>,)
  | (?P<variable>_\w*|\?(?!-)[^\s(),;.&|~%'"\[\]{{}}!]*)  # `_x`, `?x`
  | (?P<stop>\.)
  | (?P<comment>%[^\r\n]*|;;[^\r\n]*|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z))
  | (?P<if>:-|<=|⇐|←|<-(?!>))
  | (?P<and>&|∧)
  | (?P<not>~|\\\+|¬)
  | (?P<different>\\==|\\=|!=|≠|\#)
  | (?P<or>[|∨;])
  | (?P<number>-[0-9]+(?!\w))
  | (?P<quoted>'[^'\\\r\n]*(?:(?:''|\\[^\r\n])[^'\\\r\n]*)*'?)
  | (?P<transition>::|==>)
  | (?P<refused>-->|->|\*->|\?-|=\.\.|=:=|=\\=|=@=|==|=<|>=|@?<|@?>|=|!
      |"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"?|[-+*/^{{}}])
  | (?P<left_list>\[)
  | (?P<right_list>\])
  | (?P<junk>[^\s\w(),.%;&|~'"\[\]{{}}!?:<>=\\\#+*/^-]+|\S)
  | (?P<end>\Z)
)""",
    re.VERBOSE,
)
_KIND: Final = (
    -1, VARIABLE, NAME, LEFT, RIGHT, COMMA, VARIABLE, STOP, -1, IF, AND, NOT, DIFFERENT, OR, NUMBER, QUOTED,
    TRANSITION, REFUSED, LEFT_LIST, RIGHT_LIST, JUNK, END_OF_FILE,
)  # fmt: skip
_COMMENT: Final = 8
_WORDS: Final = {"and": AND, "or": OR, "not": NOT}
_ESCAPE = re.compile(r"\\(.)|''")
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}
_CLOSED = re.compile(r"'[^'\\]*(?:(?:''|\\.)[^'\\]*)*'")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_LITERAL_AHEAD = re.compile(
    r";[ \t]*(?:(?:~|\\\+|¬|not\b)[ \t]*)?[(]*\w+[ \t]*(?:\(|\\=|#|!=|≠|[.,&|]?[ \t]*(?:%|$))"
)


@dataclass
class InfixTokens:
    """A tokenized text.  The lists `kinds`, `starts`, `ends` and `texts` have one item per token."""

    source: Source
    kinds: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    closed_by: dict[int, int] = field(default_factory=dict)
    """Index of the closing token for each opening parenthesis or bracket that is closed."""
    comments: list[Comment] = field(default_factory=list)
    semicolons: list[Comment] = field(default_factory=list)
    """Comments that may have been intended as "or"."""
    unclosed_comment: Comment | None = None
    names: dict[str, str] = field(default_factory=dict)
    """Folded, unambiguous name for each spelling of a constant."""
    case_twins: list[tuple[str, int, str, int]] = field(default_factory=list)
    """Pairs of spellings that differ only in case, each with the index of its first token."""

    @cached_property
    def connectives_before(self) -> list[int]:
        """Number of connectives (other than commas) before each token; few texts need it."""
        return list(accumulate((AND <= kind <= IF for kind in self.kinds), initial=0))

    def line(self, index: int) -> int:
        """Return the line number of a token."""
        return bisect_right(self.source.line_starts, self.starts[index])

    def column(self, index: int) -> int:
        """Return the column of a token, counted from 1."""
        return self.starts[index] - self.source.line_starts[self.line(index) - 1] + 1

    def is_first_on_line(self, index: int) -> bool:
        """Whether a token is the first on its line."""
        return index == 0 or self.line(index - 1) != self.line(index)


def tokenize(source: Source) -> InfixTokens:
    """Tokenize a text; never fails, unexpected characters become `JUNK` tokens."""
    tokens = InfixTokens(source)
    text = source.text
    kinds, starts, ends, texts = tokens.kinds, tokens.starts, tokens.ends, tokens.texts
    closed_by = tokens.closed_by
    open_brackets: list[int] = []
    at = 0
    matches = _TOKEN.finditer(text)
    while True:
        match = next(matches)
        group = match.lastindex
        assert group is not None  # `\S` and `\Z` match whatever remains
        before, (start, at) = at, match.span(group)
        kind = _KIND[group]
        word = match[group]
        if kind == NAME:
            if word in _WORDS:
                kind = _WORDS[word]
            elif word[0].isupper():
                kind = VARIABLE
        elif kind == LEFT or kind == LEFT_LIST:  # noqa: PLR1714, SIM109  # twice as fast as a set
            open_brackets.append(len(kinds))
        elif kind == RIGHT or kind == RIGHT_LIST:  # noqa: PLR1714, SIM109
            if open_brackets and kinds[open_brackets[-1]] == (LEFT if kind == RIGHT else LEFT_LIST):
                left = open_brackets.pop()
                if _is_operand(tokens, left):
                    start = starts.pop(left)
                    del kinds[left], ends[left], texts[left]
                    starts[left], ends[left] = start, at
                    continue
                closed_by[left] = len(kinds)
        elif kind == STOP or kind == IF:  # noqa: PLR1714, SIM109
            open_brackets.clear()  # neither occurs inside parentheses: a closing one is missing
        elif group == _COMMENT:
            comment = Comment(word, start, at)
            tokens.comments.append(comment)
            if word.startswith("/*") and (len(word) < 4 or not word.endswith("*/")):
                tokens.unclosed_comment = comment
            continue
        elif (word == ";" or word == "#") and not open_brackets and _begins_line(text, before, start):  # noqa: PLR1714
            line = _REST_OF_LINE.match(text, start)
            assert line is not None
            at = line.end()
            comment = Comment(text[start:at], start, at)
            tokens.comments.append(comment)
            if kinds and kinds[-1] != STOP and _LITERAL_AHEAD.match(comment.text):
                tokens.semicolons.append(comment)
            matches = _TOKEN.finditer(text, at)
            continue
        kinds.append(kind)
        starts.append(start)
        ends.append(at)
        texts.append(word)
        if kind == END_OF_FILE:
            break
    _keep_names_apart(tokens)
    return tokens


def _is_operand(tokens: InfixTokens, left: int) -> bool:
    """Whether just an operator of Prolog stands in the parenthesis, so that it is a name: `(table)`."""
    is_argument = left > 0 and tokens.ends[left - 1] == tokens.starts[left] and tokens.kinds[left - 1] < LEFT
    return len(tokens.kinds) == left + 2 and tokens.texts[-1] in PROLOG_OPERATORS and not is_argument


def unquote(text: str) -> str:
    """Return the name that a quoted constant denotes.

    >>> unquote("'it''s'")
    "it's"
    """
    body = text[1:-1] if is_closed(text) else text[1:]
    return _ESCAPE.sub(lambda m: "'" if m[1] is None else _ESCAPED.get(m[1], m[1]), body)


def is_closed(text: str) -> bool:
    """Whether a quoted constant ends with its quote."""
    return _CLOSED.fullmatch(text) is not None


def _begins_line(text: str, before: int, start: int) -> bool:
    """Whether the blanks from `before` to `start` contain a line end or begin the text."""
    return before == 0 or "\n" in text[before:start] or "\r" in text[before:start]


def _keep_names_apart(tokens: InfixTokens) -> None:
    """Fold the names; if two collide, the later one gets a suffix."""
    names = tokens.names
    last = len(tokens.texts) - 1
    first = dict(zip(reversed(tokens.texts), range(last, -1, -1), strict=True))
    for word in sorted(first, key=first.__getitem__):
        kind = tokens.kinds[first[word]]
        if kind == QUOTED:
            names[word] = unquote(word)
        elif kind in {NAME, NUMBER, AND, OR, NOT}:
            names[word] = word
    owner: dict[str, str] = {}
    used = {spelling.lower() for spelling in names.values()}
    by_spelling: dict[str, str] = {}
    last_number: dict[str, int] = {}
    for word, spelling in names.items():
        folded = spelling.lower()
        if spelling in by_spelling:
            names[word] = by_spelling[spelling]
            continue
        name = folded
        if folded in owner and folded not in KEYWORDS:
            number = last_number.get(folded, 1) + 1
            while (name := f"{folded}_{number}") in used:
                number += 1
            last_number[folded] = number
            used.add(name)
            twin = owner[folded]
            tokens.case_twins.append((twin, first[twin], word, first[word]))
        owner.setdefault(folded, word)
        names[word] = by_spelling[spelling] = name

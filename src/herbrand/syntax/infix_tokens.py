"""Tokens of the infix notations: the book's style, later HRF, and Prolog, in one alphabet.

The tokenizer settles everything that depends on characters and lines: what is a comment, which
signs mean the same, which parenthesis closes which, and how names that differ only by case are
kept apart.  The parser (`herbrand.syntax.infix`) sees four parallel lists and never the text.

A single `;` or `#` is a comment sign in some files and an operator in others.  Place decides:
as the first sign of a line outside all parentheses it starts a comment, anywhere else it is the
operator (`;` is "or", `#` is "different").  `;;` always starts a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.syntax.tree import Comment

if TYPE_CHECKING:
    from herbrand.syntax.source import Source

__all__ = ["Tokens", "tokenize", "unquote"]

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
"""A sign of Prolog that GDL does not have."""
LEFT_LIST: Final = 15
RIGHT_LIST: Final = 16
TRANSITION: Final = 17
JUNK: Final = 18

_NAME_TAIL = r"(?:(?:[-+*]+|/|\.)\w+)*"
_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<word>[^\W_]\w*{_NAME_TAIL})                      # 1: a constant, a variable or a word operator
  | (?P<left>\()                                         # 2
  | (?P<right>\))                                        # 3
  | (?P<comma>,)                                         # 4
  | (?P<variable>_\w*|\?(?!-)[^\s(),;.&|~%'"\[\]{{}}!]*)   # 5: `_x`, `?x`
  | (?P<stop>\.)                                         # 6
  | (?P<comment>%[^\r\n]*|;;[^\r\n]*|//[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z))  # 7
  | (?P<if>:-|<=|⇐|←|<-(?!>))                            # 8
  | (?P<and>&|∧)                                         # 9
  | (?P<not>~|\\\+|¬)                                    # 10
  | (?P<different>\\==|\\=|!=|≠|\#)                 # 11
  | (?P<or>[|∨;])                                        # 12
  | (?P<number>-[0-9]+(?!\w))                            # 13
  | (?P<quoted>'[^'\\\r\n]*(?:(?:''|\\[^\r\n])[^'\\\r\n]*)*'?)  # 14
  | (?P<transition>::|==>)                               # 15
  | (?P<refused>-->|->|\*->|\?-|=\.\.|=:=|=\\=|=@=|==|=<|>=|@?<|@?>|=|!|"[^"\\\r\n]*(?:\\[^\r\n][^"\\\r\n]*)*"?|[-+*/^{{}}])
  | (?P<left_list>\[)                                    # 17
  | (?P<right_list>\])                                   # 18
  | (?P<junk>[^\s\w(),.%;&|~'"\[\]{{}}!?:<>=\\\#+*/^-]+|\S)  # 19
  | (?P<end>\Z)                                          # 20
)""",
    re.VERBOSE,
)
_KIND: Final = (
    -1, NAME, LEFT, RIGHT, COMMA, VARIABLE, STOP, -1, IF, AND, NOT, DIFFERENT, OR, NUMBER, QUOTED,
    TRANSITION, REFUSED, LEFT_LIST, RIGHT_LIST, JUNK, END_OF_FILE,
)  # fmt: skip
_WORDS: Final = {"and": AND, "or": OR, "not": NOT}
_KEYWORDS: Final = frozenset(
    "role base input init true does next legal goal terminal distinct sees knows random and or not".split()
)
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_LITERAL_AHEAD = re.compile(
    r";[ \t]*(?:(?:~|\\\+|¬|not\b)[ \t]*)?[(]*\w+[ \t]*(?:\(|\\=|#|!=|≠|[.,&|]?[ \t]*(?:%|$))"
)


@dataclass(slots=True)
class Tokens:
    """A tokenized text.  The lists `kinds`, `starts`, `ends` and `texts` have one item a token."""

    source: Source
    kinds: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    closed_by: dict[int, int] = field(default_factory=dict)
    """Index of each opening parenthesis or bracket that is closed, and of what closes it."""
    comments: list[Comment] = field(default_factory=list)
    semicolons: list[Comment] = field(default_factory=list)
    """Comments that could have been meant as "or"."""
    unclosed_comment: Comment | None = None
    names: dict[str, str] = field(default_factory=dict)
    """For each spelling of a constant the name it stands for."""
    case_twins: list[tuple[str, int, str, int]] = field(default_factory=list)
    """Two spellings that differ by case only, each with the token where it first stands."""
    variables_before: list[int] = field(default_factory=list)
    """How many variables stand before each token."""
    connectives_before: list[int] = field(default_factory=list)
    """How many connectives (other than commas) stand before each token."""

    def line(self, index: int) -> int:
        """Return the line number of a token."""
        return bisect_right(self.source.line_starts, self.starts[index])

    def column(self, index: int) -> int:
        """Return the column of a token, counted from 1."""
        return self.starts[index] - self.source.line_starts[self.line(index) - 1] + 1

    def is_first_on_line(self, index: int) -> bool:
        """Whether no other token stands before this one on its line."""
        return index == 0 or self.line(index - 1) != self.line(index)


def tokenize(source: Source) -> Tokens:
    """Cut a text into tokens; never fails, characters without meaning become `JUNK` tokens."""
    tokens = Tokens(source)
    text = source.text
    kinds, starts, ends, texts = tokens.kinds, tokens.starts, tokens.ends, tokens.texts
    scan = _TOKEN.match
    at = 0
    depth = 0
    while True:
        match = scan(text, at)
        assert match is not None  # noqa: S101  # `\S` and `\Z` leave nothing out
        group = match.lastindex
        assert group is not None
        before, (start, at) = at, match.span(group)
        kind = _KIND[group]
        word = match.group(group)
        if kind == NAME:
            if word[0].isupper():
                kind = VARIABLE
                if not word.isidentifier():  # `X-1` is three tokens, unlike the constant `x-1`
                    word = re.match(r"\w+", word)[0]  # type: ignore[index]
                    at = start + len(word)
            elif word in _WORDS:
                kind = _WORDS[word]
            elif word.isdecimal():
                kind = NUMBER
        elif kind == LEFT:
            depth += 1
        elif kind == RIGHT:
            depth -= 1
        elif kind in {STOP, IF}:
            depth = 0  # neither can stand inside parentheses: one was lost
        elif group == 7:
            comment = Comment(word, start, at)
            tokens.comments.append(comment)
            if word.startswith("/*") and (len(word) < 4 or not word.endswith("*/")):
                tokens.unclosed_comment = comment
            continue
        elif word in {";", "#"} and depth <= 0 and _begins_line(text, before, start):
            at = _REST_OF_LINE.match(text, start).end()  # type: ignore[union-attr]
            comment = Comment(text[start:at], start, at)
            tokens.comments.append(comment)
            if kinds and kinds[-1] != STOP and _LITERAL_AHEAD.match(comment.text):
                tokens.semicolons.append(comment)
            continue
        kinds.append(kind)
        starts.append(start)
        ends.append(at)
        texts.append(word)
        if kind == END_OF_FILE:
            break
    _match_parentheses(tokens)
    _count(tokens)
    _keep_names_apart(tokens)
    return tokens


def unquote(text: str) -> str:
    """Return what a quoted constant stands for.

    >>> unquote("'it''s'")
    "it's"
    """
    body = text[1:-1] if len(text) > 1 and text.endswith("'") else text[1:]
    if "\\" in body:
        body = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]), body)
    return body.replace("''", "'")


def _begins_line(text: str, before: int, start: int) -> bool:
    """Whether the blanks from `before` to `start` contain a line end or begin the text."""
    return before == 0 or "\n" in text[before:start] or "\r" in text[before:start]


def _match_parentheses(tokens: Tokens) -> None:
    """Pair the parentheses; a full stop or an arrow abandons those still open."""
    open_ones: list[int] = []
    for index, kind in enumerate(tokens.kinds):
        if kind in {LEFT, LEFT_LIST}:
            open_ones.append(index)
        elif kind == RIGHT or kind == RIGHT_LIST:
            opening = LEFT if kind == RIGHT else LEFT_LIST
            if open_ones and tokens.kinds[open_ones[-1]] == opening:
                tokens.closed_by[open_ones.pop()] = index
        elif kind in {STOP, IF} and open_ones:
            open_ones.clear()


def _count(tokens: Tokens) -> None:
    variables = connectives = 0
    for kind in tokens.kinds:
        tokens.variables_before.append(variables)
        tokens.connectives_before.append(connectives)
        if kind == VARIABLE:
            variables += 1
        elif AND <= kind <= IF:
            connectives += 1


def _keep_names_apart(tokens: Tokens) -> None:
    """Fold the names; of two that fold to one, the later one gets a suffix."""
    names = tokens.names
    first: dict[str, int] = {}
    for index, kind in enumerate(tokens.kinds):
        word = tokens.texts[index]
        if kind == QUOTED and word not in names:
            names[word] = unquote(word)
            first[word] = index
        elif kind in {NAME, NUMBER, AND, OR, NOT} and word not in names:
            names[word] = word
            first[word] = index
    owner: dict[str, str] = {}
    taken = {spelling.lower() for spelling in names.values()}
    by_spelling: dict[str, str] = {}
    last_number: dict[str, int] = {}
    for word, spelling in names.items():
        folded = spelling.lower()
        if spelling in by_spelling:
            names[word] = by_spelling[spelling]
            continue
        name = folded
        if folded in owner and folded not in _KEYWORDS:
            number = last_number.get(folded, 1) + 1
            while (name := f"{folded}_{number}") in taken:
                number += 1
            last_number[folded] = number
            taken.add(name)
            twin = owner[folded]
            tokens.case_twins.append((twin, first[twin], word, first[word]))
        owner.setdefault(folded, word)
        names[word] = by_spelling[spelling] = name

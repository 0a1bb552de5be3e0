"""Tokenizer of GGDL: `tokenize`.

Three things need more than a regular expression.  A sentence in prefix notation is one token
(`PREFIX`), because other lexical rules apply inside.  `;` and `#` begin comments in some places and are
operators in others.  And a full stop ends a sentence, accesses a member or is part of `..`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.syntax.nodes import Comment

if TYPE_CHECKING:
    from herbrand.diagnostic import Source
    from herbrand.syntax.ggdl.report import ProgramDiagnostics

__all__ = ["GgdlTokens", "Token", "tokenize"]

NAME, NUMBER, VARIABLE, ANONYMOUS, GENERATOR, STRING, QUOTED, SIGN, PREFIX, STOP, END = (
    "name",
    "number",
    "variable",
    "anonymous",
    "generator",
    "string",
    "quoted",
    "sign",
    "prefix",
    "stop",
    "end",
)

_TOKEN: Final = re.compile(
    r"""
    (?P<blank>[\s\ufeff]+)
  | (?P<comment>//[^\r\n]*|%[^\r\n]*|;;[^\r\n]*|/\*[\s\S]*?(?:\*/|\Z))
  | (?P<variable>\?[^\W\d]\w*'*|_\w+'*)
  | (?P<anonymous>_)
  | (?P<generator>\\[^\W\d_]\w*)
  | (?P<number>(?:0|[1-9][0-9]*)(?!\w))
  | (?P<name>[^\W_]\w*)
  | (?P<string>"(?:[^"\\\r\n]|\\.)*"?)
  | (?P<quoted>'(?:[^'\\\r\n]|''|\\.)*'?)
  | (?P<sign>===|==>|=/=|=>=|=:=|<=>|<\#>|<<<|>>>|<==|\\=>|\#=|\#<|\#>
      |:-|::|:=|==|=>|!=|\\=|\\\+|<<|>>|<=|>=|->|<-|\$=|\$\+|\+=|-=|\^\^|\.\.|&&|\|\||```|---
      |[-+*/^(){}\[\],;:&|~\#<>=@$⇐←∧∨¬≠.])
  | (?P<junk>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SAME: Final = {"⇐": "<=", "←": "<=", "∧": "&", "∨": "|", "¬": "~", "≠": "#"}
_LINE_END: Final = re.compile(r"[^\r\n]*")
_PREFIX_PART: Final = re.compile(r"[()]|;[^\r\n]*")
_BLANKS: Final = re.compile(r"(?:[\s\ufeff]+|;[^\r\n]*|//[^\r\n]*|%[^\r\n]*)*")
_OTHER_SENTENCE: Final = re.compile(r"(?<=[\r\n])(?=[^\s();])")
"""A line that begins with neither a blank nor a list: an unclosed prefix sentence ends before it."""
_GOES_ON: Final = frozenset({"and", "or", "not", "in", "init", "role", "where", "when"})


@dataclass(slots=True)
class Token:
    """One token: kind, text, offsets."""

    kind: str
    text: str
    start: int
    end: int
    first: bool
    """Whether it is the first on its line."""
    joined: bool
    """Whether it follows the previous token without a space."""


@dataclass(slots=True)
class GgdlTokens:
    """A tokenized text; the last token is of kind `END`."""

    source: Source
    items: list[Token] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    partner: dict[int, int] = field(default_factory=dict)
    """Index of each opening bracket to the index of its closing bracket."""
    depth: list[int] = field(default_factory=list)
    """Number of open brackets before each token."""

    def line(self, offset: int) -> int:
        """Return the line of an offset, counted from 1."""
        return bisect_right(self.source.line_starts, offset)

    def doc(self, start: int, end: int) -> str:
        r"""Return the documentation comment of text[start:end], or "".

        This is the unbroken run of whole-line comments directly above, else the comment after it on the
        line where it ends.  Comment signs and one space are removed, lines joined by "\n".
        """
        by_line = {self.line(comment.start): comment for comment in self.comments}
        lines: list[str] = []
        at = self.line(start) - 1
        while (comment := by_line.get(at)) is not None and self._is_alone(comment):
            lines.append(_bare(comment.text))
            at -= 1
        if lines:
            return "\n".join(reversed(lines)).strip()
        comment = by_line.get(self.line(max(end - 1, start)))
        return _bare(comment.text) if comment is not None and comment.start >= end else ""

    def _is_alone(self, comment: Comment) -> bool:
        line_start = self.source.line_starts[self.line(comment.start) - 1]
        return not self.source.text[line_start : comment.start].strip()


def _bare(comment: str) -> str:
    if comment.startswith("/*"):
        return comment.removeprefix("/*").removesuffix("*/").strip("* \n")
    stripped = comment.lstrip(comment[0])
    return stripped[1:].rstrip() if stripped.startswith(" ") else stripped.rstrip()


def tokenize(source: Source, report: ProgramDiagnostics) -> GgdlTokens:
    """Tokenize a text; unexpected characters are reported and skipped."""
    return _Tokenizer(source, report).run()


class _Tokenizer:
    def __init__(self, source: Source, report: ProgramDiagnostics) -> None:
        self.source = source
        self.text = source.text
        self.report = report
        self.tokens = GgdlTokens(source)
        self.open: list[int] = []
        self.at = 0
        self.prefix_line = -1
        """Line on which the last prefix sentence ended; `;` starts a comment on the rest of it."""

    def run(self) -> GgdlTokens:
        text, end = self.text, len(self.text)
        tokens = self.tokens
        fresh, joined = True, False
        while self.at < end:
            match = _TOKEN.match(text, self.at)
            assert match is not None  # the last alternative matches any character
            kind, word, start = match.lastgroup, match[0], self.at
            if kind == "blank":
                fresh = fresh or "\n" in word or "\r" in word
                joined = False
                self.at = match.end()
                continue
            if kind == "comment" or self._is_comment(word, start, fresh=fresh):
                line = match if kind == "comment" else _LINE_END.match(text, start)
                assert line is not None
                tokens.comments.append(Comment(line[0], start, line.end()))
                self.at = line.end()
                joined = False
                continue
            if word == "(" and not self.open and self._may_start(fresh=fresh) and self._prefix(fresh=fresh):
                fresh = joined = False
                continue
            self.at = match.end()
            if kind == "junk":
                self.report.add("E-LEX", f"unexpected character `{word}`", (start, self.at))
                continue
            if kind in {STRING, QUOTED} and (len(word) < 2 or word[-1] != word[0]):
                self.report.add(
                    "E-LEX", "an unterminated quotation", (start, self.at), help="close it on its line"
                )
                word += word[0]  # the sentence is read as if it were closed
            assert kind is not None
            if word == ".":
                kind = self._full_stop(start, joined=joined)
            self._append(Token(kind, _SAME.get(word, word), start, self.at, fresh, joined))
            fresh, joined = False, True
        self._append(Token(END, "", end, end, first=True, joined=False))
        return tokens

    def _append(self, token: Token) -> None:
        items, index = self.tokens.items, len(self.tokens.items)
        if token.kind == SIGN and token.text in {")", "]", "}"}:
            opening = {")": "(", "]": "[", "}": "{"}[token.text]
            if self.open and items[self.open[-1]].text == opening:
                self.tokens.partner[self.open.pop()] = index
        self.tokens.depth.append(len(self.open))
        items.append(token)
        if token.kind == SIGN and token.text in {"(", "[", "{"}:
            self.open.append(index)
        elif token.kind == STOP or token.text == ":-":
            # neither occurs inside brackets; inside braces there are sentences
            while token.kind == STOP and self.open and items[self.open[-1]].text == "[":
                self.open.pop()

    def _is_comment(self, word: str, start: int, *, fresh: bool) -> bool:
        if word == ";" and self.tokens.line(start) == self.prefix_line:
            return True
        return word in {";", "#", "#=", "#<", "#>"} and fresh and not self.open

    def _may_start(self, *, fresh: bool) -> bool:
        if not self.tokens.items:
            return True
        last = self.tokens.items[-1]
        if last.kind in {PREFIX, STOP}:
            return True
        if not fresh:
            return False
        if last.kind == SIGN:
            return last.text in {")", "]", "}"}
        return last.text not in _GOES_ON

    def _prefix(self, *, fresh: bool) -> bool:
        """Consume a prefix sentence as one token, unless it is a head in parentheses."""
        text, start = self.text, self.at
        depth, end = 0, len(text)
        for match in _PREFIX_PART.finditer(text, start):
            if match[0] == "(":
                depth += 1
            elif match[0] == ")":
                depth -= 1
                if not depth:
                    end = match.end()
                    break
        if depth:
            other = _OTHER_SENTENCE.search(text, start)
            end = other.start() if other is not None else end
        blanks = _BLANKS.match(text, end)
        assert blanks is not None
        if text.startswith((":-", "==>", "::"), blanks.end()):
            return False
        self._append(Token(PREFIX, text[start:end], start, end, fresh, joined=False))
        self.at = end
        self.prefix_line = self.tokens.line(max(end - 1, 0))
        for match in _PREFIX_PART.finditer(text, start, end):
            if match[0][0] == ";":
                self.tokens.comments.append(Comment(match[0], match.start(), match.end()))
        return True

    def _full_stop(self, start: int, *, joined: bool) -> str:
        before = self.text[start - 1] if start and joined else ""
        after = self.text[start + 1 : start + 2]
        is_name = after.isalpha()
        digits_only = bool(self.tokens.items) and self.tokens.items[-1].kind == NUMBER
        if is_name and before and (before.isalnum() or before in "_)]'") and not digits_only:
            return SIGN
        return STOP

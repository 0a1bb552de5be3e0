"""Occurrences of names in a GGDL text, from its tokens and sentences, since its tree is a translation.

A name has one meaning throughout a GGDL text, which its declaration determines.  Names are case-insensitive,
except that a parameter or constant differs from a name with other case.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import KEYWORDS as GDL_KEYWORDS
from herbrand.lsp.names import Key, Occurrence, Occurrences, Statement
from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.ggdl import tokens as t
from herbrand.syntax.ggdl.parser import parse
from herbrand.syntax.ggdl.report import ProgramDiagnostics
from herbrand.syntax.ggdl.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.ggdl.tokens import Token
    from herbrand.syntax.tree import Tree

__all__ = ["KEYWORDS", "names_of_ggdl"]

KEYWORDS: Final = frozenset(
    {
        *GDL_KEYWORDS,
        *("data", "const", "surface", "let", "consult", "from", "where", "in", "default", "int", "bool"),
        *("and", "or", "not", "distinct", "roles", "persist", "external"),
    }
)
"""Reserved words of GGDL."""

_NESTED: Final = 100
"""Maximum number of sentences inside another one, such as those of an `init ( … )`."""
_PREFIX_WORD: Final = re.compile(r";[^\r\n]*|(\()?\s*([^\s();\ufeff]+)|\(")


def names_of_ggdl(tree: Tree) -> Occurrences:
    """Find the names of a GGDL text, without its imports."""
    return _Finder(tree).names()


class _Finder:
    def __init__(self, tree: Tree) -> None:
        self.source = tree.source
        report = ProgramDiagnostics(tree.source)  # discarded: reading has reported the errors
        self.tokens = tokenize(tree.source, report)
        self.sentences = sorted(parse(self.tokens, report), key=lambda s: (s.start, -s.end))
        self.starts = [s.start for s in self.sentences]
        self.kinds: dict[str, str] = {}
        self.exact: set[str] = set()
        """Spellings of parameters and constants."""
        self.defined: dict[int, str] = {}
        """For the offset of each defining name, the keyword that defines it."""
        self.occurrences: list[Occurrence] = []
        self.token_starts = [token.start for token in self.tokens.items]
        declared = tree.ggdl
        if declared is not None:
            for fluent in declared.fluents:
                self.kinds[fluent.name] = "fluent"
            for move in declared.moves:
                self.kinds.setdefault(move.lower(), "move")

    def names(self) -> Occurrences:
        self._declare(self.sentences)
        for token in self.tokens.items:
            if token.kind == t.PREFIX:
                self._prefix(token)
            else:
                self._token(token)
        statements = [self._statement(s) for s in self.sentences]
        return Occurrences(self.occurrences, statements)

    def _declare(self, sentences: Iterable[n.Sentence]) -> None:
        for s in sentences:
            if isinstance(s, n.RoleSentence):
                for name in s.names:
                    self._define(name.spelling, name.start, "role", "role")
                for one in s.fields:
                    self._find(one.name, one.start, one.end, "fluent", "role")
            elif isinstance(s, n.DataSentence):
                self._find(s.name, s.start, s.end, "type", "data")
                for group in s.groups:
                    for level in group:
                        for item in level.items:
                            if isinstance(item, n.Name | n.FunctionCall):
                                kind = self.kinds.get(item.folded, "constant")
                                self._define(item.spelling, item.start, kind, "data")
            elif isinstance(s, n.ConstantSentence):
                self.exact.add(s.name)
                self._find(s.name, s.start, s.end, "parameter", "const")
            elif isinstance(s, n.ParameterSentence):
                self.exact.add(s.name)
                self._find(s.name, s.start, s.end, "parameter", "init")
            elif isinstance(s, n.BaseSentence):
                self._find(s.name, s.start, s.end, "fluent", "base")
            elif isinstance(s, n.InitSentence):
                self._place(s.place, "fluent", "init")
            elif isinstance(s, n.NextSentence):
                self._place(s.place, "fluent", "next")
            elif isinstance(s, n.MoveSentence):
                self._place(s.head.action, "move", "legal")
            elif isinstance(s, n.RuleSentence):
                for head in s.heads:
                    self._place(head, "relation", "rule" if s.body is not None else "fact")
            elif isinstance(s, n.OperationSentence):
                self._place(s.head, "relation", "rule")
            elif isinstance(s, n.SurfaceSentence):
                self._find(s.name, s.start, s.end, "type", "surface")
                self._declare(s.block)
            elif isinstance(s, n.LetSentence):
                self._declare(s.block)

    def _place(self, expr: n.Expr, kind: str, by: str) -> None:
        if isinstance(expr, n.Index) and expr.base is not None:
            expr = expr.base
        if isinstance(expr, n.Name | n.FunctionCall):
            if expr.folded not in KEYWORDS:
                self._define(expr.spelling, expr.start, kind, by)
            elif isinstance(expr, n.FunctionCall):  # sees(r, p) defines its last argument
                last = expr.args[-1] if expr.args else None
                if isinstance(last, n.Name | n.FunctionCall) and expr.folded == "sees":
                    self._define(last.spelling, last.start, "percept", "sees")
        elif isinstance(expr, n.Member):
            self._find(expr.spelling, expr.base.end, expr.end, kind, by)

    def _find(self, spelling: str, start: int, end: int, kind: str, by: str) -> None:
        """Define the first token with this spelling."""
        index = bisect_right(self.token_starts, start - 1)
        while index < len(self.token_starts) and self.token_starts[index] < end:
            if self.tokens.items[index].text == spelling:
                self._define(spelling, self.token_starts[index], kind, by)
                return
            index += 1

    def _define(self, spelling: str, start: int, kind: str, by: str) -> None:
        name = spelling if spelling in self.exact else spelling.lower()
        self.kinds.setdefault(name, kind)
        self.defined.setdefault(start, by)

    # -- occurrences ------------------------------------------------------------------------

    def _statement_of(self, offset: int) -> int:
        index = bisect_right(self.starts, offset) - 1
        for inner in range(index, max(index - _NESTED, -1), -1):
            if self.sentences[inner].end > offset:
                return inner
        return -1

    def _token(self, token: Token) -> None:
        start, end, word = token.start, token.end, token.text
        if token.kind == t.VARIABLE:
            self._variable(word.lstrip("?").lower(), start, end)
        elif token.kind == t.GENERATOR:
            self._variable(word.lower(), start, end)
        elif token.kind == t.NUMBER:
            self._add(start, end, ("name", word, 0), "number")
        elif token.kind == t.NAME:
            self._name(word, start, end)

    def _prefix(self, token: Token) -> None:
        for match in _PREFIX_WORD.finditer(token.text):
            word = match[2]
            if word is None:
                continue
            start, end = token.start + match.start(2), token.start + match.end(2)
            if word[0] == "?":
                self._variable(word[1:].lower(), start, end)
            elif word not in ("<=", "⇐", "←"):
                self._name(word, start, end)

    def _variable(self, name: str, start: int, end: int) -> None:
        number = self._statement_of(start)
        self.occurrences.append(Occurrence(start, end, ("variable", name, number), "variable", "", number))

    def _name(self, word: str, start: int, end: int) -> None:
        name = word if word in self.exact else word.lower()
        if name in KEYWORDS:
            self._add(start, end, ("keyword", name, 0), "keyword")
        else:
            kind = self.kinds.get(name, "number" if name.isdigit() else "constant")
            self._add(start, end, ("name", name, 0), kind)

    def _add(self, start: int, end: int, key: Key, kind: str) -> None:
        by = self.defined.get(start, "")
        self.occurrences.append(Occurrence(start, end, key, kind, by, self._statement_of(start)))

    def _statement(self, sentence: n.Sentence) -> Statement:
        text = self.source.text[sentence.start : sentence.end]
        title = " ".join(text.split())
        at = bisect_right(self.token_starts, sentence.start - 1)
        head: Key = ("name", "", 0)
        while at < len(self.token_starts) and self.token_starts[at] < sentence.end:
            if self.token_starts[at] in self.defined:
                word = self.tokens.items[at].text
                head = ("name", word if word in self.exact else word.lower(), 0)
                break
            at += 1
        return Statement(sentence.start, sentence.end, head, title)

"""All occurrences of names in a rulesheet, for hover, renaming and highlighting.

The tree tells what each name means, the text where it is; an `Occurrence` combines both.  Nodes that the
reader inserted to recover from errors have no position and are omitted.

Two occurrences mean the same thing if their `key`s are equal.  In plain GDL relations and terms are
different, and so are names with different arity; a variable belongs to its statement.  In GGDL
(`herbrand.lsp.names_ggdl`) a name has one meaning everywhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from herbrand.check.checks.base import KEYWORDS
from herbrand.syntax.infix_tokens import unquote
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.syntax.nodes import Comment, Node
    from herbrand.syntax.tree import Tree

__all__ = ["Key", "Occurrence", "Occurrences", "names_of"]

Key: TypeAlias = tuple[str, str, int]
"""Sort ("relation", "term", "variable", "keyword", or "name" in GGDL), folded name, and arity (for a
variable: the index of its statement)."""

_PREFIX_NAME: Final = re.compile(r"\(?(?:[\s\ufeff]|;[^\r\n]*[\r\n])*([^\s();\ufeff]+)")
_OTHER_NAME: Final = re.compile(r"'[^'\\\r\n]*(?:(?:''|\\[^\r\n])[^'\\\r\n]*)*'|[^\s(),;&|~'\"\[\]{}!]+")

STATE: Final = frozenset({"init", "next", "base", "true"})
"""Keywords whose argument is a fluent."""
DEFINES_STATE: Final = ("base", "next", "init")
"""Keywords that define a fluent, in order of preference."""
ACTS: Final = frozenset({"legal", "does", "input"})
"""Keywords whose second argument is a move."""


class Occurrence(NamedTuple):
    """One occurrence of a name: text[start:end]."""

    start: int
    end: int
    key: Key
    kind: str
    """`relation`, `keyword`, `fluent`, `move`, `percept`, `role`, `number`, `constant`, `function` or
    `variable`; in GGDL also `type` and `parameter`."""
    defines: str
    """The keyword that defines it here, "rule" or "fact"; "" for a use."""
    statement: int
    """Index of the statement."""


@dataclass(slots=True)
class Statement:
    """A statement of the sheet, for the outline."""

    start: int
    end: int
    head: Key
    title: str
    is_rule: bool = False
    """Whether it has conditions."""


class Occurrences:
    """All occurrences of a sheet, in textual order."""

    def __init__(self, occurrences: list[Occurrence], statements: list[Statement]) -> None:
        occurrences.sort()
        self.all = occurrences
        self.statements = statements
        self._starts = [o.start for o in occurrences]

    @cached_property
    def by_key(self) -> dict[Key, list[Occurrence]]:
        """The occurrences by key."""
        by_key: dict[Key, list[Occurrence]] = {}
        for occurrence in self.all:
            by_key.setdefault(occurrence.key, []).append(occurrence)
        return by_key

    def at(self, offset: int) -> Occurrence | None:
        """Return the occurrence at an offset, or the one that ends there."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or self.all[index].end < offset:
            return None
        return self.all[index]

    def of(self, occurrence: Occurrence) -> list[Occurrence]:
        """Return all occurrences with the same meaning."""
        return self.by_key.get(occurrence.key, [])

    def definitions(self, occurrence: Occurrence) -> list[Occurrence]:
        """Return the definitions: `base`, else `next`, `init` or heads; else the first occurrence.

        Rules are preferred to facts, of which there may be one for each cell of a board.
        """
        same = self.of(occurrence)
        defining = [o for o in same if o.defines]
        declared = [[o for o in defining if o.defines == keyword] for keyword in DEFINES_STATE]
        ways = [*filter(None, declared), defining]
        rules = ([o for o in way if self._is_in_rule(o)] for way in ways)
        return next(filter(None, rules), ways[0]) or same[:1]

    def _is_in_rule(self, occurrence: Occurrence) -> bool:
        at = occurrence.statement
        return 0 <= at < len(self.statements) and self.statements[at].is_rule

    def statement_at(self, offset: int) -> int:
        """Return the index of the last statement that begins at or before an offset, -1 for none."""
        return bisect_right([s.start for s in self.statements], offset) - 1


def names_of(tree: Tree) -> Occurrences:
    """Find the names of a sheet in plain GDL."""
    finder = _Finder(tree)
    for number, rule in enumerate(tree.statements):
        finder.rule(rule, number)
    return Occurrences(finder.occurrences, finder.statements)


def doc_comment(text: str, starts: list[int], comments: dict[int, Comment], start: int) -> str:
    """Return the comment directly above text[start:], without comment signs."""
    line = bisect_right(starts, start) - 1
    lines: list[str] = []
    while line > 0 and (comment := comments.get(line - 1)) is not None:
        before = text[starts[line - 1] : comment.start]
        if before.strip():
            break
        lines.append(_bare(comment.text))
        line -= 1
    return "\n".join(reversed(lines)).strip()


def _bare(comment: str) -> str:
    if comment.startswith("/*"):
        return comment.removeprefix("/*").removesuffix("*/").strip("* \n")
    return comment.lstrip(";%/#").removeprefix(" ").rstrip()


class _Finder:
    """Walks the tree and looks every name up in the text."""

    def __init__(self, tree: Tree) -> None:
        self.text = tree.source.text
        self.prefix = tree.notation in ("prefix", "ggdl")
        self.pattern = _PREFIX_NAME if self.prefix else _OTHER_NAME
        self.occurrences: list[Occurrence] = []
        self.statements: list[Statement] = []
        self.number = 0
        self.roles = {
            rule.head.args[0].name
            for rule in tree.statements
            if rule.head.key == ("role", 1) and isinstance(rule.head.args[0], Constant)
        }
        self.kinds: dict[tuple[str, int], str] = {}
        for rule in tree.statements:
            self._record_kind(rule.head)
            for literal in rule.body:
                if type(literal) is Atom:
                    self._record_kind(literal)

    def _record_kind(self, atom: Atom) -> None:
        """Record the kind of the term in a keyword's argument."""
        if atom.name not in KEYWORDS or not atom.args:
            return
        if atom.name in STATE:
            which, kind = 0, "fluent"
        elif atom.name in ACTS and len(atom.args) > 1:
            which, kind = 1, "move"
        elif atom.name == "sees" and len(atom.args) > 1:
            which, kind = 1, "percept"
        else:
            return
        term = atom.args[which]
        if isinstance(term, Function):
            self.kinds.setdefault(term.key, kind)
        elif isinstance(term, Constant) and term.name not in self.roles:
            self.kinds.setdefault((term.name, 0), kind)

    def rule(self, rule: Rule, number: int) -> None:
        """Add the names of a statement."""
        self.number = number
        title = " ".join(self.text[rule.head.start : rule.head.end].split()) or str(rule.head)
        head = ("relation", rule.head.name, rule.head.arity)
        self.statements.append(Statement(rule.start, rule.end, head, title, bool(rule.body)))
        self._atom(rule.head, "rule" if rule.body else "fact")
        for literal in rule.body:
            self._literal(literal)

    def _literal(self, literal: Node) -> None:
        stack = [literal]
        while stack:
            node = stack.pop()
            if isinstance(node, Atom):
                self._atom(node, "")
            elif isinstance(node, Distinct):
                self._terms(iter((node.left, node.right)))
            elif isinstance(node, Not):
                stack.append(node.literal)
            elif isinstance(node, And | Or):
                stack.extend(node.literals)

    def _atom(self, atom: Atom, defines: str) -> None:
        is_keyword = atom.name in KEYWORDS
        sort = "keyword" if is_keyword else "relation"
        self._add(atom, (sort, atom.name, atom.arity), sort, defines)
        args = atom.args
        if is_keyword and defines:
            place = 0 if atom.name in DEFINES_STATE or atom.name == "role" else 1
            if place < len(args) and atom.name not in ("goal", "true", "does"):
                self._term(args[place], atom.name)
                args = args[:place] + args[place + 1 :]
        self._terms(iter(args))

    def _terms(self, terms: Iterator[Node]) -> None:
        for term in terms:
            self._term(term, "")

    def _term(self, term: Node, defines: str) -> None:
        if isinstance(term, Variable):
            self._add(term, ("variable", term.name, self.number), "variable", "")
        elif isinstance(term, Constant):
            kind = self.kinds.get((term.name, 0), "constant")
            if term.name in self.roles:
                kind = "role"
            elif kind == "constant" and term.name.isdigit():
                kind = "number"
            self._add(term, ("term", term.name, 0), kind, defines)
        elif isinstance(term, Function):
            kind = self.kinds.get(term.key, "function")
            self._add(term, ("term", term.name, term.arity), kind, defines)
            self._terms(iter(term.args))

    def _add(self, node: Constant | Variable | Function | Atom, key: Key, kind: str, defines: str) -> None:
        place = self._place(node)
        if place is not None:
            self.occurrences.append(Occurrence(*place, key, kind, defines, self.number))

    def _place(self, node: Constant | Variable | Function | Atom) -> tuple[int, int] | None:
        """Return the span of a node's name; None if the reader inserted the node."""
        start, end = node.start, node.end
        if end <= start:
            return None
        if type(node) is Constant or type(node) is Variable:
            word = self.text[start:end]
        else:
            match = self.pattern.match(self.text, start, end)
            if match is None:
                return None
            start, end = match.span(match.lastindex or 0)
            word = self.text[start:end]
        if word[:1] == "'" and not self.prefix:
            return (start, end) if unquote(word) == node.spelling else None
        bare = word[1:] if type(node) is Variable and word[:1] == "?" else word
        if bare in (node.spelling, node.name) or bare.lower() in (node.name, node.spelling.lower()):
            return start, end
        return None

r"""Print trees in the three notations, so that reading the text yields the same tree.

| notation | a rule of two literals | different | not | or |
|----------|------------------------|-----------|-----|----|
| prefix   | `(<= (p ?x) (q ?x) r)` | `(distinct ?x a)` | `(not r)` | `(or r s)` |
| infix    | `p(X) :- q(X) & r`     | `distinct(X,a)` | `~r` | `r \| s` |
| prolog   | `p(X) :- q(X), r.`     | `X \== a` | `\+ r` | `(r ; s)` |

Prefix is printed canonically, one statement a line; `herbrand.syntax.layout` breaks the lines.  In the
others, a rule of two or more literals gets a line for each, as it does there.

Names that a notation cannot spell are renamed and reported (`herbrand.syntax.names`).  Connectives with one
operand or none exist in prefix only; other notations get an equivalent literal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from herbrand.diagnostic import Diagnostic, Severity, Source
from herbrand.syntax.names import (
    constant_names,
    first_spellings,
    named,
    operand,
    predicate_name,
    variable_names,
)
from herbrand.syntax.nodes import (
    And,
    Atom,
    Constant,
    Distinct,
    Function,
    Not,
    Or,
    Rule,
    Variable,
    variables_of,
)
from herbrand.syntax.tokens import BINARY
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.syntax.nodes import Comment, Literal, Term

__all__ = ["Printed", "in_binding_order", "print_tree", "simplified"]

_WIDTH: Final = 80
"""Maximum line length in characters; a longer rule is broken after its head."""
_INDENT: Final = "    "
_SIGN = re.compile(r"[;%]+|#|//+")


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed text, and how its names differ from those of the tree."""

    text: str
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Name in the tree to name in the text, where they differ."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Names that had to be changed."""
    remarks: tuple[str, ...] = ()
    """Observations about the game made while printing; also in the text, as comments."""


def print_tree(
    tree: Tree | Iterable[Rule], notation: str = "prefix", portable: bool = False, *, spelling: bool = False
) -> Printed:
    r"""Print a tree, or only statements, as "prefix", "infix" or "prolog" text.

    `portable` renames names that some systems cannot read, `spelling` keeps upper-case letters where the
    notation allows them.  In Prolog a negation or comparison that stands before the literals which bind
    its variables is moved behind them.

        >>> from herbrand.syntax import read
        >>> tree = read("(<= (next (cell ?x b)) (distinct ?x ?y) (true (cell ?x b)) (does r (mark ?y)))")
        >>> print(print_tree(tree, "infix").text, end="")
        next(cell(X,b)) :-
            distinct(X,Y) &
            true(cell(X,b)) &
            does(r,mark(Y))
        >>> print(print_tree(tree, "prolog").text, end="")
        next(cell(X, b)) :-
            true(cell(X, b)),
            does(r, mark(Y)),
            X \== Y.
    """
    if notation not in {"prefix", "infix", "prolog"}:
        raise ValueError(f"unknown notation {notation!r} to print (prefix, infix, prolog)")
    statements = tree.statements if isinstance(tree, Tree) else tuple(tree)
    source = tree.source if isinstance(tree, Tree) else Source("")
    written, renamed = constant_names(statements, notation, portable=portable)
    table = {name: written[name] for name in renamed}
    if spelling:
        _keep_spellings(statements, notation, written)
    writer = (_Prefix if notation == "prefix" else _Infix)(notation, written, spelling=spelling)
    sign = ";" if notation == "prefix" else "%"
    diagnostics = [_renaming(node, table, notation, source) for node in renamed.values()]
    diagnostics += _collisions(statements, table, source)
    lines: list[str] = []
    if renamed:
        lines.append(f"{sign} renamed, because this notation cannot spell them:")
        lines += [f"{sign}   {_one_line(old)} is {new}" for old, new in table.items()]
    comments = tree.comments if isinstance(tree, Tree) else ()
    lines += _with_comments(statements, comments, source, writer, sign)
    text = "\n".join(lines) + "\n" if lines else ""
    return Printed(text, table, tuple(diagnostics))


# -- statements and comments ---------------------------------------------------------------------


def _with_comments(
    statements: Sequence[Rule], comments: Sequence[Comment], source: Source, writer: _Prefix, sign: str
) -> list[str]:
    """Print statements with their comments; a comment inside a statement goes before it."""
    lines: list[str] = []
    pending = sorted(comments, key=lambda c: c.start)
    following = 0
    before: Rule | None = None
    for statement, after in zip_longest(statements, statements[1:]):
        own: list[Comment] = []
        while following < len(pending) and pending[following].start < statement.end:
            own.append(pending[following])
            following += 1
        if own and before is not None and _is_behind(before, own[0], source):
            lines[-1] += "  " + " ".join(_translated(own.pop(0), sign))
        if before is not None and writer.wants_gap(before, statement, bool(own)):
            lines.append("")
        for comment in own:
            lines += _translated(comment, sign)
        lines += writer.statement(statement, after)
        before = statement
    trailing = pending[following:]
    if trailing and before is not None and _is_behind(before, trailing[0], source):
        lines[-1] += "  " + " ".join(_translated(trailing.pop(0), sign))
    for comment in trailing:
        lines += _translated(comment, sign)
    return lines


def _is_behind(statement: Rule, comment: Comment, source: Source) -> bool:
    """Whether a comment is on the line on which a statement ends."""
    between = source.text[statement.end : comment.start]
    return comment.start >= statement.end > 0 and len(between) < 200 and not between.strip(" \t.")


def _translated(comment: Comment, sign: str) -> list[str]:
    """Return the lines of a comment with the comment sign of the notation, repeated as in the source."""
    text = BINARY.sub("?", comment.text)
    if text.startswith("/*"):
        content = text[2:].removesuffix("*/")
        return [f"{sign} {line.strip(' *')}".rstrip() for line in content.splitlines() if line.strip(" *")]
    match = _SIGN.match(text)
    if match is None:
        return [f"{sign} {line}" for line in text.splitlines()]
    count = 1 if match[0][0] in "/#" else len(match[0])
    text_after_sign = "".join(line.rstrip() for line in text[match.end() :].splitlines())
    return [sign * count + text_after_sign]


def _one_line(text: str) -> str:
    return " ".join(text.split()) if text.strip() else repr(text)


def _renaming(
    node: Constant | Function | Atom, table: Mapping[str, str], notation: str, source: Source
) -> Diagnostic:
    return Diagnostic(
        "unusual-character",
        Severity.NOTE,
        f"`{node.name}` cannot be spelled in {notation}: written `{table[node.name]}`",
        source,
        node.span,
    )


def _collisions(statements: Sequence[Rule], table: dict[str, str], source: Source) -> list[Diagnostic]:
    """Report names that differ only in case, which the reader renamed; add them to the table."""
    diagnostics = []
    reported: set[str] = set()
    for node in named(statements):
        if node.spelling not in reported and node.spelling.lower() != node.name.lower():
            reported.add(node.spelling)
            name = table.setdefault(node.spelling, table.get(node.name, node.name))
            message = f"`{node.spelling}` differs from another name only in case: written `{name}`"
            diagnostics.append(Diagnostic("case-collision", Severity.WARNING, message, source, node.span))
    return diagnostics


def _keep_spellings(statements: Sequence[Rule], notation: str, written: dict[str, str]) -> None:
    """Use the first spelling of each name where the notation reads it back as the same name."""
    for name, spelling in first_spellings(statements).items():
        is_same = spelling.lower() == name == written[name]
        if is_same and (notation == "prefix" or spelling[0] == name[0]):
            written[name] = spelling


# -- connectives ---------------------------------------------------------------------------------


def simplified(literal: Literal) -> Literal:
    """Replace connectives with one operand or none, which only prefix text can spell.

    `(or l)` and `(and l)` are l; the empty `or` is false, `(distinct 0 0)`, the empty `and` is true.
    """
    if isinstance(literal, Not):
        inner = simplified(literal.literal)
        return literal if inner is literal.literal else Not(inner, literal.start, literal.end)
    if not isinstance(literal, And | Or):
        return literal
    parts = tuple(map(simplified, literal.literals))
    if len(parts) == 1:
        return parts[0]
    if not parts:
        zero = Constant("0")
        never = Distinct(zero, zero, literal.start, literal.end)
        return never if isinstance(literal, Or) else Not(never, literal.start, literal.end)
    return type(literal)(parts, literal.start, literal.end)


def in_binding_order(body: Iterable[Literal], bound: frozenset[str] = frozenset()) -> tuple[Literal, ...]:
    """Move each test that precedes its binders to where its variables are first bound.

    Tests are negations, comparisons, and disjunctions with such tests in them; `bound` holds the
    names of variables that have values already.  Tests that never get bound go last.
    """
    bound_names = set(bound)
    ordered: list[Literal] = []
    pending: list[tuple[set[str], Literal]] = []
    for literal in body:
        pending.append((_needs(literal), literal))
        while ready := next((pair for pair in pending if pair[0] <= bound_names), None):
            pending.remove(ready)
            ordered.append(_ordered_inside(ready[1], frozenset(bound_names)))
            bound_names |= _binds(ready[1])
    return (*ordered, *(literal for _, literal in pending))


def _ordered_inside(literal: Literal, bound: frozenset[str]) -> Literal:
    if isinstance(literal, Or):
        return Or(
            tuple(_ordered_inside(part, bound) for part in literal.literals), literal.start, literal.end
        )
    if isinstance(literal, And):
        return And(in_binding_order(literal.literals, bound), literal.start, literal.end)
    return literal


def _binds(literal: Literal) -> set[str]:
    """Return the variables that are bound once a literal has been proved."""
    if isinstance(literal, Atom):
        return {variable.name for variable in variables_of(literal)}
    if isinstance(literal, And):
        return {name for part in literal.literals for name in _binds(part)}
    if isinstance(literal, Or) and literal.literals:
        return set.intersection(*map(_binds, literal.literals))
    return set()


def _needs(literal: Literal) -> set[str]:
    """Return the variables that must be bound before a literal can be evaluated."""
    if isinstance(literal, Atom):
        return set()
    if isinstance(literal, And):
        inside = {name for part in literal.literals for name in _needs(part)}
        return inside - _binds(literal)
    if isinstance(literal, Or):
        return {name for part in literal.literals for name in _needs(part)}
    return {variable.name for variable in variables_of(literal)}


# -- the writers ---------------------------------------------------------------------------------


class _Prefix:
    """Writes canonical prefix text, one statement a line."""

    def __init__(self, notation: str, written: Mapping[str, str], *, spelling: bool) -> None:
        self.notation = notation
        self.written = written
        self.spelling = spelling
        self.variables: Mapping[str, str] = {}

    def wants_gap(self, before: Rule, statement: Rule, has_comment: bool) -> bool:  # noqa: ARG002
        """Whether to print an empty line between two statements."""
        return False

    def name_variables(self, rule: Rule) -> None:
        shown: dict[str, str] = {}
        if self.spelling:
            for variable in variables_of(rule):
                if variable.spelling.lower() == variable.name:
                    shown.setdefault(variable.name, variable.spelling)
        self.variables = variable_names(rule, self.notation, shown)

    def statement(self, rule: Rule, after: Rule | None) -> list[str]:  # noqa: ARG002
        """Return the lines of a statement; `after` is the next one."""
        self.name_variables(rule)
        if not rule.body:
            head = self.literal(rule.head)
            # alone, such a name would begin a comment of another language
            return [f"({head})" if head.startswith(("#", "%", "//", "/*")) else head]
        return [f"(<= {' '.join([self.literal(rule.head), *map(self.literal, rule.body)])})"]

    def literal(self, literal: Literal) -> str:
        if isinstance(literal, Atom):
            return self.applied(literal)
        if isinstance(literal, Distinct):
            return f"(distinct {self.term(literal.left)} {self.term(literal.right)})"
        if isinstance(literal, Not):
            return f"(not {self.literal(literal.literal)})"
        word = "and" if isinstance(literal, And) else "or"
        return f"({' '.join([word, *map(self.literal, literal.literals)])})"

    def term(self, term: Term) -> str:
        if isinstance(term, Variable):
            return self.variables[term.name]
        if isinstance(term, Constant):
            return self.written[term.name]
        return self.applied(term)

    def applied(self, node: Atom | Function) -> str:
        name = self.written[node.name]
        return f"({name} {' '.join(map(self.term, node.args))})" if node.args else name


_OR, _AND, _UNARY = 1, 2, 3


def _looks_like_conjunct(rule: Rule) -> bool:
    """Whether a statement is a fact with a variable, or of a relation that is never defined."""
    is_open = next(variables_of(rule.head), None) is not None
    return rule.is_fact and (is_open or rule.head.name in {"true", "does"})


class _Infix(_Prefix):
    """Writes textbook infix or Prolog; the notations differ in their operators only."""

    def __init__(self, notation: str, written: Mapping[str, str], *, spelling: bool) -> None:
        super().__init__(notation, {"0": "0", **written}, spelling=spelling)
        self.is_prolog = notation == "prolog"
        self.comma = ", " if self.is_prolog else ","
        self.and_sign = "," if self.is_prolog else " &"
        self.or_sign = " ; " if self.is_prolog else " | "
        self.not_sign = "\\+ " if self.is_prolog else "~"
        self.stop = "." if self.is_prolog else ""

    def wants_gap(self, before: Rule, statement: Rule, has_comment: bool) -> bool:
        return has_comment or before.head.key != statement.head.key

    def statement(self, rule: Rule, after: Rule | None) -> list[str]:
        self.name_variables(rule)
        head = self.applied(rule.head)
        if not rule.body:
            return [head + self.stop]
        # Without full stops, a reader would parse such a fact as another conjunct.
        stop = "." if after is not None and _looks_like_conjunct(after) else self.stop
        body = tuple(map(simplified, rule.body))
        if self.is_prolog:
            body = in_binding_order(body)
        least = _OR if len(body) == 1 and isinstance(body[0], Or) and not self.is_prolog else _UNARY
        literals = [self.bound(literal, least) for literal in body]
        line = f"{head} :- {literals[0]}{stop}"
        if len(literals) == 1 and len(line) <= _WIDTH:
            return [line]
        lines = [f"{_INDENT}{literal}{self.and_sign}" for literal in literals[:-1]]
        return [f"{head} :-", *lines, f"{_INDENT}{literals[-1]}{stop}"]

    def literal(self, literal: Literal) -> str:
        return self.bound(literal, _OR)

    def bound(self, literal: Literal, least: int) -> str:
        """Write a literal, in parentheses if its precedence is below `least`."""
        if isinstance(literal, Atom):
            return self.applied(literal)
        if isinstance(literal, Distinct):
            left, right = self.term(literal.left), self.term(literal.right)
            if self.is_prolog:
                return f"{operand(left)} \\== {operand(right)}"
            return f"distinct({left},{right})"
        if isinstance(literal, Not):
            inner = literal.literal
            text = self.bound(inner, _UNARY)
            if self.is_prolog and isinstance(inner, Distinct):
                text = f"({text})"
            return self.not_sign + text
        if isinstance(literal, And):
            precedence, sign = _AND, f"{self.and_sign} "
        else:
            precedence, sign = _OR, self.or_sign
        text = sign.join([self.bound(part, precedence + 1) for part in literal.literals])
        return f"({text})" if least > precedence else text

    def applied(self, node: Atom | Function) -> str:
        name = predicate_name(self.written[node.name]) if self.is_prolog else self.written[node.name]
        if node.args:
            return f"{name}({self.comma.join(map(self.term, node.args))})"
        return operand(name) if self.is_prolog else name

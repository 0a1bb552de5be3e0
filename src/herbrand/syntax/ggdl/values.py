"""Evaluation of constant expressions."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Final

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.nodes import Constant, Function
from herbrand.syntax.tokens import KEYWORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.nodes import Term

__all__ = ["Values", "as_integer", "calculated", "integer", "mangled", "substituted"]

_CONSTANT: Final = re.compile(r"[a-z0-9][a-z0-9_]*")
MAX_MEMBERS: Final = 100_000
"""Maximum number of members of a range."""


def mangled(text: str) -> str:
    """Return the constant that encodes a string.

    >>> mangled("o"), mangled("X"), mangled("-"), mangled("")
    ('o', 's__58_', 's__2d_', 's_')
    """
    if _CONSTANT.fullmatch(text) and text not in KEYWORDS:
        return text
    return "s_" + "".join(c if ("a" <= c <= "z" or "0" <= c <= "9") else f"_{ord(c):x}_" for c in text)


def integer(value: int, start: int = 0, end: int = 0) -> Constant:
    """Return an integer as a term."""
    return Constant(str(value), None, start, end)


def calculated(sign: str, left: int, right: int) -> int:
    """Return left `+`, `-` or `*` right."""
    return left + right if sign == "+" else left - right if sign == "-" else left * right


def as_integer(term: Term) -> int | None:
    """Return the integer denoted by a term, or None."""
    if isinstance(term, Constant) and (term.name.isdecimal() or term.name[:1] == "-"):
        try:
            value = int(term.name)
        except ValueError:
            return None
        return value if str(value) == term.name else None
    return None


def substituted(expr: n.Expr, values: Mapping[str, n.Expr]) -> n.Expr:
    """Replace generator variables (and variables used as such)."""

    def many(parts: tuple[n.Expr, ...]) -> tuple[n.Expr, ...]:
        return tuple(substituted(part, values) for part in parts)

    match expr:
        case n.Generator(start, end, name):
            value = values.get(name)
            return expr if value is None else value
        case n.Var(start, end, name):
            return values.get("?" + name, expr)
        case n.FunctionCall(start, end, spelling, args):
            return n.FunctionCall(start, end, spelling, many(args))
        case n.Member(start, end, base, spelling, args):
            return n.Member(start, end, substituted(base, values), spelling, many(args))
        case n.Index(start, end, base, args):
            inner = None if base is None else substituted(base, values)
            return n.Index(start, end, inner, many(args))
        case n.Interval(start, end, low, high):
            return n.Interval(start, end, substituted(low, values), substituted(high, values))
        case n.Sum(start, end, sign, left, right):
            return n.Sum(start, end, sign, substituted(left, values), substituted(right, values))
        case n.AlternativeTerms(start, end, options):
            return n.AlternativeTerms(start, end, many(options))
        case n.SetLiteral(start, end, items):
            return n.SetLiteral(start, end, many(items))
        case n.Comprehension(start, end, item, generators):
            substituted_generators = tuple((name, substituted(e, values)) for name, e in generators)
            return n.Comprehension(start, end, substituted(item, values), substituted_generators)
    return expr


class Values:
    """Evaluates constant expressions of one program."""

    def __init__(self, program: GgdlProgram) -> None:
        self.program = program
        self.report = program.report
        self.local: dict[str, Term] = {}
        """Constants of the current surface."""

    def term(self, expr: n.Expr) -> Term:
        """Evaluate an expression to a ground term; refuses others with `E-CONST`."""
        start, end = expr.start, expr.end
        match expr:
            case n.Number() | n.String() | n.Quoted():
                return self.literal(expr, start, end)
            case n.Name(spelling=spelling):
                constant = self.named(spelling)
                return Constant(expr.folded, spelling, start, end) if constant is None else constant
            case n.FunctionCall(spelling=spelling, args=args):
                return Function(expr.folded, tuple(map(self.term, args)), spelling, start, end)
            case n.Sum(sign=sign, left=left, right=right):
                a, b = self.integer(left), self.integer(right)
                return integer(calculated(sign, a, b), start, end)
        subject = "a variable" if isinstance(expr, n.Var | n.Generator | n.Anonymous) else "this"
        self.report.refuse("E-CONST", f"{subject} is not a constant", (start, end))

    def literal(self, expr: n.Number | n.String | n.Quoted, start: int, end: int) -> Constant:
        """Return the constant for a number, a string or a quoted name."""
        match expr:
            case n.Number(value=value):
                return integer(value, start, end)
            case n.Quoted(text=text):
                return Constant(text.lower(), text, start, end)
            case n.String(text=text):
                name = mangled(text)
                if name != text:
                    self.program.strings[name] = text
                return Constant(name, None, start, end)

    def named(self, spelling: str) -> Term | None:
        """Return the constant or parameter of this name."""
        return self.local.get(spelling) or self.program.constants.get(spelling)

    def integer(self, expr: n.Expr) -> int:
        """Evaluate an expression to an integer."""
        value = as_integer(self.term(expr))
        if value is None:
            if isinstance(expr, n.Name) and self._is_declared_type(expr.folded):
                self.report.refuse(
                    "E-DIALECT",
                    "sums and products of types belong to another dialect",
                    expr,
                    help="join types with `|`; a comprehension makes compound values",
                )
            message = f"`{self.report.text_of(expr)}` is not an integer"
            self.report.refuse("E-CONST", message, expr, help="use integers, parameters and `+ - *`")
        return value

    def bounds(self, kind: n.Type) -> tuple[int | None, int | None]:
        """Return the least and the greatest integer of a type `int` with bounds, None where it has none."""
        low = high = None
        for sign, bound in kind.bounds:
            number = self.integer(bound)
            if sign in {">=", ">"}:
                least = number + (sign == ">")
                low = least if low is None else max(low, least)
            else:
                most = number - (sign == "<")
                high = most if high is None else min(high, most)
        return low, high

    def _is_declared_type(self, name: str) -> bool:
        return any(isinstance(s, n.DataSentence) and s.name.lower() == name for s in self.program.sentences)

    def interval(self, low: n.Expr, high: n.Expr, start: int, end: int) -> tuple[Term, ...]:
        """Return the integers of a range."""
        first, last = self.integer(low), self.integer(high)
        if first > last:
            is_literal = isinstance(low, n.Number) and isinstance(high, n.Number)
            help_text = f"did you mean `{last} .. {first}`?" if is_literal else None
            message = f"the range {first} .. {last} is empty"
            self.report.refuse("E-RANGE-EMPTY", message, (start, end), help=help_text)
        if last - first >= MAX_MEMBERS:
            self.report.refuse("E-TYPE-INFINITE", f"the range {first} .. {last} is too large", (start, end))
        return tuple(integer(i, start, end) for i in range(first, last + 1))

    def members(self, expr: n.Expr) -> tuple[Term, ...] | None:
        """Return the members of a range, type or collection of constants; None for anything else."""
        match expr:
            case n.Interval(start, end, low, high):
                return self.interval(low, high, start, end)
            case n.Name(spelling=spelling):
                if spelling in self.program.constants and expr.folded not in self.program.types:
                    return None
                return self.program.type_members(expr.folded)
            case n.SetLiteral() | n.Comprehension():
                return tuple(dict.fromkeys(self.term(e) for e in self.elements(expr)))
        return None

    def elements(self, expr: n.Expr) -> list[n.Expr]:
        """Return the elements of a collection or comprehension, with ranges in arguments expanded."""
        if isinstance(expr, n.Comprehension):
            elements = [
                element
                for values in self.generated(expr.generators, {})
                for element in self.expanded(substituted(expr.item, values))
            ]
        elif isinstance(expr, n.SetLiteral):
            elements = [element for item in expr.items for element in self.expanded(item)]
        else:
            elements = self.expanded(expr)
        if len(elements) > MAX_MEMBERS:
            self.report.refuse("E-TYPE-INFINITE", "a collection with too many elements", expr)
        return elements

    def generated(
        self, generators: tuple[tuple[str, n.Expr], ...], values: dict[str, n.Expr]
    ) -> Iterator[dict[str, n.Expr]]:
        """Yield all assignments of generators, from left to right; later ones may use earlier ones."""
        if not generators:
            yield values
            return
        (name, over), *remaining = generators
        over = substituted(over, values)
        members = self.members(over)
        if members is None:
            self.report.refuse(
                "E-CONST", "a generator must range over a type, a range or a collection of constants", over
            )
        for member in members:
            inner = dict(values)
            inner[name] = inner["?" + name] = as_expression(member, over.start, over.end)
            yield from self.generated(tuple(remaining), inner)

    def expanded(self, expr: n.Expr) -> list[n.Expr]:
        """Expand ranges and choices, at the top level or in arguments."""
        match expr:
            case n.Interval(start, end, low, high):
                return [as_expression(t, start, end) for t in self.interval(low, high, start, end)]
            case n.AlternativeTerms(options=options):
                return [e for option in options for e in self.expanded(option)]
            case n.FunctionCall() | n.Member() | n.Index():
                return [replace(expr, args=args) for args in product(*map(self.expanded, expr.args))]
        return [expr]


def as_expression(term: Term, start: int, end: int) -> n.Expr:
    """Convert a ground term to an expression."""
    value = as_integer(term)
    if value is not None:
        return n.Number(start, end, value)
    if isinstance(term, Function):
        args = tuple(as_expression(arg, start, end) for arg in term.args)
        return n.FunctionCall(start, end, term.spelling, args)
    return n.Quoted(start, end, term.spelling)

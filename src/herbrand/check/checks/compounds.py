"""`not` of something other than an atom (S11a), and the same rule without it."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import WARNING, Check, Sheet, checks_in
from herbrand.check.normal import normalise
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.errors import GameError
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Not, Or, Rule
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Literal, Node

__all__ = ["CHECKS", "find", "rewriting", "simple_rules", "without_compounds"]

NEGATED_COMPOUND: Final = Check("negated-compound", "S11a", WARNING, spec=True)

CHECKS: Final = checks_in(globals())

MOST_RULES: Final = 64
"""Rules that one may be replaced by; alternatives that would need more keep their conjunctions."""


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report each `not` of a literal that is no atom, unless its statement has an error of the text."""
    faulty = [d.span for d in sheet.tree.diagnostics if d.is_error]
    for rule in sheet.statements:
        for negation, is_alternative in _negations(rule):
            if any(span.start < rule.end and rule.start < span.end for span in faulty):
                break
            kind = type(negation.literal).__name__.lower()
            yield sheet.report(
                NEGATED_COMPOUND,
                negation,
                f"`not` of `{kind}`: the language has `not` of a single atom only",
                help="herbrand reads it as intended; other systems reject or misread it",
                fix=_fix(sheet, rule, negation, is_alternative=is_alternative),
            )


def without_compounds(rule: Rule) -> tuple[Rule, ...]:
    """Return rules that mean the same, in which `not` applies to atoms only; the rule itself, if it is such.

    Raises `GameError` if they are too many.
    """
    if next(_negations(rule), None) is None:
        return (rule,)
    rules = simple_rules([rule])
    if rules:
        return rules
    zero = Constant("0")  # it never holds
    binding = (literal for literal in rule.body if isinstance(literal, Atom))
    return (Rule(rule.head, (*binding, Distinct(zero, zero)), rule.start, rule.end),)


def simple_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return rules that mean the same, without those that never hold: `normalise`, and alternatives apart."""
    return tuple(_split(normalise(rules).rules))


def _negations(rule: Rule) -> Iterator[tuple[Not, bool]]:
    """Yield the outermost negations of compounds, and whether each is one of several alternatives."""
    stack: list[tuple[Literal, bool]] = [(literal, False) for literal in reversed(rule.body)]
    while stack:
        literal, is_alternative = stack.pop()
        if isinstance(literal, Not) and not isinstance(literal.literal, Atom):
            yield literal, is_alternative
        elif isinstance(literal, And | Or):
            stack += [(part, isinstance(literal, Or)) for part in reversed(literal.literals)]


def _split(rules: tuple[Rule, ...]) -> Iterator[Rule]:
    """Yield rules in normal form with their alternatives apart, as far as these are conjunctions."""
    for rule in rules:
        choices = [
            literal.literals
            if isinstance(literal, Or) and any(isinstance(part, And) for part in literal.literals)
            else (literal,)
            for literal in rule.body
        ]
        if not 1 < prod(map(len, choices)) <= MOST_RULES:
            yield rule
            continue
        for chosen in product(*choices):
            body = [part for one in chosen for part in (one.literals if isinstance(one, And) else (one,))]
            yield from _split((Rule(rule.head, tuple(dict.fromkeys(body)), rule.start, rule.end),))


# -- the text ------------------------------------------------------------------------------------


def _fix(sheet: Sheet, rule: Rule, negation: Not, *, is_alternative: bool) -> Fix | None:
    """Replace the negation alone if the other notation of it fits there, otherwise its whole statement."""
    parts = _parts(sheet, negation, negated=False) if sheet.is_prefix else None
    if parts is not None and not (is_alternative and len(parts) > 1):
        return Fix("negate the atoms", (Edit(negation.span, " ".join(parts)),))
    try:
        rules = without_compounds(rule)
    except GameError:
        return None
    return rewriting(sheet, rule, rules)


def rewriting(sheet: Sheet, rule: Rule, rules: Iterable[Rule]) -> Fix | None:
    """Return the fix that writes other rules in the place of one; None in GGDL, which has no such rules."""
    notation = sheet.tree.notation
    if notation not in _BETWEEN:
        return None
    texts = [print_tree([one], notation, spelling=True).text.strip().removesuffix(".") for one in rules]
    return Fix("rewrite the rule", (Edit(Span(rule.start, rule.end), _BETWEEN[notation].join(texts)),))


_BETWEEN: Final = {"prefix": "\n", "infix": "\n", "prolog": ".\n"}
"""The separator of statements."""


def _parts(sheet: Sheet, literal: Node, *, negated: bool) -> list[str] | None:
    """Return prefix literals that together mean a literal, or its negation.

    None if that takes a conjunction inside a disjunction, or an equation.
    """
    text = sheet.source.text[literal.start : literal.end]
    if isinstance(literal, Not):
        return _parts(sheet, literal.literal, negated=not negated)
    if isinstance(literal, Distinct):
        return None if negated else [text]
    if not isinstance(literal, And | Or):
        return [f"(not {text})" if negated else text]
    below = [_parts(sheet, part, negated=negated) for part in literal.literals]
    expressible = [parts for parts in below if parts is not None]
    if len(expressible) < len(below):
        return None
    if isinstance(literal, And) != negated:
        return [part for parts in expressible for part in parts]
    return [f"(or {' '.join(p for (p,) in expressible)})"] if all(len(p) == 1 for p in expressible) else None

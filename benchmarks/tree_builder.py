"""Build rulesheets in Python: for generated games and for tests.

    >>> from tree_builder import distinct, f, fact, no, rule, sheet, v
    >>> numbers = [fact(f("succ", n, n + 1)) for n in range(2)]
    >>> print(sheet(
    ...     fact(f("role", "robot")),
    ...     *numbers,
    ...     rule(f("legal", "robot", f("push", v.n)), f("true", f("light", v.n)), no(f("stuck", v.n))),
    ...     rule("terminal", f("true", f("step", v.n)), distinct(v.n, 0)),
    ... ))
    (role robot)
    (succ 0 1)
    (succ 1 2)
    (<= (legal robot (push ?n)) (true (light ?n)) (not (stuck ?n)))
    (<= terminal (true (step ?n)) (distinct ?n 0))

Strings and numbers stand for constants wherever a term is expected, and for relations without
arguments wherever a literal is.  The result of `f` is a term inside another `f`, and an atom elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from herbrand.diagnostic import Source
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable
from herbrand.syntax.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.nodes import Literal, Term

__all__ = ["both", "distinct", "either", "f", "fact", "no", "rule", "sheet", "v"]

AsTerm: TypeAlias = str | int | Constant | Variable | Function
AsLiteral: TypeAlias = str | int | Constant | Function | Atom | Not | And | Or | Distinct


class _Variables:
    """Makes variables by name: `v.x` is `?x`, and so is `v["x"]`."""

    def __getattr__(self, name: str) -> Variable:
        if name.startswith("__"):  # copy and pickle look these up
            raise AttributeError(name)
        return Variable(name.lower(), name)

    def __getitem__(self, name: str | int) -> Variable:
        return Variable(str(name).lower(), str(name))


v = _Variables()
"""The source of variables: `v.x` is the variable `?x`."""


def f(name: str, *args: AsTerm) -> Constant | Function:
    """Apply a name to terms.

    >>> str(f("cell", 1, v.y, "b"))
    '(cell 1 ?y b)'
    """
    if not args:
        return Constant(name.lower(), name)
    return Function(name.lower(), tuple(map(_term, args)), name)


def no(literal: AsLiteral) -> Not:
    """Negate a literal.

    >>> str(no("open"))
    '(not open)'
    """
    return Not(_literal(literal))


def either(*literals: AsLiteral) -> Or:
    """Join literals by "or".

    >>> str(either("a", no("b")))
    '(or a (not b))'
    """
    return Or(tuple(map(_literal, literals)))


def both(*literals: AsLiteral) -> And:
    """Join literals by "and"; needed inside `either` and `no` only.

    >>> str(either(both("a", "b"), "c"))
    '(or (and a b) c)'
    """
    return And(tuple(map(_literal, literals)))


def distinct(left: AsTerm, right: AsTerm) -> Distinct:
    """Demand that two terms differ.

    >>> str(distinct(v.x, "b"))
    '(distinct ?x b)'
    """
    return Distinct(_term(left), _term(right))


def rule(head: str | Constant | Function | Atom, *body: AsLiteral) -> Rule:
    """Make a rule; without body it is a fact.

    >>> str(rule("open", f("true", f("cell", v.x, v.y, "b"))))
    '(<= open (true (cell ?x ?y b)))'
    """
    atom = _literal(head)
    if not isinstance(atom, Atom):
        raise TypeError(f"the head of a rule is an atom, not {head!r}")
    return Rule(atom, tuple(map(_literal, body)))


def fact(head: str | Constant | Function | Atom) -> Rule:
    """Make a fact.

    >>> str(fact(f("role", "white")))
    '(role white)'
    """
    return rule(head)


def sheet(*parts: Rule | Iterable[Rule], name: str = "<built>") -> Tree:
    r"""Make a rulesheet from rules, or iterables of rules, in order.

    >>> str(sheet(fact(f("role", "x")), (fact(f("index", n)) for n in (1, 2))))
    '(role x)\n(index 1)\n(index 2)'
    """
    statements: list[Rule] = []
    for part in parts:
        if isinstance(part, Rule):
            statements.append(part)
        else:
            statements += part
    return Tree(tuple(statements), Source("\n".join(map(str, statements)), name))


def _term(value: AsTerm) -> Term:
    if isinstance(value, Constant | Variable | Function):
        return value
    text = str(value)
    return Constant(text.lower(), text)


def _literal(value: AsLiteral) -> Literal:
    if isinstance(value, Atom | Not | And | Or | Distinct):
        return value
    if isinstance(value, Variable):
        raise TypeError(f"a variable is not a literal: {value}")
    if isinstance(value, Function):
        return Atom(value.name, value.args, value.spelling)
    text = value.spelling if isinstance(value, Constant) else str(value)
    return Atom(text.lower(), (), text)

"""Conditions between GGDL and GDL: conjunctions with equalities and negated conjunctions in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from herbrand.syntax.nodes import Atom, Constant, Distinct, Function, Not, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.nodes import Term

__all__ = [
    "Alternative",
    "Equal",
    "Literal",
    "Nope",
    "Substitution",
    "apply",
    "apply_term",
    "names_in",
    "unify",
]

Substitution = dict[str, "Term"]


@dataclass(slots=True)
class Equal:
    """The two terms are one."""

    left: Term
    right: Term


@dataclass(slots=True)
class Nope:
    """Not all of these hold together; variables that stand nowhere else are local to it."""

    literals: list[Literal]


Literal: TypeAlias = Atom | Not | Distinct | Equal | Nope
Alternative: TypeAlias = list[Literal]


def names_in(literals: Iterable[Literal | Term]) -> dict[str, None]:
    """Return the names of all variables, in order."""
    names: dict[str, None] = {}
    for literal in literals:
        if isinstance(literal, Equal):
            inside: Iterable[str] = names_in((literal.left, literal.right))
        elif isinstance(literal, Nope):
            inside = names_in(literal.literals)
        else:
            inside = (variable.name for variable in variables_of(literal))
        names.update(dict.fromkeys(inside))
    return names


def _walk(term: Term, binding: Substitution) -> Term:
    while isinstance(term, Variable) and term.name in binding:
        term = binding[term.name]
    return term


def apply_term(term: Term, binding: Substitution) -> Term:
    """Replace variables thoroughly; the place of a replaced variable is kept."""
    value = _walk(term, binding)
    if isinstance(value, Function):
        args = tuple(apply_term(arg, binding) for arg in value.args)
        return Function(value.name, args, value.spelling, value.start, value.end)
    if value is not term:
        make = Variable if isinstance(value, Variable) else Constant
        return make(value.name, value.spelling, term.start, term.end)
    return value


def apply_atom(atom: Atom, binding: Substitution) -> Atom:
    """Replace variables in an atom."""
    args = tuple(apply_term(arg, binding) for arg in atom.args)
    return Atom(atom.name, args, atom.spelling, atom.start, atom.end)


def apply(literal: Literal, binding: Substitution) -> Literal:
    """Replace variables in a literal."""
    if isinstance(literal, Atom):
        return apply_atom(literal, binding)
    if isinstance(literal, Not):
        assert isinstance(literal.literal, Atom)
        return Not(apply_atom(literal.literal, binding), literal.start, literal.end)
    if isinstance(literal, Distinct):
        left, right = apply_term(literal.left, binding), apply_term(literal.right, binding)
        return Distinct(left, right, literal.start, literal.end)
    if isinstance(literal, Equal):
        return Equal(apply_term(literal.left, binding), apply_term(literal.right, binding))
    return Nope([apply(inner, binding) for inner in literal.literals])


def _occurs(name: str, term: Term, binding: Substitution) -> bool:
    term = _walk(term, binding)
    if isinstance(term, Variable):
        return term.name == name
    return isinstance(term, Function) and any(_occurs(name, arg, binding) for arg in term.args)


def unify(left: Term, right: Term, binding: Substitution, first: Iterable[str] = ()) -> bool:
    """Extend `binding` so that the terms are one; False if they cannot be.

    Of two variables, one whose name is in `first` is replaced by the other.
    """
    stack = [(left, right)]
    prefer = frozenset(first)
    while stack:
        a, b = stack.pop()
        a, b = _walk(a, binding), _walk(b, binding)
        if a == b:
            continue
        keeps = not isinstance(a, Variable) or a.name not in prefer
        if isinstance(b, Variable) and (keeps or b.name in prefer):
            a, b = b, a
        if isinstance(a, Variable):
            if _occurs(a.name, b, binding):
                return False
            binding[a.name] = b
        elif isinstance(a, Function) and isinstance(b, Function) and a.key == b.key:
            stack.extend(zip(a.args, b.args, strict=True))
        else:
            return False
    return True

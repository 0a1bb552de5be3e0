"""Intermediate form of conditions: conjunctions that may contain equalities and negated conjunctions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from herbrand.syntax.nodes import Atom, Constant, Distinct, Function, Not, Variable, rebuilt, variables_of
from herbrand.syntax.unification import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.nodes import Term
    from herbrand.syntax.unification import Substitution

__all__ = ["Alternative", "Equal", "Literal", "NegatedConjunction", "apply", "apply_term", "names_in"]


@dataclass(slots=True)
class Equal:
    """The two terms are equal."""

    left: Term
    right: Term


@dataclass(slots=True)
class NegatedConjunction:
    """Negation of a conjunction; variables that occur nowhere else are local to it."""

    literals: list[Literal]


Literal: TypeAlias = Atom | Not | Distinct | Equal | NegatedConjunction
Alternative: TypeAlias = list[Literal]


def names_in(literals: Iterable[Literal | Term]) -> dict[str, None]:
    """Return the names of all variables, in order."""
    names: dict[str, None] = {}
    for literal in literals:
        if isinstance(literal, Equal):
            inside: Iterable[str] = names_in((literal.left, literal.right))
        elif isinstance(literal, NegatedConjunction):
            inside = names_in(literal.literals)
        else:
            inside = (variable.name for variable in variables_of(literal))
        names.update(dict.fromkeys(inside))
    return names


def apply_term(term: Term, binding: Substitution) -> Term:
    """Apply a substitution to a term; a constant or variable takes the place of the replaced variable."""
    value = resolve(term, binding)
    if isinstance(value, Function):
        return rebuilt(value, lambda arg: apply_term(arg, binding))
    if value is not term:
        make = Variable if isinstance(value, Variable) else Constant
        return make(value.name, value.spelling, term.start, term.end)
    return value


def apply_atom(atom: Atom, binding: Substitution) -> Atom:
    """Replace variables in an atom."""
    return rebuilt(atom, lambda arg: apply_term(arg, binding))


def apply(literal: Literal, binding: Substitution) -> Literal:
    """Replace variables in a literal."""
    if isinstance(literal, Equal):
        return Equal(apply_term(literal.left, binding), apply_term(literal.right, binding))
    if isinstance(literal, NegatedConjunction):
        return NegatedConjunction([apply(inner, binding) for inner in literal.literals])
    inside = apply_atom if isinstance(literal, Not) else apply_term
    return rebuilt(literal, lambda part: inside(part, binding))

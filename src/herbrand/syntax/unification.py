"""Substitutions and unification of terms (Robinson 1965)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from herbrand.syntax.nodes import Function, Variable

if TYPE_CHECKING:
    from collections.abc import Collection

    from herbrand.syntax.nodes import Term

__all__ = ["Substitution", "resolve", "unify_in_place"]

Substitution: TypeAlias = "dict[str, Term]"
"""Terms for variables, by variable name; may be triangular: values may contain bound variables."""


def resolve(term: Term, binding: Substitution) -> Term:
    """Follow the bindings of a variable to an unbound variable or another term."""
    while isinstance(term, Variable) and term.name in binding:
        term = binding[term.name]
    return term


def unify_in_place(
    left: Term, right: Term, binding: Substitution, replaced: Collection[str] = frozenset()
) -> bool:
    """Extend `binding` to a most general unifier; False if there is none, with `binding` then undefined.

    The occurs check is made.  Of two variables the left one is bound, unless only the right one is in
    `replaced`.
    """
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        a, b = resolve(a, binding), resolve(b, binding)
        if a == b:
            continue
        if isinstance(b, Variable) and (
            not isinstance(a, Variable) or (b.name in replaced and a.name not in replaced)
        ):
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


def _occurs(name: str, term: Term, binding: Substitution) -> bool:
    stack = [term]
    while stack:
        term = resolve(stack.pop(), binding)
        if isinstance(term, Variable) and term.name == name:
            return True
        if isinstance(term, Function):
            stack.extend(term.args)
    return False

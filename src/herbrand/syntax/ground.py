"""Ground terms as plain values: a constant is its name, a compound term a tuple of its name and arguments.

Evaluators of rules match terms with values, which are hashable and quick to compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from herbrand.syntax.nodes import Constant, Function, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.syntax.nodes import Term

__all__ = ["Ground", "as_term", "as_text", "has_size", "instance", "match"]

Ground: TypeAlias = "str | tuple[Ground, ...]"
"""Such as "noop" and ("cell", "1", "1", "b")."""


def instance(term: Term, binding: Mapping[str, Ground]) -> Ground:
    """Return the value of a term; raises `KeyError` if a variable is unbound."""
    if isinstance(term, Variable):
        return binding[term.name]
    if isinstance(term, Function):
        return (term.name, *(instance(arg, binding) for arg in term.args))
    return term.name


def match(
    patterns: Iterable[Term], values: Iterable[Ground], binding: Mapping[str, Ground]
) -> dict[str, Ground] | None:
    """Return an extension of a binding under which the patterns have these values, or None."""
    extended = dict(binding)
    stack = list(zip(patterns, values, strict=True))
    while stack:
        pattern, value = stack.pop()
        if isinstance(pattern, Variable):
            if extended.setdefault(pattern.name, value) != value:
                return None
        elif isinstance(pattern, Constant):
            if pattern.name != value:
                return None
        elif isinstance(value, str) or value[0] != pattern.name or len(value) != len(pattern.args) + 1:
            return None
        else:
            stack += zip(pattern.args, value[1:], strict=True)
    return extended


def has_size(value: Ground, symbols: int) -> bool:
    """Return whether a value has that many symbols, which can be far more than objects in memory."""
    stack = [value]
    while stack and symbols > 0:
        part = stack.pop()
        if isinstance(part, str):
            symbols -= 1
        else:
            stack += part
    return symbols <= 0


def as_term(value: Ground) -> Term:
    """Return the term that has a value."""
    if isinstance(value, str):
        return Constant(value)
    return Function(str(value[0]), tuple(map(as_term, value[1:])))


def as_text(value: Ground) -> str:
    """Return a value in prefix notation."""
    return value if isinstance(value, str) else f"({' '.join(map(as_text, value))})"

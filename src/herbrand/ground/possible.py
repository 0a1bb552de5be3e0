"""Fluents that can become true and moves that can become legal, by relaxed reachability.

Grounding assumes that a fluent may be true if `init` or `next` may derive it, and that a move may be made
if it may be legal.  The result is an over-approximation, therefore called *possible*, never *declared*;
it is finite if the set of states is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.runtime.limits import DEFAULT

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.runtime.limits import Limits

__all__ = ["Possible", "possible"]


@dataclass(frozen=True, slots=True)
class Possible:
    """Possible base propositions and inputs as KIF, sorted."""

    base: tuple[str, ...]
    inputs: dict[str, tuple[str, ...]]
    """Moves by role."""


def possible(rules: Rules, *, limits: Limits = DEFAULT) -> Possible:
    """Derive the base propositions and inputs of a game.

    Raises `BudgetExceeded` if time or memory are not enough, which is always so if terms can grow
    without bound.
    """
    from herbrand.ground import ground

    program = ground(rules, limits=limits, wanted=())
    text = program.terms.text
    inputs: dict[str, set[str]] = {text(program.terms.intern(role)): set() for role in rules.roles}
    for role, move in program.arguments("does"):
        inputs.setdefault(text(role), set()).add(text(move))
    return Possible(
        tuple(sorted(text(fluent) for (fluent,) in program.arguments("true"))),
        {role: tuple(sorted(texts)) for role, texts in inputs.items()},
    )

"""Which fluents may ever be true and which moves may ever be legal, from the rules alone.

Relaxed reachability: what grounding finds when a fluent may be true as soon as some `init`
or `next` gives it and a move may be made as soon as some `legal` does.  An
over-approximation, so called *possible*, never *declared*; finite when states are.
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

    Raises `BudgetExceeded` when time or memory are not enough, which they never are when
    terms can grow for ever.
    """
    from herbrand.ground import ground

    program = ground(rules, limits=limits, wanted=())
    text = program.terms.text
    fluents = program.named.get("true")
    moves = program.named.get("does")
    inputs: dict[str, set[str]] = {text(program.terms.intern(role)): set() for role in rules.roles}
    for _, role, move in moves.tolist() if moves is not None else ():
        inputs.setdefault(text(role), set()).add(text(move))
    return Possible(
        tuple(sorted(text(row[1]) for row in fluents.tolist())) if fluents is not None else (),
        {role: tuple(sorted(found)) for role, found in inputs.items()},
    )

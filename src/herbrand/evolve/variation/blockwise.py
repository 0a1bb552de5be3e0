"""Mutation and crossover of designs, block by block."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from herbrand.evolve.blocks.grammar import grammar_of, vary_block, within
from herbrand.evolve.variation.lineage import Lineage, Variant

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.evolve.blocks.design import Design

__all__ = ["cross", "mutate"]

ATTEMPTS: Final = 60
"""Maximum number of attempts."""


def mutate(design: Design, seed: int) -> Variant:
    """Return the design with one or two fields varied, without problems; deterministic by seed."""

    def attempt(chance: Random) -> Design:
        new = vary_block(design, chance)
        return vary_block(new, chance) if chance.random() < 0.3 else new

    return _first("mutate", attempt, (design,), seed)


def cross(mother: Design, father: Design, seed: int) -> Variant:
    """Return a design whose fields come from either parent and which differs from both.

    Raises `TypeError` for designs of different families, which have no common fields.
    """
    if type(mother) is not type(father):
        raise TypeError(f"a {type(mother).__name__} and a {type(father).__name__} have no parts in common")
    names = [n for n in grammar_of(type(mother)) if getattr(mother, n) != getattr(father, n)]

    def attempt(chance: Random) -> Design:
        taken = [name for name in names if chance.random() < 0.5]
        parts: dict[str, Any] = {name: getattr(father, name) for name in taken}
        return replace(mother, **parts)

    return _first("cross", attempt, (mother, father), seed)


def _first(
    operator: str, attempt: Callable[[Random], Design], parents: tuple[Design, ...], seed: int
) -> Variant:
    """Return the first attempt that is a new game."""
    chance = Random(seed)
    reasons = []
    names = tuple(parent.name for parent in parents)
    for _ in range(ATTEMPTS):
        new = attempt(chance)
        if new in parents:
            reasons.append("the same as a parent")
        elif wrong := new.problems():
            reasons.append(wrong[0])
        else:
            lineage = Lineage(operator, seed, names, _difference(parents[0], new))
            return Variant(new, lineage, tuple(reasons))
    return Variant(None, Lineage(operator, seed, names), tuple(reasons))


def _difference(old: Design, new: Design) -> str:
    """Describe the differing fields: blocks of different kinds as a whole, otherwise the innermost fields."""
    before = {path: value for path, value, _ in within(old)}
    after = {path: value for path, value, _ in within(new)}
    changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
    whole = [path for path in changed if type(before.get(path)) is not type(after.get(path))]
    shown = [
        path
        for path in changed
        if not any(path.startswith(f"{other}.") for other in whole)
        and (path in whole or not any(other.startswith(f"{path}.") for other in changed))
    ]
    return ", ".join(f"{path}: {_short(before.get(path))} → {_short(after.get(path))}" for path in shown)


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})"
    if value is None:
        return "none"
    return str(value) if isinstance(value, (str, int)) else type(value).__name__

"""What is simpler when some fluents are never true together: `a and not b` is `a` if a excludes b.

That holds of reachable states only, so this pass is not one of `PASSES`: who applies it has proved the
groups, and asks the network about no other states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Exclusive"]

_MOST_IMPLIED = 12
"""Of how many fluents a conjunction is remembered to need them."""


class Exclusive:
    """Groups of fluents, by their places, of which never two are true in one state."""

    def __init__(self, groups: Iterable[Sequence[int]]) -> None:
        self._groups: dict[int, frozenset[int]] = {}
        """Fluent's literal -> the groups it is in."""
        found: dict[int, set[int]] = {}
        for number, group in enumerate(groups):
            for fluent in group:
                found.setdefault(2 * (1 + fluent), set()).add(number)
        self._groups = {literal: frozenset(numbers) for literal, numbers in found.items()}
        self._implied: dict[int, frozenset[int]] = {}
        """Literal of a conjunction -> fluents' literals that it needs."""

    def learn(self, literal: int, row: Iterable[int]) -> None:
        """Remember which fluents a new conjunction needs."""
        needed = self._needed(row)
        if 0 < len(needed) <= _MOST_IMPLIED:
            self._implied[literal] = frozenset(needed)

    def _needed(self, row: Iterable[int]) -> set[int]:
        needed: set[int] = set()
        for literal in row:
            if literal in self._groups:
                needed.add(literal)
            else:
                needed |= self._implied.get(literal, frozenset())
        return needed

    def reduced(self, row: set[int]) -> set[int] | None:
        """Return what of a conjunction is left to say; None if it is never true."""
        owner: dict[int, int] = {}
        for literal in self._needed(row):
            for number in self._groups[literal]:
                if owner.setdefault(number, literal) != literal:
                    return None
        if not owner:
            return row

        def excluded(literal: int) -> bool:
            """Whether a literal says that a fluent is false of which another one says so already."""
            numbers = self._groups.get(literal ^ 1) if literal & 1 else None
            return numbers is not None and any(owner.get(n, literal ^ 1) != literal ^ 1 for n in numbers)

        return {literal for literal in row if not excluded(literal)}

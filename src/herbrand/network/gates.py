"""`Gates`: a list of gates under construction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Gates"]


class Gates:
    """A growing list of AND gates over literals (`2 * node + inverted`); equal gates are shared.

    Gate `i` is node `first + i`.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.left: list[int] = []
        self.right: list[int] = []
        self._literals: dict[tuple[int, int], int] = {}

    def conjunction(self, a: int, b: int) -> int:
        """Return the literal of `a and b`."""
        if a > b:
            a, b = b, a
        if a == 0 or a == b ^ 1:
            return 0
        if a == 1 or a == b:  # noqa: PLR1714  # faster than a set
            return b
        gate = self._literals.get((a, b))
        if gate is None:
            gate = self._literals[a, b] = 2 * (self.first + len(self.left))
            self.left.append(a)
            self.right.append(b)
        return gate

    def disjunction(self, a: int, b: int) -> int:
        """Return the literal of `a or b`."""
        return self.conjunction(a ^ 1, b ^ 1) ^ 1

    def all_of(self, literals: Iterable[int]) -> int:
        """Return the conjunction of any number of literals."""
        result = 1
        for literal in literals:
            result = self.conjunction(result, literal)
        return result

    def any_of(self, literals: Iterable[int]) -> int:
        """Return the disjunction of any number of literals."""
        return self.all_of(literal ^ 1 for literal in literals) ^ 1

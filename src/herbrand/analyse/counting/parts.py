"""Parts of states: sets of fluents of which never two are true, such as all `(cell 1 1 ?)`.

They are groups that were proved (`invariants.groups`).  The value of a part is the fluent that is true, or
none of them.  Every other fluent is a part of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.analyse.invariants.groups import Group

__all__ = ["StatePart", "parts_of"]


@dataclass(frozen=True, slots=True)
class StatePart:
    """Fluents, by number, of which never two are true."""

    fluents: tuple[int, ...]
    is_exact: bool
    """Whether always one of them is true."""

    @property
    def values(self) -> int:
        """The number of values."""
        return len(self.fluents) + (not self.is_exact)

    @property
    def bits(self) -> int:
        """The number of variables."""
        return (self.values - 1).bit_length()

    def code(self, fluent: int) -> int:
        """Return the value with one of the fluents; 0 is that with none of them, if there is one."""
        return self.fluents.index(fluent) + (not self.is_exact)


def parts_of(fluents: int, groups: Iterable[Group]) -> list[StatePart]:
    """Divide the fluents into parts, by groups that hold in all states, the largest saving first."""
    never_two = {group.fluents for group in groups if not group.some and group.condition < 0}
    some = {group.fluents for group in groups if group.some and group.condition < 0}
    free = np.ones(fluents, np.bool_)
    parts = []
    candidates = [StatePart(group, group in some) for group in never_two]
    # small groups of a board before the large ones that run across it: both save, but cells are independent
    for part in sorted(candidates, key=lambda part: (-_saving(part), part.fluents)):
        places = list(part.fluents)
        if free[places].all():
            free[places] = False
            parts.append(part)
    return parts + [StatePart((int(fluent),), False) for fluent in np.flatnonzero(free)]


def _saving(part: StatePart) -> float:
    """Return the variables saved for each fluent."""
    return 1 - part.bits / len(part.fluents)

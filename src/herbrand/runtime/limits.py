"""Budgets of time, atoms and memory.

Every stage whose cost is not bounded takes a `Limits` and raises `herbrand.errors.BudgetExceeded`, with the
limit and its progress, instead of exceeding them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from herbrand.errors import BudgetExceeded

__all__ = ["DEFAULT", "UNLIMITED", "Clock", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of one computation."""

    seconds: float = 60.0
    """Wall-clock seconds."""
    atoms: int = 5_000_000
    """Derived ground atoms (table entries) in memory at once; about 100 bytes each."""
    megabytes: int = 6000
    """Memory of the grounder, and approximately that of building the network."""

    def start(self) -> Clock:
        """Start the clock of a computation with these limits."""
        return Clock(self)


class Clock:
    """Counts what a computation has spent and stops it at its limits."""

    __slots__ = ("atoms", "deadline", "limits", "started")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.started = time.monotonic()
        self.deadline = self.started + limits.seconds
        self.atoms = 0

    def spend(self, atoms: int) -> None:
        """Count further atoms and check the time; raise `BudgetExceeded` at a limit."""
        self.atoms += atoms
        if self.atoms > self.limits.atoms:
            raise BudgetExceeded(f"{self.limits.atoms} atoms", f"after {self.elapsed():.1f} s")
        if time.monotonic() > self.deadline:
            raise BudgetExceeded(f"{self.limits.seconds:g} seconds", f"{self.atoms} atoms derived")

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.started


DEFAULT = Limits()
"""One minute, five million atoms, six gigabytes for grounding."""

UNLIMITED = Limits(seconds=math.inf, atoms=2**62)
"""No limits, for callers with other bounds."""

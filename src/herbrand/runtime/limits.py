"""Budgets: how much time, how many atoms and how much memory a stage may use.

Every stage that can blow up takes a `Limits`.  A stage that reaches one raises
`herbrand.errors.BudgetExceeded` with what was spent and how far it got; it never hangs.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from herbrand.errors import BudgetExceeded

__all__ = ["DEFAULT", "UNLIMITED", "Clock", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one piece of work may spend."""

    seconds: float = 60.0
    """Wall-clock seconds."""
    atoms: int = 5_000_000
    """Derived ground atoms (table entries) held at once; about 100 bytes each."""
    megabytes: int = 6000
    """Memory of a process that grounds, and about that of making a network of what it gives."""

    def start(self) -> Clock:
        """Start the clock of a piece of work under these limits."""
        return Clock(self)


class Clock:
    """Counts what a piece of work spends and stops it at its limits."""

    __slots__ = ("atoms", "deadline", "limits", "started")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.started = time.monotonic()
        self.deadline = self.started + limits.seconds
        self.atoms = 0

    def spend(self, atoms: int) -> None:
        """Count `atoms` more atoms and look at the time; raise `BudgetExceeded` at a limit."""
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
"""No limits at all, for callers who bring their own."""

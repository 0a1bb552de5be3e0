"""`Budget`: limits on the time and memory of one analysis."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

__all__ = ["Budget"]


def _now() -> float:
    return time.monotonic()


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on seconds, states and memory; the clock starts when the budget is created."""

    seconds: float = 60.0
    """Wall-clock seconds."""
    states: int = 20_000_000
    """The most states in memory."""
    megabytes: float = 1500.0
    """Memory for states and their attributes, in units of 10**6 bytes."""
    started: float = field(default_factory=_now, compare=False)

    @property
    def left(self) -> float:
        """The remaining seconds, at least 0."""
        return max(0.0, self.started + self.seconds - time.monotonic())

    @property
    def elapsed(self) -> float:
        """The seconds since the budget was created."""
        return time.monotonic() - self.started

    def share(self, fraction: float) -> Budget:
        """Return a budget that starts now, with a fraction of the remaining seconds."""
        return replace(self, seconds=fraction * self.left, started=time.monotonic())

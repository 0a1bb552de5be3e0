"""`Budget`: what one analysis may spend."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

__all__ = ["Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds, states and memory for one piece of work, counted from when the budget was made."""

    seconds: float = 60.0
    """Wall-clock seconds."""
    states: int = 20_000_000
    """States held at once."""
    megabytes: float = 1500.0
    """Memory for states and for what is known of them, in units of 10**6 bytes."""
    started: float = field(default_factory=time.monotonic, compare=False)

    @property
    def left(self) -> float:
        """The seconds that are left; not below 0."""
        return max(0.0, self.started + self.seconds - time.monotonic())

    @property
    def elapsed(self) -> float:
        """The seconds since the budget was made."""
        return time.monotonic() - self.started

    def share(self, part: float) -> Budget:
        """Return a budget that begins now, with a part of the seconds that are left."""
        return replace(self, seconds=part * self.left, started=time.monotonic())

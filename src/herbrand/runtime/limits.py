"""Budgets of time, atoms and memory.

Every stage whose cost is not bounded takes a `Limits` and raises `herbrand.errors.BudgetExceeded`, with the
limit and its progress, instead of exceeding them.  Within `time_limit` no clock runs longer than that.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DEFAULT",
    "UNLIMITED",
    "Clock",
    "Limits",
    "require_time",
    "seconds_left",
    "time_limit",
    "time_spent",
]

_SHORT: Final = 0.05
"""Shorter computations, in seconds, do not reduce the limits."""
_End: TypeAlias = tuple[float, float]
"""A time (`time.monotonic`) at which computations have to end, and the seconds that they had."""
_NEVER: Final[_End] = (math.inf, math.inf)
_own: ContextVar[_End] = ContextVar("time limit", default=_NEVER)
"""The limit of the current thread or task."""
_shared = _NEVER
"""The limit of all threads."""


@contextmanager
def time_limit(seconds: float, *, shared: bool = False) -> Iterator[None]:
    """Let all computations of this thread (with `shared`: of the process) end `seconds` from now.

    Only the main thread may set a shared limit, since it is restored when the block ends.
    """
    global _shared
    end = time.monotonic() + seconds, seconds
    before, token = _shared, _own.set(min(_own.get(), end))
    if shared:
        _shared = min(before, end)
    try:
        yield
    finally:
        _own.reset(token)
        if shared:
            _shared = before


def _limit() -> _End:
    return min(_own.get(), _shared)


def seconds_left() -> float:
    """Return the seconds until the end of the innermost `time_limit`, at least 0; infinite without one."""
    return max(0.0, _limit()[0] - time.monotonic())


def require_time() -> None:
    """Raise `BudgetExceeded` if the innermost `time_limit` is over."""
    if not seconds_left():
        raise BudgetExceeded(time_spent(_limit()[1]))


def time_spent(seconds: float) -> str:
    """Return for `BudgetExceeded` that `seconds` are spent, or those of `time_limit` if that is over."""
    allowed = _limit()[1] if time.monotonic() >= _limit()[0] else seconds
    return f"{float(f'{allowed:.3g}'):g} seconds"


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of one computation."""

    seconds: float = 60.0
    """Wall-clock seconds."""
    atoms: int = 5_000_000
    """Derived ground atoms (table entries) in memory at once; about 100 bytes each."""
    megabytes: int = 6000
    """Memory of the grounder, and approximately that of building the network."""

    def after(self, started: float) -> Limits:
        """Return what is left of these limits for a computation that began then (`time.monotonic`)."""
        elapsed = time.monotonic() - started
        return self if elapsed < _SHORT else replace(self, seconds=max(0.0, self.seconds - elapsed))

    def start(self) -> Clock:
        """Start the clock of a computation with these limits."""
        return Clock(self)


class Clock:
    """Counts the resources that a computation uses, and stops it at its limits."""

    __slots__ = ("atoms", "deadline", "limits", "started")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.started = time.monotonic()
        self.deadline = min(self.started + limits.seconds, _limit()[0])
        self.atoms = 0

    def spend(self, atoms: int) -> None:
        """Count further atoms and check the time; raise `BudgetExceeded` at a limit."""
        self.atoms += atoms
        if self.atoms > self.limits.atoms:
            raise BudgetExceeded(f"{self.limits.atoms} atoms", f"after {self.elapsed():.1f} s")
        if time.monotonic() > self.deadline:
            raise BudgetExceeded(time_spent(self.limits.seconds), f"{self.atoms} atoms derived")

    def left(self) -> float:
        """Return the remaining seconds, at least 0."""
        return max(0.0, min(self.limits.seconds - self.elapsed(), seconds_left()))

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self.started


DEFAULT = Limits()
"""One minute, five million atoms, six gigabytes for grounding."""

UNLIMITED = Limits(seconds=math.inf, atoms=2**62)
"""No limits, for callers with other bounds."""

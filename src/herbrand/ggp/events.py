"""What happened in a match, as values: the seam to logs, records and spectators."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["Event", "Listener", "silent"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened; `kind` says which keys `data` has.

    Of a manager: `match` (id, game, roles, players, clocks, seed), `exchange` (role, message, reply,
    seconds, problem, notes), `step` (step, moves, percepts, problems, facts), `end` (goals, reason),
    `aborted` (reason).  Of a player: `request` (peer, message, reply, seconds), `refused` (peer, reason),
    `match`, `select` (match, step, move, seconds), `late` (match, move), `odd` (match, reason), `end`
    (match, goals).  All values are JSON-ready.
    """

    kind: str
    match: str | None
    data: dict[str, Any] = field(default_factory=dict)
    time: float = field(default_factory=time.time)
    """Seconds since 1970."""


Listener: TypeAlias = Callable[[Event], None]
"""Is told every event, in order, from the thread of the event loop; should return soon."""


def silent(event: Event) -> None:
    """Listen to nothing."""
    del event

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

    Of a manager:

    - `match`: what `Match.as_json` has, `rules` (the text sent, before names are scrambled), `names` (the
      scrambled name of each, or None) and `scramble` (the seed of that), `resumed` (the number of steps
      made before a match that goes on was cut off; None for a new one)
    - `exchange`: `role`, `message` (START, PLAY, STOP or ABORT), `text` of it (in names of the sheet; None
      for START), `step` (joint moves made before), `reply`, `counts` (whether the reply was asked for as
      a move), `seconds`, `problem`, `notes`; told as soon as it is over, so that nobody who plays may see it
    - `started`: `problems` with START
    - `step`: `step` (from 1), `moves`, `percepts` by role, `problems`, `facts` of the new state
    - `end`: `goals` by role or None, `reason`, `steps`, `problems` after the last step; `aborted`: `reason`

    Of a player: `request` (`peer`, `message`, `reply`, `seconds`), `refused` (`peer`, `reason`), `match`
    (`game`, `role`, `roles`), `select` (`step`, `move`, `seconds`), `late` (`move`), `odd` (`reason`), `end`
    (`goals`, `terminal`).  All values are JSON-ready.
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

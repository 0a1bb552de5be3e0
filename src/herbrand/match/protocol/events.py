"""Events of a match as values, for logs, records and spectators."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

__all__ = ["Event", "Listener", "bounded", "silent"]


@dataclass(frozen=True, slots=True)
class Event:
    """An event; `kind` determines the keys of `data`.

    Of a manager:

    - `match`: the keys of `Match.as_json`, `rules` (the text sent, before names are scrambled), `names` (from
      original to scrambled names, or None) and `scramble` (its seed), `resumed` (steps made before the match
      was interrupted; None for a new match)
    - `exchange`: `role`, `message` (START, RESUME, PLAY, STOP or ABORT), its `text` (with the names of the
      rules; None for START and RESUME), `step` (joint moves made before), `reply`, `counts` (whether the
      reply counts as a move), `seconds`, `problem`, `notes`; emitted at once, so players must not see it
    - `started`: `problems` with START
    - `step`: `step` (from 1), `moves`, `percepts` by role, `problems`, `facts` of the new state
    - `end`: `goals` by role or None, `reason`, `steps`, `problems` after the last step; `aborted`: `reason`

    Of a player: `listening` (`host`, `port`), `request` (`peer`, `message`, `reply`, `seconds`), `refused`
    (`peer`, `reason`), `unknown` (a message about an unknown match: `peer`, `reason`), `match` (`game`,
    `role`, `roles`), `select` (`step`, `move`, `seconds`), `late` (`move`), `odd` (`reason`), `end` (`goals`,
    `terminal`).  All values are JSON-ready.
    """

    kind: str
    match: str | None
    data: dict[str, Any] = field(default_factory=dict)
    time: float = field(default_factory=time.time)
    """Seconds since 1970."""


Listener: TypeAlias = Callable[[Event], None]
"""Called with every event, in order, in the thread of the event loop; must return quickly."""


def silent(event: Event) -> None:
    """Ignore the event."""
    del event


def bounded(value: Any, *, characters: int, items: int) -> Any:
    """Cut texts, lists and mappings of JSON data: rules may have endless names and countless roles."""
    if isinstance(value, str):
        return value[:characters]
    if isinstance(value, list | tuple):
        return [bounded(item, characters=characters, items=items) for item in value[:items]]
    if isinstance(value, dict):
        return {
            key[:characters]: bounded(item, characters=characters, items=items)
            for key, item in islice(value.items(), items)
        }
    return value

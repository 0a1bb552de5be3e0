"""`MatchRecord`: one match as a value, whatever it was read from."""

from __future__ import annotations

import hashlib
import random
import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.match.protocol.manager import Problem

__all__ = ["ORIGINS", "STATUSES", "MatchRecord", "MessageRecord", "RecordError", "new_token", "rules_hash"]

STATUSES: Final = ("running", "completed", "cut", "aborted")
"""A match that runs, or whose manager was killed; that came to its end by the rules; that was ended before
(the reason says why); that was called off."""
ORIGINS: Final = ("herbrand", "ggp-base")
"""Who can have written a record first."""


class RecordError(HerbrandError, ValueError):
    """A record or a database of records cannot be used as asked; the message says why."""


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One message to a player, and its answer."""

    step: int
    """Joint moves made before it."""
    role: str
    kind: str
    """START, PLAY, STOP or ABORT."""
    text: str | None
    """In the names of the sheet; None for START, whose text the record gives."""
    sent: float
    """Seconds since 1970."""
    seconds: float
    """From the last byte sent to the reply."""
    reply: str | None
    counts: bool
    """Whether a move was asked for (not, where a player was told what had been played before)."""
    problem: str | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class MatchRecord:
    """What is known of one match; lists over steps begin with the first."""

    id: str
    token: str
    """32 letters and digits that no other record has."""
    game: str
    rules: str
    """The sheet in KIF as it was sent (before names were scrambled)."""
    roles: tuple[str, ...]
    players: dict[str, str]
    """Names by role; `random` has none."""
    started: float
    """Seconds since 1970, as all times."""
    ended: float | None
    status: str
    reason: str
    start_clock: int
    play_clock: int
    seed: int | None
    """Of chance and of substituted moves; None in records that do not say."""
    settings: dict[str, Any]
    """The `MatchSettings` of the manager; none in foreign records."""
    scramble: int | None = None
    """The seed of the names that players were told; None: those of the sheet."""
    names: dict[str, str] | None = None
    """The scrambled name of each."""
    opening: list[tuple[str, ...]] = field(default_factory=list)
    moves: list[tuple[str, ...]] = field(default_factory=list)
    step_times: list[float] = field(default_factory=list)
    percepts: list[dict[str, tuple[str, ...]]] = field(default_factory=list)
    """By role, of each step, in games with `sees`."""
    messages: list[MessageRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    goals: dict[str, int | None] | None = None
    software: str = ""
    origin: str = "herbrand"
    """One of `ORIGINS`."""
    signature: dict[str, str] | None = None
    """`algorithm`, `public_key`, `value`; see `signing`."""
    states: list[frozenset[str]] | None = None
    """The states that a document claims, the initial one first; None where they are not kept."""
    claimed_hash: str | None = None
    """The hash under which a database keeps the rules; None where there is none."""

    def _repr_html_(self) -> str:
        """Return what a notebook shows: players, moves, goals."""
        from herbrand.runtime.notebook import block, table

        goals = self.goals or {}
        rows = [(role, self.players.get(role), goals.get(role)) for role in self.roles]
        steps = [(number, *joint) for number, joint in enumerate(self.moves, start=1)]
        return block(
            f"match {self.id} of {self.game}",
            table(rows, ("role", "player", "goal"), numbers=(2,)),
            table(steps, ("step", *self.roles), numbers=(0,)) if steps else "",
            note=f"{self.status}, {self.reason}" if self.reason else self.status,
        )

    @property
    def hash(self) -> str:
        """The hash of the rules."""
        return rules_hash(self.rules)


def rules_hash(rules: str) -> str:
    """Return the SHA-256 of a rulesheet's text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(rules.encode()).hexdigest()


def new_token() -> str:
    """Return 32 letters and digits, as ggp-base makes them."""
    return "".join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=32))

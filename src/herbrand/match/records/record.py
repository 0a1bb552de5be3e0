"""`MatchRecord`: one match as a value, independent of the format it was read from."""

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
"""`running`: in progress, or its manager was killed; `completed`: a terminal state was reached; `cut`: ended
before that (see the reason); `aborted`: called off."""
ORIGINS: Final = ("herbrand", "ggp-base", "web")
"""The programs that create records: managers of herbrand and of ggp-base, and the web application."""


class RecordError(HerbrandError, ValueError):
    """A record or a database of records is invalid or does not allow an operation."""


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One message to a player and its answer."""

    step: int
    """Joint moves made before it."""
    role: str
    kind: str
    """START, PLAY, STOP or ABORT."""
    text: str | None
    """With unscrambled names; None for START, which the record itself determines."""
    sent: float
    """Seconds since 1970."""
    seconds: float
    """From the last byte sent to the reply."""
    reply: str | None
    counts: bool
    """Whether the answer counts as a move; False for steps that were sent to a player again."""
    problem: str | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class MatchRecord:
    """One match; lists over steps begin with the first step."""

    id: str
    token: str
    """32 random letters and digits that identify the record."""
    game: str
    rules: str
    """The rules in KIF as sent, before names were scrambled."""
    roles: tuple[str, ...]
    players: dict[str, str]
    """Names by role; `random` has none."""
    started: float
    """Seconds since 1970, like all times."""
    ended: float | None
    status: str
    reason: str
    start_clock: int
    play_clock: int
    seed: int | None
    """For chance and substituted moves; None if unknown."""
    settings: dict[str, Any]
    """The `MatchSettings` of the manager; empty in records of ggp-base; in those of the web application the
    seats, and what it needs to go on with the match."""
    scramble: int | None = None
    """The seed of the scrambled names; None if names were not scrambled."""
    names: dict[str, str] | None = None
    """From original to scrambled names."""
    opening: list[tuple[str, ...]] = field(default_factory=list)
    moves: list[tuple[str, ...]] = field(default_factory=list)
    step_times: list[float] = field(default_factory=list)
    percepts: list[dict[str, tuple[str, ...]]] = field(default_factory=list)
    """For each step, by role; only in games with `sees`."""
    messages: list[MessageRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    goals: dict[str, int | None] | None = None
    software: str = ""
    origin: str = "herbrand"
    """One of `ORIGINS`."""
    signature: dict[str, str] | None = None
    """`algorithm`, `public_key`, `value`; see `signing`."""
    states: list[frozenset[str]] | None = None
    """The states listed in a document, the initial one first; None if it has none."""
    claimed_hash: str | None = None
    """The hash under which a database stores the rules; None for documents."""

    def _repr_html_(self) -> str:
        """Return the players, moves and goals as HTML for notebooks."""
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
    """Return 32 random letters and digits, the format of ggp-base."""
    return "".join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=32))

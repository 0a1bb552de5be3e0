"""`OngoingMatch`: what a server knows of a match, without its rules being evaluated."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any, Protocol

from herbrand.match.protocol.messages import ResumeMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.match.protocol.messages import StartMessage

__all__ = ["Host", "MoveRequest", "OngoingMatch"]

ORPHAN_SECONDS = 10.0
"""Seconds without a message of its manager after which a match may be dropped for another one."""
FORGET_SECONDS = 600.0
"""A match is dropped after this silence, or ten times its play clock if that is longer."""


_MOST_BYTES = 2 << 20
"""Bytes of the moves of a match that are remembered."""


class Host(Protocol):
    """Where matches are followed; the messages are those of `herbrand.match.protocol.host`."""

    matches: set[OngoingMatch]
    last_rules: int | None
    """Hash of the rules of its last match."""

    def send(self, message: Mapping[str, Any]) -> bool:
        """Send a message; False, without effect, if the host cannot take it."""


class MoveRequest:
    """A manager's request for a move."""

    def __init__(self, number: int, text: str, started: float) -> None:
        self.number = number
        self.text = text
        """The message."""
        self.started = started
        self.legal: str | None = None
        """A legal move of the state, once the host knows one."""
        self.move: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        """The player's move; None if the host has none."""
        self.is_followed: asyncio.Event = asyncio.Event()
        """Set once `legal` or `move` is known."""
        self.is_new = True
        """False if the host found that the message tells of no new step."""

    def settle(self, move: str | None) -> None:
        """Set the player's move, unless one is set."""
        if not self.move.done():
            self.move.set_result(move)
        self.is_followed.set()


class OngoingMatch:
    """A match; `number` counts matches from 1.

    Everything that a new host needs to go on with it is here: START, and the messages since.
    """

    def __init__(self, start: StartMessage, number: int) -> None:
        self.start = start
        self.number = number
        self.resume = start.steps if isinstance(start, ResumeMessage) else ()
        """The steps made before the match came here."""
        self.role = start.role.lower()
        self.last_message = time.monotonic()
        """When the last message of the manager came."""
        self.beginning: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done when the player is prepared, with "", or with the reason why the match cannot be played."""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the host has followed the match to its end."""
        self.legal: str | None = None
        """A legal move of the latest state that is known."""
        self.step = 0
        """Joint moves made so far, as far as the host has followed."""
        self.steps: list[tuple[str, str | None]] = []
        """The messages that were answered and led to the latest state, and the answers."""
        self.size = sum(map(sys.getsizeof, self.resume))
        """Bytes of the moves that are remembered."""
        self.requests: list[MoveRequest] = []
        """The requests that are not answered yet."""
        self.request_count = 0
        """The number of requests so far."""
        self.missed_since = 0.0
        """When the first of the missed requests was reported, on the monotonic clock."""
        self.missed = 0
        """How many requests in succession had no legal move at their deadline."""
        self.until = 0.0
        """When the player should be prepared, on the monotonic clock."""
        self.is_refused = False
        """Whether a host had no memory for it."""
        self.restarts = 0
        """How many hosts were lost over this match."""
        self.host: Host | None = None
        """None once the match was given up."""
        self.is_sent = False
        """Whether the host has been sent the match."""
        self.is_loaded = False
        """Whether the host has read the rules and followed the match."""
        self.is_announced = False
        """Whether the listener was notified of the match."""
        self.network = True
        """Whether the host may build a network; False if that took too much memory."""

    @property
    def id(self) -> str:
        """The match id."""
        return self.start.match

    @property
    def is_too_long(self) -> bool:
        """Whether the match can no longer be replayed, since its moves take too much memory."""
        return self.size > _MOST_BYTES

    @property
    def is_following(self) -> bool:
        """Whether the host is reading rules or making a move for this match."""
        return not self.is_loaded or any(not request.is_followed.is_set() for request in self.requests)

    @property
    def is_thinking(self) -> bool:
        """Whether the player prepares or thinks."""
        return bool(self.requests) or not self.beginning.done()

    def silence(self) -> float:
        """Return the seconds since the manager's last message; 0 while it waits for a move."""
        return 0.0 if self.requests else time.monotonic() - self.last_message

    @property
    def is_orphan(self) -> bool:
        """Whether the manager should have sent a message by now."""
        preparation = 0 if self.request_count else self.start.start_clock
        return self.silence() > max(preparation, self.start.play_clock) + ORPHAN_SECONDS

    @property
    def is_forgotten(self) -> bool:
        """Whether the manager has been silent for so long that the match is dropped."""
        return self.silence() > max(FORGET_SECONDS, 10 * self.start.play_clock, self.start.start_clock)

    def ask(self, text: str, started: float) -> MoveRequest:
        """Add a request."""
        self.request_count += 1
        request = MoveRequest(self.request_count, text, started)
        self.requests.append(request)
        return request

    def answer(self, request: MoveRequest, move: str | None) -> None:
        """Remember the answer to a request."""
        self.requests.remove(request)
        if request.is_new and not self.is_too_long:
            self.steps.append((request.text, move))
            self.size += sys.getsizeof(request.text)
        elif self.steps and move is not None:
            self.steps[-1] = self.steps[-1][0], move

    def receive(self, message: dict[str, Any]) -> None:
        """Update by a message of the host about this match."""
        kind = message["kind"]
        if kind == "loaded":
            self.is_loaded = True
            self.step = message["step"]
            self.legal = message["move"] or self.legal
        elif kind == "begun":
            self._begin("")
        elif kind in ("failed", "full"):
            self._begin(message.get("reason", "no memory for another match"))
            self.settle()
        elif kind == "legal":
            self.legal = message["move"]
            for request in self.requests:
                if request.number == message["request"]:
                    request.legal = message["move"]
                    request.is_followed.set()
                    request.is_new = message["step"] > self.step or not self.steps
            self.step = message["step"]
        elif kind == "move":
            for request in self.requests:
                if request.number <= message["request"]:
                    request.settle(message["move"])
        elif kind == "ended" and not self.ended.done():
            self.ended.set_result(None)

    def settle(self) -> None:
        """Answer all requests with the best move so far."""
        for request in self.requests:
            request.settle(None)

    def rewind(self) -> None:
        """Prepare for a new host, which is sent the requests again that were not answered."""
        self.is_sent = self.is_loaded = False
        for request in self.requests:
            request.is_new = True

    def _begin(self, reason: str) -> None:
        if not self.beginning.done():
            self.beginning.set_result(reason)

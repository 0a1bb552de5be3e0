"""Seats of a match: remote players and players in this process.

`Seat.ask` always returns an `Exchange` in time; whatever the peer does becomes its `problem`.  The whole
exchange has one deadline, counted from the last byte sent: a timeout for each read would not limit a peer
that sends one byte a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from herbrand.errors import HerbrandError, ProtocolError
from herbrand.game import Game
from herbrand.match.keys import ReplyChecker, require_public_key
from herbrand.match.protocol.http import MessageTooLarge, read_reply, write_request
from herbrand.match.protocol.jobs import JobThread
from herbrand.match.protocol.messages import (
    AbortMessage,
    InfoMessage,
    PingMessage,
    PlayMessage,
    PreviewMessage,
    ResumeMessage,
    StartMessage,
    StopMessage,
    TurnMessage,
    is_stop,
    split_list,
)
from herbrand.match.protocol.view import MatchView
from herbrand.runtime.tokens import TOKEN_VARIABLE

if TYPE_CHECKING:
    from herbrand.convert.scramble import Scrambled
    from herbrand.match.protocol.messages import Message
    from herbrand.play import Player

__all__ = ["Exchange", "LocalSeat", "PlayerAddress", "RemoteSeat", "ScrambledSeat", "Seat"]

_WORD = re.compile(r"[^\s(),]+")
_ADDRESS = re.compile(
    r"(?:http://)?(?:(?P<host>[^/]*):)?(?P<port>[0-9]{1,5})(?:/(?P<token>[A-Za-z0-9._~-]*))?"
    r"(?:#(?P<key>.*))?",
    re.IGNORECASE,
)
_FORBIDDEN = 403

CONNECT_SECONDS = 5.0
"""Time limit for connecting, which does not count against a clock."""
SEND_SECONDS = 20.0
"""How long a peer may take to accept the bytes of a message."""
LARGEST_REPLY = 64 * 1024
"""Bytes; a longer reply is unreadable."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """The outcome of sending one message."""

    reply: str | None
    """The answer; None without one."""
    problem: str | None
    """None, "timeout", "connection" (refused, reset, unknown host), "unreadable", "unsigned" (not with the
    key of the player) or "failed" (local players)."""
    seconds: float
    """From the last byte sent to the reply."""
    notes: tuple[str, ...] = ()
    """Details of the problem, and oddities of the reply."""


@dataclass(frozen=True, slots=True)
class PlayerAddress:
    """Where a player is reached, and by which key its replies are known.

    Written PORT, HOST:PORT or HOST:PORT/TOKEN, with or without `http://` before and `#KEY` behind it.
    """

    host: str
    port: int
    token: str | None = None
    """None without a path; empty for the token in the environment variable HERBRAND_TOKEN."""
    key: str | None = None
    """The public key (`herbrand.match.keys`) that signs all its replies; None if they need not be."""

    @classmethod
    def parse(cls, text: str) -> PlayerAddress | None:
        """Return the address that a text spells; None if it is none, `InvalidKey` for a wrong key.

        >>> PlayerAddress.parse("localhost:9147/correct-horse")
        PlayerAddress(host='localhost', port=9147, token='correct-horse', key=None)
        >>> PlayerAddress.parse("9147"), PlayerAddress.parse("mcts")
        (PlayerAddress(host='127.0.0.1', port=9147, token=None, key=None), None)
        """
        match = None if text.startswith("process:") else _ADDRESS.fullmatch(text)
        if match is None:
            return None
        host = (match["host"] or "127.0.0.1").strip("[]")
        key = None if match["key"] is None else require_public_key(match["key"])
        return cls(host, int(match["port"]), match["token"], key)

    def seat(self, *, name: str | None = None, suffix: str = "") -> RemoteSeat:
        """Return a seat for the player; its name never has the token."""
        token = os.environ.get(TOKEN_VARIABLE, "") if self.token == "" else self.token or ""
        return RemoteSeat(self.host, self.port, name=name, suffix=suffix, token=token, public_key=self.key)


class Seat(Protocol):
    """A seat of a match: sends messages to one player."""

    name: str
    remembers: bool
    """Whether its player may still know a match after the manager was restarted."""

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Send a message and wait at most `seconds` for the reply; never raises."""

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Send PLAY for a step whose moves are already fixed: the answer is ignored."""

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Send START or RESUME; a local seat uses `game` instead of the rules in the message."""

    async def close(self) -> None:
        """Release the seat's resources."""


class RemoteSeat:
    """A player at an address.

    With a `public_key`, replies that are not signed with the key that belongs to it are refused.
    """

    remembers = True

    def __init__(
        self,
        host: str,
        port: int,
        *,
        name: str | None = None,
        connect_seconds: float = CONNECT_SECONDS,
        largest_reply: int = LARGEST_REPLY,
        suffix: str = "",
        token: str = "",
        public_key: str | None = None,
    ) -> None:
        self.host = host
        self.port = port
        self.public_key = None if public_key is None else require_public_key(public_key)
        self.name = name or f"{host}:{port}{'/' if token else ''}{f'#{public_key}' if public_key else ''}"
        self.connect_seconds = connect_seconds
        self.largest_reply = largest_reply
        self.suffix = suffix
        """Appended to match names, so that one player can play two roles of a match."""
        self.token = token
        """The path of the player's address."""

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Send START."""
        del game
        return await self.ask(message, seconds=seconds)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Send a message on a new connection and read the reply."""
        if self.suffix and not isinstance(message, InfoMessage | PingMessage | PreviewMessage):
            message = replace(message, match=message.match + self.suffix)
        text = str(message)
        checker = None if self.public_key is None else ReplyChecker(self.public_key)
        headers = {} if checker is None else checker.headers
        started = time.monotonic()
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(self.connect_seconds):
                reader, writer = await asyncio.open_connection(self.host, self.port)
            writer.write(
                write_request(text, host=self.host, receiver=self.name, path=self.token, headers=headers)
            )
            async with asyncio.timeout(max(SEND_SECONDS, seconds)):
                await writer.drain()
            started = time.monotonic()
            async with asyncio.timeout(seconds):
                reply = await read_reply(reader, limit=self.largest_reply)
        except TimeoutError:
            if writer is None:
                return self._failure("connection", started, "could not be reached")
            return self._failure("timeout", started, "no reply in time")
        except MessageTooLarge as error:
            return self._failure("unreadable", started, str(error))
        except ProtocolError as error:
            return self._failure("connection", started, str(error))
        except (OSError, ValueError) as error:  # ValueError: an invalid host name
            return self._failure("connection", started, error_text(error))
        finally:
            if writer is not None:
                with contextlib.suppress(OSError):
                    writer.transport.abort()
        if reply.status == _FORBIDDEN and reply.text.lower() in ("", "nil"):
            note = "refused (403): it wants another token, or does not allow its name as host"
            return self._failure("connection", started, note)
        if checker is not None and not checker.is_signed(reply.headers, text, reply.text):
            return self._failure("unsigned", started, f"not signed by the player: `{reply.text[:200]}`")
        return Exchange(reply.text, None, time.monotonic() - started, reply.notes)

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Send PLAY and ignore the answer: the protocol has no other message for this."""
        return await self.ask(message, seconds=seconds)

    async def close(self) -> None:
        """Do nothing: no connection stays open."""

    @staticmethod
    def _failure(problem: str, started: float, note: str) -> Exchange:
        return Exchange(None, problem, time.monotonic() - started, (note,))


class ScrambledSeat:
    """A wrapper that scrambles the names of a game for the player of another seat."""

    def __init__(self, seat: Seat, scrambled: Scrambled) -> None:
        self.seat = seat
        self.name = seat.name
        self.remembers = seat.remembers
        self.scrambled = scrambled

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Send START with the scrambled rules; a local player gets the scrambled game."""
        rules = " ".join(self.scrambled.text.split())
        message = replace(message, role=self._translate(message.role), rules=rules)
        if isinstance(message, ResumeMessage):
            translate = self._translate_percepts if game.has_percepts else self._translate
            message = replace(message, steps=tuple(map(translate, message.steps)))
        other = Game(self.scrambled.tree, name=message.match, limits=game.limits)
        return await self.seat.begin(other, message, seconds=seconds)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Translate the message, and translate the reply back."""
        exchange = await self.seat.ask(self._translate_message(message), seconds=seconds)
        if exchange.reply is None or not isinstance(message, PlayMessage | TurnMessage):
            return exchange
        return replace(exchange, reply=_WORD.sub(self._translate_back, exchange.reply))

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Translate the message."""
        return await self.seat.tell(self._translate_message(message), seconds=seconds)

    async def close(self) -> None:
        """Close the other seat."""
        await self.seat.close()

    def _translate_message(self, message: Message) -> Message:
        if isinstance(message, PlayMessage | StopMessage):
            return replace(message, moves=self._translate_all(message.moves))
        if isinstance(message, TurnMessage):
            last = None if message.last is None else self._translate(message.last)
            percepts = self._translate_all(message.percepts)
            if percepts is not None:
                percepts = tuple(sorted(percepts))  # the original order would leak the names
            return replace(message, last=last, percepts=percepts)
        return message

    def _translate_percepts(self, step: str) -> str:
        """Translate an own move and its percepts, sorted as in `_translate_message`."""
        own, percepts = split_list(self._translate(step))
        return f"({own} ({' '.join(sorted(split_list(percepts)))}))"

    def _translate(self, term: str) -> str:
        return self.scrambled.scrambled(term)

    def _translate_all(self, terms: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if terms is None else tuple(map(self._translate, terms))

    def _translate_back(self, word: re.Match[str]) -> str:
        """Translate a word back; `?` for an original name, which the player cannot know."""
        name = word[0].lower()
        unknown = "?" if name in self.scrambled.names else word[0]
        return self.scrambled.original.get(name, unknown)


class LocalSeat:
    """A player of `herbrand.play` in this process, which thinks in its own thread."""

    remembers = False

    def __init__(self, player: Player, *, name: str) -> None:
        self.player = player
        self.name = name
        self._worker: JobThread | None = None
        self._view: MatchView | None = None
        self._clock = 1.0

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Start the player."""
        self._worker = JobThread(f"player {self.name}")
        self._clock = float(message.play_clock)

        def job() -> str:
            self._view = MatchView(game, message.role)
            self.player.start(game, message.role, 0.9 * message.start_clock)
            return "ready"

        return await self._wait(self._worker.submit(job), seconds)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Answer PLAY, or stop the player at STOP and ABORT."""
        if isinstance(message, AbortMessage) or is_stop(message):
            self.player.stop()
            return Exchange("aborted" if isinstance(message, AbortMessage) else "done", None, 0.0)
        if self._worker is None or not isinstance(message, PlayMessage | TurnMessage):
            return Exchange("busy", None, 0.0)
        return await self._wait(self._worker.submit(lambda: self._select(message)), seconds)

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Follow the match without thinking."""
        if self._worker is None or not isinstance(message, PlayMessage | TurnMessage):
            return Exchange("busy", None, 0.0)
        return await self._wait(self._worker.submit(lambda: self._follow(message)), seconds)

    async def close(self) -> None:
        """Stop the player and end its thread."""
        self.player.stop()
        if self._worker is not None:
            self._worker.close()

    def _follow(self, message: PlayMessage | TurnMessage) -> str:
        assert self._view is not None
        self._view.apply(message, seconds=0.4 * self._clock)
        return "informed"

    def _select(self, message: PlayMessage | TurnMessage) -> str:
        started = time.monotonic()
        self._follow(message)
        assert self._view is not None
        if self._view.game.has_percepts:
            self.player.receive_history(self._view.history)
        think = 0.9 * self._clock - (time.monotonic() - started)
        return str(self.player.select(self._view.state, max(0.0, think)))

    async def _wait(self, job: asyncio.Future[str], seconds: float) -> Exchange:
        started = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                reply = await asyncio.shield(job)
        except TimeoutError:
            return Exchange(None, "timeout", time.monotonic() - started, ("no reply in time",))
        except (HerbrandError, ValueError, MemoryError, RecursionError) as error:
            return Exchange(None, "failed", time.monotonic() - started, (str(error),))
        except Exception as error:  # noqa: BLE001  # a player's bug is the player's problem
            return Exchange(None, "failed", time.monotonic() - started, (f"{type(error).__name__}: {error}",))
        return Exchange(reply, None, time.monotonic() - started)


def error_text(error: OSError | ValueError) -> str:
    """Return a short reason for a failed connection."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return str(reason).lower()

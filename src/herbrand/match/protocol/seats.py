"""Who sits at a manager's table: players over the network, and players in this process.

A seat is asked with `ask` and always comes back with an `Exchange`, in time: whatever the other side
does becomes a `problem` in it.  The whole exchange has one deadline, counted from the moment the
last byte was sent; a time-out for each read, as elsewhere, is no limit for a peer that sends a byte
a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from herbrand.errors import HerbrandError, ProtocolError
from herbrand.game import Game
from herbrand.match.protocol.http import MessageTooLarge, read_reply, write_request
from herbrand.match.protocol.messages import (
    AbortMessage,
    InfoMessage,
    PingMessage,
    PlayMessage,
    PreviewMessage,
    StartMessage,
    StopMessage,
    TurnMessage,
)
from herbrand.match.protocol.view import MatchView
from herbrand.match.protocol.worker import WorkerThread

if TYPE_CHECKING:
    from herbrand.convert.scramble import Scrambled
    from herbrand.match.protocol.messages import Message
    from herbrand.play import Player

__all__ = ["Exchange", "LocalSeat", "RemoteSeat", "ScrambledSeat", "Seat"]

_WORD = re.compile(r"[^\s(),]+")

CONNECT_SECONDS = 5.0
"""How long connecting may take; not counted against a clock."""
SEND_SECONDS = 20.0
"""How long a peer may take to accept the bytes of a message."""
LARGEST_REPLY = 64 * 1024
"""Bytes of a reply; a longer one is unreadable."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What came of one message."""

    reply: str | None
    """The text answered; None without one."""
    problem: str | None
    """None, "timeout", "connection" (refused, reset, unknown), "unreadable" or "failed" (a local player)."""
    seconds: float
    """From the last byte sent to the reply."""
    notes: tuple[str, ...] = ()
    """What exactly was wrong or odd."""


class Seat(Protocol):
    """One place at the table."""

    name: str
    remembers: bool
    """Whether its player may still know a match whose manager is gone."""

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Send a message and wait for the reply for at most so many seconds; never raises."""

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Send PLAY for a step whose moves are known already: the answer does not count."""

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Send START; a seat in this process takes the game as it is."""

    async def close(self) -> None:
        """Leave the table."""


class RemoteSeat:
    """A player at an address."""

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
    ) -> None:
        self.host = host
        self.port = port
        self.name = name or f"{host}:{port}"
        self.connect_seconds = connect_seconds
        self.largest_reply = largest_reply
        self.suffix = suffix
        """What the names of matches end in for this player; tells two roles of one player apart."""

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Send START."""
        del game
        return await self.ask(message, seconds=seconds)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Send a message on a connection of its own and read the reply."""
        if self.suffix and not isinstance(message, InfoMessage | PingMessage | PreviewMessage):
            message = replace(message, match=message.match + self.suffix)
        started = time.monotonic()
        writer: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(self.connect_seconds):
                reader, writer = await asyncio.open_connection(self.host, self.port)
            writer.write(write_request(str(message), host=self.host, receiver=self.name))
            async with asyncio.timeout(max(SEND_SECONDS, seconds)):
                await writer.drain()
            started = time.monotonic()
            async with asyncio.timeout(seconds):
                reply = await read_reply(reader, limit=self.largest_reply)
        except TimeoutError:
            where = "connection" if writer is None else "timeout"
            return self._failed(
                where, started, "could not be reached" if writer is None else "no reply in time"
            )
        except MessageTooLarge as error:
            return self._failed("unreadable", started, str(error))
        except ProtocolError as error:
            return self._failed("connection", started, str(error))
        except (OSError, ValueError) as error:  # a host name may be no name at all
            return self._failed("connection", started, error_text(error))
        finally:
            if writer is not None:
                with contextlib.suppress(OSError):
                    writer.transport.abort()
        return Exchange(reply.text, None, time.monotonic() - started, reply.notes)

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Ask as for any step: the protocol has no other way."""
        return await self.ask(message, seconds=seconds)

    async def close(self) -> None:
        """Nothing is kept open."""

    @staticmethod
    def _failed(problem: str, started: float, note: str) -> Exchange:
        return Exchange(None, problem, time.monotonic() - started, (note,))


class ScrambledSeat:
    """Another seat behind a translator: its player knows the game under other names."""

    def __init__(self, seat: Seat, scrambled: Scrambled) -> None:
        self.seat = seat
        self.name = seat.name
        self.remembers = seat.remembers
        self.scrambled = scrambled

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Send START with the scrambled rules; a local player gets the scrambled game."""
        rules = " ".join(self.scrambled.text.split())
        message = replace(message, role=self._there(message.role), rules=rules)
        other = Game(self.scrambled.tree, name=message.match, limits=game.limits)
        return await self.seat.begin(other, message, seconds=seconds)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Translate the message, and the reply back."""
        exchange = await self.seat.ask(self._translated(message), seconds=seconds)
        if exchange.reply is None or not isinstance(message, PlayMessage | TurnMessage):
            return exchange
        return replace(exchange, reply=_WORD.sub(self._back, exchange.reply))

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Translate the message."""
        return await self.seat.tell(self._translated(message), seconds=seconds)

    async def close(self) -> None:
        """Leave the table."""
        await self.seat.close()

    def _translated(self, message: Message) -> Message:
        if isinstance(message, PlayMessage | StopMessage):
            return replace(message, moves=self._all(message.moves))
        if isinstance(message, TurnMessage):
            last = None if message.last is None else self._there(message.last)
            seen = self._all(message.percepts)  # in an order that tells nothing
            return replace(message, last=last, percepts=None if seen is None else tuple(sorted(seen)))
        return message

    def _there(self, term: str) -> str:
        return self.scrambled.scrambled(term)

    def _all(self, terms: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if terms is None else tuple(map(self._there, terms))

    def _back(self, word: re.Match[str]) -> str:
        """Translate a word back; a name of the original game is none of this one, unless it was kept."""
        name = word[0].lower()
        found = self.scrambled.original.get(name)
        if found is not None:
            return found
        return word[0] if name not in self.scrambled.names else "?"


class LocalSeat:
    """A player of `herbrand.play` in this process, thinking in a thread of its own."""

    remembers = False

    def __init__(self, player: Player, *, name: str) -> None:
        self.player = player
        self.name = name
        self._worker: WorkerThread | None = None
        self._view: MatchView | None = None
        self._clock = 1.0

    async def begin(self, game: Game, message: StartMessage, *, seconds: float) -> Exchange:
        """Start the player."""
        self._worker = WorkerThread(f"player {self.name}")
        self._clock = float(message.play_clock)

        def job() -> str:
            self._view = MatchView(game, message.role)
            self.player.start(game, message.role, 0.9 * message.start_clock)
            return "ready"

        return await self._wait(self._worker.submit(job), seconds)

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Answer PLAY; take note of STOP and ABORT."""
        if isinstance(message, AbortMessage) or (
            isinstance(message, StopMessage | TurnMessage) and _is_over(message)
        ):
            self.player.stop()
            return Exchange("aborted" if isinstance(message, AbortMessage) else "done", None, 0.0)
        if self._worker is None or not isinstance(message, PlayMessage | TurnMessage):
            return Exchange("busy", None, 0.0)
        return await self._wait(self._worker.submit(lambda: self._select(message)), seconds)

    async def tell(self, message: Message, *, seconds: float) -> Exchange:
        """Follow the match without thinking."""
        if self._worker is None or not isinstance(message, PlayMessage | TurnMessage):
            return Exchange("busy", None, 0.0)
        return await self._wait(self._worker.submit(lambda: self._told(message)), seconds)

    async def close(self) -> None:
        """Let the thread end."""
        self.player.stop()
        if self._worker is not None:
            self._worker.close()

    def _told(self, message: PlayMessage | TurnMessage) -> str:
        view = self._view
        assert view is not None
        if isinstance(message, TurnMessage):
            view.told_percepts(
                message.last, message.percepts, turn=message.turn, over=False, seconds=0.4 * self._clock
            )
        else:
            view.told_moves(message.moves)
        return "told"

    def _select(self, message: PlayMessage | TurnMessage) -> str:
        started = time.monotonic()
        self._told(message)
        assert self._view is not None
        if self._view.game.has_percepts:
            self.player.told(self._view.history)
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
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # a player's bug is the player's problem
            return Exchange(None, "failed", time.monotonic() - started, (f"{type(error).__name__}: {error}",))
        return Exchange(reply, None, time.monotonic() - started)


def error_text(error: OSError | ValueError) -> str:
    """Say in a few words why a connection failed."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return str(reason).lower()


def _is_over(message: StopMessage | TurnMessage) -> bool:
    return isinstance(message, StopMessage) or message.over

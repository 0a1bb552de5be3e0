"""`PlayerServer`: a player that managers reach over the network.

The server only answers: it reads messages, keeps for each match what was sent and a legal move of the state
in hand, and leaves everything that evaluates rules to hosts (`hosts`), which registered players have in
processes of their own.  It must not import what evaluates rules: then nothing that a rulesheet does can stop
its event loop.

A reply is sent before the clock runs out, whatever hosts do: the player gets the clock less a margin (a
fifth, at most 1.9 s; 3.9 s before the first move, as ggp-base recommends), and if it has not chosen by half
the margin, the server sends the legal move that the host drew before the player began to think.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from herbrand.errors import HerbrandError, ProtocolError
from herbrand.match.keys import PrivateKey, reply_headers
from herbrand.match.protocol.access import Access
from herbrand.match.protocol.events import Event, silent
from herbrand.match.protocol.hosts import HostPool, ThreadHost
from herbrand.match.protocol.http import read_request, write_reply
from herbrand.match.protocol.messages import (
    AbortMessage,
    InfoMessage,
    InfoReply,
    PingMessage,
    PreviewMessage,
    StartMessage,
    is_stop,
    margin,
    parse,
    spaced,
)
from herbrand.match.protocol.ongoing import OngoingMatch
from herbrand.runtime.memory import free_megabytes, keep_large_blocks_apart, release_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from herbrand.match.protocol.events import Listener
    from herbrand.match.protocol.hosts import Hosts
    from herbrand.match.protocol.http import Request
    from herbrand.match.protocol.messages import Message
    from herbrand.play import Player

__all__ = ["MEMORY_MEGABYTES", "PlayerServer", "default_megabytes", "margin"]

LARGEST_MESSAGE = 1024 * 1024
"""Bytes of a START with its rules; the largest published rulesheet has 70 thousand."""
LARGE_MESSAGE_CHARS = 65536
"""Longer messages are parsed one at a time, which bounds memory whatever the number of peers; their memory is
returned to the system afterwards."""
MEMORY_MEGABYTES = 300
"""Default memory limit of a player server."""
_MEMORY_SHARE = 0.25
_MOST_MEGABYTES = 4000
LONGEST_CLOCK = 3600
"""Default limit of clocks, in seconds."""
CONNECTIONS = 64
"""Connections served at once, and one more for each match; four times as many wait.  When all are busy, the
one that has been sending its request longest is closed, if for more than a second: an honest peer sends its
request at once."""
RATE = 500.0
"""Connections per second allowed for one address, after an initial burst of four times as many; further ones
are closed unread."""
READ_SECONDS = 20.0
"""How long a request may take to arrive."""
_SLOW_SECONDS = 1.0
_SWEEP_SECONDS = 5.0
"""Interval between checks for silent matches."""
_TEXT_SHARE = 0.1
"""Share of the memory for the rules and moves of all matches."""
_SWITCH_SECONDS = 0.001
"""How long a thread that parses a large message may keep the event loop waiting for the interpreter."""
_LAST_SECONDS = 0.05
"""Time before the end of a clock until which the first legal move of a state is awaited."""


def default_megabytes() -> int:
    """Return the memory limit for the only player of a machine: a quarter of free memory, within bounds."""
    return int(min(_MOST_MEGABYTES, max(MEMORY_MEGABYTES, _MEMORY_SHARE * free_megabytes())))


class PlayerServer:
    """A player that listens on a port.

    `player` is the name of a registered player, which then runs in processes of its own, or a function that
    creates a player for each match, which runs in threads of this process.  `seed` makes the choices of some
    registered players reproducible; it grows by one with each match.

    `matches` is how many are played at once.  A START beyond that takes the place of a match whose manager is
    gone, or is answered `busy`; so is one whose clocks are longer than `longest_clock` seconds.  `memory`
    bounds all processes together, in megabytes.  With `ponder` a registered player uses all of the start
    clock and thinks while others do, if it can and only one match is played at a time.  Requests of web pages
    are refused unless they are of `allowed_origins`, and so are those for hosts whose name is neither `host`
    nor one of `allowed_hosts`, and with a `token` those whose path does not begin with it.  With `key`, the
    file of an Ed25519 private key, replies to messages with a challenge are signed.

    With `port=0`, `port` is the free port taken once started.
    """

    def __init__(
        self,
        player: str | Callable[[], Player],
        *,
        seed: int | None = None,
        name: str = "herbrand",
        host: str = "127.0.0.1",
        port: int = 9147,
        matches: int = 1,
        largest_message: int = LARGEST_MESSAGE,
        longest_clock: int = LONGEST_CLOCK,
        connections: int | None = None,
        rate: float = RATE,
        memory: int | None = None,
        ponder: bool = False,
        read_seconds: float = READ_SECONDS,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        token: str | None = None,
        key: str | Path | None = None,
        listener: Listener = silent,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.matches = matches
        self.largest_message = largest_message
        self.longest_clock = longest_clock
        self.connections = CONNECTIONS + matches if connections is None else connections
        self.rate = rate
        self.memory = MEMORY_MEGABYTES if memory is None else memory
        self._announced_memory = memory
        self.read_seconds = read_seconds
        self.listener = listener
        self.hosts: Hosts
        """Where matches are followed and the player thinks."""
        if isinstance(player, str):
            self.hosts = HostPool(
                player,
                self._receive,
                self._warn,
                seed=seed,
                memory=self.memory,
                matches=matches,
                ponder=ponder,
            )
        else:
            self.hosts = ThreadHost(player, self._receive, memory=self.memory, matches=matches)
        self.key = None if key is None else PrivateKey(key)
        self._access = Access(names=[host, *allowed_hosts], origins=allowed_origins, token=token)
        self._playing: dict[str, OngoingMatch] = {}
        self._begun = 0
        """Matches that were begun."""
        self._connections: set[asyncio.StreamWriter] = set()
        self._waiting = 0
        """Connections queued for a slot."""
        self._reading: dict[asyncio.StreamWriter, float] = {}
        """Start times of connections whose requests have not arrived completely, the oldest first."""
        self._large = asyncio.Lock()
        self._quotas: dict[str, tuple[float, float]] = {}
        """By address: the connections it has left (a token bucket), and when they were counted."""
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None

    # -- listening --------------------------------------------------------------------------

    async def start(self) -> None:
        """Start listening; `OSError` when the port is in use, `UnknownPlayer` if there is no such player."""
        self._server = await asyncio.start_server(
            self._connected, self.host, self.port, backlog=256, start_serving=False
        )
        self.port = self._server.sockets[0].getsockname()[1]
        keep_large_blocks_apart()
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_SECONDS))
        try:
            await self.hosts.start()
        except HerbrandError:
            self._server.close()
            raise
        await self._server.start_serving()
        self._sweeper = asyncio.create_task(self._sweep())

    async def serve(self) -> None:
        """Listen until cancelled."""
        if self._server is None:
            await self.start()
        try:  # not `serve_forever`, which from Python 3.12 on waits for open connections when it is cancelled
            await asyncio.get_running_loop().create_future()
        finally:
            await self.close()

    async def close(self) -> None:
        """Stop listening and end all matches."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._server is not None:
            self._server.close()
        for match in list(self._playing.values()):
            self._end(match)
        await self.hosts.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def is_free(self) -> bool:
        """Whether another match can be started."""
        return sum(1 for match in self._playing.values() if not match.is_orphan) < self.matches

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived = time.monotonic()
        if not await self._wait_for_slot():
            self._emit("refused", None, peer=_peer(writer), reason="too many connections")
            writer.close()
            return
        if not self._take_quota(writer, arrived):
            self._emit("refused", None, peer=_peer(writer), reason="too many connections in a short time")
            writer.close()
            return
        self._connections.add(writer)
        self._reading[writer] = time.monotonic()
        try:
            await self._converse(reader, writer, arrived)
        except (OSError, asyncio.IncompleteReadError) as error:
            self._emit("refused", None, peer=_peer(writer), reason=str(error) or type(error).__name__)
        finally:
            self._connections.discard(writer)
            self._reading.pop(writer, None)
            with contextlib.suppress(OSError):
                writer.close()

    async def _wait_for_slot(self) -> bool:
        """Wait for a free connection slot; False when the queue is full or the wait times out."""
        if len(self._connections) < self.connections:
            return True
        if self._waiting >= 4 * self.connections:
            return False
        self._waiting += 1
        deadline = time.monotonic() + self.read_seconds
        try:
            while len(self._connections) >= self.connections and not self._close_slowest():
                if time.monotonic() > deadline:
                    return False
                await asyncio.sleep(0.02)
        finally:
            self._waiting -= 1
        return True

    def _close_slowest(self) -> bool:
        """Close the connection that has been sending its request longest; False if none is slow."""
        slowest = next(iter(self._reading), None)
        limit = min(_SLOW_SECONDS, 0.5 * self.read_seconds)
        if slowest is None or time.monotonic() - self._reading[slowest] < limit:
            return False
        del self._reading[slowest]
        self._connections.discard(slowest)
        self._emit("refused", None, peer=_peer(slowest), reason="too many connections, and this one was slow")
        slowest.transport.abort()
        return True

    def _take_quota(self, writer: asyncio.StreamWriter, now: float) -> bool:
        """Count a connection against the quota of its address; False when that is used up."""
        host = _peer(writer).rpartition(":")[0]
        if len(self._quotas) > 10_000:  # resetting only ever grants more
            self._quotas.clear()
        left, since = self._quotas.get(host, (4 * self.rate, now))
        left = min(4 * self.rate, left + (now - since) * self.rate)
        self._quotas[host] = max(0.0, left - 1), now
        return left >= 1

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, arrived: float
    ) -> None:
        """Read one request and answer it."""
        peer = _peer(writer)
        try:
            async with asyncio.timeout(self.read_seconds):
                request = await read_request(reader, limit=self.largest_message)
            self._reading.pop(writer, None)
        except TimeoutError:
            self._emit("refused", None, peer=peer, reason="the request did not arrive in time")
            return
        except ProtocolError as error:
            self._emit("refused", None, peer=peer, reason=str(error))
            answer = write_reply("nil", status="400 Bad Request", origin=None)
        else:
            answer = await self._answer_request(request, arrived, peer)
        writer.write(answer)
        async with asyncio.timeout(self.read_seconds):
            await writer.drain()

    async def _answer_request(self, request: Request, arrived: float, peer: str) -> bytes:
        admitted = self._access.without_token(request)
        refusal = "it has not the token" if admitted is None else self._access.why_refused(admitted)
        if admitted is None or refusal:
            self._emit("refused", None, peer=peer, reason=refusal)
            return write_reply("nil", version=request.version, status="403 Forbidden", origin=None)
        text = ""
        if request.method in ("POST", "GET"):
            text = await self.answer(admitted.text, arrived=arrived, peer=peer)
        origin = self._access.allowed_origin(request.headers) or "*"
        headers = {} if self.key is None else reply_headers(self.key, admitted.headers, admitted.text, text)
        return write_reply(text, version=request.version, origin=origin, headers=headers)

    # -- answering --------------------------------------------------------------------------

    async def answer(self, text: str, *, arrived: float | None = None, peer: str = "") -> str:
        """Return the answer to a message; `nil` for an unreadable one."""
        started = time.monotonic() if arrived is None else arrived
        try:
            if len(text) < LARGE_MESSAGE_CHARS:
                message = parse(text)
            else:
                async with self._large:
                    try:
                        message = await asyncio.to_thread(parse, text)  # keeps the event loop free
                    finally:
                        await asyncio.to_thread(release_memory)
        except ProtocolError as error:
            self._emit("refused", None, peer=peer, reason=str(error), message=text[:200])
            return "nil"
        try:
            reply = await self._dispatch(message, started, peer)
        except Exception as error:  # noqa: BLE001  # a bug must not cost more than an answer
            self._emit("odd", getattr(message, "match", None), reason=f"{type(error).__name__}: {error}")
            reply = "nil"
        self._emit(
            "request", getattr(message, "match", None), peer=peer, message=_abbreviate(message),
            reply=reply, seconds=round(time.monotonic() - started, 4),
        )  # fmt: skip
        return reply

    async def _dispatch(self, message: Message, started: float, peer: str) -> str:
        if isinstance(message, InfoMessage):
            status = "available" if self.is_free else "busy"
            return str(InfoReply(status, self.name, memory=self._announced_memory))
        if isinstance(message, PingMessage | PreviewMessage):
            return "ready" if self.is_free else "busy"
        if isinstance(message, StartMessage):
            return await self._start(message, started, peer)
        match = self._playing.get(message.match)
        if match is None:
            reason = "no such match: it has ended, or began before this player was started"
            self._emit("unknown", message.match, peer=peer, reason=reason)
            return "busy"
        match.last_message = time.monotonic()
        if isinstance(message, AbortMessage):
            self._end(match)
            return "aborted"
        if is_stop(message):
            return await self._stop(match, str(message), started)
        return await self._move(match, str(message), started)

    async def _start(self, message: StartMessage, started: float, peer: str) -> str:
        """Answer START or RESUME."""
        match = self._playing.get(message.match)
        if match is not None:  # PLAY names no role, so one port can play only one role of a match
            return "ready" if match.role == message.role.lower() else "busy"
        refusal = self._why_refused(message)
        if not refusal:
            self._begun += 1
            match = OngoingMatch(self._share_rules(message), self._begun)
            clock = float(message.start_clock)
            until = started + clock - margin(clock, 3.9)
            if not self.hosts.place(match, until):
                self._drop_orphans()
                if not self.hosts.place(match, until):
                    refusal = "no memory for another match"
        if refusal or match is None:
            self._emit("refused", message.match, peer=peer, reason=refusal)
            return "busy"
        self._playing[match.id] = match
        try:
            async with asyncio.timeout_at(_loop_time(started + clock - margin(clock, 3.9) / 2)):
                refusal = await asyncio.shield(match.beginning)
        except TimeoutError:
            return "ready"  # preparation continues in the background
        if refusal:
            self._emit("odd", match.id, reason=refusal)
            self._end(match)
            return "busy"
        return "ready"

    def _why_refused(self, message: StartMessage) -> str:
        """Return why a match cannot be begun now; empty if it can."""
        longest = max(message.start_clock, message.play_clock)
        if longest > self.longest_clock:
            return f"a clock of {longest} seconds: at most {self.longest_clock} are allowed"
        if len(self._playing) >= self.matches:
            self._drop_orphans()
        if len(self._playing) >= self.matches:
            return "all seats are taken"
        rules = {match.start.rules for match in self._playing.values()} | {message.rules}
        stored_bytes = sum(map(sys.getsizeof, rules)) + sum(match.size for match in self._playing.values())
        return "no memory for other rules" if stored_bytes > _TEXT_SHARE * (self.memory << 20) else ""

    def _drop_orphans(self) -> None:
        """End the matches whose managers are gone."""
        for match in [match for match in self._playing.values() if match.is_orphan]:
            self._emit("odd", match.id, reason="dropped for another match, since the manager was silent")
            self._end(match)

    def _share_rules(self, message: StartMessage) -> StartMessage:
        """Return the message with rules that are in memory already, if another match has the same."""
        for match in self._playing.values():
            if match.start.rules == message.rules:
                return replace(message, rules=match.start.rules)
        return message

    async def _move(self, match: OngoingMatch, text: str, started: float) -> str:
        clock = float(match.start.play_clock)
        request = match.ask(text, started)
        self.hosts.ask(match, request)
        move: str | None = None
        try:
            async with asyncio.timeout_at(_loop_time(started + max(0.05, clock - margin(clock, 1.9) / 2))):
                move = await asyncio.shield(request.move)
        except TimeoutError:
            if not request.is_followed.is_set():
                self.hosts.report_missed(match)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(_loop_time(started + clock - _LAST_SECONDS)):
                        await request.is_followed.wait()
            self._emit("late", match.id, move=request.legal or match.legal)
        move = move or request.legal or match.legal
        match.answer(request, move)
        if move is None:
            return "nil"
        self.hosts.confirm(match, move)
        return spaced(move)

    async def _stop(self, match: OngoingMatch, text: str, started: float) -> str:
        self.hosts.end(match, text)
        with contextlib.suppress(TimeoutError):  # the match is over even if its last state is unknown
            async with asyncio.timeout_at(_loop_time(started + 0.5)):
                await asyncio.shield(match.ended)
        self._forget(match)
        return "done"

    def _end(self, match: OngoingMatch) -> None:
        self.hosts.end(match, None)
        self._forget(match)

    def _forget(self, match: OngoingMatch) -> None:
        match.settle()
        self._playing.pop(match.id, None)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            for match in [match for match in self._playing.values() if match.is_forgotten]:
                self._emit("odd", match.id, reason="dropped after a long silence")
                self._end(match)

    # -- what hosts tell -----------------------------------------------------------------------

    def _receive(self, match: OngoingMatch, message: dict[str, Any]) -> None:
        """Act on a message of the host of a match."""
        if message["kind"] != "event":
            match.receive(message)
        elif message["event"] != "match" or not match.is_announced:
            match.is_announced = match.is_announced or message["event"] == "match"
            self._emit(message["event"], match.id, **message["data"])

    def _warn(self, match: OngoingMatch, reason: str) -> None:
        self._emit("odd", match.id, reason=reason)

    def _emit(self, kind: str, match: str | None, **data: object) -> None:
        self.listener(Event(kind, match, data))


def _abbreviate(message: Message) -> str:
    """Return the first 200 characters of a message without its rules."""
    if isinstance(message, StartMessage | PreviewMessage):
        message = replace(message, rules="...")
    return str(message)[:200]


def _loop_time(monotonic: float) -> float:
    """Convert a time of the monotonic clock to the clock of the event loop."""
    return asyncio.get_running_loop().time() + monotonic - time.monotonic()


def _peer(writer: asyncio.StreamWriter) -> str:
    name = writer.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else str(name)

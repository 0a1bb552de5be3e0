"""`PlayerServer`: a player that managers reach over the network.

Every match has two threads: one reads the rules and follows the match by evaluating them, which needs no
preparation; in the other the player prepares and thinks.  A third thread builds the network of the game and
the table of its moves (`gamecache`), which are used once they are there.  Meanwhile the event loop answers
INFO, ABORT and other managers.

A reply is sent before the clock runs out, whatever these threads do: the player gets the clock less a margin
(a fifth, at most 1.9 s; 3.9 s before the first move, as ggp-base recommends), and if it has not chosen by
half the margin, the server sends a legal move that it drew before the player began to think.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from herbrand.errors import HerbrandError, ProtocolError
from herbrand.match.protocol.events import Event, silent
from herbrand.match.protocol.gamecache import LARGE_MESSAGE_CHARS, MEMORY_MEGABYTES, GameCache, free_memory
from herbrand.match.protocol.http import read_request, write_reply
from herbrand.match.protocol.messages import (
    AbortMessage,
    InfoMessage,
    InfoReply,
    PingMessage,
    PlayMessage,
    PreviewMessage,
    SeesMessage,
    StartMessage,
    StopMessage,
    TurnMessage,
    parse,
    spaced,
)
from herbrand.match.protocol.view import MatchView
from herbrand.match.protocol.worker import WorkerThread, retrieve_exception
from herbrand.runtime.memory import release_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.analyse.knowledge.histories import History
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.match.protocol.events import Listener
    from herbrand.match.protocol.messages import Message
    from herbrand.play import Player

__all__ = ["PlayerServer", "margin"]

LARGEST_MESSAGE = 1024 * 1024
"""Bytes of a START with its rules; the largest published rulesheet has 70 thousand."""
CONNECTIONS = 64
"""Connections served at once; four times as many wait.  When all are busy, the one that has been sending its
request longest is closed, if for more than a second: an honest peer sends its request at once."""
RATE = 500.0
"""Connections per second allowed for one address, after an initial burst of four times as many; further ones
are closed unread."""
READ_SECONDS = 20.0
"""How long a request may take to arrive."""
FORGET_SECONDS = 600.0
"""A match is dropped after this silence, or ten times its play clock if that is longer."""
_SLOW_SECONDS = 1.0
_SWEEP_SECONDS = 5.0
"""Interval between checks for silent matches and unused memory."""


def margin(clock: float, most: float) -> float:
    """Return the seconds before the end of a clock at which an answer should be ready."""
    return min(most, 0.2 * clock)


class PlayerServer:
    """A player that listens on a port.

    `make_player` creates a player for each match; `matches` is how many are played at once, and a START
    beyond that is answered `busy`.  With `port=0`, `port` is the free port taken once started.
    """

    def __init__(
        self,
        make_player: Callable[[], Player],
        *,
        name: str = "herbrand",
        host: str = "127.0.0.1",
        port: int = 9147,
        matches: int = 1,
        largest_message: int = LARGEST_MESSAGE,
        connections: int = CONNECTIONS,
        rate: float = RATE,
        memory: int = MEMORY_MEGABYTES,
        read_seconds: float = READ_SECONDS,
        listener: Listener = silent,
    ) -> None:
        self.make_player = make_player
        self.name = name
        self.host = host
        self.port = port
        self.matches = matches
        self.largest_message = largest_message
        self.connections = connections
        self.rate = rate
        self.read_seconds = read_seconds
        self.listener = listener
        self._games = GameCache(memory=memory)
        self._playing: dict[str, _Match] = {}
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
        self._has_garbage = False
        """Whether matches have ended whose memory has not been freed yet."""

    # -- listening --------------------------------------------------------------------------

    async def start(self) -> None:
        """Start listening; `OSError` when the port is in use."""
        self._server = await asyncio.start_server(self._connected, self.host, self.port, backlog=256)
        self.port = self._server.sockets[0].getsockname()[1]
        self._loop = asyncio.get_running_loop()
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

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def is_free(self) -> bool:
        """Whether another match can be started."""
        return len(self._playing) < self.matches

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
        version = "HTTP/1.0"
        try:
            async with asyncio.timeout(self.read_seconds):
                request = await read_request(reader, limit=self.largest_message)
            self._reading.pop(writer, None)
        except TimeoutError:
            self._emit("refused", None, peer=peer, reason="the request did not arrive in time")
            return
        except ProtocolError as error:
            self._emit("refused", None, peer=peer, reason=str(error))
            answer = write_reply("nil", status="400 Bad Request")
        else:
            version = request.version
            if request.method in ("POST", "GET"):
                text = await self.answer(request.text, arrived=arrived, peer=peer)
            else:
                text = ""
            answer = write_reply(text, version=version)
        writer.write(answer)
        async with asyncio.timeout(self.read_seconds):
            await writer.drain()

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
        match = getattr(message, "match", None)
        try:
            reply = await self._dispatch(message, started)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # a player that fails must not take the server down
            self._emit("odd", match, reason=f"{type(error).__name__}: {error}")
            reply = "nil"
        self._emit(
            "request", match, peer=peer, message=_abbreviate(message), reply=reply,
            seconds=round(time.monotonic() - started, 4),
        )  # fmt: skip
        return reply

    async def _dispatch(self, message: Message, started: float) -> str:
        status = "available" if self.is_free else "busy"
        if isinstance(message, InfoMessage):
            return str(InfoReply(status, self.name))
        if isinstance(message, PingMessage):
            return "ready" if self.is_free else "busy"
        if isinstance(message, PreviewMessage):
            return "ready" if self.is_free else "busy"
        if isinstance(message, StartMessage):
            return await self._start(message, started)
        match = self._playing.get(message.match)
        if match is None:
            return "busy"
        match.heard = time.monotonic()
        if isinstance(message, AbortMessage):
            self._end(match)
            return "aborted"
        if isinstance(message, StopMessage) or (isinstance(message, TurnMessage) and message.over):
            return await self._stop(match, message, started)
        return await self._move(match, message, started)

    async def _start(self, message: StartMessage, started: float) -> str:
        match = self._playing.get(message.match)
        if match is not None:  # PLAY names no role, so one port can play only one role of a match
            return "ready" if match.role == message.role.lower() else "busy"
        if not self.is_free:
            return "busy"
        clock = float(message.start_clock)
        match = _Match(message, self.make_player(), self._emit, self._games)
        self._playing[message.match] = match
        match.begin(started + clock - margin(clock, 3.9))
        try:
            async with asyncio.timeout_at(_loop_time(started + clock - margin(clock, 3.9) / 2)):
                await match.begun()
        except TimeoutError:
            return "ready"  # preparation continues in the background
        except Exception as error:  # noqa: BLE001  # untrusted rules, or a bug in the player
            self._emit("odd", match.id, reason=f"not playable: {_describe(error)}")
            self._end(match)
            return "busy"
        return "ready"

    async def _move(
        self, match: _Match, message: PlayMessage | TurnMessage | SeesMessage | StopMessage, started: float
    ) -> str:
        clock = float(match.play_clock)
        request = _Request(message, started, clock)
        move: Move | None
        try:
            async with asyncio.timeout_at(_loop_time(started + max(0.05, clock - margin(clock, 1.9) / 2))):
                move = await match.select(request)
        except TimeoutError:
            move = request.fallback or match.last_legal
            self._emit("late", match.id, move=str(move))
        except Exception as error:  # noqa: BLE001  # the match must go on
            self._emit("odd", match.id, reason=_describe(error))
            move = request.fallback or match.last_legal
        if move is None:
            return "nil"
        match.record_answer(move)
        return spaced(str(move))

    async def _stop(self, match: _Match, message: StopMessage | TurnMessage, started: float) -> str:
        match.player.stop()
        with contextlib.suppress(Exception):  # the match is over even if its last state is unknown
            async with asyncio.timeout_at(_loop_time(started + 0.5)):
                await match.conclude(message)
        self._end(match)
        return "done"

    def _end(self, match: _Match) -> None:
        match.close()
        self._playing.pop(match.id, None)
        self._has_garbage = True

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self._drop_silent_matches()
            # collection pauses all threads, so it is deferred during matches while memory lasts
            if self._has_garbage and (not self._playing or self._games.is_full()):
                self._has_garbage = False
                await asyncio.to_thread(free_memory)

    def _drop_silent_matches(self) -> None:
        now = time.monotonic()
        for match in list(self._playing.values()):
            if now - match.heard > max(FORGET_SECONDS, 10 * match.play_clock, match.start_clock):
                self._emit("odd", match.id, reason="dropped after a long silence")
                self._end(match)

    def _emit(self, kind: str, match: str | None, **data: object) -> None:
        self.listener(Event(kind, match, data))


@dataclass(slots=True)
class _Request:
    """A manager's request for a move."""

    message: PlayMessage | TurnMessage | SeesMessage | StopMessage
    started: float
    clock: float
    step: int = 0
    """Joint moves made before."""
    history: History = ()
    """The role's moves and percepts, in games with hidden information."""
    fallback: Move | None = None
    """A legal move, sent if the player is late."""


class _Match:
    """One match.  Private methods that are not coroutines run in one of its two threads."""

    def __init__(
        self, start: StartMessage, player: Player, emit: Callable[..., None], games: GameCache
    ) -> None:
        self.id = start.match
        self.role = start.role.lower()
        self.start_clock = start.start_clock
        self.play_clock = start.play_clock
        self.player = player
        self.heard = time.monotonic()
        self.last_legal: Move | None = None
        """A legal move of the latest state."""
        self._start = start
        self._cached = games.get(start.rules)
        self._server_emit = emit
        self._loop = asyncio.get_running_loop()
        self._follower = WorkerThread(f"match {start.match}")
        self._thinker = WorkerThread(f"player in {start.match}")
        self._chance = random.Random(start.match)
        self._view: MatchView | None = None
        self._beginning: asyncio.Task[None] | None = None

    # -- in the event loop -----------------------------------------------------------------

    def begin(self, until: float) -> None:
        """Start reading the rules and preparing, until a deadline on the monotonic clock."""
        self._beginning = asyncio.create_task(self._begin(until))
        self._beginning.add_done_callback(retrieve_exception)

    async def _begin(self, until: float) -> None:
        await self._follower.submit(lambda: self._load_rules(until))
        await self._thinker.submit(lambda: self._prepare(until))

    async def begun(self) -> None:
        """Wait until the player is prepared; cancelling the wait does not cancel the preparation."""
        if self._beginning is not None:
            await asyncio.shield(self._beginning)

    async def select(self, request: _Request) -> Move:
        """Advance to the state that the message describes and choose a move."""
        state = await asyncio.shield(self._follower.submit(lambda: self._follow_to(request)))
        # not shielded: cancelled while the player is still busy, the job never starts
        return await self._thinker.submit(lambda: self._select(request, state))

    def record_answer(self, move: Move) -> None:
        """Remember the answer that was sent."""

        def record() -> None:
            if self._view is not None:
                self._view.record_answer(move)

        self._follower.submit(record)

    async def conclude(self, message: StopMessage | TurnMessage) -> None:
        """Follow the match to its end."""
        await asyncio.shield(self._follower.submit(lambda: self._conclude(message)))

    def close(self) -> None:
        """End the match; its threads end after their queued jobs."""
        self.player.stop()
        if self._beginning is not None:
            self._beginning.cancel()
        self._follower.close()
        self._thinker.close()

    # -- following ---------------------------------------------------------------------------

    def _load_rules(self, until: float) -> None:
        """Read the rules; afterwards `last_legal` is a legal move."""
        game = self._cached.game(until)
        role = game.roles[game.role_index(self._start.role)]
        view = MatchView(game, role, engine="rules")
        self.last_legal = next(iter(view.state.legal_moves(role)), None)
        self._view = view
        self._emit("match", game=game.name, role=role, roles=list(game.roles))

    def _follow_to(self, request: _Request) -> State:
        """Advance to the state that a message describes; draw a fallback move."""
        view = self._follow(request.message, 0.4 * request.clock)
        legal = view.state.legal_moves(view.role)
        if not legal:
            raise ProtocolError(f"no legal move for {view.role}")
        request.step, request.history = view.step, view.history
        request.fallback = self.last_legal = self._chance.choice(legal)
        return view.state

    def _conclude(self, message: StopMessage | TurnMessage) -> None:
        view = self._follow(message, 0.4)
        goals = view.state.goals if view.state.is_terminal else {}
        self._emit("end", goals=dict(goals), terminal=view.state.is_terminal)

    # -- playing -----------------------------------------------------------------------------

    def _prepare(self, until: float) -> None:
        """Wait for network and move reader while there is time, then let the player prepare."""
        view = self._view
        assert view is not None
        self._cached.improve()
        while not (self._cached.improved.is_set() or self.player.stopped) and time.monotonic() < until:
            self._cached.improved.wait(0.05)
        if not self.player.stopped:
            self.player.start(view.game, view.role, max(0.0, until - time.monotonic()))

    def _select(self, request: _Request, state: State) -> Move:
        """Let the player choose in a state."""
        assert request.fallback is not None
        if state.is_terminal or self.player.stopped:
            return request.fallback
        if state.game.has_percepts:
            self.player.receive_history(request.history)
        think = request.started + request.clock - margin(request.clock, 1.9) - time.monotonic()
        move = self.player.select(state, max(0.0, think))
        if not state.is_legal(self.role, move):
            self._emit("odd", reason=f"the player chose `{move}`, which is not legal")
            move = request.fallback
        seconds = round(time.monotonic() - request.started, 4)
        self._emit("select", step=request.step, move=str(move), seconds=seconds)
        return move

    def _follow(
        self, message: PlayMessage | TurnMessage | SeesMessage | StopMessage, seconds: float
    ) -> MatchView:
        view = self._view
        if view is None:
            raise ProtocolError("the rules were not read in time")
        if self._cached.improved.is_set():
            view.reader = self._cached.reader
            view.switch_to_network()
        for note in view.apply(message, seconds=seconds):
            self._emit("odd", reason=note)
        return view

    def _emit(self, kind: str, **data: object) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(lambda: self._server_emit(kind, self.id, **data))


def _abbreviate(message: Message) -> str:
    """Return the first 200 characters of a message without its rules."""
    return str(
        replace(message, rules="...") if isinstance(message, StartMessage | PreviewMessage) else message
    )[:200]


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, HerbrandError) else f"{type(error).__name__}: {error}"


def _loop_time(monotonic: float) -> float:
    """Convert a time of the monotonic clock to the clock of the event loop."""
    return asyncio.get_running_loop().time() + monotonic - time.monotonic()


def _peer(writer: asyncio.StreamWriter) -> str:
    name = writer.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else str(name)

"""`PlayerServer`: a player that managers reach over the network.

Every match has two threads: in one the rules are read and the match is followed, by evaluating the
rules, which is ready at once; in the other the player prepares and thinks.  What costs more, the network
of the game and the table of its moves, is made in a third thread for as long as it takes (`kept`), and
used from then on.  Meanwhile the event loop answers INFO, ABORT and other managers.

A reply goes out before the clock, whatever these threads do: the player is given the clock less a margin
(a fifth, at most 1.9 s; 3.9 s before the first move, as ggp-base recommends), and if it is not done at
half the margin, a legal move that was laid aside before it began to think is sent.
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
from herbrand.match.protocol.http import read_request, write_reply
from herbrand.match.protocol.kept import MEMORY, MUCH, Games, tidy
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
from herbrand.match.protocol.worker import WorkerThread, seen
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
"""Bytes of a START, rules and all; the largest of the known rulesheets has 70 thousand."""
CONNECTIONS = 64
"""Connections served at once; four times as many wait.  Room is made by closing that which has been sending
its request longest, if for more than a second: an honest peer needs no time for that."""
RATE = 500.0
"""Connections a second that one address may make, after a first rush of four times as many; further ones are
closed unread."""
READ_SECONDS = 20.0
"""How long a request may take to arrive."""
FORGET_SECONDS = 600.0
"""A match is given up after this silence, or ten times its play clock if that is longer."""
_SLOW_SECONDS = 1.0
_SWEEP_SECONDS = 5.0
"""How often is looked at what matches left behind."""


def margin(clock: float, most: float) -> float:
    """Return the seconds before the end of a clock at which an answer should be ready."""
    return min(most, 0.2 * clock)


class PlayerServer:
    """Listens on a port and plays.

    `make_player` makes a player for each match, `matches` is how many are played at once: a START
    beyond that is answered `busy`.  `port=0` takes a free port, which `port` then says.
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
        memory: int = MEMORY,
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
        self._games = Games(memory=memory)
        self._playing: dict[str, _Match] = {}
        self._open: set[asyncio.StreamWriter] = set()
        self._waiting = 0
        """Connections that wait for others to end."""
        self._reading: dict[asyncio.StreamWriter, float] = {}
        """The connections whose requests have not arrived, the oldest first, and since when."""
        self._large = asyncio.Lock()
        self._rushes: dict[str, tuple[float, float]] = {}
        """By address: how many connections it has left, and when that was."""
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._untidy = False
        """Whether matches have ended of which something may still be in memory."""

    # -- listening --------------------------------------------------------------------------

    async def start(self) -> None:
        """Begin to listen; `OSError` when the port is taken."""
        self._server = await asyncio.start_server(self._connected, self.host, self.port, backlog=256)
        self.port = self._server.sockets[0].getsockname()[1]
        self._loop = asyncio.get_running_loop()
        self._sweeper = asyncio.create_task(self._look_after_matches())

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
        if not await self._has_room():
            self._say("refused", None, peer=_peer(writer), reason="too many connections")
            writer.close()
            return
        if not self._may_connect(writer, arrived):
            self._say("refused", None, peer=_peer(writer), reason="too many connections in a short time")
            writer.close()
            return
        self._open.add(writer)
        self._reading[writer] = time.monotonic()
        try:
            await self._converse(reader, writer, arrived)
        except (OSError, asyncio.IncompleteReadError) as error:
            self._say("refused", None, peer=_peer(writer), reason=str(error) or type(error).__name__)
        finally:
            self._open.discard(writer)
            self._reading.pop(writer, None)
            with contextlib.suppress(OSError):
                writer.close()

    async def _has_room(self) -> bool:
        """Wait until another connection can be served; False when too many wait already, or for long."""
        if len(self._open) < self.connections:
            return True
        if self._waiting >= 4 * self.connections:
            return False
        self._waiting += 1
        until = time.monotonic() + self.read_seconds
        try:
            while len(self._open) >= self.connections and not self._make_room():
                if time.monotonic() > until:
                    return False
                await asyncio.sleep(0.02)
        finally:
            self._waiting -= 1
        return True

    def _make_room(self) -> bool:
        """Close the connection that has been sending its request longest, if that is long."""
        slowest = next(iter(self._reading), None)
        long = min(_SLOW_SECONDS, 0.5 * self.read_seconds)
        if slowest is None or time.monotonic() - self._reading[slowest] < long:
            return False
        del self._reading[slowest]
        self._open.discard(slowest)
        self._say("refused", None, peer=_peer(slowest), reason="too many connections, and this one was slow")
        slowest.transport.abort()
        return True

    def _may_connect(self, writer: asyncio.StreamWriter, now: float) -> bool:
        """Count a connection of an address; False when it makes too many."""
        host = _peer(writer).rpartition(":")[0]
        if len(self._rushes) > 10_000:  # what is forgotten is in favour of the peers
            self._rushes.clear()
        left, since = self._rushes.get(host, (4 * self.rate, now))
        left = min(4 * self.rate, left + (now - since) * self.rate)
        self._rushes[host] = max(0.0, left - 1), now
        return left >= 1

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, arrived: float
    ) -> None:
        """Read one request, answer it."""
        peer = _peer(writer)
        version = "HTTP/1.0"
        try:
            async with asyncio.timeout(self.read_seconds):
                request = await read_request(reader, limit=self.largest_message)
            self._reading.pop(writer, None)
        except TimeoutError:
            self._say("refused", None, peer=peer, reason="the request did not arrive in time")
            return
        except ProtocolError as error:
            self._say("refused", None, peer=peer, reason=str(error))
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
        """Return the answer to a message; what cannot be read is answered `nil`."""
        started = time.monotonic() if arrived is None else arrived
        try:
            if len(text) < MUCH:
                message = parse(text)
            else:
                async with self._large:
                    try:
                        message = await asyncio.to_thread(parse, text)  # so that it holds nobody else up
                    finally:
                        await asyncio.to_thread(release_memory)
        except ProtocolError as error:
            self._say("refused", None, peer=peer, reason=str(error), message=text[:200])
            return "nil"
        match = getattr(message, "match", None)
        try:
            reply = await self._dispatch(message, started)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # a player that fails must not take the server down
            self._say("odd", match, reason=f"{type(error).__name__}: {error}")
            reply = "nil"
        self._say(
            "request", match, peer=peer, message=_brief(message), reply=reply,
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
        known = self._playing.get(message.match)
        if known is not None:  # PLAY names no role, so that one port can play only one in a match
            return "ready" if known.role == message.role.lower() else "busy"
        if not self.is_free:
            return "busy"
        clock = float(message.start_clock)
        match = _Match(message, self.make_player(), self._say, self._games)
        self._playing[message.match] = match
        match.begin(started + clock - margin(clock, 3.9))
        try:
            async with asyncio.timeout_at(_loop_time(started + clock - margin(clock, 3.9) / 2)):
                await match.begun()
        except TimeoutError:
            return "ready"  # it goes on preparing
        except Exception as error:  # noqa: BLE001  # rules of a stranger, or a player with a bug
            self._say("odd", match.id, reason=f"this cannot be played: {_about(error)}")
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
            move = request.fallback or match.known
            self._say("late", match.id, move=str(move))
        except Exception as error:  # noqa: BLE001  # the match must go on
            self._say("odd", match.id, reason=_about(error))
            move = request.fallback or match.known
        if move is None:
            return "nil"
        match.answered(move)
        return spaced(str(move))

    async def _stop(self, match: _Match, message: StopMessage | TurnMessage, started: float) -> str:
        match.player.stop()
        with contextlib.suppress(Exception):  # the match is over, whatever is not known of its end
            async with asyncio.timeout_at(_loop_time(started + 0.5)):
                await match.conclude(message)
        self._end(match)
        return "done"

    def _end(self, match: _Match) -> None:
        match.close()
        self._playing.pop(match.id, None)
        self._untidy = True

    async def _look_after_matches(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self._forget_silent()
            # everything waits meanwhile: who plays is spared that as long as there is memory
            if self._untidy and (not self._playing or self._games.is_full()):
                self._untidy = False
                await asyncio.to_thread(tidy)

    def _forget_silent(self) -> None:
        now = time.monotonic()
        for match in list(self._playing.values()):
            if now - match.heard > max(FORGET_SECONDS, 10 * match.play_clock, match.start_clock):
                self._say("odd", match.id, reason="nothing was heard of this match for long; it is given up")
                self._end(match)

    def _say(self, kind: str, match: str | None, **data: object) -> None:
        self.listener(Event(kind, match, data))


@dataclass(slots=True)
class _Request:
    """A move that a manager asks for."""

    message: PlayMessage | TurnMessage | SeesMessage | StopMessage
    started: float
    clock: float
    step: int = 0
    """Joint moves made before."""
    history: History = ()
    """What the role did and saw, where the rules hide something."""
    fallback: Move | None = None
    """A legal move of the state in which the player thinks."""


class _Match:
    """One match.  What begins with `_` and is not awaited runs in one of its threads."""

    def __init__(self, start: StartMessage, player: Player, say: Callable[..., None], games: Games) -> None:
        self.id = start.match
        self.role = start.role.lower()
        self.start_clock = start.start_clock
        self.play_clock = start.play_clock
        self.player = player
        self.heard = time.monotonic()
        self.known: Move | None = None
        """A move that was legal in some state before."""
        self._start = start
        self._kept = games.get(start.rules)
        self._say = say
        self._loop = asyncio.get_running_loop()
        self._follower = WorkerThread(f"match {start.match}")
        self._thinker = WorkerThread(f"player in {start.match}")
        self._chance = random.Random(start.match)
        self._view: MatchView | None = None
        self._beginning: asyncio.Task[None] | None = None

    # -- in the event loop -----------------------------------------------------------------

    def begin(self, until: float) -> None:
        """Begin to read the rules and to prepare, until a time on the monotonic clock."""
        self._beginning = asyncio.create_task(self._begin(until))
        self._beginning.add_done_callback(seen)

    async def _begin(self, until: float) -> None:
        await self._follower.submit(lambda: self._learn(until))
        await self._thinker.submit(lambda: self._prepare(until))

    async def begun(self) -> None:
        """Wait until the player is prepared; who stops waiting does not stop it."""
        if self._beginning is not None:
            await asyncio.shield(self._beginning)

    async def select(self, request: _Request) -> Move:
        """Go on to the state that the message tells of and choose a move there."""
        state = await asyncio.shield(self._follower.submit(lambda: self._reached(request)))
        # nobody waits for a player that is still busy when the time is up: cancelled, this is not begun
        return await self._thinker.submit(lambda: self._select(request, state))

    def answered(self, move: Move) -> None:
        """Remember what was sent."""

        def note() -> None:
            if self._view is not None:
                self._view.chose(move)

        self._follower.submit(note)

    async def conclude(self, message: StopMessage | TurnMessage) -> None:
        """Take note of the end."""
        await asyncio.shield(self._follower.submit(lambda: self._conclude(message)))

    def close(self) -> None:
        """End the match; its threads end after what they are doing."""
        self.player.stop()
        if self._beginning is not None:
            self._beginning.cancel()
        self._follower.close()
        self._thinker.close()

    # -- following ---------------------------------------------------------------------------

    def _learn(self, until: float) -> None:
        """Read the rules; from then on there is a legal move."""
        game = self._kept.game(until)
        role = game.roles[game.role_index(self._start.role)]
        view = MatchView(game, role, engine="rules")
        self.known = next(iter(view.state.legal_moves(role)), None)
        self._view = view
        self._tell("match", game=game.name, role=role, roles=list(game.roles))

    def _reached(self, request: _Request) -> State:
        """Go on to the state that a message tells of; lay a legal move aside."""
        view = self._followed(request.message, 0.4 * request.clock)
        legal = view.state.legal_moves(view.role)
        if not legal:
            raise ProtocolError("there is no legal move to answer with")
        request.step, request.history = view.step, view.history
        request.fallback = self.known = self._chance.choice(legal)
        return view.state

    def _conclude(self, message: StopMessage | TurnMessage) -> None:
        view = self._followed(message, 0.4)
        goals = view.state.goals if view.state.is_terminal else {}
        self._tell("end", goals=dict(goals), terminal=view.state.is_terminal)

    # -- playing -----------------------------------------------------------------------------

    def _prepare(self, until: float) -> None:
        """Have the costly things made, wait for them while there is time, and let the player prepare."""
        view = self._view
        assert view is not None
        self._kept.improve()
        while not (self._kept.improved.is_set() or self.player.stopped) and time.monotonic() < until:
            self._kept.improved.wait(0.05)
        if not self.player.stopped:
            self.player.start(view.game, view.role, max(0.0, until - time.monotonic()))

    def _select(self, request: _Request, state: State) -> Move:
        """Let the player choose in a state."""
        assert request.fallback is not None
        if state.is_terminal or self.player.stopped:
            return request.fallback
        if state.game.has_percepts:
            self.player.told(request.history)
        think = request.started + request.clock - margin(request.clock, 1.9) - time.monotonic()
        move = self.player.select(state, max(0.0, think))
        if not state.is_legal(self.role, move):
            self._tell("odd", reason=f"the player chose `{move}`, which is not legal")
            move = request.fallback
        seconds = round(time.monotonic() - request.started, 4)
        self._tell("select", step=request.step, move=str(move), seconds=seconds)
        return move

    def _followed(
        self, message: PlayMessage | TurnMessage | SeesMessage | StopMessage, seconds: float
    ) -> MatchView:
        view = self._view
        if view is None:
            raise ProtocolError("the rules of this match could not be read in time")
        if self._kept.improved.is_set():
            view.reader = self._kept.reader
            view.quicken()
        if isinstance(message, TurnMessage):
            odd = view.told_percepts(
                message.last, message.percepts, turn=message.turn, over=message.over, seconds=seconds
            )
        elif isinstance(message, SeesMessage):
            odd = view.told_percepts(None, message.percepts, turn=None, over=False, seconds=seconds)
        elif view.game.has_percepts:  # the form of 2010
            over = isinstance(message, StopMessage)
            odd = view.told_percepts(None, message.moves, turn=None, over=over, seconds=seconds)
        else:
            odd = view.told_moves(message.moves)
        for note in odd:
            self._tell("odd", reason=note)
        return view

    def _tell(self, kind: str, **data: object) -> None:
        with contextlib.suppress(RuntimeError):  # nobody listens any more
            self._loop.call_soon_threadsafe(lambda: self._say(kind, self.id, **data))


def _brief(message: Message) -> str:
    """Return the beginning of a message."""
    return str(
        replace(message, rules="...") if isinstance(message, StartMessage | PreviewMessage) else message
    )[:200]


def _about(error: Exception) -> str:
    return str(error) if isinstance(error, HerbrandError) else f"{type(error).__name__}: {error}"


def _loop_time(monotonic: float) -> float:
    """Return the loop's time at a time of the monotonic clock."""
    return asyncio.get_running_loop().time() + monotonic - time.monotonic()


def _peer(writer: asyncio.StreamWriter) -> str:
    name = writer.get_extra_info("peername")
    return f"{name[0]}:{name[1]}" if isinstance(name, tuple) else str(name)

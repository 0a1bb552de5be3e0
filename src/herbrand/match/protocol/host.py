"""`MatchHost`: follows matches and lets players think, for a server that only answers.

The server (`server`) evaluates no rules: it passes messages of managers on to a host, and answers with what
the host sends.  For each PLAY a host first sends a legal move of the new state, as soon as it is known, and
later the move that the player chose.  Each match has two threads: one reads the rules and follows the match
by evaluating them, which needs no preparation; in the other the player prepares and thinks.  A third thread
builds the network of the game and the table of its moves (`gamecache`), which are used once they are there.

`python -m herbrand.match.protocol.host` is a host in a process of its own, which exchanges JSON lines with
the server.  It ends with the server, and when its memory exceeds the limit that its first message sets.

| to a host                                       | meaning                                               |
|-------------------------------------------------|-------------------------------------------------------|
| `configure`                                     | the first message to a process, with its settings     |
| `begin`: `match`, `rules`, `steps`, ...         | follow a match from START and the messages since      |
| `play`: `match`, `request`, `text`, `started`   | choose a move; `text` is the manager's message        |
| `answered`: `match`, `move`                     | this move was sent to the manager                     |
| `stop`: `match`, `text`; `abort`: `match`       | the match is over                                     |
| `ping`                                          | answered `pong`                                       |

| from a host                                     | meaning                                               |
|-------------------------------------------------|-------------------------------------------------------|
| `hello`, or `unknown`: `reason`                 | answer to `configure`                                 |
| `loaded`: `match`, `move`                       | the rules are read; a legal move of the state         |
| `begun`: `match`                                | the player is prepared                                |
| `full`: `match`                                 | no memory to begin the match beside the others        |
| `failed`: `match`, `reason`                     | the match cannot be played                            |
| `legal`: `match`, `request`, `move`, `step`     | a legal move of the new state after `step` joint moves |
| `move`: `match`, `request`, `move`              | the player's move; None if it has none                |
| `ended`: `match`                                | the match was followed to its end                     |
| `event`: `event`, `match`, `data`               | an event for the server's listener                    |
| `pong`: `megabytes`                             | answer to `ping`                                      |

Times are those of `time.monotonic`, which all processes of a machine share.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.errors import BudgetExceeded, HerbrandError, ProtocolError
from herbrand.machine.moves import Move
from herbrand.match.protocol.events import bounded
from herbrand.match.protocol.gamecache import GameCache, free_memory, searches, tree_megabytes
from herbrand.match.protocol.jobs import JobThread
from herbrand.match.protocol.messages import (
    PlayMessage,
    SeesMessage,
    StopMessage,
    TurnMessage,
    margin,
    parse,
    split_list,
)
from herbrand.match.protocol.view import MatchView
from herbrand.runtime.json_process import stream_to_parent
from herbrand.runtime.memory import EXCEEDED_STATUS, resident_megabytes
from herbrand.runtime.watchdog import MORE_MEMORY, watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from herbrand.analyse.knowledge.histories import History
    from herbrand.machine.state import State
    from herbrand.play import Player

__all__ = ["MatchHost"]

_NICENESS = 2
"""Hosts get a smaller share of busy processors than the server, which hardly needs any, and still most of
one."""
_SWITCH_SECONDS = 0.001
"""How long a thread may keep others waiting for the interpreter; Python's default is five times as long."""
_SWEEP_SECONDS = 5.0
"""Interval between checks for unused memory."""
_MOST_USED = 0.9
"""Share of the memory beyond which no match is begun beside others."""
_LATE_CLOCKS = 3
"""How many play clocks after the start clock rules may still be read: better late than not at all."""
_LONGEST_MOVE = 60_000
"""Characters; managers read replies of up to 64 KiB."""
_LONGEST_TEXT = 500
"""Characters of a text in an event."""
_MOST_ITEMS = 50
"""Items of a list or a mapping in an event."""
_PREPARING = (
    "herbrand.convert.movereader",
    "herbrand.engine.expand",
    "herbrand.engine.on_network",
    "herbrand.ground",
    "herbrand.network",
    "herbrand.rules.from_rules",
)
"""Modules that the first match would otherwise import while its clock runs."""


_Following: TypeAlias = PlayMessage | TurnMessage | SeesMessage | StopMessage
"""Messages that report a step."""


@dataclass(slots=True)
class _Request:
    """A manager's request for a move."""

    number: int
    message: _Following
    started: float
    clock: float
    step: int = 0
    """Joint moves made before."""
    history: History = ()
    """The role's moves and percepts, in games with hidden information."""
    fallback: Move | None = None
    """A legal move, sent if the player is late."""

    @property
    def thinking_ends(self) -> float:
        """When the player should have chosen."""
        return self.started + self.clock - margin(self.clock, 1.9)


class MatchHost:
    """Follows matches and lets players think.

    Any number of matches.  `handle` takes the messages above and returns at once; `send` may be called
    from any thread.

    `create_player` gets the number of the match, from 1, and the megabytes for a search tree.  `memory` is
    what the process may take, in megabytes, and `matches` how many there will be at once.  So many matches
    use networks as fit into the memory; the others evaluate the rules.  `thinking` bounds how many players
    think at the same time; the others wait for their share of the time.  `others` is memory of the process
    that is not the host's.
    """

    def __init__(
        self,
        create_player: Callable[[int, float], Player],
        send: Callable[[Mapping[str, Any]], None],
        *,
        memory: int,
        matches: int,
        thinking: int,
        others: float = 0.0,
    ) -> None:
        self.create_player = create_player
        self.send = send
        self.games = GameCache(memory=memory)
        self._most_used = others + _MOST_USED * memory
        self.turns = _Turns(thinking)
        self.tree = tree_megabytes(memory) / matches
        self._searches = searches(memory, self.tree)
        self._matches: dict[str, _HostedMatch] = {}
        self._has_garbage = threading.Event()
        """Set when matches have ended whose memory has not been freed yet."""
        self._closed = threading.Event()
        threading.Thread(target=self._sweep, name="sweeper", daemon=True).start()

    def handle(self, message: Mapping[str, Any]) -> None:
        """Act on a message of the server."""
        kind = message["kind"]
        if kind == "ping":
            self.send({"kind": "pong", "megabytes": resident_megabytes()})
        elif kind == "begin":
            self._begin(message)
        else:
            match = self._matches.get(message["match"])
            if match is None:
                return
            if kind == "play":
                match.play(message)
            elif kind == "answered":
                match.record_answer(message["move"])
            else:
                if kind == "stop":
                    match.conclude(message["text"])
                self._end(match)

    def close(self) -> None:
        """End all matches and threads."""
        self._closed.set()
        self._has_garbage.set()
        for match in list(self._matches.values()):
            self._end(match)

    def count_thinking(self) -> int:
        """Return how many matches were asked for a move lately."""
        return sum(1 for match in list(self._matches.values()) if match.is_active)

    def _begin(self, message: Mapping[str, Any]) -> None:
        if self.games.is_full():
            free_memory()
        if self._matches and resident_megabytes() > self._most_used:
            self.send({"kind": "full", "match": message["match"]})
            return
        used = sum(1 for match in self._matches.values() if match.network)
        network = message["network"] and used < self._searches and not self.games.is_full()
        match = self._matches[message["match"]] = _HostedMatch(self, message, network=network)
        match.begin()

    def _end(self, match: _HostedMatch) -> None:
        match.close()
        self._matches.pop(match.id, None)
        self._has_garbage.set()

    def _sweep(self) -> None:
        while self._has_garbage.wait() and not self._closed.wait(_SWEEP_SECONDS):
            # collection pauses all threads, so it is deferred during matches while memory lasts
            if not self._matches or self.games.is_full():
                self._has_garbage.clear()
                free_memory()


class _Turns:
    """Shares the processors among players: at most `most` think at the same time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = most
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def turn(self, deadline: float, players: int) -> Iterator[float]:
        """Yield the seconds that one of several players may think now; 0 if its turn comes too late."""
        with self._changed:
            has_turn = self._changed.wait_for(lambda: self._free > 0, max(0.0, deadline - time.monotonic()))
            self._free -= has_turn
        try:
            left = max(0.0, deadline - time.monotonic())
            yield left / max(1.0, players / self.most) if has_turn else 0.0
        finally:
            with self._changed:
                self._free += has_turn
                self._changed.notify()


class _HostedMatch:
    """One match.  Private methods run in one of its two threads."""

    def __init__(self, host: MatchHost, message: Mapping[str, Any], *, network: bool) -> None:
        self.id: str = message["match"]
        self.network = network
        self._role: str = message["role"]
        self._clock = float(message["play_clock"])
        self._until: float = message["until"]
        self._past = message["resume"], message["steps"]
        self._host = host
        self._cached = host.games.get(message["rules"], network=network)
        self._player = host.create_player(message["number"], host.tree)
        self._follower = JobThread(f"match {self.id}")
        self._thinker = JobThread(f"player in {self.id}")
        self._view: MatchView | None = None
        self._latest = 0
        """The number of the last request."""
        self._request_time = 0.0
        """When it was made."""

    @property
    def is_active(self) -> bool:
        """Whether a move was requested lately."""
        return time.monotonic() < self._request_time + 2 * self._clock

    def begin(self) -> None:
        """Read the rules, make the moves so far, and prepare the player."""
        self._follower.put(self._load)

    def play(self, message: Mapping[str, Any]) -> None:
        """Advance to the state that the manager's message describes and choose a move."""
        parsed = parse(message["text"])
        assert isinstance(parsed, _Following)
        request = _Request(message["request"], parsed, message["started"], self._clock)
        self._latest, self._request_time = request.number, request.started
        self._follower.put(lambda: self._follow_to(request))

    def record_answer(self, move: str) -> None:
        """Remember the answer that was sent."""

        def record() -> None:
            if self._view is not None:
                self._view.record_answer(Move(move))

        self._follower.put(record)

    def conclude(self, text: str) -> None:
        """Follow the match to its end."""
        self._follower.put(lambda: self._conclude(text))

    def close(self) -> None:
        """End the match; its threads end after their queued jobs."""
        self._player.stop()
        self._follower.close()
        self._thinker.put(self._thinker.close)

    # -- following ---------------------------------------------------------------------------

    def _load(self) -> None:
        """Read the rules and make the moves so far."""
        try:
            game = self._cached.game(self._until + _LATE_CLOCKS * self._clock)
            view = MatchView(game, self._role, engine="rules")
            self._replay(view)
            legal = self._choose_legal(view)
        except Exception as error:  # noqa: BLE001  # untrusted rules
            self._send("failed", reason=f"not playable: {_describe(error)}"[:_LONGEST_TEXT])
            return
        self._view = view
        self._emit("match", game=game.name, role=view.role, roles=list(game.roles))
        self._send("loaded", move=None if legal is None else str(legal), step=view.step)
        self._thinker.put(self._prepare)

    def _replay(self, view: MatchView) -> None:
        """Make the moves of RESUME, then those of the messages since; unknown moves are guessed."""
        resume, steps = self._past
        self._past = (), ()
        for number, text in enumerate(resume, start=1):
            if view.game.has_percepts:
                own, percepts = split_list(text)
                view.apply_percepts(own, split_list(percepts), turn=number, over=False, seconds=0.0)
            else:
                view.apply_moves(split_list(text))
        for text, answer in steps:
            message = parse(text)
            assert isinstance(message, _Following)
            view.apply(message, seconds=0.0)
            if answer is not None:
                view.record_answer(Move(answer))

    def _choose_legal(self, view: MatchView) -> Move | None:
        """Return a random legal move that fits into a reply, in each step the same after a restart."""
        legal = [move for move in view.state.legal_moves(view.role) if len(str(move)) <= _LONGEST_MOVE]
        return random.Random(f"{self.id} {view.step}").choice(legal) if legal else None

    def _follow_to(self, request: _Request) -> None:
        """Advance to the state that a message describes, send a legal move, and let the player think."""
        try:
            view = self._follow(request.message, 0.4 * request.clock)
            request.fallback = self._choose_legal(view)
            if request.fallback is None:
                raise ProtocolError(f"no legal move for {view.role}")
        except Exception as error:  # noqa: BLE001  # the match must go on
            self._emit("odd", reason=_describe(error))
            self._send("move", request=request.number, move=None)
            return
        request.step, request.history = view.step, view.history
        self._send("legal", request=request.number, move=str(request.fallback), step=view.step)
        state = view.state
        self._thinker.put(lambda: self._select(request, state))
        if state.engine == "rules":  # the next joint move needs them at once
            with contextlib.suppress(HerbrandError):
                state.legal_moves()

    def _conclude(self, text: str) -> None:
        try:
            message = parse(text)
            assert isinstance(message, _Following)
            state = self._follow(message, 0.4).state
            goals = dict(state.goals) if state.is_terminal else {}
            self._emit("end", goals=goals, terminal=state.is_terminal)
        except Exception as error:  # noqa: BLE001  # the match is over even if its last state is unknown
            self._emit("odd", reason=_describe(error))
        self._send("ended")

    def _follow(self, message: _Following, seconds: float) -> MatchView:
        view = self._view
        if view is None:
            raise ProtocolError("the rules could not be read")
        if self._cached.improved.is_set():
            view.reader = self._cached.reader
            view.switch_to_network()
        for note in view.apply(message, seconds=seconds):
            self._emit("odd", reason=note)
        return view

    # -- playing -----------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Wait for network and move reader while there is time, then let the player prepare."""
        view, until = self._view, self._until
        assert view is not None
        self._cached.improve()
        while not (self._cached.improved.is_set() or self._player.stopped) and time.monotonic() < until:
            self._cached.improved.wait(0.05)
        try:
            if not self._player.stopped:
                self._player.start(view.game, view.role, max(0.0, until - time.monotonic()))
        except Exception as error:  # noqa: BLE001  # it may still choose moves; otherwise legal ones are drawn
            self._emit("odd", reason=f"the player could not prepare: {_describe(error)}")
        self._send("begun")

    def _select(self, request: _Request, state: State) -> None:
        """Let the player choose in a state, unless it was late for it."""
        late = request.number != self._latest or time.monotonic() > request.thinking_ends + 0.05
        if late or state.is_terminal or self._player.stopped:
            move = request.fallback
        else:
            move = self._let_think(request, state)
        self._send("move", request=request.number, move=str(move))

    def _let_think(self, request: _Request, state: State) -> Move | None:
        try:
            if state.game.has_percepts:
                self._player.receive_history(request.history)
            with self._host.turns.turn(request.thinking_ends, self._host.count_thinking()) as seconds:
                move = self._player.select(state, seconds)
            is_legal = state.is_legal(self._player.role, move)
        except Exception as error:  # noqa: BLE001  # the match must go on
            self._emit("odd", reason=_describe(error))
            return request.fallback
        if not is_legal:
            self._emit("odd", reason=f"the player chose `{move}`, which is not legal")
            return request.fallback
        seconds = round(time.monotonic() - request.started, 4)
        self._emit("select", step=request.step, move=str(move), seconds=seconds)
        return move

    # -- telling the server ------------------------------------------------------------------

    def _send(self, kind: str, **data: object) -> None:
        self._host.send({"kind": kind, "match": self.id, **data})

    def _emit(self, event: str, **data: object) -> None:
        self._send("event", event=event, data=bounded(data, characters=_LONGEST_TEXT, items=_MOST_ITEMS))


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, HerbrandError) else f"{type(error).__name__}: {error}"


# -- the process -----------------------------------------------------------------------------------


def _run() -> None:
    """Be a host until the server closes the stream."""
    from herbrand.play import make_player

    with stream_to_parent() as (messages, send):
        settings = next(messages, None)
        if settings is None:
            return
        with contextlib.suppress(AttributeError, OSError):  # no such thing on Windows
            os.nice(_NICENESS)
        sys.setswitchinterval(_SWITCH_SECONDS)

        def create(number: int, megabytes: float) -> Player:
            seed = None if settings["seed"] is None else settings["seed"] + number - 1
            return make_player(
                settings["player"], seed=seed, memory=megabytes, ponder=settings["ponder"] or None
            )

        try:
            create(0, 1.0)
        except HerbrandError as error:
            send({"kind": "unknown", "reason": str(error)})
            return
        megabytes = int(settings["memory"] / MORE_MEMORY)
        thinking = max(2, os.cpu_count() or 1)
        host = MatchHost(create, send, memory=megabytes, matches=settings["matches"], thinking=thinking)
        send({"kind": "hello"})
        for module in _PREPARING:
            __import__(module)
        try:
            with watch(megabytes=megabytes, status=EXCEEDED_STATUS):
                for message in messages:
                    host.handle(message)
        except BudgetExceeded:
            os._exit(EXCEEDED_STATUS)


if __name__ == "__main__":
    _run()
    os._exit(0)  # without waiting for threads that think

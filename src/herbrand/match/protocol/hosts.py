"""Where a server's matches are followed and its players think: in threads, or in a pool of processes.

A process of the pool has a limit on its memory that the system enforces.  One that exceeds it, dies or hangs
is replaced, and its matches are replayed in the new one from START and the messages since.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.errors import HerbrandError
from herbrand.runtime.json_stream import JsonStream
from herbrand.runtime.memory import EXCEEDED_STATUS, resident_megabytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from herbrand.match.protocol.ongoing import Host, MoveRequest, OngoingMatch
    from herbrand.play import Player

__all__ = ["HostPool", "Hosts", "ThreadHost", "UnknownPlayer"]

_FRONT_MEGABYTES = 40
"""Memory of the answering process, including requests that it reads."""
_HOST_MEGABYTES = 90
"""Least memory of a host; with less, more matches share one."""
_AMPLE_MEGABYTES = 240
"""Memory per host with which a spare one waits to replace a lost one, since starting takes a while."""
_RETIRE_MEGABYTES = 64
"""An idle host that takes more is replaced by a fresh one."""
_FULL = 0.8
"""Share of its memory above which a host with matches gets no other one."""
_RENEW_SECONDS = 10.0
"""How long the managers of all matches of a full host must have been silent for it to be replaced."""
_RENEWED = "it was full"
_START_SECONDS = 120.0
"""How long the first host may take to start."""
_PING_SECONDS = 2.0
_HANG_SECONDS = 20.0
"""Silence after which a host is replaced."""
_MOST_MISSED = 3
"""Requests in succession without a legal move in time after which a match gets a new host, ..."""
_MISSED_SECONDS = 30.0
"""... if they took at least this long together: on a busy machine, a restart takes longer than waiting."""
_MOST_RESTARTS = 3
"""Hosts that may be lost over one match."""
_PREPARE_AGAIN_SECONDS = 1.0
"""How long a player prepares in a new host in the middle of a match."""
_REMEMBERED_RULES = 64
_MOST_UNEVEN = 1.25
"""A host that has read the rules may have this multiple of the matches of another one."""


class UnknownPlayer(HerbrandError, LookupError):
    """The hosts know no player of this name, or not these settings; the message has a suggestion."""


class ThreadHost:
    """One host in threads of this process, for players that are objects of Python."""

    def __init__(
        self,
        make_player: Callable[[], Player],
        receive: Callable[[OngoingMatch, dict[str, Any]], None],
        *,
        memory: int,
        matches: int,
    ) -> None:
        self.make_player = make_player
        self.memory = memory
        self.seats = matches
        self.matches: set[OngoingMatch] = set()
        self.last_rules: int | None = None
        self._receive = receive
        self._host: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Create the host."""
        from herbrand.match.protocol.host import MatchHost

        self._loop = asyncio.get_running_loop()
        self._host = MatchHost(
            lambda _number, _megabytes: self.make_player(),
            self._deliver,
            memory=self.memory,
            matches=self.seats,
            thinking=self.seats,
            others=resident_megabytes(),
        )

    async def close(self) -> None:
        """End all matches."""
        if self._host is not None:
            self._host.close()

    def send(self, message: Mapping[str, Any]) -> bool:
        """Pass a message to the host, which answers from other threads."""
        self._host.handle(message)
        return True

    def place(self, match: OngoingMatch, until: float) -> bool:
        """Begin a match."""
        self.matches.add(match)
        match.host = self
        match.until = until
        _send_match(self, match)
        return True

    def ask(self, match: OngoingMatch, request: MoveRequest) -> None:
        """Pass on a request."""
        self.send(_play(match, request))

    def confirm(self, match: OngoingMatch, move: str) -> None:
        """Pass on a move."""
        self.send({"kind": "answered", "match": match.id, "move": move})

    def end(self, match: OngoingMatch, text: str | None) -> None:
        """End a match."""
        self.send(_end(match, text))
        if text is None:
            self.matches.discard(match)

    def report_missed(self, match: OngoingMatch) -> None:
        """Do nothing: threads cannot be replaced."""

    def _deliver(self, message: Mapping[str, Any]) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._dispatch, dict(message))

    def _dispatch(self, message: dict[str, Any]) -> None:
        match = next((match for match in self.matches if match.id == message.get("match")), None)
        if match is not None:
            if message["kind"] == "ended":
                self.matches.discard(match)
            self._receive(match, message)


class _ProcessHost:
    """A host in a process of its own."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.matches: set[OngoingMatch] = set()
        self.last_rules: int | None = None
        self.settings = settings
        self.megabytes = 0.0
        """Its memory at its last report."""
        self.unanswered = 0
        """Pings since its last message."""
        self.ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Done when it has started, with "", or with the reason why it cannot play."""
        self.cause = ""
        """Why it was killed."""
        self.opened = time.monotonic()
        self.stream: JsonStream | None = None

    @property
    def is_full(self) -> bool:
        """Whether it has matches, and hardly any memory left for another one."""
        return bool(self.matches) and self.megabytes > _FULL * self.settings["memory"]

    @property
    def has_place(self) -> bool:
        """Whether it has matches, and can begin another one at once within its share of the seats."""
        has_place = 0 < len(self.matches) < self.settings["matches"]
        return has_place and self.ready.done() and not self.cause and not self.is_full

    @property
    def can_be_renewed(self) -> bool:
        """Whether it can be replaced without costing a match any time that its manager would wait."""
        is_quiet = all(match.silence() > _RENEW_SECONDS for match in self.matches)
        return not self.cause and is_quiet and time.monotonic() - self.opened > _RENEW_SECONDS

    def send(self, message: Mapping[str, Any]) -> bool:
        return self.stream is not None and self.stream.send(message)

    def kill(self, cause: str) -> None:
        self.cause = self.cause or cause
        if self.stream is not None:
            self.stream.kill()

    async def open(
        self,
        receive: Callable[[_ProcessHost, dict[str, Any]], None],
        ended: Callable[[_ProcessHost, int, str], None],
    ) -> None:
        self.stream = await JsonStream.open(
            [sys.executable, "-m", "herbrand.match.protocol.host"],
            receive=lambda message: receive(self, message),
            ended=lambda status, errors: ended(self, status, errors),
        )
        self.stream.send({"kind": "configure", **self.settings})


class HostPool:
    """Hosts in processes, for players that the registry knows by name.

    `memory` bounds all of them and this process together, in megabytes.  `receive` gets their messages about
    matches, `warn` a match and what went wrong with it.  With `ponder`, and if there is only one match at a
    time, the player thinks while others do.
    """

    def __init__(
        self,
        player: str,
        receive: Callable[[OngoingMatch, dict[str, Any]], None],
        warn: Callable[[OngoingMatch, str], None],
        *,
        seed: int | None,
        memory: int,
        matches: int,
        ponder: bool = False,
    ) -> None:
        available = max(_HOST_MEGABYTES, memory - _FRONT_MEGABYTES)
        self.most = max(1, min(matches, available // _HOST_MEGABYTES, os.cpu_count() or 1))
        """Hosts that may have matches."""
        self.has_spare = (available - _RETIRE_MEGABYTES) // self.most >= _AMPLE_MEGABYTES
        self.limit = (available - self.has_spare * _RETIRE_MEGABYTES) // self.most
        """Megabytes of each host."""
        self._settings = {
            "player": player,
            "seed": seed,
            "memory": self.limit,
            "matches": -(-matches // self.most),
            "ponder": ponder and matches == 1,
        }
        self._receive_match = receive
        self._warn = warn
        self._hosts: list[_ProcessHost] = []
        self._too_large: list[int] = []
        """Hashes of rules that took too much memory, the last at the end."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    @property
    def pids(self) -> list[int]:
        """The process ids of the hosts."""
        return [host.stream.pid for host in self._hosts if host.stream is not None]

    async def start(self) -> None:
        """Start the first host and wait until it is ready; `UnknownPlayer` if there is no such player."""
        host = self._open()
        try:
            reason = await asyncio.wait_for(asyncio.shield(host.ready), _START_SECONDS)
        except TimeoutError:
            reason = "the player's process did not start in time"
        if reason:
            await self.close()
            raise UnknownPlayer(reason)
        self._run(self._ping())

    async def close(self) -> None:
        """Kill all hosts."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        hosts, self._hosts = self._hosts, []
        await asyncio.gather(*(host.stream.close() for host in hosts if host.stream is not None))

    # -- matches ---------------------------------------------------------------------------

    def place(self, match: OngoingMatch, until: float) -> bool:
        """Give a match to an idle host, or else to the one with the same rules or the fewest matches."""
        rules = hash(match.start.rules)
        match.network = match.network and rules not in self._too_large
        host = self._choose(rules)
        if host.is_full:
            roomy = self._find_room()
            if roomy is None:
                return False
            host = roomy
        host.last_rules = rules
        match.until = until
        self._assign(match, host)
        self._prepare_spare()
        return True

    def ask(self, match: OngoingMatch, request: MoveRequest) -> None:
        """Pass on a request; a match that is yet to be sent takes its requests along."""
        if match.host is None:
            match.settle()
        elif match.is_sent:
            match.host.send(_play(match, request))

    def confirm(self, match: OngoingMatch, move: str) -> None:
        """Pass on a move."""
        if match.host is not None and match.is_sent:
            match.host.send({"kind": "answered", "match": match.id, "move": move})

    def end(self, match: OngoingMatch, text: str | None) -> None:
        """End a match."""
        host = match.host
        if isinstance(host, _ProcessHost):
            if match.is_sent:
                host.send(_end(match, text))
            if text is None or not match.is_sent:
                self._leave(host, match)

    def report_missed(self, match: OngoingMatch) -> None:
        """Replace the host of a match for which no legal move was known in time again and again.

        A host that still reads the rules or repeats the moves so far would have to restart, and be later.
        """
        if not match.is_loaded:
            return
        now = time.monotonic()
        match.missed_since = match.missed_since if match.missed else now
        match.missed += 1
        late = match.missed >= _MOST_MISSED and now - match.missed_since > _MISSED_SECONDS
        if late and isinstance(match.host, _ProcessHost):
            match.missed = 0
            match.host.kill("it did not follow a match in time")

    # -- hosts -----------------------------------------------------------------------------

    def _choose(self, rules: int) -> _ProcessHost:
        hosts = [host for host in self._hosts if host.matches and not host.cause]
        if len(hosts) < self.most:
            return self._idle(rules) or self._open()
        fewest = min(hosts, key=lambda host: len(host.matches))
        same = [host for host in hosts if any(hash(m.start.rules) == rules for m in host.matches)]
        best = min(same, key=lambda host: len(host.matches), default=fewest)
        return best if len(best.matches) <= _MOST_UNEVEN * len(fewest.matches) else fewest

    def _idle(self, rules: int | None = None) -> _ProcessHost | None:
        """Return a host without matches, rather one that had a match with these rules or that has started."""
        idle = [host for host in self._hosts if not host.matches and not host.cause]
        return max(idle, key=lambda host: (host.last_rules == rules, host.ready.done()), default=None)

    def _open(self) -> _ProcessHost:
        host = _ProcessHost(self._settings)
        self._hosts.append(host)

        async def run() -> None:
            try:
                await host.open(self._receive, self._lost)
            except OSError as error:
                host.ready.set_result(f"the player's process did not start: {error}")

        self._run(run())
        return host

    def _prepare_spare(self) -> None:
        """Have an idle host, if there may be one."""
        if len(self._hosts) < self.most + self.has_spare and self._idle() is None:
            self._open()

    def _find_room(self, *, other_than: _ProcessHost | None = None) -> _ProcessHost | None:
        """Return a host with memory for a match, if need be in place of a full one; None if all are busy.

        Otherwise matches whose managers are gone could keep a host full as long as their clocks are.
        """
        hosts = [host for host in self._hosts if host.matches and not host.cause]
        hosts.sort(key=lambda host: host.megabytes)
        if len(hosts) == self.most:
            roomy = [host for host in hosts if host is not other_than and not host.is_full]
            if roomy:
                return roomy[0]
            full = next((host for host in hosts if host.can_be_renewed), None)
            if full is None:
                return None
            full.kill(_RENEWED)
        return self._idle() or self._open()

    def _place_elsewhere(self, match: OngoingMatch, full: _ProcessHost) -> bool:
        """Give a match to another host than one that is full; False if it was refused before."""
        if match.is_refused:
            return False
        match.is_refused = True
        full.matches.discard(match)
        host = self._find_room(other_than=full)
        if host is None:
            full.matches.add(match)
            return False
        match.is_sent = False
        self._assign(match, host)
        return True

    def _assign(self, match: OngoingMatch, host: _ProcessHost) -> None:
        host.matches.add(match)
        match.host = host
        self._run(self._begin(host, [match]))

    def _leave(self, host: _ProcessHost, match: OngoingMatch) -> None:
        host.matches.discard(match)
        match.host = None

    async def _begin(self, host: _ProcessHost, matches: Iterable[OngoingMatch]) -> None:
        """Send matches to a host as fast as it reads them, with the requests that were not answered."""
        if await asyncio.shield(host.ready):
            return
        for match in matches:
            while match.host is host and not match.is_sent:
                if _send_match(host, match):
                    for request in match.requests:
                        host.send(_play(match, request))
                else:
                    await asyncio.sleep(0.02)

    def _receive(self, host: _ProcessHost, message: dict[str, Any]) -> None:
        kind = message["kind"]
        host.unanswered = 0
        if kind in ("hello", "unknown"):
            if not host.ready.done():
                host.ready.set_result(message.get("reason", ""))
        elif kind == "pong":
            host.megabytes = message["megabytes"]
            if not host.matches and host.megabytes > _RETIRE_MEGABYTES:
                host.kill("it is idle")
        else:
            match = next((match for match in host.matches if match.id == message["match"]), None)
            if match is None:
                return
            if kind == "full" and self._place_elsewhere(match, host):
                return
            if kind == "legal":
                match.missed = 0
            elif kind == "ended":
                self._leave(host, match)
            self._receive_match(match, message)

    def _lost(self, host: _ProcessHost, status: int, errors: str) -> None:
        """Replace a host that has ended."""
        if self._closed:
            return
        self._hosts.remove(host)
        if not host.ready.done():
            host.ready.set_result(f"the player's process ended: {errors or status}")
        matches, host.matches = host.matches, set()
        exceeded = status == EXCEEDED_STATUS
        cause = host.cause or ("it exceeded its memory" if exceeded else errors or f"exit status {status}")
        suspects = (
            {match for match in matches if match.is_following}
            or {match for match in matches if match.is_thinking}
            or (set() if cause == _RENEWED else matches)
        )
        for match in suspects:
            match.restarts += 1
            if exceeded:
                match.network = False
                self._too_large = [*self._too_large, hash(match.start.rules)][-_REMEMBERED_RULES:]
        # those that may be the cause come last, and apart from the others if possible; reading rules, if any
        # were being read, takes most memory
        apart = {match for match in matches if exceeded and not match.is_loaded} or suspects
        for group in (matches - apart, apart):
            self._move(sorted(group, key=lambda match: match.number), cause, is_suspect=group is apart)
        self._prepare_spare()

    def _move(self, matches: list[OngoingMatch], cause: str, *, is_suspect: bool) -> None:
        continued = []
        for match in matches:
            match.rewind()
            match.host = None
            if match.restarts > _MOST_RESTARTS or match.is_too_long:
                self._warn(match, f"given up, since its host ended once more: {cause}")
                match.receive({"kind": "failed", "reason": f"the player's process ended: {cause}"})
            else:
                self._warn(match, f"continued in a new host, since the last one ended: {cause}")
                continued.append(match)
        places: dict[_ProcessHost, list[OngoingMatch]] = {}
        for match in continued:
            host = self._choose(hash(match.start.rules))
            if match.requests and not is_suspect:  # its manager waits, and a new process takes time
                running = [host for host in self._hosts if host.has_place]
                host = min(running, key=lambda host: len(host.matches), default=host)
            host.matches.add(match)
            match.host = host
            match.until = time.monotonic() + _PREPARE_AGAIN_SECONDS
            places.setdefault(host, []).append(match)
        for host, placed in places.items():
            self._run(self._begin(host, placed))

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(_PING_SECONDS)
            for host in self._hosts:
                if host.ready.done() and host.unanswered * _PING_SECONDS > _HANG_SECONDS:
                    host.kill("it hung")
                host.unanswered += 1
                host.send({"kind": "ping"})

    def _run(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


Hosts: TypeAlias = ThreadHost | HostPool
"""The hosts of a server."""


def _send_match(host: Host, match: OngoingMatch) -> bool:
    start = match.start
    match.is_sent = host.send(
        {
            "kind": "begin", "match": match.id, "number": match.number,
            "role": start.role, "rules": start.rules, "play_clock": start.play_clock,
            "until": match.until, "network": match.network, "resume": match.resume, "steps": match.steps,
        }
    )  # fmt: skip
    return match.is_sent


def _play(match: OngoingMatch, request: MoveRequest) -> dict[str, Any]:
    return {
        "kind": "play", "match": match.id,
        "request": request.number, "text": request.text, "started": request.started,
    }  # fmt: skip


def _end(match: OngoingMatch, text: str | None) -> dict[str, Any]:
    ending = {"kind": "abort"} if text is None else {"kind": "stop", "text": text}
    return {**ending, "match": match.id}

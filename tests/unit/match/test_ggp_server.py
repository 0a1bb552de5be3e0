"""A player's server: it answers whatever happens to the processes that evaluate rules, and only whom it
should."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hostile import send

import herbrand
from herbrand.cli.player import LONGEST_LINE, json_line
from herbrand.cli.player import command as player_command_line
from herbrand.match.protocol import hosts, ongoing
from herbrand.match.protocol.events import Event
from herbrand.match.protocol.hosts import HostPool
from herbrand.match.protocol.http import write_reply, write_request
from herbrand.match.protocol.manager import Manager, Match, MatchSettings, seats_for
from herbrand.match.protocol.messages import PlayMessage, ResumeMessage, StartMessage, TurnMessage, parse
from herbrand.match.protocol.seats import LocalSeat, PlayerAddress, RemoteSeat
from herbrand.match.protocol.server import PlayerServer, default_megabytes
from herbrand.play import make_player
from herbrand.runtime.memory import EXCEEDED_STATUS, free_megabytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.match.protocol.messages import Message
    from herbrand.match.protocol.seats import Exchange

ANSWERING = """
import asyncio, sys
from herbrand.match.protocol.server import PlayerServer
from herbrand.runtime.memory import resident_megabytes

async def play():
    async with PlayerServer("mcts", port=0) as server:
        print(await server.answer(sys.argv[1]))
        print(await server.answer("(PLAY m NIL)"))
        print(resident_megabytes())
        print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("herbrand", "numpy")))

asyncio.run(play())
"""
ANSWERING_MEGABYTES = 40


def start_message(game: str, match: str, role: str, start: int = 20, play: int = 10) -> str:
    """A START for a bundled game."""
    return f"(START {match} {role} ({Manager(herbrand.load(game)).rules}) {start} {play})"


async def ask(port: int, text: str, *, seconds: float = 60) -> str:
    """The body of the answer to a message."""
    answer = await send(
        "127.0.0.1", port, write_request(text, host="localhost", receiver="ME"), seconds=seconds
    )
    return answer.partition("\r\n\r\n")[2]


async def raw(port: int, head: str, text: str = "") -> str:
    """The whole answer to a request with these lines as its head."""
    data = f"{head}\r\nContent-Length: {len(text)}\r\n\r\n{text}".replace("\n", "\r\n").replace("\r\r", "\r")
    return await send("127.0.0.1", port, data.encode())


# -- processes ---------------------------------------------------------------------------------


def test_the_process_that_answers_evaluates_no_rules_and_is_small() -> None:
    """It plays a move without having imported numpy, the core or an engine."""
    words = [sys.executable, "-c", ANSWERING, start_message("ticTacToe", "m", "xplayer", 5, 1)]
    run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    ready, move, megabytes, modules = run.stdout.splitlines()
    assert ready == "ready"
    assert herbrand.load("ticTacToe").initial_state().is_legal("xplayer", move)
    assert float(megabytes) < ANSWERING_MEGABYTES
    heavy = ("numpy", "core", "rules", "ground", "network", "engine", "game", "machine", "play")
    assert [
        name for name in modules.split() if name.removeprefix("herbrand.").partition(".")[0] in heavy
    ] == []


def played(game: str, harm: Callable[[PlayerServer], None] | None = None) -> tuple[list[str], list[Event]]:
    """The answers of `legal` in the first steps of a game, with harm done to its processes after the second,
    and the events."""
    events: list[Event] = []
    sheet = herbrand.load(game)
    role = sheet.players[0]

    async def run() -> list[str]:
        answers = []
        player = (
            (lambda: make_player("legal")) if harm is None else "legal"
        )  # in this process if nothing is done
        async with PlayerServer(player, port=0, listener=events.append) as server:
            assert await server.answer(start_message(game, "m", role, 30, 20)) == "ready"
            state, joint, percepts = sheet.initial_state(), None, ""
            for step in range(4):
                if state.is_terminal:
                    break
                if step == 2 and harm is not None:
                    harm(server)
                if sheet.has_percepts:
                    own = "NIL NIL" if joint is None else f"{joint[role]} ({percepts})"
                    text = f"(PLAY m {step} {own})"
                else:
                    text = f"(PLAY m {'NIL' if joint is None else '(' + ' '.join(map(str, joint.values())) + ')'})"
                answers.append(await server.answer(text))
                assert state.is_legal(role, answers[-1]), (answers, events)
                joint = {other: moves[0] for other, moves in state.legal_moves().items()} | {
                    role: answers[-1]
                }
                percepts = " ".join(state.percepts(joint, role))
                state = state.next(joint)
        return answers

    return asyncio.run(run()), events


def kill_hosts(server: PlayerServer) -> None:
    """Kill the processes of a server."""
    assert isinstance(server.hosts, HostPool)
    for pid in server.hosts.pids:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow_except("kuhn")
@pytest.mark.parametrize("game", ["ticTacToe", "kuhn"])
def test_a_host_that_was_killed_is_replaced_and_the_match_goes_on(game: str) -> None:
    """The answers are those of an undisturbed match; what happened is an event."""
    undisturbed, _ = played(game)
    answers, events = played(game, kill_hosts)
    assert answers == undisturbed
    reasons = [event.data["reason"] for event in events if event.kind == "odd"]
    assert len(reasons) == 1
    assert "continued in a new host" in reasons[0]
    assert [event.kind for event in events].count("match") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be halted")
def test_a_host_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is halted answers no ping: another one goes on with the match."""
    monkeypatch.setattr(hosts, "_HANG_SECONDS", 1.5)
    monkeypatch.setattr(hosts, "_PING_SECONDS", 0.2)

    def halt(server: PlayerServer) -> None:
        assert isinstance(server.hosts, HostPool)
        os.kill(server.hosts.pids[0], signal.SIGSTOP)

    answers, events = played("ticTacToe", halt)
    assert len(answers) == 4
    assert "it hung" in " ".join(str(event.data.get("reason")) for event in events)


def test_a_match_that_ends_its_hosts_is_given_up_but_play_is_never_answered_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a host the last legal move that was known is the answer."""
    monkeypatch.setattr(hosts, "_MOST_RESTARTS", 0)

    async def run() -> list[str]:
        async with PlayerServer("legal", port=0) as server:
            assert await server.answer(start_message("ticTacToe", "m", "xplayer")) == "ready"
            answers = [await server.answer("(PLAY m NIL)")]
            kill_hosts(server)
            answers.append(await server.answer("(PLAY m ((mark 1 1) noop))"))
            answers.append(await server.answer("(STOP m ((mark 1 1) noop))"))
            answers.append(await server.answer(start_message("ticTacToe", "n", "oplayer")))
            return answers

    first, second, *others = asyncio.run(run())
    assert first == "( mark 1 1 )"
    assert second.startswith("( mark ")
    assert others == ["done", "ready"]


def test_a_host_that_exceeds_its_memory_is_replaced_by_one_that_evaluates_rules() -> None:
    """A tree that is far too large ends the process, not the match; in the next one no network is built."""
    events: list[Event] = []

    async def run() -> None:
        server = PlayerServer("mcts(memory=1000)", port=0, memory=200, listener=events.append)
        async with server:
            assert await server.answer(start_message("connectFour", "m", "red", 10, 2)) == "ready"
            move = await server.answer("(PLAY m NIL)")
            assert herbrand.load("connectFour").initial_state().is_legal("red", move)

    asyncio.run(run())
    reasons = [event.data["reason"] for event in events if event.kind == "odd"]
    assert reasons == ["continued in a new host, since the last one ended: it exceeded its memory"]


def test_a_host_that_catches_up_is_not_replaced_for_being_late() -> None:
    """It had to begin anew again and again, in games whose moves take longer to repeat than a clock."""

    async def run() -> None:
        async with PlayerServer("legal", port=0) as server:
            assert isinstance(server.hosts, HostPool)
            assert await server.answer(start_message("ticTacToe", "m", "xplayer")) == "ready"
            (match,), (host,) = server._playing.values(), server.hosts._hosts
            match.rewind()  # as in a new host
            for _ in range(5):
                server.hosts.report_missed(match)
            assert not host.cause
            match.is_loaded = True
            for _ in range(5):
                server.hosts.report_missed(match)
            assert not host.cause
            match.missed_since -= 60
            server.hosts.report_missed(match)
            assert host.cause == "it did not follow a match in time"

    asyncio.run(run())


@pytest.mark.parametrize("reading", [False, True])
def test_a_match_whose_manager_waits_goes_on_in_a_running_host(
    reading: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The match that ended the host gets a new process, one that waits for a move does not wait for that."""

    async def stay(*_: object) -> None:
        """Start no process."""

    monkeypatch.setattr(hosts._ProcessHost, "open", stay)

    async def run() -> None:
        pool = HostPool("legal", lambda *_: None, lambda *_: None, seed=None, memory=1000, matches=4)
        pool.most = 2
        ended, running = pool._open(), pool._open()
        for host in (ended, running):
            host.ready.set_result("")
        matches = []
        for number, name in enumerate(("culprit", "waiting")):
            message = parse(start_message("ticTacToe", name, "xplayer"))
            assert isinstance(message, StartMessage)
            match = ongoing.OngoingMatch(message, number)
            match.is_loaded, match.host = True, ended
            matches.append(match)
        ended.matches.update(matches)
        culprit, waiting = matches
        request = waiting.ask("(PLAY waiting NIL)", 0.0)
        if reading:  # it may be the cause, but the one whose rules are read is more likely to be
            culprit.is_loaded = False
        else:
            culprit.ask("(PLAY culprit NIL)", 0.0)
            request.is_followed.set()
        pool._lost(ended, EXCEEDED_STATUS if reading else -9, "")
        assert waiting.host is running
        assert culprit.host not in (ended, running, None)
        assert (culprit.restarts, waiting.restarts) == (1, int(reading))
        await pool.close()

    asyncio.run(run())


def test_an_idle_host_is_there_before_it_is_needed() -> None:
    """The first match and, where there is room for two hosts, the second find one that has started."""

    async def run() -> None:
        server = PlayerServer("legal", port=0, matches=2, memory=1000)
        async with server:
            assert isinstance(server.hosts, HostPool)
            first = server.hosts.pids
            assert len(first) == 1
            assert await server.answer(start_message("ticTacToe", "m", "xplayer")) == "ready"
            async with asyncio.timeout(60):
                while len(server.hosts.pids) < min(2, os.cpu_count() or 1):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert server.hosts.pids[0] == first[0]
            assert await server.answer(start_message("ticTacToe", "n", "xplayer")) == "ready"
            assert await server.answer("(ABORT m)") == "aborted"

    asyncio.run(run())


def test_a_lost_host_is_replaced_by_one_that_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a process took longer to start than a manager waits for a move."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)

    async def run() -> None:
        server = PlayerServer("legal", port=0, matches=3, memory=600)
        async with server:
            pool = server.hosts
            assert isinstance(pool, HostPool)
            for name in ("m", "n"):
                assert await server.answer(start_message("ticTacToe", name, "xplayer")) == "ready"
            async with asyncio.timeout(60):
                while len(pool.pids) < 3 or not all(host.ready.done() for host in pool._hosts):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            first, second, spare = pool._hosts
            assert (len(first.matches), len(second.matches), len(spare.matches)) == (1, 1, 0)
            first.kill("a test")
            async with asyncio.timeout(60):
                while first in pool._hosts:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            assert len(spare.matches) == 1
            assert await server.answer("(PLAY m NIL)") == "( mark 1 1 )"
            # a third match has no host of its own: the memory is for two
            assert await server.answer(start_message("ticTacToe", "o", "xplayer")) == "ready"
            assert sum(1 for host in pool._hosts if host.matches) == 2

    asyncio.run(run())


@pytest.mark.parametrize(("memory", "matches"), [(300, 1), (300, 50), (600, 1), (600, 50), (5000, 4)])
def test_hosts_and_a_spare_one_stay_within_the_memory(
    memory: int, matches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What hosts may take, an idle one, and the process that answers."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    pool = HostPool("legal", lambda *_: None, lambda *_: None, seed=None, memory=memory, matches=matches)
    idle = hosts._RETIRE_MEGABYTES if pool.has_spare else 0
    assert pool.most * pool.limit + idle + hosts._FRONT_MEGABYTES <= memory
    assert pool.has_spare == (memory > 300)


def test_the_command_offers_the_strongest_player_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`herbrand player` is `meta`, which answers START with little memory, too."""
    chosen: list[str] = []

    class Stopped(Exception):
        pass

    def serve(player: str, **_: object) -> None:
        chosen.append(player)
        raise Stopped

    monkeypatch.setattr("herbrand.match.protocol.server.PlayerServer", serve)
    with pytest.raises(Stopped):
        player_command_line.callback(**{p.name: p.default for p in player_command_line.params})  # type: ignore[misc]
    assert chosen == ["meta"]

    async def run() -> None:
        async with PlayerServer(chosen[0], port=0, memory=160) as server:
            assert await server.answer(start_message("checkers", "m", "white", 2, 1)) == "ready"
            move = await server.answer("(PLAY m NIL)")
            assert herbrand.load("checkers").initial_state().is_legal("white", move)

    asyncio.run(run())


@pytest.mark.parametrize(("free", "limit"), [(0.0, 300), (8000.0, 2000), (64_000.0, 4000)])
def test_by_default_the_command_takes_a_quarter_of_the_free_memory(
    free: float, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within bounds, also where it is unknown; what is free here is known on Linux."""
    assert free_megabytes() >= 0
    assert not sys.platform.startswith("linux") or free_megabytes() > 0
    monkeypatch.setattr("herbrand.match.protocol.server.free_megabytes", lambda: free)
    assert default_megabytes() == limit


def test_a_player_of_no_such_name_does_not_start() -> None:
    """The process that would play says so."""

    async def run() -> None:
        async with PlayerServer("randm", port=0):
            pass

    with pytest.raises(hosts.UnknownPlayer, match="did you mean `random`"):
        asyncio.run(run())


# -- hostile rules --------------------------------------------------------------------------------

DOUBLING = """
(role a) (role b) (init (s 0)) (<= (next ?x) (true ?x)) (<= terminal (true (s 9))) (<= (goal ?r 50) (role ?r))
(<= (legal ?r (m ?x)) (role ?r) (true (s ?x))) (<= (next (s (f ?x ?x))) (true (s ?x)))
"""
LARGEST = 300


async def attack_by_doubling(port: int, over: asyncio.Event) -> list[str]:
    """Play a game whose terms double in each step, until the honest match is over."""
    assert await ask(port, f"(START bad a ({DOUBLING}) 2 1)") == "ready"
    moves = ["NIL", *["((m 0) (m 0))"] * 30]
    answers = [await ask(port, f"(PLAY bad {move})") for move in moves]
    await over.wait()
    return answers


async def play_beside(port: int, match: str) -> Match:
    """An honest match of tic-tac-toe with the player at a port."""
    manager = Manager(herbrand.load("ticTacToe"), MatchSettings(start_clock=20, play_clock=2))
    seats = [RemoteSeat("127.0.0.1", port), LocalSeat(make_player("random", seed=1), name="random")]
    return await manager.play(seats_for(manager.game, seats), match_id=match)


async def slowest_info(port: int, over: asyncio.Event) -> float:
    """The longest time that INFO took to be answered until then."""
    slowest = 0.0
    while not over.is_set():
        started = time.monotonic()
        assert "status" in await ask(port, "(INFO)")
        slowest = max(slowest, time.monotonic() - started)
        await asyncio.sleep(0.05)
    return slowest


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
def test_terms_that_double_in_each_step_stop_neither_answers_nor_an_honest_match(
    player_process: Any, tree_memory: Any
) -> None:
    """INFO is answered at once throughout, all processes together stay within the memory, no honest move is
    bad."""

    async def run(port: int) -> tuple[list[str], Match, float]:
        over = asyncio.Event()
        bad = asyncio.create_task(attack_by_doubling(port, over))
        info = asyncio.create_task(slowest_info(port, over))
        match = await play_beside(port, "honest")
        over.set()
        return await bad, match, await info

    with player_process("montecarlo", "--matches", "2") as (port, pid, log):
        answers, match, slowest = asyncio.run(run(port))
        assert tree_memory(pid) < LARGEST
        assert log.stat().st_size < 100_000
    assert "busy" not in answers
    assert max(map(len, answers)) < 65_536
    assert match.is_complete
    assert match.problems == []
    assert slowest < 1


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
def test_two_hundred_seats_hold_the_memory(player_process: Any, tree_memory: Any) -> None:
    """Matches of several games at once, each asked for moves: all are answered, an honest match has no
    problem."""
    games = ("connectFour", "checkers", "breakthrough", "ticTacToe")
    starts = {name: Manager(herbrand.load(name)).rules for name in games}
    roles = {name: herbrand.load(name).players[0] for name in games}

    async def one(port: int, number: int) -> list[str]:
        name = games[number % len(games)]
        start = f"(START m{number} {roles[name]} ({starts[name]}) 20 4)"
        return [await ask(port, text) for text in (start, *[f"(PLAY m{number} NIL)"] * 3)]

    async def run(port: int) -> tuple[list[list[str]], Match]:
        honest = asyncio.create_task(play_beside(port, "honest"))
        return await asyncio.gather(*(one(port, number) for number in range(199))), await honest

    with player_process("mcts", "--matches", "200") as (port, pid, _):
        answers, match = asyncio.run(run(port))
        assert tree_memory(pid) < LARGEST
    assert {start for start, *_ in answers} <= {"ready", "busy"}
    assert sum(1 for start, *_ in answers if start == "ready") > 150
    for start, *moves in answers:
        assert start == "busy" or not {"busy", "nil", ""} & set(moves)
    assert match.is_complete
    assert match.problems == []


# -- clocks ------------------------------------------------------------------------------------


def test_a_start_with_an_endless_clock_is_refused() -> None:
    """It would hold the seat for ever."""
    events: list[Event] = []

    async def run() -> None:
        server = PlayerServer(lambda: make_player("legal"), port=0, longest_clock=60, listener=events.append)
        async with server:
            for clocks in ((10, 999_999_999), (61, 1)):
                assert await server.answer(start_message("ticTacToe", "m", "xplayer", *clocks)) == "busy"
            assert await server.answer("(INFO)") == "( ( name herbrand ) ( status available ) )"
            assert await server.answer(start_message("ticTacToe", "m", "xplayer", 60, 60)) == "ready"

    asyncio.run(run())
    refused = [event for event in events if event.kind == "refused"]
    assert [event.match for event in refused] == ["m", "m"]
    assert "a clock of 999999999 seconds: at most 60 are allowed" in refused[0].data["reason"]


def test_the_answer_to_info_tells_a_memory_limit_that_was_chosen() -> None:
    """Without one it is that of ggp-base, byte for byte."""

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0, memory=400) as server:
            assert await server.answer("(INFO)") == (
                "( ( name herbrand ) ( status available ) ( memory 400 ) )"
            )

    asyncio.run(run())


def test_a_match_whose_manager_is_gone_gives_way_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once its own clock and a margin have passed without a message, and not before."""
    monkeypatch.setattr(ongoing, "ORPHAN_SECONDS", 0.2)

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0) as server:
            assert await server.answer(start_message("ticTacToe", "m", "xplayer", 1, 1)) == "ready"
            assert await server.answer("(PLAY m NIL)") == "( mark 1 1 )"
            assert await server.answer(start_message("ticTacToe", "n", "xplayer", 5, 5)) == "busy"
            await asyncio.sleep(1.3)
            assert await server.answer("(INFO)") == "( ( name herbrand ) ( status available ) )"
            assert await server.answer(start_message("ticTacToe", "n", "xplayer", 5, 5)) == "ready"
            assert await server.answer("(PLAY n NIL)") == "( mark 1 1 )"
            assert await server.answer("(PLAY m NIL)") == "busy"

    asyncio.run(run())


# -- browsers ------------------------------------------------------------------------------------

FOREIGN = {
    "an origin": "Origin: https://evil.example",
    "no origin at all": "Origin: null",
    "a name that was bound anew": "Host: evil.example:9147",
    "a picture": "Sec-Fetch-Site: cross-site",
    "a link in an old browser": "User-Agent: Mozilla/5.0 (X11; Linux x86_64)",
}


@pytest.mark.parametrize("header", FOREIGN.values(), ids=FOREIGN)
def test_a_web_page_cannot_drive_a_player(header: str) -> None:
    """Requests of pages are refused and their answers not readable; the match goes on."""

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0) as server:
            assert await server.answer(start_message("ticTacToe", "m", "xplayer")) == "ready"
            answer = await raw(server.port, f"GET /(ABORT%20m) HTTP/1.1\n{header}")
            assert answer.startswith("HTTP/1.0 403 Forbidden\r\n")
            assert "Access-Control" not in answer
            if "Mozilla" not in header:
                answer = await raw(server.port, f"POST / HTTP/1.1\n{header}", "(ABORT m)")
                assert answer.startswith("HTTP/1.0 403")
                answer = await raw(server.port, f"OPTIONS / HTTP/1.1\n{header}")
                assert answer.startswith("HTTP/1.0 403")
                assert "Access-Control" not in answer
            assert await ask(server.port, "(PLAY m NIL)") == "( mark 1 1 )"

    asyncio.run(run())


# -- other users of the computer -----------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["", "correct-hors", "correct-horse-", "x/correct-horse", "CORRECT-HORSE", "%ff"]
)
def test_another_user_without_the_token_cannot_drive_a_player(path: str) -> None:
    """Whatever the message, it is refused; the match of the manager that has the token goes on."""

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0, token="correct-horse") as server:
            assert await server.answer(start_message("ticTacToe", "m", "xplayer")) == "ready"
            for head in (
                f"POST /{path} HTTP/1.0",
                f"GET /{path}/(ABORT%20m) HTTP/1.0",
                "GET /(ABORT%20m) HTTP/1.0",
            ):
                answer = await raw(server.port, head, "(ABORT m)")
                assert answer.startswith("HTTP/1.0 403 Forbidden\r\n")
                assert answer.endswith("nil")
            answer = await raw(server.port, "POST /correct-horse/ HTTP/1.0", "(PLAY m NIL)")
            assert answer.endswith("( mark 1 1 )")
            answer = await raw(server.port, "GET /correct-horse/(INFO) HTTP/1.0")
            assert answer.endswith("( ( name herbrand ) ( status busy ) )")
            answer = await raw(server.port, "GET /correct-horse/(ABORT%20m) HTTP/1.1\nOrigin: null")
            assert answer.startswith("HTTP/1.0 403")  # a page that knows the token is still a page

    asyncio.run(run())


def test_a_manager_sends_the_token_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the address, or in the environment; with another one the problem says so, and names no token."""

    async def run(token: str | None) -> Match:
        async with PlayerServer(lambda: make_player("legal"), port=0, token="correct-horse") as server:
            address = f"localhost:{server.port}" + ("" if token is None else f"/{token}")
            remote = PlayerAddress.parse(f"http://{address}")
            assert remote is not None
            manager = Manager(herbrand.load("nim"), MatchSettings(start_clock=20, play_clock=10, max_steps=1))
            seats = [remote.seat(), LocalSeat(make_player("legal"), name="other")]
            return await manager.play(seats_for(manager.game, seats))

    match = asyncio.run(run("correct-horse"))
    assert not match.problems
    assert "horse" not in str(match.players)
    for wrong in (None, "battery-staple"):
        match = asyncio.run(run(wrong))
        assert {problem.kind for problem in match.problems} == {"connection"}
        assert "token" in match.problems[0].note
        assert "staple" not in str(match.as_json())
    monkeypatch.setenv("HERBRAND_TOKEN", "correct-horse")
    match = asyncio.run(run(""))
    assert not match.problems
    name = next(iter(match.players.values()))
    assert name.endswith("/")  # by this name the match can be resumed
    assert PlayerAddress.parse(name) is not None


def test_matches_that_wait_do_not_keep_a_full_host_from_others() -> None:
    """A host that was full, of matches with long clocks whose managers were gone, refused every START."""

    async def run() -> None:
        events: list[Event] = []
        async with PlayerServer("legal", port=0, memory=160, matches=3, listener=events.append) as server:
            assert isinstance(server.hosts, HostPool)
            assert await server.answer(start_message("ticTacToe", "left", "xplayer", 5, 3600)) == "ready"
            (host,) = server.hosts._hosts
            host.megabytes = 1e6
            assert await server.answer(start_message("nim", "early", "player1")) == "busy"
            host.opened -= 60
            host.megabytes = 1e6
            assert await server.answer(start_message("nim", "early", "player1")) == "busy"
            server._playing["left"].last_message -= 60
            host.megabytes = 1e6
            assert await server.answer(start_message("ticTacToe", "new", "oplayer")) == "ready"
            assert host not in server.hosts._hosts
            assert await server.answer("(PLAY new NIL)") == "noop"
            assert await server.answer("(PLAY left NIL)") == "( mark 1 1 )"
        assert any(event.data.get("reason") == "no memory for another match" for event in events)

    asyncio.run(run())


def test_managers_in_browsers_can_be_allowed() -> None:
    """With its origin, a page may ask in advance (OPTIONS), send messages, and read the answers."""

    async def run() -> None:
        server = PlayerServer(
            lambda: make_player("legal"),
            port=0,
            allowed_origins=["https://tiltyard.example"],
            allowed_hosts=["Player.example"],
        )
        async with server:
            origin = "Origin: https://tiltyard.example\nHost: player.example:80"
            answer = await raw(
                server.port, f"OPTIONS / HTTP/1.1\n{origin}\nAccess-Control-Request-Method: POST"
            )
            assert answer.startswith("HTTP/1.0 200 OK\r\n")
            assert "Access-Control-Allow-Origin: https://tiltyard.example\r\n" in answer
            assert "Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n" in answer
            answer = await raw(
                server.port, f"POST / HTTP/1.1\n{origin}\nSec-Fetch-Site: cross-site", "(INFO)"
            )
            assert "Access-Control-Allow-Origin: https://tiltyard.example\r\n" in answer
            assert answer.endswith("( ( name herbrand ) ( status available ) )")
            answer = await raw(server.port, "POST / HTTP/1.1\nOrigin: https://tiltyard.example.org", "(INFO)")
            assert answer.startswith("HTTP/1.0 403")

    asyncio.run(run())


@pytest.mark.parametrize(
    "head",
    [
        "Host: localhost",
        "Host: LOCALHOST:9147",
        "Host: 10.0.0.7:80",
        "Host: [::1]:9147",
        "Accept: text/delim",
    ],
)
def test_managers_are_served_by_address(head: str) -> None:
    """Addresses and localhost need no option; programs that name no host are no browsers."""

    async def run() -> str:
        async with PlayerServer(lambda: make_player("legal"), port=0) as server:
            return await raw(server.port, f"POST / HTTP/1.0\n{head}", "(PING)")

    assert asyncio.run(run()).endswith("ready")


# -- players that were started anew ------------------------------------------------------------


class Restarting(RemoteSeat):
    """A seat whose player is killed, and started anew on its port, before some of the moves."""

    def __init__(self, moves: tuple[int, ...]) -> None:
        super().__init__("127.0.0.1", 0, name="restarting")
        self.moves = moves
        self.server: PlayerServer | None = None
        self.events: list[Event] = []
        self._asked = 0

    async def restart(self) -> None:
        """End the player and start another one."""
        if self.server is not None:
            await self.server.close()
        self.server = PlayerServer(lambda: make_player("legal"), port=self.port, listener=self.events.append)
        await self.server.start()
        self.port = self.server.port

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        if isinstance(message, PlayMessage | TurnMessage):
            self._asked += 1
            if self._asked in self.moves:
                await self.restart()
        return await super().ask(message, seconds=seconds)


def restarted(
    name: str, moves: tuple[int, ...], scramble: int | None = None
) -> tuple[Match, Restarting, list[Event]]:
    """A match with a player that is started anew before these moves."""
    game = herbrand.load(name)
    events: list[Event] = []

    async def run() -> tuple[Match, Restarting]:
        seat = Restarting(moves)
        await seat.restart()
        settings = MatchSettings(start_clock=20, play_clock=10)
        manager = Manager(game, settings, scramble=scramble, listener=events.append)
        others = [LocalSeat(make_player("random", seed=1), name="random") for _ in game.players[1:]]
        match = await manager.play(seats_for(game, [seat, *others]))
        assert seat.server is not None
        await seat.server.close()
        return match, seat

    return *asyncio.run(run()), events


@pytest.mark.parametrize(
    ("name", "scramble"), [("ticTacToe", None), ("ticTacToe", 3), ("kuhn", None), ("kuhn", 3)]
)
def test_a_player_that_was_started_anew_goes_on_with_its_match(name: str, scramble: int | None) -> None:
    """The manager tells it the match once, and nothing is late, illegal or odd."""
    match, seat, events = restarted(name, (2,), scramble)
    assert match.is_complete
    assert match.problems == []
    told = [event.data for event in events if event.data.get("message") == "RESUME"]
    assert [(data["reply"], data["counts"]) for data in told] == [("ready", False)]
    assert [event.data for event in seat.events if event.kind in ("odd", "late")] == []
    unknown = [event.data["reason"] for event in seat.events if event.kind == "unknown"]
    assert unknown == ["no such match: it has ended, or began before this player was started"]


def test_a_player_that_is_always_started_anew_is_told_a_few_times() -> None:
    """Each restart takes the time of a start clock from the others."""
    match, _, events = restarted("ticTacToe", (1, 3, 5, 7, 9, 11))
    assert match.is_complete
    assert sum(1 for event in events if event.data.get("message") == "RESUME") == 3
    assert {(problem.kind, problem.reply) for problem in match.problems} == {("unreadable", "busy")}


def test_players_that_do_not_know_resume_are_treated_as_before() -> None:
    """One that says `busy` to moves, and what it likes to RESUME, is told once; its moves are replaced."""
    heard: list[str] = []

    async def run() -> Match:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                text = (await reader.read(100_000)).partition(b"\r\n\r\n")[2].decode()
                heard.append(text.split()[1])
                writer.write(write_reply({"START": "ready", "RESUME": "nil"}.get(heard[-1], "busy")))
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        seats = {
            "xplayer": RemoteSeat("127.0.0.1", server.sockets[0].getsockname()[1]),
            "oplayer": LocalSeat(make_player("legal"), name="legal"),
        }
        settings = MatchSettings(start_clock=5, play_clock=5, max_steps=3, substitute="first")
        try:
            return await Manager(herbrand.load("ticTacToe"), settings).play(seats)
        finally:
            server.close()

    match = asyncio.run(run())
    assert [problem.kind for problem in match.problems if problem.role == "xplayer"] == ["unreadable"] * 3
    assert heard.count("RESUME") == 1


def test_resume_is_a_message_that_can_be_written_and_read_again() -> None:
    """Steps are lists; anything else is refused."""
    message = parse("(RESUME m.1 (a b) ((role a)) 5 7 (((MARK 1 1)  noop) ()))")
    assert isinstance(message, ResumeMessage)
    assert message.steps == ("((MARK 1 1) noop)", "()")
    assert str(parse(str(message))) == str(message)
    with pytest.raises(herbrand.errors.ProtocolError):
        parse("(RESUME m.1 a ((role a)) 5 7 (noop))")


def test_a_line_of_the_log_is_short_whatever_peers_send() -> None:
    """It stays JSON, and short events are whole."""
    short = Event("late", "m", {"move": "noop"})
    assert json.loads(json_line(short)) == asdict(short)
    hostile = Event(
        "match",
        "m" * 3000,
        {"roles": ["r" * 500] * 300, "goals": {f"{n}" * 90: n for n in range(300)}, "reason": "\n" * 9000},
    )
    line = json_line(hostile)
    assert len(line) <= LONGEST_LINE
    assert json.loads(line)["kind"] == "match"


def test_a_player_says_its_port_as_json_first() -> None:
    """Before anybody can ask it."""
    command = [sys.executable, "-m", "herbrand", "player", "--port", "0", "--json", "--until-eof"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        event = json.loads(process.stderr.readline())
        assert event["kind"] == "listening"
        assert 0 < event["data"]["port"] < 65536
        process.kill()

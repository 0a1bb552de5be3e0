"""Who else can sit at the table, and who watches: processes, people, spectators."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli import human
from herbrand.cli.main import cli
from herbrand.match.protocol.events import Event
from herbrand.match.protocol.manager import Manager, Match, MatchSettings, seats_for
from herbrand.match.protocol.messages import AbortMessage, StartMessage
from herbrand.match.protocol.processes import ProcessSeat
from herbrand.match.protocol.seats import LocalSeat, RemoteSeat
from herbrand.match.protocol.spectators import Spectators
from herbrand.play import make_player

if TYPE_CHECKING:
    from herbrand.match.protocol.seats import Exchange

GAME = herbrand.load("ticTacToe")


def test_a_player_in_a_process_of_its_own_that_dies_is_replaced() -> None:
    """It plays like any other; after it was killed its moves are drawn, and the match goes on."""

    async def run(kill: bool) -> Match:
        seat = ProcessSeat("legal", seed=1)
        steps = 0

        def listen(event: Event) -> None:
            nonlocal steps
            steps += event.kind == "step"
            if kill and event.kind == "step" and steps == 2:
                assert seat.pid is not None
                os.kill(seat.pid, signal.SIGKILL)

        manager = Manager(GAME, MatchSettings(start_clock=30, play_clock=5), listener=listen)
        seats = [seat, LocalSeat(make_player("legal"), name="other")]
        match = await manager.play(seats_for(GAME, seats))
        assert seat.pid is None
        return match

    match = asyncio.run(run(kill=False))
    assert match.is_complete
    assert not match.problems
    assert match.players["xplayer"] == "process:legal"
    match = asyncio.run(run(kill=True))
    assert match.is_complete
    assert {(problem.role, problem.kind) for problem in match.problems} == {("xplayer", "connection")}
    assert {problem.step for problem in match.problems} == set(range(3, len(match.moves) + 1))


def test_nobody_else_can_drive_the_player_in_the_process() -> None:
    """Its port is open to all users of the computer, but it wants the token that its seat has."""

    async def run() -> None:
        seat = ProcessSeat("legal")
        rules = Manager(GAME).rules
        try:
            exchange = await seat.begin(GAME, StartMessage("m", "xplayer", rules, 20, 10), seconds=20)
            assert exchange.reply == "ready"
            stranger = RemoteSeat("127.0.0.1", seat.port)
            exchange = await stranger.ask(AbortMessage("m"), seconds=10)
            assert exchange.problem == "connection"
            exchange = await seat.ask(AbortMessage("m"), seconds=10)
            assert exchange.reply == "aborted"
        finally:
            await seat.close()

    asyncio.run(run())


def test_a_player_that_does_not_start_is_a_problem() -> None:
    """No process, no port: the match is played without it."""

    async def run() -> Exchange:
        seat = ProcessSeat("nobody")
        exchange = await seat.begin(GAME, StartMessage("m", "xplayer", "", 1, 1), seconds=1)
        await seat.close()
        return exchange

    exchange = asyncio.run(run())
    assert exchange.problem == "failed"
    assert "did not start" in exchange.notes[0]


def test_a_person_takes_part() -> None:
    """What is typed is a move when it is clear; who types nothing in time is replaced; nobody there is said."""
    words = [sys.executable, "-m", "herbrand", "match", "ticTacToe", "--player", "human", "--player", "legal"]
    environment = {**os.environ, "NO_COLOR": "1"}
    clocks = ["--start-clock", "5", "--play-clock", "20", "--seed", "1"]
    typed = "nonsense\n2 2\n3 1\n1 3\n"
    run = subprocess.run(
        [*words, *clocks],
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "no legal move contains `nonsense`" in run.stdout
    assert "xplayer plays" not in run.stdout
    assert "  1  (mark 2 2)  noop" in run.stdout
    assert "xplayer 100, oplayer 0" in run.stdout
    clocks = ["--start-clock", "5", "--play-clock", "1", "--seed", "1", "--max-steps", "1"]
    with subprocess.Popen(
        [*words, *clocks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    ) as late:  # fmt: skip
        assert late.stdout is not None
        assert late.stderr is not None
        output = late.stdout.read()
        assert "out of time" in output
        assert "timeout: no move in time; played" in late.stderr.read()
    run = subprocess.run(
        [*words, *clocks], input="", capture_output=True, text=True, env=environment, check=False
    )
    assert "end of standard input" in run.stderr


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal is made as on Unix")
def test_what_was_typed_too_late_answers_no_other_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal it is dropped when time is up; lines of a file are the answers to later questions, too."""
    master, terminal = os.openpty()
    with (
        os.fdopen(terminal, encoding="utf-8") as typed,
        os.fdopen(master, "wb"),
        Path(os.devnull).open(encoding="utf-8") as file,
    ):
        for source, left in ((typed, True), (file, False)):
            monkeypatch.setattr("sys.stdin", source)
            lines = human._Lines()
            lines._lines.put("3\n")
            lines.forget()
            assert lines._lines.empty() is left


def test_a_person_with_hidden_information_sees_percepts_and_no_state() -> None:
    """In kuhn the own card is told, and the state of the match is not shown."""
    words = [sys.executable, "-m", "herbrand", "match", "kuhn", "--player", "human", "--player", "legal"]
    run = subprocess.run(
        [*words, "--start-clock", "5", "--play-clock", "20"], input="bet\n", capture_output=True, text=True,
        timeout=120, env={**os.environ, "NO_COLOR": "1"}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    card = re.search(r"first saw .*?\(?dealt (\w+)", run.stdout) or re.search(r"first saw (.+)", run.stdout)
    assert card is not None
    assert "holds" not in run.stdout.split("first>")[0]


async def read_events(port: int, count: int, last: int | None = None) -> list[tuple[int, str, Any]]:
    """The first events of a stream."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    header = "" if last is None else f"Last-Event-ID: {last}\r\n"
    writer.write(f"GET /events HTTP/1.1\r\nHost: x\r\n{header}\r\n".encode())
    assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
    found = []
    async with asyncio.timeout(20):
        while len(found) < count:
            text = (await reader.readuntil(b"\n\n")).decode()
            match = re.fullmatch(r"id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n", text)
            assert match is not None, text
            found.append((int(match[1]), match[2], json.loads(match[3])))
    writer.close()
    return found


def test_spectators_see_steps_and_no_answers() -> None:
    """Who comes late sees it from the start, who comes again goes on; answers are never told."""

    async def run() -> None:
        async with Spectators() as gallery:
            watching = asyncio.create_task(read_events(gallery.port, 3))
            await asyncio.sleep(0.1)
            manager = Manager(GAME, MatchSettings(start_clock=20, play_clock=10), listener=gallery)
            seats = [LocalSeat(make_player("random", seed=n), name="r") for n in range(2)]
            match = await manager.play(seats_for(GAME, seats), match_id="m.1")
            early = await watching
            everything = await read_events(gallery.port, len(match.moves) + 2)
            assert everything[:3] == early
            assert [kind for _, kind, _ in everything] == ["match", *["step"] * len(match.moves), "end"]
            assert everything[-1][2]["goals"] == match.goals
            assert await read_events(gallery.port, 2, last=1) == everything[1:3]
            address = f"http://127.0.0.1:{gallery.port}/"
            page = await asyncio.to_thread(lambda: urllib.request.urlopen(address, timeout=10).read())
            assert b"EventSource" in page
            for request in (
                b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
                b"GET /x HTTP/1.0\r\n\r\n",
                b"nonsense\r\n\r\n",
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", gallery.port)
                writer.write(request)
                assert b"200" not in await reader.read()
                writer.close()

    asyncio.run(run())


def test_spectators_that_do_not_read_are_let_go_and_a_delay_is_kept() -> None:
    """Memory for a slow spectator is bounded; with a delay nothing is told before it is over."""

    async def run() -> None:
        async with Spectators() as gallery:
            reader, writer = await asyncio.open_connection("127.0.0.1", gallery.port, limit=1024)
            writer.write(b"GET /events HTTP/1.0\r\n\r\n")
            await reader.readline()
            for number in range(40):
                gallery(Event("step", "m", {"facts": ["x" * 1_000_000], "step": number}))
                await asyncio.sleep(0)
            assert gallery._size < 40_000_000
            assert b'"facts"' not in gallery._events[-1]
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(20):
                    while await reader.read(1 << 20):
                        pass
            writer.close()
        async with Spectators(delay=0.4) as gallery:
            gallery(Event("end", "m", {"goals": None}))
            assert gallery._events == []
            await asyncio.sleep(0.8)
            assert len(gallery._events) == 1

    asyncio.run(run())


def test_the_command_lets_others_watch() -> None:
    """`herbrand match --spectators 0` says where; a bad address is refused."""
    words = ["match", "rockPaperScissors", "--player", "random", "--start-clock", "2", "--play-clock", "1"]
    outcome = CliRunner().invoke(cli, [*words, "--spectators", "0"], catch_exceptions=False)
    assert outcome.exit_code == 0
    assert "spectators: http://127.0.0.1:" in outcome.output
    assert CliRunner().invoke(cli, [*words, "--spectators", "nowhere"], catch_exceptions=False).exit_code == 2

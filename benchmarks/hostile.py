"""Test players and managers with adversarial peers.

    python benchmarks/hostile.py                            # herbrand's manager against all bad players
    python benchmarks/hostile.py --player localhost:9147    # bad managers against any player

`PLAYERS` are players that misbehave when a manager requests a move, with the kinds of problems that a manager
may report for each; `MANAGERS` are attacks of bad managers on a player's port.  `harass_manager` plays
matches against all bad players at once; `harass_player` runs all attacks while an honest manager plays
matches with the same player.  Both return the outcome of each case.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import sys
import time
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from herbrand.errors import HerbrandError
from herbrand.match.protocol.http import write_reply, write_request
from herbrand.match.protocol.manager import Manager, MatchSettings
from herbrand.match.protocol.seats import LocalSeat, RemoteSeat
from herbrand.play import make_player
from herbrand.runtime.memory import peak_megabytes

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Listener
    from herbrand.match.protocol.manager import Match
    from herbrand.match.protocol.seats import Seat

__all__ = ["GAME", "MANAGERS", "PLAYERS", "BadPlayer", "harass_manager", "harass_player", "send"]

Peer: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]
Attack: TypeAlias = Callable[[str, int], Awaitable[str]]

GAME: Final = """
(role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2)
(<= (input ?r left) (role ?r)) (<= (input ?r right) (role ?r))
(<= (legal ?r left) (role ?r)) (<= (legal ?r right) (role ?r))
(<= (base (n 0))) (<= (base (n ?y)) (succ ?x ?y))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= terminal (true (n 2)))
(<= (goal ?r 50) (role ?r))
"""
"""A game of two steps in which both roles choose left or right."""
_TEXTS: Final = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text(encoding="utf-8"))
_NAMES = count()
_OK: Final = b"HTTP/1.0 200 OK\r\n"


# -- players ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BadPlayer:
    """A way to misbehave when asked for a move."""

    peer: Peer
    """Called with the streams of the connection and the message; the connection is closed afterwards."""
    kinds: frozenset[str]
    """The kinds of problems that a manager may report."""


def _saying(data: bytes) -> Peer:
    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
        del reader, text
        writer.write(data)
        await writer.drain()

    return peer


def _replying(text: str) -> Peer:
    return _saying(write_reply(text))


def _repeating(first: bytes, piece: bytes, *, pause: float = 0.0) -> Peer:
    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
        del reader, text
        writer.write(first)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return peer


def _waiting(seconds: float, data: bytes = b"") -> Peer:
    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
        del reader, text
        await asyncio.sleep(seconds)
        writer.write(data)
        await writer.drain()

    return peer


async def _drips(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    del reader, text
    for byte in write_reply("left"):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def _late_then_early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    if "NIL" in text:
        await asyncio.sleep(4.5)
    await _saying(write_reply("left") + write_reply("right"))(reader, writer, text)


async def _echoes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    await _replying(text)(reader, writer, text)


async def _asks_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    await _saying(write_request("(PLAY m NIL)", host="x", receiver="y"))(reader, writer, text)


async def _resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    del reader, text
    writer.transport.abort()


async def _closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
    del reader, text
    writer.close()


def _players() -> dict[str, BadPlayer]:
    late, bad, cut = frozenset({"timeout"}), frozenset({"unreadable"}), frozenset({"connection"})
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    rows: dict[str, tuple[Peer, frozenset[str]]] = {
        "says nothing": (_waiting(60), late),
        "sends one byte and waits": (_repeating(b"H", b"", pause=60), late),
        "drips a byte at a time": (_drips, late),
        "drips headers": (_repeating(_OK, b"X: y\r\n", pause=0.1), late),
        "drips a body": (_repeating(_OK + b"\r\n", b" ", pause=0.1), late),
        "drips chunks": (_repeating(chunked, b"1\r\n \r\n", pause=0.1), late),
        "answers late": (_waiting(4.5, write_reply("left")), late),
        "sends a gigabyte": (_repeating(_OK + b"Content-Length: 1000000000\r\n\r\n", b"x" * 100_000), bad),
        "floods": (_repeating(_OK + b"\r\n", b"(left " * 20_000), bad),
        "floods without a head": (_repeating(b"", b"x" * 100_000), bad),
        "floods with headers": (_repeating(_OK, b"X: yyyyyyyyyyyyyyyyyyyy\r\n" * 1000), bad),
        "floods with one header": (_repeating(_OK + b"X: ", b"y" * 100_000), bad),
        "floods with chunks": (_repeating(chunked, b"ffff\r\n" + b"x" * 65535 + b"\r\n"), bad),
        "announces a gigabyte": (_saying(_OK + b"Content-Length: 1000000000\r\n\r\n("), bad),
        "announces more than it sends": (_saying(_OK + b"Content-Length: 5000\r\n\r\n(left"), bad),
        "announces a negative length": (_saying(_OK + b"Content-Length: -5\r\n\r\n(left"), bad),
        "announces a chunk of a gigabyte": (_saying(chunked + b"3b9aca00\r\nleft"), bad | cut),
        "breaks chunks": (_saying(chunked + b"zz\r\nleft"), cut),
        "resets": (_resets, cut),
        "closes": (_closes, cut),
        "opens parentheses": (_replying("(" * 60_000), bad),
        "closes parentheses": (_replying(")" * 60_000), bad),
        "nests 30 000 deep": (_replying("(" * 30_000 + "left" + ")" * 30_000), bad),
        "nests 100 000 deep": (_replying("(" * 100_000 + "left" + ")" * 100_000), bad),
        "says a word of 60 000 letters": (_replying("l" * 60_000), bad),
        "says 10 000 words": (_replying("(" + "left " * 10_000 + ")"), bad),
        "echoes": (_echoes, bad),
        "asks back": (_asks_back, bad),
        "sends bad UTF-8": (_saying(_OK + b"\r\n\xff\xfeleft"), bad),
        "sends UTF-16": (_saying(_OK + b"\r\n" + "left".encode("utf-16")), bad),
        "sends compressed": (_saying(_OK + b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\x00left"), bad),
        "sends a page": (_saying(b"HTTP/1.0 404 Not Found\r\n\r\n<html><p>left</p></html>"), bad),
        "redirects": (_saying(b"HTTP/1.0 301 Moved\r\nLocation: http://127.0.0.1:1/\r\n\r\n"), bad),
        "speaks TLS": (_saying(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), bad),
        "is late, then says two things at once": (_late_then_early, late),
    }
    rows |= {name: (_replying(text), bad) for name, text in _TEXTS["replies"].items()}
    return {name: BadPlayer(*row) for name, row in rows.items()}


PLAYERS: Final = _players()


async def harass_manager(manager: Manager, *, listener: Listener | None = None) -> dict[str, Match]:
    """Play a match of `GAME` against each bad player, all at once, with an honest player in the other role.

    The match ids are `bad.1`, `bad.2` and so on in the order of `PLAYERS`.
    """
    if listener is not None:
        manager.listener = listener

    async def one(number: int, bad: BadPlayer) -> Match:
        conversations: set[asyncio.Task[None] | None] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            conversations.add(asyncio.current_task())
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(re.findall(rb"Content-Length: (\d+)", head)[0])
                text = (await reader.readexactly(length)).decode()
                if text.startswith("( START"):
                    writer.write(write_reply("ready"))
                else:
                    await bad.peer(reader, writer, text)
                await writer.drain()
            writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        seats: dict[str, Seat] = {
            "a": RemoteSeat("127.0.0.1", port),
            "b": LocalSeat(make_player("legal"), name="honest"),
        }
        try:
            return await manager.play(seats, match_id=f"bad.{number}")
        finally:
            server.close()
            for conversation in conversations:  # some players never end one
                if conversation is not None:
                    conversation.cancel()

    matches = await asyncio.gather(*(one(number, bad) for number, bad in enumerate(PLAYERS.values(), 1)))
    return dict(zip(PLAYERS, matches, strict=True))


# -- managers ------------------------------------------------------------------------------------


async def send(host: str, port: int, data: bytes, *, seconds: float = 10.0, end: bool = False) -> str:
    """Send bytes and return the data received until the connection is closed or the time is over."""
    reader, writer = await asyncio.open_connection(host, port)
    received = b""
    try:
        async with asyncio.timeout(seconds):
            writer.write(data)
            await writer.drain()
            if end:
                writer.write_eof()
            while piece := await reader.read(65536):
                received += piece
    except (TimeoutError, OSError):
        pass
    finally:
        writer.transport.abort()
    return received.decode(errors="replace")


def _raw(data: bytes, *, seconds: float = 10.0, end: bool = False) -> Attack:
    async def attack(host: str, port: int) -> str:
        return await send(host, port, data, seconds=seconds, end=end)

    return attack


def _message(text: str, *, seconds: float = 10.0) -> Attack:
    return _raw(write_request(text, host="localhost", receiver="ME"), seconds=seconds)


async def _ask(host: str, port: int, text: str, *, seconds: float = 15.0) -> str:
    answer = await send(host, port, write_request(text, host="localhost", receiver="ME"), seconds=seconds)
    return answer.partition("\r\n\r\n")[2]


def _several(*texts: str) -> Attack:
    async def attack(host: str, port: int) -> str:
        name = f"x{next(_NAMES)}"  # a new match for each case
        named = [re.sub(r"^\((START|PLAY|STOP|SEES|ABORT) x ?", rf"(\1 {name} ", text) for text in texts]
        return " | ".join([await _ask(host, port, text) for text in named])

    return attack


def _endless(first: bytes, piece: bytes, *, pause: float, seconds: float) -> Attack:
    async def attack(host: str, port: int) -> str:
        reader, writer = await asyncio.open_connection(host, port)
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(seconds):
                writer.write(first)
                while not reader.at_eof():
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(pause)
        answer = b""
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(1.0):
                answer = await reader.read()
        writer.transport.abort()
        return answer.decode(errors="replace")

    return attack


async def _resets_at_once(host: str, port: int) -> str:
    _, writer = await asyncio.open_connection(host, port)
    writer.transport.abort()
    return ""


async def _leaves_before_the_answer(host: str, port: int) -> str:
    _, writer = await asyncio.open_connection(host, port)
    writer.write(write_request("(INFO)", host="x", receiver="y"))
    await writer.drain()
    writer.transport.abort()
    return ""


async def _many_connections(host: str, port: int) -> str:
    opened = []
    for _ in range(150):
        with contextlib.suppress(OSError):
            opened.append(await asyncio.open_connection(host, port))
    await asyncio.sleep(0.5)
    rejected = sum(1 for reader, _ in opened if reader.at_eof() or reader.exception())
    for _, writer in opened:
        writer.transport.abort()
    return f"{rejected} rejected"


async def _many_requests(host: str, port: int) -> str:
    answers = [await _ask(host, port, "(INFO)") for _ in range(200)]
    return f"{sum(1 for answer in answers if answer)} answered"


async def _many_starts(host: str, port: int) -> str:
    rules = " ".join(GAME.split())
    answers = [await _ask(host, port, f"(START many.{n} a ({rules}) 1 1)") for n in range(30)]
    for number in range(30):
        await _ask(host, port, f"(ABORT many.{number})")
    return f"{answers.count('busy')} busy"


def _managers() -> dict[str, Attack]:
    post = b"POST / HTTP/1.0\r\n"
    chunked = post + b"Transfer-Encoding: chunked\r\n\r\n"
    facts = " ".join(f"(fact {i} {i + 1} {i + 2})" for i in range(180_000))
    deep = "(" * 100_000 + ")" * 100_000
    texts: dict[str, str] = {
        **_TEXTS["rules"],
        "rules": " ".join(GAME.split()),
        "objects": " ".join(f"(d {i})" for i in range(40)),
        "facts": facts,
        "some": facts[: facts.index(") (fact 30000 ") + 1],
        "deep": deep,
        "words": "word " * 1000,
    }

    def completed(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: completed(texts[name[1]]), text)

    return {
        "connects and says nothing": _raw(b"", seconds=3),
        "closes at once": _raw(b"", end=True),
        "resets at once": _resets_at_once,
        "leaves before the answer": _leaves_before_the_answer,
        "drips a request line": _endless(b"", b"P", pause=0.2, seconds=3),
        "drips headers": _endless(post, b"X: y\r\n", pause=0.1, seconds=3),
        "drips a body": _endless(post + b"Content-Length: 9999\r\n\r\n(", b"x", pause=0.1, seconds=3),
        "drips chunks": _endless(chunked, b"1\r\n(\r\n", pause=0.1, seconds=3),
        "promises more than it sends": _raw(post + b"Content-Length: 99\r\n\r\n(PLAY", seconds=3),
        "promises a gigabyte": _raw(post + b"Content-Length: 1000000000\r\n\r\n("),
        "sends 50 megabytes": _endless(post + b"\r\n", b"(x" * 500_000, pause=0, seconds=10),
        "sends endless headers": _endless(post, b"X: yyyyyyyyyyy\r\n" * 1000, pause=0, seconds=10),
        "sends one endless line": _endless(b"POST ", b"x" * 100_000, pause=0, seconds=10),
        "sends endless chunks": _endless(chunked, b"ffff\r\n" + b"(" * 65535 + b"\r\n", pause=0, seconds=10),
        "sends chunks without a length": _raw(chunked + b"zz\r\n"),
        "announces a negative length": _raw(post + b"Content-Length: -1\r\n\r\n(INFO)"),
        "announces a length of 100 digits": _raw(post + b"Content-Length: " + b"9" * 100 + b"\r\n\r\n(INFO)"),
        "speaks no HTTP": _raw(b"hello\r\n\r\n", end=True),
        "speaks TLS": _raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", end=True),
        "sends noise": _raw(bytes(range(256)) * 50, end=True),
        "sends two requests at once": _raw(2 * write_request("(INFO)", host="x", receiver="y")),
        "uses other methods": _raw(b"DELETE / HTTP/1.1\r\n\r\n"),
        "asks for a file": _raw(b"GET /../../etc/passwd HTTP/1.0\r\n\r\n"),
        "sends bad UTF-8": _raw(post + b"Content-Length: 7\r\n\r\n(IN\xff\xfe)\x00"),
        "says nothing in HTTP": _message(""),
        "says a word": _message("info"),
        "says an unknown message": _message("(DANCE m)"),
        "opens parentheses": _message("(" * 50_000),
        "closes parentheses": _message(")" * 50_000),
        "nests 100 000 deep": _message(f"(PLAY m {deep})"),
        "gives a name of 10 000 letters": _message(f"(PLAY {'m' * 10_000} NIL)"),
        "sends code": _message("(START __import__('os') (eval) ((system true)) 1 1)"),
        **{name: _several(*map(completed, said)) for name, said in _TEXTS["messages"].items()},
        "opens 150 connections": _many_connections,
        "sends 200 requests": _many_requests,
        "starts 30 matches": _many_starts,
    }


MANAGERS: Final = _managers()
_LEAST_HONEST: Final = 3


async def harass_player(
    host: str, port: int, *, settings: MatchSettings | None = None, at_once: int = 1, patience: float = 5.0
) -> dict[str, dict[str, Any]]:
    """Run all attacks while an honest manager plays matches.

    Returns for each attack `answer` (at most 200 characters), `seconds` and `info_seconds` (the time the
    player then took to answer INFO; None if more than `patience` seconds), and under "honest" the number of
    honest matches and their problems.  The attacks start up to 40 matches, which the player must allow.
    """
    from herbrand.game import loads

    manager = Manager(loads(GAME), settings or MatchSettings(start_clock=20, play_clock=10))
    over = asyncio.Event()
    matches: list[Match] = []
    gate = asyncio.Semaphore(at_once)

    async def honest() -> None:
        while not over.is_set() or len(matches) < _LEAST_HONEST:
            seats: dict[str, Seat] = {
                "a": RemoteSeat(host, port),
                "b": LocalSeat(make_player("legal"), name="b"),
            }
            matches.append(await manager.play(seats))
            await asyncio.sleep(0.05)

    async def one(attack: Attack) -> dict[str, Any]:
        async with gate:
            started = time.monotonic()
            try:
                answer = await attack(host, port)
            except OSError as error:
                answer = f"{type(error).__name__}: {error}"
            seconds = time.monotonic() - started
            started = time.monotonic()
            info = await _ask(host, port, "(INFO)", seconds=patience)
            delay = round(time.monotonic() - started, 3) if "status" in info else None
            return {"answer": answer[:200], "seconds": round(seconds, 3), "info_seconds": delay}

    playing = asyncio.create_task(honest())
    rows = await asyncio.gather(*map(one, MANAGERS.values()))
    report: dict[str, dict[str, Any]] = dict(zip(MANAGERS, rows, strict=True))
    over.set()
    await playing
    problems = [problem for match in matches for problem in match.problems]
    report["honest"] = {
        "matches": len(matches),
        "complete": sum(1 for match in matches if match.is_complete),
        "problems": [f"{problem.role}: {problem.kind}: {problem.note}" for problem in problems],
    }
    return report


def main() -> int:
    """Run the command line: print a JSON report, exit with 1 if a case failed."""
    from herbrand.game import loads

    parser = argparse.ArgumentParser(description="Test a manager or a player against adversarial peers.")
    parser.add_argument("--player", metavar="HOST:PORT", help="a player that allows 50 concurrent matches")
    options = parser.parse_args()
    if options.player:
        host, _, port = options.player.rpartition(":")
        report = asyncio.run(harass_player(host or "127.0.0.1", int(port)))
        bad = [name for name, row in report.items() if name != "honest" and row["info_seconds"] is None]
        honest = report["honest"]
        bad += ["honest"] if honest["problems"] or honest["complete"] < honest["matches"] else []
    else:
        manager = Manager(loads(GAME), MatchSettings(start_clock=30, play_clock=3, grace=0.5))
        try:
            matches = asyncio.run(harass_manager(manager))
        except HerbrandError as error:
            parser.error(str(error))
        report = {name: {"problems": [p.kind for p in match.problems]} for name, match in matches.items()}
        bad = [
            name
            for name, match in matches.items()
            if not match.is_complete or {p.kind for p in match.problems} - PLAYERS[name].kinds
        ]
    report["memory"] = {"megabytes": peak_megabytes()}
    json.dump(report, sys.stdout, indent=1)
    print()
    print(f"failed: {', '.join(bad)}" if bad else "all passed", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

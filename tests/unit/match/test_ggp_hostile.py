"""Peers that keep to nothing: whatever they do, matches go on, memory is bounded, and each case is on record."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hostile import MANAGERS, PLAYERS, harass_player, send

import herbrand
from herbrand.match.protocol.http import write_request
from herbrand.match.protocol.manager import Manager
from herbrand.match.protocol.server import PlayerServer
from herbrand.match.records import Store
from herbrand.match.records.verifier import Verifier
from herbrand.play import make_player

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
LARGEST = 300
"""Megabytes that a manager, or a player with all its processes, may have at play and under attack."""
ATTACKED = """
import asyncio, json, sys
import herbrand
sys.path.insert(0, sys.argv[2])
from hostile import GAME, harass_manager
from herbrand.match.protocol.manager import Manager, MatchSettings
from herbrand.runtime.memory import peak_megabytes
from herbrand.match.records import Store
from herbrand.match.records.recorder import Recorder

game = herbrand.loads(GAME)
game.initial_state().legal_moves()  # the network is no matter of the clocks
with Store(sys.argv[1]) as store:
    manager = Manager(game, MatchSettings(start_clock=10, play_clock=1, grace=1.0, seed=1))
    async def harass():
        await harass_manager(manager, listener=Recorder(store))
        await asyncio.sleep(0.1)
        assert len(asyncio.all_tasks()) == 1, asyncio.all_tasks()  # no bad player is left

    asyncio.run(harass())
print(peak_megabytes())
"""
"""A manager that meets all bad players, and tells how much memory it had."""


def test_there_are_many_cases() -> None:
    """At least forty on each side."""
    assert len(PLAYERS) >= 40
    assert len(MANAGERS) >= 40


def test_bad_players_cannot_stop_a_match_or_hurt_the_other_side(tmp_path: Path) -> None:
    """All misbehave at once: each match ends in time, the problem is on record, the honest side unharmed, memory bounded."""
    path = tmp_path / "bad.db"
    started = time.monotonic()
    run = subprocess.run(
        [sys.executable, "-c", ATTACKED, str(path), str(BENCHMARKS)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert time.monotonic() - started < 400  # a minute on a quiet machine
    assert float(run.stdout) < LARGEST
    verifier = Verifier()
    with Store(path, create=False) as store:
        for number, (name, bad) in enumerate(PLAYERS.items(), 1):
            record = store.load(f"bad.{number}")
            assert record.status == "completed", name
            assert {problem.role for problem in record.problems} == {"a"}, (name, record.problems)
            assert {problem.kind for problem in record.problems} <= bad.kinds, (name, record.problems)
            assert all(len(problem.note) < 1000 for problem in record.problems), name
            assert all(moves[1] == "left" for moves in record.moves), name
            assert verifier.verify(record) == [], name
        assert len(store.ids()) == len(PLAYERS)
        longest = store.connection.execute("SELECT max(length(reply)) FROM message").fetchone()[0]
        assert longest <= 64 * 1024


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
def test_bad_managers_cannot_take_a_player_down(player_process: Any, tree_memory: Any) -> None:
    """While all attack, INFO is answered and an honest manager's matches have no problem; it stays small; all is logged."""
    with player_process("random", "--matches", "50") as (port, pid, log):
        report = asyncio.run(harass_player("127.0.0.1", port, at_once=8, patience=20))
        honest = report.pop("honest")
        assert honest["matches"] == honest["complete"] >= 3
        assert honest["problems"] == []
        slow = {name: row for name, row in report.items() if row["info_seconds"] is None}
        assert slow == {}
        assert set(report) == set(MANAGERS)
        assert tree_memory(pid) < LARGEST
        refused = log.read_text(encoding="utf-8")
        for reason in (
            "1000000000 bytes announced",
            "not an HTTP request",
            "chunk without a length",
            "not playable",
            "a message is one list in parentheses",
            "is not a number of seconds or steps",
        ):
            assert reason in refused, reason


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
@pytest.mark.parametrize("player", ["random", "mcts"])
def test_large_games_do_not_make_a_player_large(player: str, player_process: Any, tree_memory: Any) -> None:
    """Chess, and 13 million derived atoms: answers are in time, memory is bounded."""
    chess = Manager(herbrand.load("chess")).rules
    objects = " ".join(f"(d {number})" for number in range(60))
    wide = (
        f"(role a) (init (at 0)) {objects} (<= (p ?w ?x ?y ?z) (d ?w) (d ?x) (d ?y) (d ?z))"
        " (<= (legal a (go ?w ?z)) (p ?w ?x ?y ?z)) (<= (next ?f) (true ?f)) (<= terminal (true (at 1)))"
        " (<= (goal a 0) (true (at 0)))"
    )
    with player_process(player) as (port, pid, _):
        for rules, role, answers in ((chess, "white", ("ready",)), (wide, "a", ("ready", "busy"))):
            started = time.monotonic()
            assert said(port, f"(START m {role} ({rules}) 30 5)") in answers
            assert time.monotonic() - started < 30
            for _ in range(2 if rules is chess else 0):
                started = time.monotonic()
                assert said(port, "(PLAY m NIL)").startswith("( move ")
                assert time.monotonic() - started < 5
            said(port, "(ABORT m)")
        assert tree_memory(pid) < LARGEST


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
def test_a_player_that_searches_stays_small(player_process: Any, tree_memory: Any) -> None:
    """Its search and the trees of several matches, which nobody ends, are within the bound."""
    matches = [
        (f"{name}{number}", herbrand.load(name))
        for name in ("connectFour", "checkers")
        for number in range(2)
    ]

    async def play(port: int) -> None:
        """Ask for a move in all matches at once."""
        for match, game in matches:
            start = f"(START {match} {game.roles[0]} ({Manager(game).rules}) 10 1)"
            assert await answer(port, start) == "ready"
        moves = await asyncio.gather(*(answer(port, f"(PLAY {match} NIL)") for match, _ in matches))
        assert "nil" not in moves

    with player_process("mcts(threads=1)", "--matches", "4") as (port, pid, log):
        asyncio.run(play(port))
        assert tree_memory(pid) < LARGEST
        assert "late" not in log.read_text(encoding="utf-8")


async def answer(port: int, text: str) -> str:
    """What a player answers."""
    data = write_request(text, host="localhost", receiver="ME")
    return (await send("127.0.0.1", port, data, seconds=60)).partition("\r\n\r\n")[2]


def said(port: int, text: str) -> str:
    """What a player answers, while nobody else is asked."""
    return asyncio.run(answer(port, text))


def test_connections_in_a_rush_are_turned_away_and_later_let_in_again() -> None:
    """One address may make so many connections a second; others, and the same one later, are served."""

    async def run() -> None:
        refused: list[str] = []
        server = PlayerServer(
            lambda: make_player("random"),
            port=0,
            rate=5,
            listener=lambda event: refused.append(event.data["reason"]) if event.kind == "refused" else None,
        )
        async with server:
            asked = (send("127.0.0.1", server.port, b"GET /(info) HTTP/1.0\r\n\r\n") for _ in range(60))
            answers = await asyncio.gather(*asked)  # at once, however slow the machine is
            served = sum(1 for answer in answers if "available" in answer)
            assert 20 <= served < 60
            assert "" in answers
            assert any("short time" in reason for reason in refused)
            await asyncio.sleep(1.0)
            assert "available" in await send("127.0.0.1", server.port, b"GET /(info) HTTP/1.0\r\n\r\n")

    asyncio.run(run())

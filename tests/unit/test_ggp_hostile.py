"""Peers that keep to nothing: whatever they do, matches go on, memory is bounded, and each case is on record."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import herbrand
from herbrand.ggp.hostile import GAME, MANAGERS, PLAYERS, harass_manager, harass_player, send
from herbrand.ggp.manager import Manager, Settings
from herbrand.ggp.server import PlayerServer
from herbrand.play import make_player
from herbrand.records import Store
from herbrand.records.recorder import Recorder
from herbrand.records.verifier import Verifier

LARGEST = 300
"""Megabytes that a manager may have under attack."""
LARGEST_PLAYER = 360
"""The same for a player, which keeps the networks of games and the compiled code that walks them: 175 MB for one match."""


def test_there_are_many_cases() -> None:
    """At least forty on each side."""
    assert len(PLAYERS) >= 40
    assert len(MANAGERS) >= 40


def test_bad_players_cannot_stop_a_match_or_hurt_the_other_side(tmp_path: Path) -> None:
    """All misbehave at once; each match ends in time, with the problem on record and the honest side unharmed."""
    settings = Settings(start_clock=30, play_clock=3, grace=0.5, seed=1)
    started = time.monotonic()
    with Store(tmp_path / "bad.db") as store:
        manager = Manager(herbrand.loads(GAME), settings)
        matches = asyncio.run(harass_manager(manager, listener=Recorder(store)))
        assert time.monotonic() - started < 90
        for number, (name, match) in enumerate(matches.items(), 1):
            assert match.is_complete, name
            assert {problem.role for problem in match.problems} == {"a"}, (name, match.problems)
            assert {problem.kind for problem in match.problems} <= PLAYERS[name].kinds, (name, match.problems)
            assert all(len(problem.note) < 1000 for problem in match.problems), name
            assert all(moves[1] == "left" for moves in match.moves), name
            record = store.load(f"bad.{number}")
            assert record.problems == match.problems, name
            assert Verifier().verify(record) == [], name
        assert len(store.ids()) == len(PLAYERS)
        longest = store.connection.execute("SELECT max(length(reply)) FROM message").fetchone()[0]
        assert longest <= 64 * 1024


@pytest.fixture(scope="module")
def compiled() -> None:
    """The kernels were compiled before and are on disk: a compiler needs memory once, whoever attacks."""
    words = [
        "match",
        "rockPaperScissors",
        "--player",
        "montecarlo",
        "--start-clock",
        "60",
        "--play-clock",
        "1",
    ]
    subprocess.run([sys.executable, "-m", "herbrand", *words], capture_output=True, timeout=300, check=False)
    run = [
        sys.executable,
        "-m",
        "herbrand",
        "match",
        "ticTacToe",
        "--player",
        "random",
        "--start-clock",
        "60",
    ]
    subprocess.run(run, capture_output=True, timeout=300, check=False)


@pytest.mark.usefixtures("compiled")
def test_a_manager_under_attack_stays_small() -> None:
    """In a process of its own the manager has less than 300 MB at any time, and survives all."""
    run = subprocess.run(
        [sys.executable, "-m", "herbrand.ggp.hostile"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr.strip().endswith("all survived")
    assert json.loads(run.stdout)["memory"]["megabytes"] < LARGEST


@pytest.mark.usefixtures("compiled")
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc")
def test_bad_managers_cannot_take_a_player_down(tmp_path: Path) -> None:
    """While all attack, INFO is answered and an honest manager's matches have no problem; it stays small; all is logged."""
    log = tmp_path / "player.log"
    words = [
        sys.executable,
        "-m",
        "herbrand",
        "player",
        "--port",
        "0",
        "--player",
        "random",
        "--matches",
        "50",
    ]
    with log.open("w") as file:
        process = subprocess.Popen(words, stderr=file, env={**os.environ, "NO_COLOR": "1"})
    try:
        port = None
        for _ in range(300):
            if port := re.search(r":(\d+);", log.read_text(encoding="utf-8")):
                break
            time.sleep(0.1)
        assert port is not None
        report = asyncio.run(harass_player("127.0.0.1", int(port[1]), at_once=4, patience=20))
        honest = report.pop("honest")
        assert honest["matches"] == honest["complete"] >= 3
        assert honest["problems"] == []
        slow = {name: row for name, row in report.items() if row["info_seconds"] is None}
        assert slow == {}
        assert set(report) == set(MANAGERS)
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        memory = re.search(r"VmHWM:\s+(\d+)", status)
        assert memory is not None
        assert int(memory[1]) < LARGEST_PLAYER * 1024
        refused = log.read_text(encoding="utf-8")
        for reason in (
            "1000000000 bytes announced",
            "no HTTP",
            "a chunk without a length",
            "this cannot be played",
            "a message is one list in parentheses",
            "is no number of seconds or steps",
        ):
            assert reason in refused, reason
    finally:
        process.terminate()
        process.wait(timeout=20)


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
            answers = [
                await send("127.0.0.1", server.port, b"GET /(info) HTTP/1.0\r\n\r\n") for _ in range(60)
            ]
            served = sum(1 for answer in answers if "available" in answer)
            assert 20 <= served < 60
            assert answers[-1] == "" or served > 30
            assert any("short time" in reason for reason in refused)
            await asyncio.sleep(1.0)
            assert "available" in await send("127.0.0.1", server.port, b"GET /(info) HTTP/1.0\r\n\r\n")

    asyncio.run(run())

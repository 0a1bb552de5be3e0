"""Measure whether a player answers in time on a machine that is busy with other things.

    HERBRAND_CORPUS=FOLDER python benchmarks/loaded.py [--games N] [--load N] [--clock S] [--steps N]
                                                       [--player NAME] [--json FILE]

The largest sheets of the collection are played, each against random moves, by a fresh `herbrand player` (so
that the first moves are cold) beside `--load` processes that compute without end.  A reply is late by the
time between the end of its clock and the arrival of its last byte; a move is illegal if the rules say so.  A
START that is answered by something other than `ready` counts as a problem.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hostile import send

import herbrand
from herbrand.errors import HerbrandError
from herbrand.match.protocol.http import write_request
from herbrand.match.protocol.manager import Manager
from herbrand.match.protocol.processes import parse_port, player_command

_BUSY = "while True: pass"


def largest(folder: Path, number: int) -> list[Path]:
    """Return the largest sheets that can be played."""
    found = []
    for path in sorted((folder / "rulesheets").glob("*.kif"), key=lambda path: -path.stat().st_size):
        game = herbrand.load(path)
        if not game.rules.errors and game.players and not game.has_percepts:
            found.append(path)
        if len(found) == number:
            break
    return found


async def timed(port: int, text: str, clock: float) -> tuple[str, float]:
    """Return the answer to a message, and how late it was; negative if it was early."""
    data = write_request(text, host="localhost", receiver="player")
    started = time.monotonic()
    answer = await send("127.0.0.1", port, data, seconds=clock + 30)
    return answer.partition("\r\n\r\n")[2], time.monotonic() - started - clock


async def play(port: int, path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Play some steps of a game and return what the player did."""
    game = herbrand.load(path)
    chance = random.Random(1)
    role, rules, clock = game.players[0], Manager(game).rules, options.clock
    late, problems, illegal = [], [], 0
    reply, lateness = await timed(port, f"(START m {role} ({rules}) {clock} {clock})", clock)
    late.append(lateness)
    if reply != "ready":
        problems.append(f"START: {reply}")
    state, moves = game.initial_state("rules"), "NIL"
    for step in range(options.steps):
        if state.is_terminal:
            break
        reply, lateness = await timed(port, f"(PLAY m {moves})", clock)
        late.append(lateness)
        joint = state.random_joint_move(chance)
        try:
            is_legal = state.is_legal(role, reply)
        except HerbrandError:
            is_legal = False
        if is_legal:
            joint = {**joint, role: reply}
        else:
            illegal += 1
            problems.append(f"step {step + 1}: {reply[:100]}")
        state = state.next(joint)
        moves = f"({' '.join(str(joint[name]) for name in game.roles)})"
    return {
        "game": path.stem,
        "replies": len(late),
        "latest_ms": round(1000 * max(late), 1),
        "late": sum(1 for lateness in late if lateness > 0.05),
        "illegal": illegal,
        "problems": problems,
    }


def measure(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Play a game with a player of its own."""
    with tempfile.TemporaryFile("w+") as log:
        words = player_command(options.player, "--seed", "1")
        process = subprocess.Popen(words, stderr=log, env={**os.environ, "NO_COLOR": "1"})  # noqa: S603  # ours
        try:
            port = None
            while port is None and process.poll() is None:
                time.sleep(0.01)
                log.seek(0)
                port = parse_port(log.readline())
            if port is None:
                raise SystemExit("the player ended at once")
            return asyncio.run(play(port, path, options))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--load", type=int, default=8)
    parser.add_argument("--clock", type=int, default=4)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--player", default="mcts")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = os.environ.get("HERBRAND_CORPUS")
    if folder is None:
        parser.error("set HERBRAND_CORPUS to the folder that has rulesheets/")
    sheets = largest(Path(folder), options.games)
    words = [sys.executable, "-c", _BUSY]
    busy = [subprocess.Popen(words) for _ in range(options.load)]  # noqa: S603  # our own interpreter
    rows = []
    try:
        for path in sheets:
            rows.append(measure(path, options))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    finally:
        for process in busy:
            process.kill()
    report = {
        "player": options.player,
        "clock": options.clock,
        "load": options.load,
        "processors": os.cpu_count(),
        "replies": sum(row["replies"] for row in rows),
        "latest_ms": max(row["latest_ms"] for row in rows),
        "late": sum(row["late"] for row in rows),
        "illegal": sum(row["illegal"] for row in rows),
        "games": rows,
    }
    text = json.dumps(report, indent=1)
    print(text)
    if options.json is not None:
        options.json.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

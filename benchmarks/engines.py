"""Measure how fast each engine evaluates single states: rules, network, Prolog, answer sets.

    python benchmarks/engines.py FOLDER [--only NAME...] [--engines A,B,...] [--seconds S] [--budget S]
                                 [--json FILE] [--markdown FILE]

Random games are played state by state from Python: each step evaluates the legal moves of every role and
the end, at the end the goals, and makes a joint move.  Speeds are steps per second of processor time,
including child processes (swipl, clingo); `ready_s` is the wall-clock time until the first state was ready.
Every sheet and engine has a process of its own; an engine that needs more than `--budget` seconds to be
ready, or for one query, is left out with the reason.
Without a folder the JSON of an earlier run is read.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import herbrand
from herbrand.errors import HerbrandError
from herbrand.runtime.limits import Limits

SHEETS = (
    *("ticTacToe", "connectFour", "breakthrough", "reversi", "pentago", "speedChess", "hex", "skirmish"),
    *(
        "checkers",
        "chess",
        "tron_10x10",
        "eightPuzzle",
        "chineseCheckers6",
        "knightsTourLarge",
        "lightsOnParallel",
    ),
)
ENGINES = ("rules", "network", "prolog", "asp")


def _cpu(pids: list[int]) -> float:
    """Return the processor seconds of this process and of children that still run (Linux)."""
    ticks = os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def one(file: Path, name: str, seconds: float, budget: float) -> dict[str, Any]:
    """Measure one engine on one sheet."""
    started = time.monotonic()
    game = herbrand.load(file, limits=Limits(seconds=budget))
    first = game.initial_state(name)
    _ = first.legal_moves(), first.is_terminal, first.goals
    ready = time.monotonic() - started
    child = getattr(game.engine_object(name), "_child", None)
    pids = [child._process.pid] if child is not None else []
    chance = random.Random(1)
    steps = games = 0
    begun, deadline = _cpu(pids), time.monotonic() + 6 * seconds
    spent = 0.0
    state = first
    while spent < seconds and time.monotonic() < deadline:
        legal = state.legal_moves()
        if state.is_terminal or not all(legal.values()):
            _ = state.goals
            state, games = first, games + 1
        else:
            state = state.next([chance.choice(moves) for moves in legal.values()])
            steps += 1
        spent = _cpu(pids) - begun
    return {"ready_s": ready, "cpu_s": spent, "steps": steps, "games": games, "steps_per_s": steps / spent}


def run(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure all engines on the sheets, each in a process of its own."""
    rows = []
    for sheet in options.only or SHEETS:
        row: dict[str, Any] = {"game": sheet}
        for engine in options.engines.split(","):
            command = [sys.executable, __file__, "--one", str(folder / f"{sheet}.kif"), "--engine", engine]
            command += ["--seconds", str(options.seconds), "--budget", str(options.budget)]
            child = subprocess.Popen(  # noqa: S603  # ourselves
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
            )
            try:
                output, errors = child.communicate(timeout=3 * options.budget + 10 * options.seconds + 30)
                row[engine] = json.loads(output) if output else {"reason": errors.strip().splitlines()[-1]}
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.communicate()
                row[engine] = {"reason": "took too long"}
            print(sheet, engine, row[engine], file=sys.stderr, flush=True)
        rows.append(row)
    report = {"machine": platform.platform(), "python": platform.python_version(), "games": rows}
    Path(options.json).write_text(json.dumps(report, indent=1), encoding="utf-8")
    return report


def markdown(report: dict[str, Any]) -> str:
    """Return the table of a report."""
    engines = [name for name in ENGINES if any(name in row for row in report["games"])]
    heads = " | ".join(engines)
    ready = " | ".join(f"ready {name} s" for name in engines)
    lines = [f"| game | {heads} | {ready} |", "|---|" + "---:|" * (2 * len(engines))]
    for row in report["games"]:
        speeds, times = [], []
        for engine in engines:
            measurement = row.get(engine, {})
            if "steps_per_s" in measurement:
                speed = measurement["steps_per_s"]
                speeds.append(f"{speed:,.0f}".replace(",", " ") if speed >= 10 else f"{speed:.2g}")
                times.append(f"{measurement['ready_s']:.1f}")
            else:
                speeds.append("–")
                times.append("–")
        lines.append(f"| {row['game']} | {' | '.join(speeds)} | {' | '.join(times)} |")
    reasons = [
        f"- {row['game']}, {engine}: {row[engine]['reason']}"
        for row in report["games"]
        for engine in engines
        if "reason" in row.get(engine, {})
    ]
    return "\n".join([*lines, "", *reasons]).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--json", default="engines.json")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    if options.one is not None:
        try:
            print(json.dumps(one(options.one, options.engine, options.seconds, options.budget)))
        except HerbrandError as error:
            print(str(error), file=sys.stderr)
        return
    if options.folder is not None:
        report = run(options.folder, options)
    else:
        report = json.loads(Path(options.json).read_text(encoding="utf-8"))
    if options.markdown is not None:
        options.markdown.write_text(markdown(report), encoding="utf-8")


if __name__ == "__main__":
    main()

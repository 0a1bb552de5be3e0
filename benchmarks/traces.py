"""Replay every recorded match of the outside collection on the rules engine, and time random games.

    python benchmarks/traces.py [FOLDER] [--only NAME ...] [--seconds S] [--json | --markdown]

FOLDER has `rulesheets/` and `traces/`; its default is the environment variable HERBRAND_CORPUS.  For
each sheet it reports states compared, processor seconds, states a second, and remarks.
Then random playouts by the same engine, next to the figures of the reference Java prover.
`--markdown` writes the page docs/reference/traces.md.  Exits with 1 when a trace does not agree.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any, Final

import herbrand
from herbrand.runtime.limits import Limits
from herbrand.verify import verify_trace

PROVER: Final = {
    "ticTacToe": 3540,
    "connectFour": 1171,
    "breakthrough": 584,
    "checkers": 226,
    "reversi": 19,
    "chess": 18,
}
"""Transitions a second of random playouts by the reference Java prover (ggp-base), one core."""

SLOWEST: Final = 20
"""How many sheets the page lists."""


def replay(folder: Path, name: str) -> dict[str, Any]:
    """Replay one trace; a failure of any kind becomes a remark."""
    row: dict[str, Any] = {"game": name, "ok": False, "states": 0, "ready_s": 0.0, "cpu_s": 0.0}
    started = time.process_time()
    try:
        game = herbrand.load(folder / "rulesheets" / f"{name}.kif", limits=Limits(seconds=600))
        game.initial_state("rules")
        row["ready_s"] = round(time.process_time() - started, 4)
        report = verify_trace(game, folder / "traces" / f"{name}.jsonl.gz", engine="rules")
    except Exception as error:  # noqa: BLE001  # one sheet must not stop the others
        return {**row, "states_per_s": None, "remarks": [f"{type(error).__name__}: {error}"]}
    remarks = list(report.remarks)
    if report.difference is not None:
        remarks.append(" ".join(str(report.difference).split()))
    speed = round(report.states / report.seconds, 1) if report.seconds else None
    return {
        **row,
        "ok": report.ok,
        "states": report.states,
        "cpu_s": round(report.seconds, 4),
        "states_per_s": speed,
        "remarks": remarks,
    }


def playouts(folder: Path, name: str, seconds: float) -> dict[str, Any]:
    """Play random games of one sheet for so many seconds."""
    game = herbrand.load(folder / "rulesheets" / f"{name}.kif")
    played = game.simulate(10**9, seed=1, engine="rules", limits=Limits(seconds=seconds, atoms=2**62))
    return {
        "game": name,
        "transitions": played.transitions,
        "cpu_s": round(played.seconds, 3),
        "transitions_per_s": round(played.transitions / played.seconds, 1),
        "prover_transitions_per_s": PROVER[name],
    }


def number(value: float) -> str:
    """Write a number with thin groups and as many digits as mean something."""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}" if value >= 1 else f"{value:.2f}"


def text(result: dict[str, Any]) -> str:
    """Lay out everything, one line a sheet."""
    lines = [f"{'sheet':36}{'states':>7}{'CPU s':>9}{'states/s':>10}  remark"]
    for row in result["traces"]:
        mark = "" if row["ok"] else "DIFFERS "
        speed = "-" if row["states_per_s"] is None else number(row["states_per_s"])
        tail = f"  {mark}{'; '.join(row['remarks'])}".rstrip()
        lines.append(f"{row['game']:36}{row['states']:7}{row['cpu_s']:9.3f}{speed:>10}{tail}")
    lines += ["", "{agree} of {sheets} traces agree, {states} states in {cpu_s} s".format_map(result)]
    for row in result["playouts"]:
        ours, theirs = row["transitions_per_s"], row["prover_transitions_per_s"]
        lines.append(f"{row['game']:14}{number(ours):>10} transitions/s, prover {theirs}")
    return "\n".join(lines)


def markdown(result: dict[str, Any]) -> str:
    """Write the page."""
    rows = result["traces"]
    rates = sorted(row["states_per_s"] for row in rows if row["states_per_s"])
    slow = sorted(rows, key=lambda row: -row["cpu_s"])[:SLOWEST]
    lines = [
        "# Recorded matches replayed",
        "",
        "Written by `python benchmarks/traces.py --markdown`; do not edit.",
        "",
        "This page compares herbrand with the reference Java prover on recorded matches. The outside",
        "collection has rulesheets and, for each, random matches that the Java prover played. Every state",
        "of every match is compared with the result of the rules engine: the facts, the legal moves of each",
        "role, whether the game is over, and the goals. Times are processor seconds of one core, without",
        "reading and preparing the rules",
        f"({number(result['ready_s'])} s for all sheets together).",
        f"Measured with Python {result['python']} on {result['machine']}.",
        "",
        "| measure | number |",
        "|---|---|",
        f"| traces that agree | {result['agree']} of {result['sheets']} |",
        f"| states compared | {number(result['states'])} |",
        f"| time | {number(result['cpu_s'])} s |",
        f"| states a second, median sheet | {number(rates[len(rates) // 2])} |",
        f"| states a second, one sheet in twenty is slower than | {number(rates[len(rates) // 20])} |",
    ]
    remarked = [(row["game"], remark) for row in rows for remark in row["remarks"]]
    if remarked:
        lines += ["", "## Remarks", "", "| sheet | remark |", "|---|---|"]
        lines += [f"| {game} | {remark.replace('|', chr(92) + '|')} |" for game, remark in remarked]
        if any("compared with case" in remark for _, remark in remarked):
            lines += [
                "",
                "GDL compares names without case; the recording system told `a` from `A`. Where a sheet",
                "mixes the two, `herbrand.verify` tries that reading too before it reports a difference.",
            ]
    lines += [
        "",
        f"## The {len(slow)} that took longest",
        "",
        "| sheet | states | CPU s | states/s |",
        "|---|--:|--:|--:|",
    ]
    for row in slow:
        speed = "-" if row["states_per_s"] is None else number(row["states_per_s"])
        lines.append(f"| {row['game']} | {row['states']} | {number(row['cpu_s'])} | {speed} |")
    if result["playouts"]:
        lines += [
            "",
            "## Random games",
            "",
            'Random playouts by the same engine, `game.simulate(engine="rules")`, in transitions a second,',
            "next to the published figures of the reference Java prover (ggp-base) on the same sheets.",
            "",
            "| sheet | rules engine | Java prover | ratio |",
            "|---|--:|--:|--:|",
        ]
        for row in result["playouts"]:
            ours, theirs = row["transitions_per_s"], row["prover_transitions_per_s"]
            lines.append(f"| {row['game']} | {number(ours)} | {number(theirs)} | {number(ours / theirs)} |")
    return "\n".join(lines)


def machine() -> str:
    """Name the processor."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Replay the recorded matches and time random games.")
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("HERBRAND_CORPUS"))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="replay only these sheets")
    parser.add_argument("--seconds", type=float, default=5, help="of random games a sheet; 0: none")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.folder is None or not (Path(options.folder) / "traces").is_dir():
        print("no collection: name its folder, or set HERBRAND_CORPUS", file=sys.stderr)
        return 2
    folder = Path(options.folder)
    names = sorted(file.name.removesuffix(".jsonl.gz") for file in (folder / "traces").glob("*.jsonl.gz"))
    if options.only:
        names = [name for name in names if name in options.only]
    if not names:
        print(f"no traces in {folder}", file=sys.stderr)
        return 2
    rows = []
    for done, name in enumerate(names, start=1):
        rows.append(replay(folder, name))
        if sys.stderr.isatty():
            print(f"\r{done}/{len(names)} {name:40}", end="", file=sys.stderr, flush=True)
        gc.collect()
    timed = [name for name in PROVER if name in names] if options.seconds > 0 else []
    result: dict[str, Any] = {
        "sheets": len(rows),
        "agree": sum(row["ok"] for row in rows),
        "states": sum(row["states"] for row in rows),
        "ready_s": round(math.fsum(row["ready_s"] for row in rows), 2),
        "cpu_s": round(math.fsum(row["cpu_s"] for row in rows), 2),
        "python": platform.python_version(),
        "machine": machine(),
        "traces": rows,
        "playouts": [playouts(folder, name, options.seconds) for name in timed],
    }
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(markdown(result) if options.markdown else text(result))
    return 0 if result["agree"] == result["sheets"] else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Compare this version with another one: steps of random games per second of processor time.

    python benchmarks/editions.py OTHER [--corpus FOLDER] [--seconds S] [--rounds N] [--only NAME...]
                                  [--json FILE]

OTHER is the Python of an environment in which the other version is installed: `first/venv/bin/python`.
Each game is played by both in turn, round after round; what counts of each is its best round, because the
clock of a shared machine changes and other programs only ever slow a game down.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

SHEETS = (
    "ticTacToe", "connectFour", "breakthrough", "checkers", "pentago", "reversi", "hex", "amazons_8x8",
    "speedChess", "skirmish",
)  # fmt: skip
BUNDLED = ("chess", "connectFour", "breakthrough", "checkers", "reversi", "hex")


def other_python(python: str, *arguments: str) -> list[str]:
    """Return the command that runs the Python of a version: what ours is imported from must not hide it."""
    return [python, *(() if python == sys.executable else ("-E",)), *arguments]


def bench(python: str, game: str, seconds: float) -> dict[str, Any]:
    """Let a version play a game."""
    command = other_python(python, "-m", "herbrand", "bench", game, "--json", "--seconds", str(seconds))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)  # noqa: S603  # the caller names them
    if done.returncode:
        raise SystemExit(f"{python} cannot play {game}: {done.stderr.strip()}")
    measurement: dict[str, Any] = json.loads(done.stdout)[0]
    return measurement


def processor() -> str:
    """Return what the processor is called."""
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    """Measure, print a table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", help="the Python of the other version's environment")
    parser.add_argument("--corpus", type=Path, help="folder with public rulesheets")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    games = [(name, name) for name in BUNDLED]
    if options.corpus:
        games = [(f"{name}.kif", str(options.corpus / f"{name}.kif")) for name in SHEETS] + games
    results = []
    print(f"{processor()}; millions of steps a second of processor time")
    print(f"{'game':18} {'ours':>9} {'other':>9} {'ratio':>6} {'of peak':>8}", flush=True)
    for name, path in games:
        if options.only and name.removesuffix(".kif") not in options.only:
            continue
        rounds: dict[str, list[dict[str, Any]]] = {"ours": [], "other": []}
        for _ in range(options.rounds):
            for who, python in (("ours", sys.executable), ("other", options.other)):
                rounds[who].append(bench(python, path, options.seconds))
        speeds = {who: [run["transitions_per_s"] for run in all_] for who, all_ in rounds.items()}
        ratio = max(speeds["ours"]) / max(speeds["other"])
        share = max(run["efficiency"] or 0 for run in rounds["ours"])
        results.append(
            {
                "game": name,
                **{who: max(run) for who, run in speeds.items()},
                "ratio": ratio,
                "efficiency": share,
                "ready_s": min(run["compile_s"] for run in rounds["ours"]),
                "nodes": rounds["ours"][0]["nodes"],
            }
        )
        best = {who: max(run) / 1e6 for who, run in speeds.items()}
        print(
            f"{name:18} {best['ours']:9.2f} {best['other']:9.2f} {ratio:6.2f} {100 * share:7.1f}%", flush=True
        )
    if options.json:
        options.json.write_text(json.dumps({"processor": processor(), "games": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""Measure batched random play on one core: steps per second of processor time.

    python benchmarks/speed.py [--corpus FOLDER] [--seconds S] [--only NAME...] [--json]

It measures the bundled games and, given a folder of public rulesheets, the ten games for which other
systems have published speeds.  Compare two runs with `compare.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import herbrand
from herbrand import games
from herbrand.cli.bench import bench
from herbrand.errors import HerbrandError

PUBLISHED = (
    "ticTacToe", "connectFour", "breakthrough", "reversi", "pentago", "speedChess", "amazons_8x8", "hex",
    "skirmish", "checkers",
)  # fmt: skip


def processor() -> str:
    """Name the processor and count its cores."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return f"{model}, {os.cpu_count()} cores"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure batched random play on one core.")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="folder with the public rulesheets")
    parser.add_argument("--seconds", type=float, default=3.0, help="processor seconds for each game")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these games")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.seconds > 0:
        parser.error("--seconds must be positive")
    files = [("bundled", name) for name in games.names()]
    if options.corpus is not None:
        sheets = [options.corpus / f"{name}.kif" for name in PUBLISHED]
        missing = [str(sheet) for sheet in sheets if not sheet.is_file()]
        if missing:
            parser.error(f"not there: {', '.join(missing)}")
        files = [("corpus", str(sheet)) for sheet in sheets] + files
    rows: list[dict[str, Any]] = []
    failed = 0
    for collection, file in files:
        if options.only and Path(file).stem not in options.only:
            continue
        try:
            row = bench(herbrand.load(file), engine="auto", seconds=options.seconds)
        except HerbrandError as error:
            print(f"error: {file}: {error}", file=sys.stderr)
            failed += 1
            continue
        rows.append({"collection": collection, **row})
        if not options.json:
            print(
                f"{collection:8} {row['game']:20} {row['engine']:8} {row['lanes']:>5} lanes "
                f"{row['nodes'] or 0:>8} nodes  ready {row['ready_s']:6.2f} s "
                f"{row['transitions_per_s']:>14,.0f} steps/s {row['playouts_per_s']:>13,.0f} playouts/s",
                flush=True,
            )
    if options.json:
        about = {
            "processor": processor(),
            "python": platform.python_version(),
            "herbrand": herbrand.__version__,
            "seconds": options.seconds,
        }
        print(json.dumps({**about, "rows": rows}, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Measure the reader of prefix notation: megabytes per second of CPU time, over a folder of sheets.

    python benchmarks/reading.py FOLDER [--repeat N] [--json]

Times are the best of N runs over the whole folder; reading includes locations, comments and
diagnostics.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from herbrand.diagnostic import Source
from herbrand.syntax.reader import read_prefix


def measure(files: list[Path], repeat: int) -> dict[str, object]:
    """Read all files `repeat` times and return sizes and the best time."""
    texts = [(file.name, file.read_bytes()) for file in files]
    sources = [(name, data.decode("utf-8", errors="replace"), len(data)) for name, data in texts]
    best = float("inf")
    slowest: tuple[float, str] = (0.0, "")
    statements = findings = 0
    for _ in range(repeat):
        statements = findings = 0
        total = 0.0
        slowest = (0.0, "")
        for name, text, _size in sources:
            started = time.process_time()
            tree = read_prefix(Source(text, name))
            spent = time.process_time() - started
            total += spent
            slowest = max(slowest, (spent, name))
            statements += len(tree.statements)
            findings += len(tree.diagnostics)
        best = min(best, total)
    size = sum(size for _, _, size in sources)
    return {
        "files": len(files),
        "bytes": size,
        "statements": statements,
        "findings": findings,
        "cpu_s": round(best, 4),
        "mb_per_s": round(size / best / 1e6, 3),
        "slowest": {"file": slowest[1], "cpu_s": round(slowest[0], 4)},
        "python": sys.version.split()[0],
    }


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure how fast prefix rulesheets are read.")
    parser.add_argument("folder", type=Path, help="folder with .kif files, searched below too")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    files = sorted(options.folder.rglob("*.kif"))
    if not files:
        print(f"no .kif files in {options.folder}", file=sys.stderr)
        return 2
    result = measure(files, max(options.repeat, 1))
    if options.json:
        print(json.dumps(result))
    else:
        print("{files} files, {bytes} bytes, {statements} statements".format_map(result))
        print("{cpu_s} s of CPU time, {mb_per_s} MB/s".format_map(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

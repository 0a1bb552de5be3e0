"""Count the reachable states of each rulesheet of a folder, and compare the first steps with exploring.

    python benchmarks/counting.py FOLDER [--only NAME...] [--seconds S] [--megabytes M] [--json FILE]
                                  [--unfinished] [--markdown FILE]

The smallest sheets come first.  After every sheet a line is added to the JSON Lines file; sheets that are in
it already are skipped.  `explored` is the number of states that listing them reached in a tenth of the time
(processor time), and `agrees` whether the steps that it finished have the same numbers.  `--unfinished`
leaves out sheets all of whose states are listed in that time.  `--markdown` writes a table of the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import herbrand
from herbrand.analyse import Budget, count_states, explore
from herbrand.errors import HerbrandError

ENDINGS = (".kif", ".gdl", ".ggd")
MOST_STATES = 20_000_000
"""States that are listed for the comparison."""


def measure(path: Path, seconds: float, megabytes: float, *, unfinished: bool = False) -> dict[str, Any]:
    """Count the states of a sheet, and list some."""
    try:
        game = herbrand.load(path)
        expander = game.expander
        clock, time.monotonic = time.monotonic, time.process_time  # budgets are read from this clock
        try:
            space = explore(expander, budget=Budget(seconds / 10, MOST_STATES, megabytes), edges=False)
        finally:
            time.monotonic = clock
        if space.complete and unfinished:
            return {"game": path.stem, "explored": len(space.states), "explored_all": True}
        counted = count_states(game, budget=Budget(seconds, megabytes=megabytes))
    except HerbrandError as error:
        return {"game": path.stem, "error": str(error)[:200]}
    levels = np.diff(space.levels).tolist()
    finished = len(levels) if space.complete else len(levels) - 1
    common = min(finished, len(counted.by_step))
    return {
        "game": path.stem,
        **counted.as_json(),
        "explored": len(space.states),
        "explored_all": space.complete,
        "compared": common,
        "agrees": list(counted.by_step[:common]) == levels[:common]
        and not (space.complete and counted.is_complete and len(levels) != len(counted.by_step)),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the complete counts that exploring did not finish as a table, the largest first."""
    new = [row for row in rows if row.get("complete") and not row["explored_all"]]
    lines = [
        "| game | states | steps | most nodes of a step | variables | seconds | steps compared |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(new, key=lambda row: -row["states"]):
        states = f"{row['states']:,}".replace(",", " ") if row["states"] < 10**15 else f"{row['states']:.4g}"
        lines.append(
            f"| {row['game']} | {states} | {len(row['by_step']) - 1} | {row['nodes']} | {row['variables']} "
            f"| {row['seconds']:.0f} | {row['compared']} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--megabytes", type=float, default=4000.0)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--unfinished", action="store_true")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    lines = options.json.read_text(encoding="utf-8").splitlines() if options.json.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {row["game"] for row in rows}
    sheets = [path for path in options.folder.iterdir() if path.suffix in ENDINGS and path.stem not in done]
    for path in sorted(sheets, key=lambda path: (path.stat().st_size, path.name)):
        if options.only and path.stem not in options.only:
            continue
        rows.append(measure(path, options.seconds, options.megabytes, unfinished=options.unfinished))
        with options.json.open("a", encoding="utf-8") as file:
            print(json.dumps(rows[-1]), file=file)
        shown = {key: value for key, value in rows[-1].items() if key != "by_step"}
        print(json.dumps(shown), file=sys.stderr, flush=True)
    if options.markdown is not None:
        options.markdown.write_text(table(rows), encoding="utf-8")
    wrong = [row["game"] for row in rows if row.get("agrees") is False]
    complete = sum(bool(row.get("complete")) for row in rows)
    print(json.dumps({"sheets": len(rows), "complete": complete, "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

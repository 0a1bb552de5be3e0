"""Count the reachable states of each rulesheet of a folder, and compare the first steps with exploring.

    python benchmarks/counting.py FOLDER [--only NAME...] [--seconds S] [--megabytes M] [--json FILE]
                                  [--unfinished] [--markdown FILE] [--steps FILE]

The smallest sheets come first.  After every sheet a line is added to the JSON Lines file; sheets that are in
it already are skipped.  `explored` is the number of states that listing them reached in a tenth of the time
(processor time), and `agrees` whether the steps that it finished have the same numbers.  `--unfinished`
leaves out sheets all of whose states are listed in that time.  `--markdown` writes a table of the others,
`--steps` their numbers of states by step.
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
        levels, is_complete = listed(game, seconds / 10, megabytes)
        row = {"game": path.stem, "explored": sum(levels), "explored_all": is_complete}
        finished = levels if is_complete else levels[:-1]
        if is_complete and unfinished:
            return row
        counted = count_states(game, budget=Budget(seconds, megabytes=megabytes))
    except HerbrandError as error:
        return {"game": path.stem, "error": str(error)[:200]}
    common = min(len(finished), len(counted.by_step))
    return {
        **row,
        **counted.as_json(),
        "listed": finished,
        "compared": common,
        "agrees": list(counted.by_step[:common]) == finished[:common]
        and not (is_complete and counted.is_complete and len(levels) != len(counted.by_step)),
    }


def listed(game: herbrand.Game, seconds: float, megabytes: float) -> tuple[list[int], bool]:
    """List states for some seconds of processor time; return how many each step adds, and if that is all."""
    expander = game.expander
    clock, time.monotonic = time.monotonic, time.process_time  # budgets are read from this clock
    try:
        space = explore(expander, budget=Budget(seconds, MOST_STATES, megabytes), edges=False)
    finally:
        time.monotonic = clock
    return np.diff(space.levels).tolist(), space.complete


def table(rows: list[dict[str, Any]]) -> str:
    """Return the counts of sheets that listing did not finish as a table: complete ones first."""
    lines = [
        "| game | states | after steps | counted by | compared | states listed | most nodes | variables |",
        "|---|---:|---:|---|---:|---:|---:|---:|",
    ]
    for row in unfinished(rows):
        steps = steps_of(row)
        states = f"{sum(steps):,}".replace(",", " ")
        by_diagrams = steps is row["by_step"]
        cells = (
            row["game"],
            states,
            f"all {len(steps) - 1}" if row["complete"] else f"0 to {len(steps) - 1}",
            "diagrams" if by_diagrams else "listing",
            row["compared"],
            f"{row['explored']:,}".replace(",", " "),
            row["nodes"] if by_diagrams else "-",
            row["variables"] or "-",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def unfinished(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of sheets that listing did not finish: complete counts first, large ones first."""
    new = [row for row in rows if row.get("explored_all") is False and len(steps_of(row)) > 1]
    return sorted(new, key=lambda row: (not row["complete"], -sum(steps_of(row))))


def steps_of(row: dict[str, Any]) -> list[int]:
    """Return the numbers of new states by step, from the way of counting that got further."""
    return max(row["by_step"], row.get("listed", []), key=len)


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
    parser.add_argument("--steps", type=Path)
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
    if options.steps is not None:
        lines = [
            json.dumps({"game": row["game"], "complete": row["complete"], "by_step": steps_of(row)})
            for row in unfinished(rows)
        ]
        options.steps.write_text("\n".join([*lines, ""]), encoding="utf-8")
    wrong = [row["game"] for row in rows if row.get("agrees") is False]
    complete = sum(bool(row.get("complete")) for row in rows)
    print(json.dumps({"sheets": len(rows), "complete": complete, "wrong": wrong}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

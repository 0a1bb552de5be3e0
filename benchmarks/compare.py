"""Compare two runs of `herbrand bench --json`, `benchmarks/speed.py --json` or `benchmarks/peers.py --json`.

    python benchmarks/compare.py BEFORE AFTER [--fail-below RATIO]

Writes one line per game: steps a second before and after, and their ratio; in runs of `peers.py` one for
each program that played it.  Other programs have not changed, so their distance from 1 shows the load of
the machine.  With --fail-below the exit status is 1 if the ratio of a game is lower.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any


def rows(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Read the rows of a run by collection and game; the last measurement of a game counts."""
    value = json.loads(file.read_text(encoding="utf-8"))
    entries = value["rows"] if isinstance(value, dict) else value
    return {(row.get("collection", ""), row["game"]): row for row in entries}


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Compare two measurements of speed.")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--fail-below", type=float, metavar="RATIO", default=0.0)
    options = parser.parse_args()
    try:
        before, after = rows(options.before), rows(options.after)
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"cannot read a measurement: {error}")
    common = [key for key in before if key in after]
    if not common:
        parser.error("the two measurements have no game in common")
    print(f"{'':12} {'game':20} {'before':>15} {'after':>15} {'ratio':>7}  engine")
    ratios: dict[str, list[float]] = {}
    for key in common:
        old, new = before[key], after[key]
        speeds = old["transitions_per_s"], new["transitions_per_s"]
        engine = new["engine"] if old["engine"] == new["engine"] else f"{old['engine']} -> {new['engine']}"
        shown = "-"
        if all(speeds):
            ratios.setdefault(key[0], []).append(speeds[1] / speeds[0])
            shown = f"{speeds[1] / speeds[0]:.2f}"
        print(f"{key[0]:12} {key[1]:20} {speeds[0]:>15,.0f} {speeds[1]:>15,.0f} {shown:>7}  {engine}")
    for collection, several in ratios.items():
        mean = math.exp(sum(map(math.log, several)) / len(several))
        print(f"{collection:12} {'geometric mean':20} {'':>15} {'':>15} {mean:7.2f}")
    for what, mine, other in (("before", before, after), ("after", after, before)):
        missing = [game for collection, game in mine if (collection, game) not in other]
        if missing:
            print(f"only {what}: {', '.join(missing)}")
    return 1 if any(ratio < options.fail_below for several in ratios.values() for ratio in several) else 0


if __name__ == "__main__":
    raise SystemExit(main())

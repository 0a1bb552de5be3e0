"""Measure the bundled games, for the table in docs/reference/measures.md and as the reference for novelty.

    python benchmarks/measures.py measure [GAME...] [--effort full] > measures.jsonl
    python benchmarks/measures.py table measures.jsonl
    python benchmarks/measures.py behaviour measures.jsonl > bundled.json

`measure` writes one line of JSON for each game, all bundled ones if none is named.  Novelty is that among the
other bundled games: a game is not compared with itself, nor with the same game in another notation.
`table` and `behaviour` keep what is known of games that the file does not have: the rows of the page, the
lines of src/herbrand/measure/bundled.json, which `behaviour` is to replace.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import herbrand
from herbrand import games
from herbrand.errors import HerbrandError
from herbrand.measure import EFFORTS, measure
from herbrand.measure.novelty import KnownGame, behaviour

COLUMNS = {
    "completion": "ends",
    "length": "steps",
    "branching": "moves",
    "balance": "balance",
    "draws": "draws",
    "first_mover": "first",
    "search_balance": "balance, searched",
    "search_draws": "draws, searched",
    "search_first_mover": "first, searched",
    "skill": "skill",
    "depth": "depth",
    "drama": "drama",
    "lead_change": "lead change",
    "uncertainty": "uncertainty",
    "economy": "economy",
}
"""The measures of the table and their headings."""
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "measures.md"
BUNDLED = ROOT / "src" / "herbrand" / "measure" / "bundled.json"
VARIANTS = ("ticTacToe", "connectFour", "nim", "rockPaperScissors")
"""Games that are bundled in several notations."""


def variant(name: str) -> str:
    """Return what several notations of one game have in common."""
    return next((game for game in VARIANTS if name.startswith(game)), name)


def measured(name: str, effort: str, everything: list[KnownGame], seed: int) -> dict[str, Any]:
    """Measure one bundled game."""
    others = [one for one in everything if variant(one.name) != variant(name)]
    try:
        measures = measure(herbrand.load(name), effort=effort, seed=seed, known=others)
    except HerbrandError as error:
        return {"game": name, "error": str(error)}
    return {**measures.as_json(), "game": name, "behaviour": behaviour(measures)}


def table(rows: list[dict[str, Any]]) -> str:
    """Lay the measures out as a table in Markdown."""
    head = f"| game | {' | '.join(COLUMNS.values())} |"
    _, _, after = PAGE.read_text(encoding="utf-8").partition(f"{head}\n")
    known = {name(line): line for line in after.partition("\n\n")[0].splitlines()[1:]}
    for row in rows:
        cells = [shown(row["measures"][name]) for name in COLUMNS] if "measures" in row else []
        notes = " ".join(row.get("notes", ()))
        marks = "*" * ("a large game" in notes) + "°" * ("something is hidden" in notes)
        known[row["game"]] = f"| {row['game']}{marks} | {' | '.join(cells)} |"
    return "\n".join(
        [head, f"|---|{'---:|' * len(COLUMNS)}", *(known[g] for g in sorted(known, key=str.lower))]
    )


def name(line: str) -> str:
    """Return the game of a line of the table."""
    return line.split("|")[1].strip().rstrip("*°")


def shown(one: dict[str, Any]) -> str:
    """Write a number: shares with two digits, others with one, a dash for none."""
    if one["value"] is None:
        return "–"
    if one["unit"] == "rungs":
        return f"{one['value']:.1f} ± {1.96 * one['standard_error']:.1f}"
    return f"{one['value']:.1f}" if one["unit"] in ("steps", "moves") else f"{one['value']:.2f}"


def main() -> None:
    """Measure games, or lay out what was measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=["measure", "table", "behaviour"])
    parser.add_argument("names", nargs="*", help="games, or a file of measures")
    parser.add_argument("--effort", choices=sorted(EFFORTS), default="full")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.task == "measure":
        everything = [KnownGame(name, herbrand.load(name)) for name in games.names()]
        for name in given.names or games.names():
            print(json.dumps(measured(name, given.effort, everything, given.seed)), flush=True)
        return
    lines = Path(given.names[0]).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    if given.task == "table":
        print(table(rows))
    else:
        values: dict[str, dict[str, float]] = json.loads(BUNDLED.read_text(encoding="utf-8"))
        values |= {row["game"]: row["behaviour"] for row in rows if "behaviour" in row}
        rounded = {name: {k: round(v, 4) for k, v in one.items()} for name, one in sorted(values.items())}
        json.dump(rounded, sys.stdout, indent=1)
        print()


if __name__ == "__main__":
    main()

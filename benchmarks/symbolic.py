"""Decide properties of many rulesheets symbolically, and lay out the verdicts as a table.

    python benchmarks/symbolic.py FOLDER --json results.jsonl --seconds 15 --properties playability
    python benchmarks/symbolic.py --json results.jsonl --markdown table.md

Each sheet is decided in a process of its own; sheets that are in the file already are skipped.
Certificates and witnesses are checked again; `checked` has the result.
"""

from __future__ import annotations

import argparse
import json
import time
from multiprocessing import Process
from pathlib import Path
from typing import TYPE_CHECKING, Any

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.proofs.symbolic import prove
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.analyse.verdict import Verdict

CLAIMS = {"playability": "stuck", "goals": "no goal", "weak_winnability": "win"}


def checked(game: herbrand.Game, name: str, verdict: Verdict) -> dict[str, Any]:
    """Check a verdict again; return it as plain values."""
    value = verdict.as_json()
    value["certificate"] = None if verdict.certificate is None else verdict.certificate.kind
    try:
        if verdict.witness is not None:
            value["checked"] = holds(game, CLAIMS[name], verdict.witness)
        elif verdict.certificate is not None:
            value["checked"] = verdict.certificate.check(game, 20)
    except HerbrandError as error:
        value["error"] = str(error)
    return {**value, "roles": {role: checked(game, name, inner) for role, inner in verdict.roles.items()}}


def decide(path: Path, properties: list[str], seconds: float, out: Path) -> None:
    """Decide one sheet and append what was found."""
    row: dict[str, Any] = {"game": path.stem}
    started = time.monotonic()
    try:
        game = herbrand.load(path, limits=herbrand.Limits(seconds=20))
        assert game.network is not None
        row["ready"] = round(time.monotonic() - started, 2)
        verdicts = prove(game, properties, Budget(seconds=seconds))
        row["verdicts"] = {name: checked(game, name, verdict) for name, verdict in verdicts.items()}
    except HerbrandError as error:
        row["error"] = str(error)
    with out.open("a") as file:
        file.write(json.dumps(row) + "\n")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Lay out the verdicts about playability."""
    lines = ["| rulesheet | verdict | method | checked | why |", "|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: str(row["game"])):
        verdict = row.get("verdicts", {}).get("playability")
        if verdict is None:
            lines.append(f"| {row['game']} | – | – | – | no network: {row.get('error', '')[:60]} |")
            continue
        again = {True: "yes", False: "no", None: "–"}[verdict.get("checked")]
        cells = (row["game"], verdict["verdict"], verdict["method"], again, verdict["reason"])
        lines.append(f"| {' | '.join(cells)} |".replace("| - |", "| – |"))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run as the module says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--properties", default="playability")
    options = parser.parse_args()
    known = options.json.read_text().splitlines() if options.json.exists() else []
    done = {json.loads(line)["game"] for line in known}
    for path in sorted(options.folder.glob("*.kif")) if options.folder else ():
        if path.stem not in done:
            words = (path, options.properties.split(","), options.seconds, options.json)
            work = Process(target=decide, args=words)
            work.start()
            work.join(3 * options.seconds + 90)
            if work.is_alive():
                work.kill()
    if options.markdown:
        rows = [json.loads(line) for line in options.json.read_text().splitlines()]
        options.markdown.write_text(markdown(rows))


if __name__ == "__main__":
    main()

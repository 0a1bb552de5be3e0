"""Report which rulesheets of collections load, agree with their recorded matches, and become networks.

    python benchmarks/covered.py FOLDER... [--only NAME ...] [--budget S] [--json FILE] [--markdown FILE]
                                           [--machine TEXT] [--continue]

Each FOLDER has `rulesheets/` and `traces/`, matches that the Java prover of ggp-base played, and a
`manifest.csv` or none.  For each sheet the report says

    loads      whether it has no errors; otherwise which
    rules      whether every state of its trace is the same by evaluating the rules
    network    the same by its network, which has to be built in a budget of processor seconds

A manifest may say in the column `oracle_use` what a trace is good for: those with `other reading`,
`degenerate` or `none` are not counted.  Each sheet has a process of its own.  The JSON is written after every
sheet; `--continue` keeps what is in it.  `--markdown` writes docs/reference/coverage.md; without a folder,
from the JSON alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import sys
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from costs import spent
from rulesheets import in_process

import herbrand
from herbrand.errors import HerbrandError
from herbrand.runtime.limits import Limits
from herbrand.verify import verify_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNCOUNTED: Final = frozenset({"other reading", "degenerate", "none"})
"""What the trace of a sheet is good for where it is no measure."""

MEGABYTES: Final = 6000
PATIENCE: Final = 8
"""Wall-clock seconds for a processor second of the budget."""
SHOWN: Final = 3
"""Errors that the page lists of a sheet."""


@dataclass(frozen=True)
class Sheet:
    """A rulesheet of a collection, its trace, and what the manifest says of the trace."""

    file: Path
    trace: Path
    use: str

    @property
    def name(self) -> str:
        """The name of the file without its ending."""
        return self.file.name.removesuffix(".kif")


def sheets_of(folder: Path) -> list[Sheet]:
    """Return the sheets of a collection by name."""
    uses: dict[str, str] = {}
    manifest = folder / "manifest.csv"
    if manifest.is_file():
        with manifest.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                uses[row.get("file", "").removesuffix(".kif")] = row.get("oracle_use", "")
    files = sorted((folder / "rulesheets").glob("*.kif"), key=lambda file: file.name.lower())
    found = [
        Sheet(file, folder / "traces" / f"{file.name.removesuffix('.kif')}.jsonl.gz", "") for file in files
    ]
    return [replace(sheet, use=uses.get(sheet.name, "")) for sheet in found]


def measure(sheet: Sheet, budget: float) -> Iterator[dict[str, Any]]:
    """Yield what becomes known about a sheet, a part at a time."""
    game = herbrand.load(sheet.file, limits=Limits(seconds=PATIENCE * budget))
    found = Counter(d.check for d in game.diagnostics if d.severity.value == "warning")
    errors = game.rules.errors
    yield {
        "errors": [
            {"check": d.check, "line": d.source.position(d.span.start).line, "message": d.message}
            for d in errors
        ],
        "warnings": dict(found),
    }
    if errors:
        return
    if sheet.trace.is_file():
        yield {"rules": agreement(game, sheet.trace, "rules")}
    before = spent()
    try:
        network = game.network_within(PATIENCE * budget)
    except (HerbrandError, MemoryError) as error:
        yield {"network_failed": str(error) or "out of memory", "ready_cpu_s": round(spent() - before, 2)}
        return
    yield {"gates": network.gates, "ready_cpu_s": round(spent() - before, 2)}
    if sheet.trace.is_file():
        yield {"network": agreement(game, sheet.trace, "network")}


def agreement(game: herbrand.Game, trace: Path, engine: str) -> dict[str, Any]:
    """Compare an engine with a trace: the states compared, and the difference or None."""
    try:
        report = verify_trace(game, trace, engine=engine)
    except HerbrandError as error:
        return {"states": 0, "difference": f"{type(error).__name__}: {error}"}
    difference = None if report.difference is None else " ".join(str(report.difference).split())
    return {"states": report.states, "difference": difference}


# -- the page ------------------------------------------------------------------------------------

HEAD = """\
# Which rulesheets are covered

<!-- made by `python benchmarks/covered.py FOLDER... --json FILE --markdown FILE` -->

This page shows how many rulesheets that others wrote herbrand loads, whether it plays them as the Java
prover of ggp-base does, and how many become [networks](networks.md). *load*: without errors; what is
tolerated is a warning, which `herbrand check --strict` refuses. *agree*: in every state of every recorded
match the facts, the legal moves, the end and the goals are the same, of as many traces as could be compared:
those of sheets without a network are compared by the rules only. *networks*: built within {budget:g} s of
processor time.

Traces that the prover recorded from another reading of a sheet are not counted: it drops a `not` or
`distinct` with a variable that nothing else binds, takes words between the statements as facts, so that
left-over Prolog can end a game at once, and finds no fluents where a dialect leaves out `true`. Some that
are counted differ by two other habits of it: it tells `(f)` from `f`, and `and` inside of `or` is an unknown
relation to it.
"""


def markdown(result: dict[str, Any]) -> str:
    """Write the page."""
    lines = [*HEAD.format_map(result).splitlines(), "", f"Measured on {result['machine']}.", ""]
    collections: dict[str, list[dict[str, Any]]] = {}
    for row in result["rows"]:
        collections.setdefault(row["collection"], []).append(row)
    lines += [
        "| collection | sheets | load | agree by rules | agree by network | networks |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, rows in collections.items():
        counts = summary(rows, result["budget"])
        pairs = (("load", "sheets"), ("rules", "traces"), ("network", "compared"), ("networks", "load"))
        cells = [_share(counts[part], counts[whole]) for part, whole in pairs]
        lines.append(f"| {name} | {counts['sheets']} | {' | '.join(cells)} |")
    for name, rows in collections.items():
        lines += ["", f"## {name[0].upper()}{name[1:]}", ""]
        lines += _warnings(rows)
        lines += _table("Rejected", "why", ((row, _errors(row)) for row in rows))
        lines += _table("Differ from the recording", "where", ((row, _differs(row)) for row in rows))
        lines += _table("No network", "why", ((row, _no_network(row, result["budget"])) for row in rows))
    return "\n".join(lines).rstrip("\n") + "\n"


def summary(rows: Sequence[dict[str, Any]], budget: float) -> dict[str, int]:
    """Count the rows of a collection by what became of them."""
    loaded = [row for row in rows if loads(row)]
    compared = [row for row in loaded if "rules" in row and row["use"] not in UNCOUNTED]
    return {
        "sheets": len(rows),
        "load": len(loaded),
        "traces": len(compared),
        "rules": sum(agrees(row, "rules") for row in compared),
        "compared": sum("network" in row for row in compared),
        "network": sum(agrees(row, "network") for row in compared),
        "networks": sum("gates" in row and row["ready_cpu_s"] <= budget for row in loaded),
    }


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def loads(row: dict[str, Any]) -> bool:
    return row.get("errors") == []


def agrees(row: dict[str, Any], engine: str) -> bool:
    return engine in row and row[engine]["difference"] is None


def _errors(row: dict[str, Any]) -> str:
    if loads(row):
        return ""
    errors = row.get("errors", [])
    shown = [
        f"line {e['line']}: [{e['check']}](checks.md#{e['check']}), {e['message']}" for e in errors[:SHOWN]
    ]
    more = f"; {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
    return row.get("crashed") or "; ".join(shown) + more


def _differs(row: dict[str, Any]) -> str:
    if row["use"] in UNCOUNTED:
        return ""
    places = {engine: row[engine]["difference"] for engine in ("rules", "network") if engine in row}
    differing: dict[str, list[str]] = {}
    for engine, where in places.items():
        if where:
            differing.setdefault(" ".join(where.partition(" moves:")[0].split()), []).append(engine)
    return "; ".join(f"by {' and '.join(engines)}: {where}" for where, engines in differing.items())


def _no_network(row: dict[str, Any], budget: float) -> str:
    if not loads(row) or ("gates" in row and row["ready_cpu_s"] <= budget):
        return ""
    if "gates" in row:
        return f"{row['gates']} gates after {row['ready_cpu_s']:g} s"
    return row.get("network_failed") or row.get("crashed") or "not built"


def _warnings(rows: Sequence[dict[str, Any]]) -> list[str]:
    """List what was tolerated: warnings that would be errors in strict mode."""
    from herbrand.check.catalogue import CHECKS

    counts = Counter(name for row in rows if loads(row) for name in row["warnings"] if CHECKS[name].spec)
    if not counts:
        return []
    cells = [f"| [{name}](checks.md#{name}) | {count} |" for name, count in counts.most_common()]
    return ["Tolerated with a warning:", "", "| check | sheets |", "|---|--:|", *cells, ""]


def _table(title: str, column: str, cells: Iterator[tuple[dict[str, Any], str]]) -> list[str]:
    lines = [f"| {row['game']} | {text.replace('|', chr(92) + '|')} |" for row, text in cells if text]
    return [f"{title}:", "", f"| sheet | {column} |", "|---|---|", *lines, ""] if lines else []


# -- the command ---------------------------------------------------------------------------------


def run(options: argparse.Namespace, result: dict[str, Any]) -> None:
    """Measure the sheets that are wanted, writing down what is known after each."""
    known = {(row["collection"], row["game"]): row for row in result["rows"]}
    for number, folder in enumerate(options.folders):
        name = options.names[number] if number < len(options.names) else folder.name
        for sheet in sheets_of(folder):
            is_known = options.goes_on and (name, sheet.name) in known
            if is_known or (options.only and sheet.name not in options.only):
                continue
            measuring = partial(measure, sheet, options.budget)
            row = in_process(sheet.file, measuring, MEGABYTES, 4 * PATIENCE * options.budget)
            known[name, sheet.name] = {**row, "game": sheet.name, "collection": name, "use": sheet.use}
            result["rows"] = list(known.values())
            print(line(known[name, sheet.name], options.budget), file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def line(row: dict[str, Any], budget: float) -> str:
    """Say on one line what became of a sheet."""
    if not loads(row):
        return f"{row['game']}: rejected: {_errors(row)}"
    rules = "" if agrees(row, "rules") else "DIFFERS, " if "rules" in row else "no trace, "
    network = _no_network(row, budget) or f"network in {row['ready_cpu_s']} s"
    return f"{row['game']}: {rules}{network} {_differs(row)}".rstrip()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Report which rulesheets of collections are covered.")
    parser.add_argument("folders", type=Path, nargs="*", metavar="FOLDER")
    parser.add_argument("--names", nargs="*", default=[], help="of the collections, for the page")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--budget", type=float, default=20.0, help="processor seconds to build a network")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page to this file")
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    parser.add_argument("--continue", action="store_true", dest="goes_on")
    options = parser.parse_args()
    result: dict[str, Any] = {"budget": options.budget, "machine": options.machine, "rows": []}
    if options.json and options.json.exists() and (options.goes_on or not options.folders):
        result = json.loads(options.json.read_text(encoding="utf-8"))
    for folder in options.folders:
        if not (folder / "rulesheets").is_dir():
            parser.error(f"no rulesheets/ in {folder}")
    run(options, result)
    if options.markdown:
        options.markdown.write_text(markdown(result), encoding="utf-8")
    print(json.dumps(summary(result["rows"], result["budget"])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""What can be proved about each rulesheet of a folder, or of the bundled games, within a budget.

    python benchmarks/analysing.py [FOLDER] [--budget S] [--states N] [--only NAME...]
                                   [--json FILE] [--continue | --again] [--markdown FILE]

Each sheet has a process of its own, forked from one that has the kernels loaded already.  Without a
folder the bundled games are analysed; small sheets come first.  Seconds are those of the processor, so
that what else the machine does matters less; programs that are called (grounder, model checker) have so
many seconds on the clock.  The JSON is written after every sheet; `--continue` leaves out the sheets that
are in it, `--again` goes on with those that are not decided in full, and keeps what was decided before.
`--markdown` writes the table, of an earlier run too (`--budget 0 --json FILE --markdown FILE` runs nothing).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import herbrand
from herbrand import games
from herbrand.analyse import prove
from herbrand.analyse.budget import Budget
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

COLUMNS = ("termination", "playability", "weak_winnability", "strong_winnability", "goals", "well_formed")
DECIDED = ("termination", "playability", "weak_winnability", "goals")
"""What makes a sheet decided."""
SIGNS = {"proved": "yes", "refuted": "**no**", "unknown": "?"}
SLOWER = 10.0
"""How many times as long as its budget a process may take by the clock, besides `GRACE`."""
GRACE = 60.0
MEMORY = 6 << 30


def child(pipe: Connection, file: str, budget: float, states: int) -> None:
    """Analyse one sheet and send what was found."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    started, processor = time.monotonic(), _processor()
    clock, time.monotonic = time.monotonic, _processor  # budgets are read from this clock
    try:
        game = herbrand.load(file)
        prove.CHECKING = budget / 2
        found = prove.analyse(game, COLUMNS, budget=Budget(budget, states, 1000.0), remarks=False).as_json()
        found["roles"] = len(game.roles)
    except (HerbrandError, MemoryError, RecursionError) as error:
        found = {"error": (str(error) or type(error).__name__)[:300]}
    for verdict in found.get("properties", {}).values():
        _shorten(verdict)
    found["wall_s"] = round(clock() - started, 2)
    found["cpu_s"] = round(_processor() - processor, 2)
    pipe.send(found)


def _processor() -> float:
    """Return the seconds of processor time that this process and those it called have taken."""
    called = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + called.ru_utime + called.ru_stime


def _shorten(verdict: dict[str, Any]) -> None:
    """Keep the length of lines, not the lines, where they are long."""
    witness = verdict.get("witness")
    if witness is not None:
        verdict["steps"] = len(witness)
        if len(witness) > 100:
            verdict["witness"] = None
    for inner in verdict.get("roles", {}).values():
        _shorten(inner)


def run(file: str, budget: float, states: int) -> dict[str, Any]:
    """Analyse one sheet in a process of its own."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, file, budget, states))
    process.start()
    theirs.close()
    found: dict[str, Any] = {"error": "the process ended without an answer"}
    try:
        if mine.poll(SLOWER * budget + GRACE):
            found = mine.recv()
        else:
            found = {"error": f"no answer after {SLOWER * budget + GRACE:g} s"}
    except EOFError:
        pass
    process.terminate()
    process.join()
    return found


def is_decided(found: dict[str, Any]) -> bool:
    """Return whether nothing that makes a sheet decided is unknown."""
    properties = found.get("properties", {})
    return all(properties.get(name, {}).get("verdict", "unknown") != "unknown" for name in DECIDED)


def joined(before: dict[str, Any] | None, after: dict[str, Any]) -> dict[str, Any]:
    """Return what two runs found; verdicts that are known are kept."""
    if before is None or "error" in before:
        return after
    if "error" in after:
        return before
    verdicts = after["properties"]
    for name, verdict in before["properties"].items():
        if verdicts.get(name, {"verdict": "unknown"})["verdict"] == "unknown":
            verdicts[name] = verdict
    parts = [verdicts[name]["verdict"] for name in ("termination", "playability", "weak_winnability")]
    if verdicts["well_formed"]["verdict"] == "unknown" and "unknown" not in parts:
        answer = "proved" if set(parts) == {"proved"} else "refuted"
        verdicts["well_formed"] = {**verdicts["well_formed"], "verdict": answer, "method": "-"}
    for key in ("counts", "value"):
        if before.get(key) and not after.get(key):
            after[key] = before[key]
    for key in ("wall_s", "cpu_s"):
        after[key] = round(before[key] + after[key], 2)
    return after


def row(name: str, found: dict[str, Any]) -> str:
    """Write one line of the table."""
    if "error" in found:
        return f"| {name} |" + " |" * len(COLUMNS) + f" | | | {found['error'][:60]} |"
    cells = []
    for column in COLUMNS:
        verdict = found["properties"][column]
        text = SIGNS[verdict["verdict"]]
        if column == "strong_winnability" and verdict["verdict"] == "proved":
            text = ", ".join(r for r, v in verdict["roles"].items() if v["verdict"] == "proved") or text
        cells.append(text)
    counts = found.get("counts")
    states = f"{counts['states']:,}".replace(",", " ") if counts else "-"
    value = " ".join(f"{v:g}" for v in found["value"].values()) if found.get("value") else "-"
    methods = {v["method"] for v in found["properties"].values() if v["method"] != "-"}
    how = ", ".join(sorted({m for text in methods for m in text.split(", ")}))
    return f"| {name} | {' | '.join(cells)} | {states} | {value} | {found['cpu_s']:.1f} | {how} |"


def table(found: dict[str, dict[str, Any]]) -> str:
    """Write the table, with the shares that are decided first."""
    good = [entry for entry in found.values() if "error" not in entry]
    lines = ["| | " + " | ".join(c.replace("_", " ") for c in COLUMNS) + " |", "|---" * 7 + "|"]
    for answer in ("proved", "refuted", "unknown"):
        numbers = [sum(e["properties"][c]["verdict"] == answer for e in good) for c in COLUMNS]
        lines.append(f"| {answer} | " + " | ".join(map(str, numbers)) + " |")
    head = ["game", *(c.replace("_", " ") for c in COLUMNS), "states", "value", "s", "methods"]
    lines += ["", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += [row(name, found[name]) for name in sorted(found, key=str.lower)]
    return "\n".join(lines) + "\n"


def refutations(found: dict[str, dict[str, Any]]) -> str:
    """Write what was refuted, with the length of the line of play that shows it."""
    lines = []
    for name in sorted(found, key=str.lower):
        for column in ("termination", "playability", "goals", "weak_winnability"):
            verdict = found[name].get("properties", {}).get(column, {})
            if verdict.get("verdict") == "refuted":
                checked = "" if verdict.get("checked") else " (not checked again)"
                lines.append(f"- {name}, {column.replace('_', ' ')}: {verdict['reason']}{checked}")
    return "\n".join(lines) + "\n"


def puzzles(found: dict[str, dict[str, Any]]) -> str:
    """Write a table of games with one role: the best goal value, and the fewest steps to 100."""
    lines = ["| game | best | steps to 100 | fewest? | states | how | s |", "|---|---|---|---|---|---|---|"]
    for name in sorted(found, key=str.lower):
        entry = found[name]
        if entry.get("roles") != 1:
            continue
        weak = entry["properties"]["weak_winnability"]
        plan = next(iter(weak.get("roles", {}).values()), weak)
        best = next(iter((entry.get("value") or {}).values()), None)
        if weak["verdict"] == "unknown" and best is None:
            continue
        won = weak["verdict"] == "proved"
        cells = (
            name,
            "100" if won else "?" if best is None else f"{best:g}",
            plan.get("steps", "?") if won else "none",
            ("yes" if plan.get("shortest") else "?") if won else "-",
            f"{entry['counts']['states']:,}".replace(",", " ") if entry.get("counts") else "-",
            weak["method"],
            f"{entry['cpu_s']:.1f}",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def _size(path: Path) -> int:
    return path.stat().st_size


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Analyse rulesheets and tabulate the verdicts.")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for each sheet")
    parser.add_argument("--states", type=int, default=5_000_000)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--continue", dest="go_on", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    if options.json and options.json.exists() and (options.go_on or options.again or not options.budget):
        found = json.loads(options.json.read_text(encoding="utf-8"))
    if options.folder is None:
        files = {name: name for name in games.names()}
    else:
        files = {path.stem: str(path) for path in sorted(options.folder.glob("*.kif"), key=_size)}
    if options.only:
        files = {name: file for name, file in files.items() if name in options.only}
    if options.budget:
        prove._warm_up()
        for name, file in files.items():
            before = found.get(name)
            if before is not None and (options.go_on or is_decided(before)):
                continue
            found[name] = joined(before, run(file, options.budget, options.states))
            print(row(name, found[name]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if options.markdown:
        text = table(found) + "\nRefuted:\n\n" + refutations(found)
        text += "\nFor one player:\n\n" + puzzles(found)
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Analyse each rulesheet of a folder, or the bundled games, within a budget.

    python benchmarks/analysing.py [FOLDER] [--budget S] [--states N] [--only NAME...] [--property NAME...]
                                   [--json FILE] [--continue | --again] [--markdown FILE] [--replay WHICH]

Each sheet has a process of its own, forked from one that has loaded the libraries.  Without a folder the
bundled games are analysed; small sheets come first.  The budget is processor time, so that other load on the
machine matters less; child programs (grounder, model checker) get as many seconds of wall-clock time.  The
JSON is written after every sheet; `--continue` skips the sheets that are in it, `--again` repeats those that
have undecided properties, and keeps earlier verdicts.  `--markdown` writes the table, also of an earlier run
(`--budget 0 --json FILE --markdown FILE` runs nothing); `--replay refuted` replays the lines of play of
refutations by the rules, `--replay all` also the others.
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
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.proofs import prove, symbolic
from herbrand.analyse.verdict import Witness
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

COLUMNS = ("termination", "playability", "weak_winnability", "strong_winnability", "goals", "well_formed")
DECIDED = ("termination", "playability", "weak_winnability", "goals")
"""What makes a sheet decided."""
CLAIMS = {
    "termination": "cycle",
    "playability": "stuck",
    "goals": "no goal",
    "monotonicity": "decrease",
    "weak_winnability": "win",
}
"""What a line of play shows."""
SIGNS = {"proved": "yes", "refuted": "**no**", "unknown": "?"}
EXPLORING = 0.15
"""The part of the time that may be spent on listing states."""
SLOWER = 10.0
"""How many times as long as its budget a process may take by the clock, besides `GRACE`."""
GRACE = 60.0
MEMORY = 6 << 30


def child(pipe: Connection, file: str, budget: float, states: int, wanted: tuple[str, ...]) -> None:
    """Analyse one sheet and send what was found."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    started, processor = time.monotonic(), _processor()
    clock, time.monotonic = time.monotonic, _processor  # budgets are read from this clock
    try:
        game = herbrand.load(file)
        prove.CHECKING = max(2.0, budget / 3)
        symbolic.SHORTEST = False
        again = len(wanted) < len(COLUMNS)
        entry = prove.analyse(
            game,
            wanted,
            budget=Budget(budget, states, 1000.0),
            remarks=False,
            values=not again,
            exploring=EXPLORING,
        ).as_json()
        entry["roles"] = len(game.roles)
    except (HerbrandError, MemoryError, RecursionError) as error:
        text = str(error).replace(f"{file}:", "line ").partition("\n")[0] or type(error).__name__
        entry = {"error": text[:300]}
    for verdict in entry.get("properties", {}).values():
        _shorten(verdict)
    entry["wall_s"] = round(clock() - started, 2)
    entry["cpu_s"] = round(_processor() - processor, 2)
    pipe.send(entry)


def _processor() -> float:
    """Return the seconds of processor time that this process and those it called have taken."""
    called = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + called.ru_utime + called.ru_stime


def _shorten(verdict: dict[str, Any]) -> None:
    """Keep the lengths of lines of play, and only the kinds of certificates."""
    if verdict.get("witness") is not None:
        verdict["steps"] = len(verdict["witness"])
    if "certificate" in verdict:
        verdict["certificate"] = {"kind": verdict["certificate"]["kind"]}
    for inner in verdict.get("roles", {}).values():
        _shorten(inner)


def replay(entries: dict[str, dict[str, Any]], files: dict[str, str], which: str) -> str:
    """Play lines of play in the results by the rules, and say how many show what they should.

    `which` is "refuted" for those that refute something, or "all".
    """
    counts: dict[str, list[int]] = {}
    wrong = []
    for name, entry in entries.items():
        game = None
        for column, claim in CLAIMS.items():
            verdict = entry.get("properties", {}).get(column, {})
            for shown in (verdict, *verdict.get("roles", {}).values()):
                line = shown.get("witness")
                if line is None or which not in ("all", shown["verdict"]):
                    continue
                game = game or herbrand.load(files[name])
                witness = Witness(tuple(map(tuple, line)), shown.get("role"), loop=shown.get("loop"))
                counts.setdefault(column, [0, 0])
                counts[column][0] += 1
                if holds(game, claim, witness):
                    counts[column][1] += 1
                else:
                    wrong.append(f"{name}: {column}")
    parts = [f"{column} {right} of {every}" for column, (every, right) in counts.items()]
    return "; ".join(parts) + (f"; WRONG: {', '.join(wrong)}" if wrong else "")


def run(file: str, budget: float, states: int, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Analyse one sheet in a process of its own."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, file, budget, states, wanted))
    process.start()
    theirs.close()
    entry: dict[str, Any] = {"error": "the process ended without an answer"}
    try:
        if mine.poll(SLOWER * budget + GRACE):
            entry = mine.recv()
        else:
            entry = {"error": f"no answer after {SLOWER * budget + GRACE:g} s"}
    except EOFError:
        pass
    process.terminate()
    process.join()
    return entry


def undecided(entry: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the properties to ask for: what makes a sheet decided and is unknown; all of a new sheet."""
    if entry is None or "error" in entry:
        return COLUMNS
    verdicts = entry["properties"]
    return tuple(name for name in DECIDED if verdicts[name]["verdict"] == "unknown")


def joined(before: dict[str, Any] | None, after: dict[str, Any]) -> dict[str, Any]:
    """Return what two runs found; verdicts that are known are kept."""
    if before is None or "error" in before:
        return after
    if "error" in after:
        return before
    verdicts = after["properties"]
    for name, verdict in before["properties"].items():
        if verdicts.get(name, {"verdict": "unknown"})["verdict"] == "unknown":
            if name == "weak_winnability" and name in verdicts:
                verdict = _joined_roles(verdict, verdicts[name])
            verdicts[name] = verdict
    parts = [verdicts[name]["verdict"] for name in ("termination", "playability", "weak_winnability")]
    if verdicts["well_formed"]["verdict"] == "unknown" and ("refuted" in parts or "unknown" not in parts):
        answer = "refuted" if "refuted" in parts else "proved"
        verdicts["well_formed"] = {**verdicts["well_formed"], "verdict": answer, "method": "-"}
    for key in ("counts", "value"):
        if before.get(key) and not after.get(key):
            after[key] = before[key]
    for key in ("wall_s", "cpu_s"):
        after[key] = round(before[key] + after[key], 2)
    return after


def _joined_roles(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of each role after two runs that both left a role open."""
    newer = after.get("roles", {})
    roles = {
        role: verdict if verdict["verdict"] != "unknown" else newer.get(role, verdict)
        for role, verdict in before.get("roles", newer).items()
    }
    if not roles or any(verdict["verdict"] == "unknown" for verdict in roles.values()):
        return {**after, "roles": roles}
    lost = [v for v in roles.values() if v["verdict"] == "refuted"]
    method = ", ".join(dict.fromkeys(v["method"] for v in roles.values()))
    reason = "; ".join(v["reason"] for v in lost or roles.values())
    checked = True if all(v.get("checked") for v in roles.values()) else None
    answer = "refuted" if lost else "proved"
    return {
        **after, "verdict": answer, "method": method, "reason": reason, "checked": checked, "roles": roles,
    }  # fmt: skip


def row(name: str, entry: dict[str, Any]) -> str:
    """Write one line of the table."""
    if "error" in entry:
        return f"| {name} |" + " |" * len(COLUMNS) + f" | | | {entry['error']} |"
    cells = []
    for column in COLUMNS:
        verdict = entry["properties"][column]
        text = SIGNS[verdict["verdict"]]
        if column == "strong_winnability" and verdict["verdict"] == "proved":
            text = ", ".join(r for r, v in verdict["roles"].items() if v["verdict"] == "proved") or text
        cells.append(text)
    counts = entry.get("counts")
    states = f"{counts['states']:,}".replace(",", " ") if counts else "-"
    value = " ".join(f"{v:g}" for v in entry["value"].values()) if entry.get("value") else "-"
    methods = {v["method"] for v in entry["properties"].values() if v["method"] != "-"}
    how = ", ".join(sorted({m for text in methods for m in text.split(", ")}))
    return f"| {name} | {' | '.join(cells)} | {states} | {value} | {entry['cpu_s']:.1f} | {how} |"


def table(entries: dict[str, dict[str, Any]]) -> str:
    """Write the table, with the shares that are decided first."""
    good = [entry for entry in entries.values() if "error" not in entry]
    lines = ["| | " + " | ".join(c.replace("_", " ") for c in COLUMNS) + " |", "|---" * 7 + "|"]
    for answer in ("proved", "refuted", "unknown"):
        numbers = [sum(e["properties"][c]["verdict"] == answer for e in good) for c in COLUMNS]
        lines.append(f"| {answer} | " + " | ".join(map(str, numbers)) + " |")
    head = ["game", *(c.replace("_", " ") for c in COLUMNS), "states", "value", "s", "methods"]
    lines += ["", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += [row(name, entries[name]) for name in sorted(entries, key=str.lower)]
    return "\n".join(lines) + "\n"


def refutations(entries: dict[str, dict[str, Any]]) -> str:
    """Write what was refuted, with the length of the line of play that shows it."""
    lines = []
    for name in sorted(entries, key=str.lower):
        for column in ("termination", "playability", "goals", "weak_winnability"):
            verdict = entries[name].get("properties", {}).get(column, {})
            if verdict.get("verdict") == "refuted":
                checked = "" if verdict.get("checked") else " (not checked again)"
                lines.append(f"- {name}, {column.replace('_', ' ')}: {verdict['reason']}{checked}")
    return "\n".join(lines) + "\n"


def puzzles(entries: dict[str, dict[str, Any]]) -> str:
    """Write a table of games with one role: the best goal value, and the fewest steps to 100."""
    lines = ["| game | best | steps to 100 | fewest? | states | how | s |", "|---|---|---|---|---|---|---|"]
    for name in sorted(entries, key=str.lower):
        entry = entries[name]
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
    parser.add_argument("--property", nargs="+", choices=DECIDED, help="go on with these only")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--continue", dest="go_on", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--replay", choices=("refuted", "all"), help="play lines in the results by the rules")
    options = parser.parse_args()
    entries: dict[str, dict[str, Any]] = {}
    if options.json and options.json.exists() and (options.go_on or options.again or not options.budget):
        entries = json.loads(options.json.read_text(encoding="utf-8"))
    if options.folder is None:
        files = {name: name for name in games.names()}
    else:
        files = {path.stem: str(path) for path in sorted(options.folder.glob("*.kif"), key=_size)}
    if options.only:
        files = {name: file for name, file in files.items() if name in options.only}
    if options.budget:
        for name, file in files.items():
            before = entries.get(name)
            wanted = undecided(before)
            if before is not None and (options.go_on or not wanted):
                continue
            if options.property and wanted != COLUMNS:
                wanted = tuple(property_ for property_ in wanted if property_ in options.property)
            if not wanted:
                continue
            entries[name] = joined(before, run(file, options.budget, options.states, wanted))
            print(row(name, entries[name]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    if options.replay:
        known = {name: entry for name, entry in entries.items() if name in files}
        print(replay(known, files, options.replay))
    if options.markdown:
        text = table(entries) + "\nRefuted:\n\n" + refutations(entries)
        text += "\nFor one player:\n\n" + puzzles(entries)
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

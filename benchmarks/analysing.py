"""Analyse each rulesheet of a folder, or the bundled games, within a budget.

    python benchmarks/analysing.py [FOLDER] [--budget S] [--states N] [--only NAME...] [--property NAME...]
                                   [--memory MB] [--json FILE] [--continue | --again] [--markdown FILE]
                                   [--replay WHICH]
    python benchmarks/analysing.py FOLDER --page FILE HEADING [--budget S] [--property NAME...] [...]

Each sheet has a process of its own, forked from one that has loaded the libraries.  Without a folder the
bundled games are analysed; small sheets come first.  The budget is processor time, so that other load on the
machine matters less; child programs (grounder, model checker) get as many seconds of wall-clock time.  The
JSON is written after every sheet; `--continue` skips the sheets that are in it, `--again` repeats those that
have undecided properties, and keeps earlier verdicts.  `--markdown` writes the table, also of an earlier run
(`--budget 0 --json FILE --markdown FILE` runs nothing); `--replay refuted` replays the lines of play of
refutations by the rules, `--replay all` also the others.

`--page` goes on from the table under a heading of a page: only what is undecided there is asked, and rows,
totals and refutations are brought up to date with what the JSON has (`--budget 0`: of an earlier run).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from dataclasses import replace
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
PARTS = ("termination", "playability", "weak_winnability")
"""What makes a game well formed."""
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
"""The part of the time that may be spent on listing states; a third of it when that was tried before."""
SLOWER = 10.0
"""How many times as long as its budget a process may take by the clock, besides `GRACE`."""
GRACE = 60.0
MEMORY = 6 << 30


def child(pipe: Connection, file: str, limits: Budget, wanted: tuple[str, ...]) -> None:
    """Analyse one sheet and send what was found."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    started, processor = time.monotonic(), _processor()
    clock, time.monotonic = time.monotonic, _processor  # budgets are read from this clock
    try:
        game = herbrand.load(file)
        prove.CHECKING = max(2.0, limits.seconds / 3)
        symbolic.SHORTEST = False
        again = len(wanted) < len(COLUMNS) and "strong_winnability" not in wanted
        entry = prove.analyse(
            game,
            wanted,
            budget=replace(limits, started=time.monotonic()),
            remarks=False,
            values=not again,
            exploring=EXPLORING / 3 if again else EXPLORING,
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


def run(file: str, limits: Budget, wanted: tuple[str, ...]) -> dict[str, Any]:
    """Analyse one sheet in a process of its own."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, file, limits, wanted))
    process.start()
    theirs.close()
    entry: dict[str, Any] = {"error": "the process ended without an answer"}
    patience = SLOWER * limits.seconds + GRACE
    try:
        if mine.poll(patience):
            entry = mine.recv()
        else:
            entry = {"error": f"no answer after {patience:g} s"}
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
    parts = [verdicts.get(name, {"verdict": "unknown"})["verdict"] for name in PARTS]
    if verdicts.get("well_formed", {}).get("verdict") == "unknown" and (
        "refuted" in parts or "unknown" not in parts
    ):
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


def short(name: str, entry: dict[str, Any]) -> str:
    """Write what a run decided, in one line."""
    if "error" in entry:
        return f"{name}: {entry['error']}"
    verdicts = (f"{c} {SIGNS[v['verdict']]} ({v['method']})" for c, v in entry["properties"].items())
    return f"{name}: {', '.join(verdicts)}, {entry['cpu_s']:.1f} s"


def table(entries: dict[str, dict[str, Any]]) -> str:
    """Write the table, with the shares that are decided first."""
    good = [entry for entry in entries.values() if "error" not in entry]
    lines = ["| verdict | " + " | ".join(c.replace("_", " ") for c in COLUMNS) + " |", "|---" * 7 + "|"]
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


class Page:
    """A page with a table under a heading, which newer runs complete."""

    def __init__(self, file: Path, heading: str) -> None:
        self.file = file
        self.lines = file.read_text(encoding="utf-8").splitlines()
        start = self.lines.index(f"## {heading}")
        ends = (i for i in range(start + 1, len(self.lines)) if self.lines[i].startswith("## "))
        self.section = range(start, next(ends, len(self.lines)))
        self.rows = {
            cells[0]: line for line in self.section
            if len(cells := _cells(self.lines[line])) == len(COLUMNS) + 5 and cells[1] in SIGNS.values()
        }  # fmt: skip

    def undecided(self, name: str) -> tuple[str, ...]:
        """Return the properties that the row of a game leaves open; all of a game without a row."""
        if name not in self.rows:
            return COLUMNS
        verdicts = dict(zip(COLUMNS, _cells(self.lines[self.rows[name]])[1:], strict=False))
        return tuple(column for column in COLUMNS[:-1] if verdicts[column] == "?")

    def complete(self, entries: dict[str, dict[str, Any]], files: dict[str, str]) -> None:
        """Write what newer runs decided into rows, totals and refutations; what is known stays.

        A role without others can force what it can reach.
        """
        good = {n: e for n, e in entries.items() if n in self.rows and "error" not in e}
        for name, entry in good.items():
            self.lines[self.rows[name]] = _completed(_cells(self.lines[self.rows[name]]), entry)
        for name, line in self.rows.items():
            cells = _cells(self.lines[line])
            if cells[4] != "?" or cells[3] == "?" or name not in files:
                continue
            if len(roles := herbrand.load(files[name]).roles) == 1:
                cells[4] = str(roles[0]) if cells[3] == "yes" else cells[3]
                self.lines[line] = f"| {' | '.join(cells)} |"
        table_ = [_cells(self.lines[line])[1:] for line in self.rows.values()]
        for line in self.section:
            for answer, sign in SIGNS.items():
                if self.lines[line].startswith(f"| {answer} | "):
                    numbers = [
                        sum(
                            cells[i] == sign or (answer == "proved" and cells[i] not in SIGNS.values())
                            for cells in table_
                        )
                        for i in range(len(COLUMNS))
                    ]
                    self.lines[line] = f"| {answer} | " + " | ".join(map(str, numbers)) + " |"
        known = [line for line in self.section if self.lines[line].startswith("- ")]
        listed = [self.lines[line] for line in known]
        subjects = {text.partition(":")[0] for text in listed}
        listed += [
            text for text in refutations(good).splitlines() if text and text.partition(":")[0] not in subjects
        ]
        if known:
            self.lines[known[0] : known[-1] + 1] = sorted(listed, key=str.lower)
        self.file.write_text("\n".join(self.lines) + "\n", encoding="utf-8")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


def _completed(cells: list[str], entry: dict[str, Any]) -> str:
    """Return a row of a table with what a newer run decided."""
    verdicts = dict(zip(COLUMNS, cells[1:], strict=False))
    properties = {"well_formed": {"verdict": "unknown", "method": "-"}, **entry["properties"]}
    unknown = {"verdict": "unknown", "method": "-"}
    shown = {**entry, "properties": {c: properties.get(c, unknown) for c in COLUMNS}}
    fresh = _cells(row(cells[0], shown))
    methods = {*cells[-1].split(", ")}
    for column, cell in zip(COLUMNS, fresh[1:], strict=False):
        if verdicts[column] == "?" != cell:
            verdicts[column] = cell
            methods |= {*properties[column]["method"].split(", ")}
    parts = [verdicts[column] for column in PARTS]
    verdicts["well_formed"] = "**no**" if "**no**" in parts else "?" if "?" in parts else "yes"
    states, value = (old if old != "-" else new for old, new in zip(cells[7:9], fresh[7:9], strict=True))
    seconds = float(cells[9]) + entry["cpu_s"]
    how = ", ".join(sorted(methods - {"", "-"}))
    return f"| {cells[0]} | {' | '.join(verdicts.values())} | {states} | {value} | {seconds:.1f} | {how} |"


def _size(path: Path) -> int:
    return path.stat().st_size


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Analyse rulesheets and tabulate the verdicts.")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for each sheet")
    parser.add_argument("--states", type=int, default=5_000_000)
    parser.add_argument("--memory", type=float, default=1000.0, metavar="MB", help="for states and tables")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--property", nargs="+", choices=COLUMNS[:-1], help="go on with these only")
    parser.add_argument("--page", nargs=2, metavar=("FILE", "HEADING"), help="complete a table of a page")
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
    page = Page(Path(options.page[0]), options.page[1]) if options.page else None
    limits = Budget(options.budget, options.states, options.memory)
    if options.budget:
        for name, file in files.items():
            before = entries.get(name)
            wanted = undecided(before) if page is None else page.undecided(name)
            if page is not None and before is not None:
                decided = {c for c, v in before.get("properties", {}).items() if v["verdict"] != "unknown"}
                wanted = tuple(column for column in wanted if column not in decided)
            if before is not None and (options.go_on or not wanted):
                continue
            if options.property and (page or wanted != COLUMNS):
                wanted = tuple(property_ for property_ in wanted if property_ in options.property)
            if not wanted:
                continue
            entries[name] = joined(before, run(file, limits, wanted))
            print(short(name, entries[name]) if page else row(name, entries[name]), flush=True)
            if options.json:
                options.json.write_text(json.dumps(entries, indent=1), encoding="utf-8")
    if options.replay:
        known = {name: entry for name, entry in entries.items() if name in files}
        print(replay(known, files, options.replay))
    if page:
        page.complete(entries, files)
    if options.markdown:
        text = table(entries) + "\nRefuted:\n\n" + refutations(entries)
        text += "\nFor one player:\n\n" + puzzles(entries)
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

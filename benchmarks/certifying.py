"""Certify each verdict about each rulesheet of a collection, and have the programs of others check it.

    python benchmarks/certifying.py [FOLDER] --json FILE [--name TEXT] [--deciding S] [--checking S]
                                    [--megabytes M] [--only NAME...] [--property NAME...]
                                    [--again OUTCOME...] [--keep FOLDER]
    python benchmarks/certifying.py --json FILE --markdown FILE [--tables FILE] [--machine TEXT]

Each sheet has a process of its own: one analysis decides termination, playability, goals, weak and strong
winnability within some seconds, and the certificates of the decided properties are written and checked within
as many more for all of them; `--property` leaves all of the time to some properties.  Without a folder the
bundled games are certified; small sheets come first.
After every sheet a line is added to the JSON Lines file; sheets of the collection `--name` that are in it
already are skipped, unless some property has one of the outcomes of `--again`.  Where a sheet has several
lines, the page (`--markdown`) has for each property the best answer, and the later one if one is a refusal.

Seconds are of processor time: of the process of the sheet and of the programs that it calls.  The outcomes:

    certified    other programs accept all files that the verdict needs
    refused      one of them refuses a file
    unanswered   a file was not checked in time, or its program is not installed
    missing      there are no files; the reason says why
    open         the property is not decided within the budget

`--tables` is the page of `analysing.py`: the page says which of its verdicts are certified.  `--keep` leaves
the certificates in a folder for each sheet and property.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median
from threading import Timer
from typing import TYPE_CHECKING, Any, Final

from costs import peak_megabytes, spent
from rulesheets import in_process, limit_processor

import herbrand
from herbrand import games
from herbrand.analyse import Budget, analyse
from herbrand.analyse.certification.folder import certify_verdict
from herbrand.analyse.exploration.certificates import StateSet
from herbrand.analyse.verdict import Verdict
from herbrand.ground import clingo_child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.analyse.certification import CertifiedVerdict

PROPERTIES: Final = ("termination", "playability", "goals", "weak_winnability", "strong_winnability")
OUTCOMES: Final = ("certified", "refused", "unanswered", "missing", "open")
"""From the best to the worst, but for `refused`, which counts until the sheet is certified again."""
BUNDLED: Final = "bundled games"
ENDINGS: Final = (".kif", ".gdl", ".ggd")
STATES: Final = 8_000_000
"""States, at most, that deciding lists."""
PATIENCE: Final = 4
"""Wall-clock seconds for a processor second, for the programs that ground, search and check."""
_WORDS: Final = {True: "accepted", False: "refused", None: "unanswered"}
GRACE: Final = 10.0
"""Seconds of processor time beyond the budgets after which a process is killed."""


# -- measuring -----------------------------------------------------------------------------------


def measure(
    file: str, wanted: Sequence[str], deciding: float, checking: float, keep: Path | None
) -> Iterator[dict[str, Any]]:
    """Yield what becomes known about a sheet: its size, then each property; those not wanted stay open."""
    limit_processor(deciding + checking + GRACE)
    clock, began = time.monotonic, spent()
    time.monotonic = spent  # budgets are read from this clock
    subprocess.run = partial(_run_patiently, subprocess.run)  # type: ignore[assignment]
    clingo_child.Timer = lambda seconds, end: Timer(PATIENCE * seconds, end)  # type: ignore[misc,assignment]
    try:
        game = herbrand.load(file)
        if game.rules.errors:
            yield {"error": f"{len(game.rules.errors)} errors: {game.rules.errors[0].check}"}
            return
        analysis = analyse(
            game,
            wanted,
            budget=Budget(deciding, STATES, 2000.0),
            check=False,
            values=False,
            remarks=False,
        )
        yield {"roles": len(game.roles), "counts": (analysis.counts or {}).get("states")}
        verdicts = {name: analysis.properties.get(name, Verdict.unknown("not asked")) for name in PROPERTIES}
        yield {name: {"verdict": verdict.answer, "outcome": "open"} for name, verdict in verdicts.items()}
        yield {"deciding_cpu_s": round(spent() - began, 2)}
        known = sorted((name for name in PROPERTIES if verdicts[name].is_known), key=partial(_size, verdicts))
        for name in known:
            yield {
                name: {**_decided(verdicts[name]), "outcome": "unanswered", "why": "the process was killed"}
            }
        began = spent()
        for number, name in enumerate(known):
            left = max(0.1, checking - (spent() - began)) / (len(known) - number)
            with tempfile.TemporaryDirectory(prefix="herbrand-") as place:
                folder = Path(place) / name if keep is None else keep / game.name / name
                before = spent()
                certified = certify_verdict(game, name, verdicts[name], folder, budget=Budget(left))
                yield {
                    name: {
                        **_decided(certified.verdict),
                        **outcome(certified),
                        **_sizes(folder),
                        "cpu_s": round(spent() - before, 2),
                    }
                }
        yield {"peak_mb": peak_megabytes()}
    finally:
        time.monotonic = clock


def _run_patiently(
    run: Callable[..., Any], *command: Any, timeout: float | None = None, **options: Any
) -> Any:
    """Run a program that has its limit in seconds of processor time."""
    return run(*command, timeout=None if timeout is None else PATIENCE * timeout, **options)


def _size(verdicts: dict[str, Verdict], name: str) -> int:
    """Return a number by which cheap evidence comes first: plays, then what lists no states."""
    parts = (verdicts[name], *verdicts[name].roles.values())
    kinds = [part.certificate.kind for part in parts if part.certificate is not None]
    return 2 if StateSet.kind in kinds else bool(kinds)


def _decided(verdict: Verdict) -> dict[str, Any]:
    """Return the answer, and the kinds of evidence of the verdict or of its roles that show it."""
    parts = [inner for inner in verdict.roles.values() if inner.answer == verdict.answer] or [verdict]
    kinds = [
        "play" if one.witness is not None else one.certificate.kind if one.certificate is not None else "none"
        for one in parts
    ]
    return {"verdict": verdict.answer, "method": verdict.method, "kinds": list(dict.fromkeys(kinds))}


def outcome(certified: CertifiedVerdict) -> dict[str, Any]:
    """Say what became of a certificate, and which programs answered."""
    answers: dict[str, Counter[str]] = {}
    for file in certified.files:
        said, proof = file.outcome, file.outcome.proof
        program = f"{file.program} {file.version}".strip()
        if not proof:
            answers.setdefault(program, Counter())[_WORDS[said.accepted]] += 1
            continue
        answers.setdefault(program, Counter())["accepted"] += 1  # only the proof may have been refused
        if proof.startswith("install "):  # there is no program that checks it
            continue
        verified, _, checker = proof.partition(" by ")
        word = {"verified": "accepted", "REFUSED": "refused"}.get(verified, "unanswered")
        answers.setdefault(checker or proof.partition(":")[0], Counter())[word] += 1
    word = _WORDS[certified.accepted] if certified.files else "missing"
    late = [file for file in certified.files if file.outcome.accepted is not True and not file.is_extra]
    wrong = [file for file in certified.files if file.outcome.accepted is False]
    why = certified.missing
    if word in ("refused", "unanswered"):
        file = (wrong or late)[0]
        why = f"{file.name}: {file.outcome.proof or file.outcome.said}"
    return {
        "outcome": "certified" if word == "accepted" else word,
        "files": len(certified.files),
        "programs": {program: dict(count) for program, count in answers.items()},
        **({"why": why} if why else {}),
    }


def _sizes(folder: Path) -> dict[str, int]:
    """Return the bytes of all files of a certificate, and of the proofs by a SAT solver."""
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    proofs = sum(path.stat().st_size for path in files if path.suffix == ".drat")
    return {"bytes": sum(path.stat().st_size for path in files) - proofs, "proof_bytes": proofs}


# -- results -------------------------------------------------------------------------------------


def joined(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return a row for each sheet: the best answer for each property, the later one of equal ones."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        key = row["collection"], row["game"]
        before = found.get(key)
        if before is None or any(name not in before for name in PROPERTIES):
            found[key] = row
            continue
        if any(name not in row for name in PROPERTIES):
            continue
        better = {
            name: row[name] if _is_better(row[name], before[name]) else before[name] for name in PROPERTIES
        }
        found[key] = {**row, **better}
    return found


def _is_better(part: dict[str, Any], before: dict[str, Any]) -> bool:
    """Return whether a later answer replaces another one: always where one of them is a refusal."""
    words = part["outcome"], before["outcome"]
    return "refused" in words or OUTCOMES.index(words[0]) <= OUTCOMES.index(words[1])


# -- the page ------------------------------------------------------------------------------------

HEAD = """\
# Verdicts that other programs have checked

<!-- made by `python benchmarks/certifying.py --json FILE --tables FILE --markdown FILE` -->

This page shows which verdicts about which rulesheets have [certificates](certificates.md), how large these
are, and what the programs of others say of them. Each sheet was decided anew (termination, playability,
goals, weak and strong winnability) in {deciding} seconds of processor time, and certified in {checking} more,
on {machine}.
Verdicts that [took longer to find](analysed.md) are open here, and sheets that were not run are left out:
small ones come first.

The programs were {programs}.

*certified*: other programs accept all files that the verdict needs; *refused*: one of them refuses a file;
*unanswered*: a needed file was not checked in the time; *missing*: no file was written. One refused file
counts, whatever else is accepted.
"""
LEGEND = """\
A cell has the answer, the kinds of evidence, the bytes of all files with the proofs of unsatisfiability, and
the programs that accept all files that they were given: **c** clingo, **s** CaDiCaL, **d** drat-trim (the
proofs of CaDiCaL), **p** SWI-Prolog. ? is open; *late* means that a needed file was not checked in the time.
"""
KINDS: Final = {
    "play": ("P", "a play: a win, a role without a move or goal value, a state that recurs"),
    "state set": ("A", "all reachable states, explored anew"),
    "step counter": ("N", "a step counter"),
    "fluents that change once": ("F", "fluents that change once"),
    "measure of progress": ("M", "a sum that grows"),
    "inductive invariant": ("I", "an inductive invariant"),
    "k-induction": ("K", "k-induction"),
    "functional dependencies": ("D", "arguments of derived relations that determine others"),
    "exhausted bound": ("B", "bounded model checking of all plays"),
    "strategy": ("S", "a strategy"),
    "sequence": ("Q", "moves that are fixed in advance"),
    "uniform strategy": ("U", "a strategy by what a role can consider possible"),
    "spoiled beliefs": ("V", "what a role can be shown, so that it need not win"),
    "reactive play": ("T", "a role that makes moves whenever fluents are true, and always wins"),
    "restricted play": ("O", "others who prefer some moves, such as passing"),
    "exchanged roles": ("E", "roles that could change places, and never win together"),
    "determined game": ("Z", "a game for two that take turns, one of whom wins at each end"),
    "play cut short": ("X", "replies until a role cannot win any more"),
    "spoiling strategy": ("R", "replies that keep a role from winning"),
    "none": ("-", "no evidence"),
}
"""Letters and words for the kinds of evidence."""
SHORT: Final = {"clingo": "c", "cadical": "s", "Glucose": "s", "drat-trim": "d", "dratify": "d", "swipl": "p"}
SIGNS: Final = {"proved": "yes", "refuted": "**no**", "unknown": "?"}


def markdown(rows: Sequence[dict[str, Any]], tables: Path | None, machine: str) -> str:
    """Write the page."""
    collections: dict[str, list[dict[str, Any]]] = {}
    for row in joined(rows).values():
        collections.setdefault(row["collection"], []).append(row)
    budgets = {part: sorted({row[part] for row in rows}) for part in ("deciding", "checking")}
    words = {
        part: " to ".join(f"{s:g}" for s in dict.fromkeys((some[0], some[-1])))
        for part, some in budgets.items()
    }
    parts = (row[name] for row in joined(rows).values() for name in PROPERTIES if name in row)
    programs = sorted({program for part in parts for program in part.get("programs", {})})
    lines = [*HEAD.format(**words, machine=machine, programs=", ".join(programs)).splitlines(), ""]
    known = {} if tables is None else known_verdicts(tables.read_text(encoding="utf-8"), collections)
    columns = ("collection", "sheets", "decided", *OUTCOMES[:-1])
    lines += [_cells(columns), "|---" + "|--:" * (len(columns) - 1) + "|"]
    for name, some in collections.items():
        lines.append(_cells((name, len(some), *_numbers(some, PROPERTIES))))
    lines += ["", "By property, of all collections:", ""]
    columns = ("property", "decided", *OUTCOMES[:-1])
    lines += [_cells(columns), "|---" + "|--:" * (len(columns) - 1) + "|"]
    every = [row for some in collections.values() for row in some]
    lines += [_cells((name.replace("_", " "), *_numbers(every, (name,)))) for name in PROPERTIES]
    lines += ["", "By evidence; a verdict about several roles may have several kinds:", ""]
    lines += _by_kind(every)
    lines += _uncertified(every)
    if known:
        lines += _covered(collections, known)
    for name, some in collections.items():
        lines += ["", f"## {name[0].upper()}{name[1:]}", "", *LEGEND.splitlines(), ""]
        lines += [_cells(("sheet", *(part.replace("_", " ") for part in PROPERTIES))), "|---" * 6 + "|"]
        for row in sorted(some, key=lambda row: row["game"].lower()):
            lines.append(_cells((row["game"], *(_cell(row.get(part)) for part in PROPERTIES))))
    return "\n".join(lines) + "\n"


def _cells(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _numbers(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[int]:
    """Return how many verdicts are decided, and have each outcome."""
    counts = Counter(row[name]["outcome"] for row in rows for name in names if name in row)
    return [counts.total() - counts["open"], *(counts[word] for word in OUTCOMES[:-1])]


def _cell(part: dict[str, Any] | None) -> str:
    if part is None:
        return "-"
    if part["outcome"] == "open":
        return "?"
    letters = "".join(KINDS[kind][0] for kind in part["kinds"])
    if part["outcome"] == "missing":
        return f"{SIGNS[part['verdict']]} {letters} missing"
    size = human(part.get("bytes", 0) + part.get("proof_bytes", 0))
    accepting = {
        SHORT[program.split()[0]]
        for program, answers in part.get("programs", {}).items()
        if set(answers) == {"accepted"}
    }
    end = {"refused": "**REFUSED**", "unanswered": "*late*"}.get(part["outcome"], "")
    return " ".join(filter(None, (SIGNS[part["verdict"]], letters, size, "".join(sorted(accepting)), end)))


def human(size: float) -> str:
    """Return a number of bytes as text."""
    for unit in ("B", "kB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} MB"


def _by_kind(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table of the kinds of evidence."""
    columns = ("letter", "evidence", "decided", "certified", "median size", "largest")
    lines = [_cells(columns), "|---|---" + "|--:" * 4 + "|"]
    for kind, (letter, words) in KINDS.items():
        parts = [row[n] for row in rows for n in PROPERTIES if kind in row.get(n, {}).get("kinds", ())]
        if not parts:
            continue
        sizes = [part.get("bytes", 0) + part.get("proof_bytes", 0) for part in parts if part.get("files")]
        shown = (human(median(sizes)), human(max(sizes))) if sizes else ("-", "-")
        certified = sum(part["outcome"] == "certified" for part in parts)
        lines.append(_cells((letter, words, len(parts), certified, *shown)))
    return lines


def _uncertified(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table of the reasons why decided verdicts are not certified."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for name in PROPERTIES:
            part = row.get(name, {})
            if part.get("outcome") in ("refused", "unanswered", "missing"):
                kinds = ", ".join(part["kinds"])
                reason = part.get("why", "").split(": ", 1)[-1]
                key = part["outcome"], kinds, reason.partition(" (")[0]
                found.setdefault(key, []).append(f"{row['game']} ({name.replace('_', ' ')})")
    lines = [
        "",
        "Not certified:",
        "",
        "| outcome | evidence | reason | verdicts | which |",
        "|---|---|---|--:|---|",
    ]
    for key, which in sorted(found.items(), key=lambda item: -len(item[1])):
        lines.append(_cells((*key, len(which), ", ".join(which))))
    lost = [row for row in rows if any(name not in row for name in PROPERTIES)]
    reasons = (f"{row['game']} ({row.get('error') or row.get('crashed') or 'no answer'})" for row in lost)
    return [*(lines if found else []), *(["", f"Not analysed: {'; '.join(reasons)}."] if lost else [])]


def known_verdicts(
    text: str, collections: dict[str, list[dict[str, Any]]]
) -> dict[tuple[str, str, str], str]:
    """Read the tables of `analysing.py`: the answer by collection, sheet and property.

    A section belongs to the collection with which it shares most sheets.
    """
    known: dict[tuple[str, str, str], str] = {}
    for section in text.split("\n## ")[1:]:
        columns: list[str] = []
        sheets: dict[str, dict[str, str]] = {}
        for text_line in section.splitlines():
            cells = [cell.strip() for cell in text_line.strip().strip("|").split("|")]
            if cells[0] == "game" and "termination" in cells:
                columns = [cell.replace(" ", "_") for cell in cells]
            elif text_line.startswith("| ") and columns and len(cells) == len(columns):
                sheets[cells[0]] = dict(zip(columns, cells, strict=True))
            elif not text_line.startswith("|"):
                columns = []
        shared = {
            name: sum(row["game"] in sheets for row in rows) / len(rows) for name, rows in collections.items()
        }
        name = max(shared, key=lambda one: shared[one], default="")
        if not sheets or not shared.get(name):
            continue
        for game, cells_of in sheets.items():
            for part in PROPERTIES:
                cell = cells_of.get(part, "")
                if cell and cell != "?":
                    known[name, game, part] = "refuted" if cell == SIGNS["refuted"] else "proved"
    return known


def _covered(
    collections: dict[str, list[dict[str, Any]]], known: dict[tuple[str, str, str], str]
) -> list[str]:
    """Say which of the verdicts in other tables are certified."""
    words = {
        "certified": "certified here",
        "decided": "decided, not certified",
        "open": "open here",
        "missing": "sheet not run",
        "other": "another answer",
    }
    lines = [
        "",
        "Of the verdicts in [the tables of all verdicts](analysed.md), which had more time:",
        "",
        _cells(("collection", "verdicts there", *words.values())),
        "|---" + "|--:" * (len(words) + 1) + "|",
    ]
    for name, rows in collections.items():
        here = {row["game"]: row for row in rows}
        counts: Counter[str] = Counter()
        for (collection, game, part), answer in known.items():
            if collection != name:
                continue
            mine = here.get(game, {}).get(part)
            if mine is None:
                counts["missing"] += 1
            elif mine["outcome"] == "open":
                counts["open"] += 1
            elif mine["verdict"] != answer:
                counts["other"] += 1
            else:
                counts["certified" if mine["outcome"] == "certified" else "decided"] += 1
        lines.append(_cells((name, counts.total(), *(counts[word] for word in words))))
    return lines


# -- the command ---------------------------------------------------------------------------------


def line(row: dict[str, Any]) -> str:
    """Say on one line what became of a sheet."""
    parts = [f"{name[:4]} {row[name]['outcome']}" for name in PROPERTIES if name in row]
    whys = {row[name].get("why", "") for name in PROPERTIES if name in row} - {""}
    ends = [row.get("error", ""), row.get("crashed", ""), *sorted(whys)]
    return f"{row['game']}: {', '.join(parts)} {'; '.join(filter(None, ends))}".rstrip()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--name", help="of the collection")
    parser.add_argument("--deciding", type=float, default=5.0)
    parser.add_argument("--checking", type=float, default=10.0)
    parser.add_argument("--megabytes", type=int, default=3000)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--property", nargs="+", choices=PROPERTIES, default=PROPERTIES)
    parser.add_argument("--again", nargs="+", choices=OUTCOMES, default=[])
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument(
        "--tables", type=Path, metavar="FILE", help="verdicts of analysing.py, to compare with"
    )
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    options = parser.parse_args()
    lines = options.json.read_text(encoding="utf-8").splitlines() if options.json.exists() else []
    rows = [json.loads(text) for text in lines]
    if options.markdown is None:
        run(options, rows)
    else:
        options.markdown.write_text(markdown(rows, options.tables, options.machine), encoding="utf-8")
    best = joined(rows)
    counts = Counter(row[name]["outcome"] for row in best.values() for name in PROPERTIES if name in row)
    print(json.dumps({"sheets": len(best), **counts}))
    return 1 if counts["refused"] else 0


def run(options: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """Measure the sheets that are wanted, adding a line for each."""
    name = options.name or (BUNDLED if options.folder is None else options.folder.name)
    if options.folder is None:
        sheets = [(games.path(game), game) for game in games.names()]
    else:
        files = [path for path in options.folder.iterdir() if path.suffix in ENDINGS]
        sheets = [(path, path.stem) for path in files]
    for path, game in sorted(sheets, key=lambda sheet: (sheet[0].stat().st_size, sheet[1])):
        before = joined(rows).get((name, game))
        is_again = before is not None and any(
            part in before and before[part]["outcome"] in options.again for part in options.property
        )
        if (before is not None and not is_again) or (options.only and game not in options.only):
            continue
        source = str(path) if options.folder is not None else game
        measuring = partial(
            measure, source, options.property, options.deciding, options.checking, options.keep
        )
        wall_clock = PATIENCE * (options.deciding + options.checking + GRACE)
        began = spent()
        row = in_process(path, measuring, options.megabytes, wall_clock)
        row |= {"game": game, "collection": name, "cpu_s": round(spent() - began, 2)}
        row |= {"deciding": options.deciding, "checking": options.checking}
        rows.append(row)
        with options.json.open("a", encoding="utf-8") as file:
            print(json.dumps(row), file=file)
        print(line(row), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

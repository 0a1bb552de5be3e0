"""Certify each verdict about each rulesheet of a collection, and have the programs of others check it.

    python benchmarks/certifying.py [FOLDER] --json FILE [--name TEXT] [--deciding S] [--checking S]
                                    [--megabytes M] [--only NAME...] [--again OUTCOME...] [--keep FOLDER]
    python benchmarks/certifying.py --json FILE --markdown FILE [--machine TEXT]

Each sheet has a process of its own: one analysis decides termination, playability, goals, weak and strong
winnability within some seconds, and the certificates of the decided properties are written and checked within
as many more for all of them.  Without a folder the bundled games are certified; small sheets come first.
After every sheet a line is added to the JSON Lines file; sheets of the collection `--name` that are in it
already are skipped, unless some property has one of the outcomes of `--again`.  Where a sheet has several
lines, the page (`--markdown`) has for each property the best answer, except that a refused certificate always
counts.

Seconds are of processor time: of the process of the sheet and of the programs that it calls.  The outcomes:

    certified    other programs accept all files that the verdict needs
    refused      one of them refuses a file
    unanswered   a file was not checked in time, or its program is not installed
    missing      there are no files; the reason says why
    open         the property is not decided within the budget

`--keep` leaves the certificates in a folder for each sheet and property.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from costs import peak_megabytes, spent
from rulesheets import in_process, limit_processor

import herbrand
from herbrand import games
from herbrand.analyse import Budget, analyse
from herbrand.analyse.certification import outside
from herbrand.analyse.certification.folder import certify_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.analyse.certification import CertifiedVerdict
    from herbrand.analyse.verdict import Verdict

PROPERTIES: Final = ("termination", "playability", "goals", "weak_winnability", "strong_winnability")
OUTCOMES: Final = ("certified", "refused", "unanswered", "missing", "open")
"""From the best to the worst, but for `refused`, which always counts."""
BUNDLED: Final = "bundled games"
ENDINGS: Final = (".kif", ".gdl", ".ggd")
STATES: Final = 2_000_000
"""States, at most, that deciding lists."""
PATIENCE: Final = 4
"""Wall-clock seconds for a processor second, for the programs that check."""
GRACE: Final = 10.0
"""Seconds of processor time beyond the budgets after which a process is killed."""


# -- measuring -----------------------------------------------------------------------------------


def measure(file: str, deciding: float, checking: float, keep: Path | None) -> Iterator[dict[str, Any]]:
    """Yield what becomes known about a sheet: its size, then each property."""
    limit_processor(deciding + checking + GRACE)
    clock, began = time.monotonic, spent()
    time.monotonic = spent  # budgets are read from this clock
    try:
        game = herbrand.load(file)
        if game.rules.errors:
            yield {"error": f"{len(game.rules.errors)} errors: {game.rules.errors[0].check}"}
            return
        analysis = analyse(
            game,
            PROPERTIES,
            budget=Budget(deciding, STATES, 1000.0),
            check=False,
            values=False,
            remarks=False,
        )
        yield {"roles": len(game.roles), "counts": (analysis.counts or {}).get("states")}
        verdicts = analysis.properties
        yield {name: {"verdict": verdicts[name].answer, "outcome": "open"} for name in PROPERTIES}
        yield {"deciding_cpu_s": round(spent() - began, 2)}
        outside.WAITING = PATIENCE
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


def _size(verdicts: dict[str, Verdict], name: str) -> int:
    """Return a number by which cheap evidence comes first."""
    roles = verdicts[name].roles.values()
    return sum(verdict.witness is None for verdict in roles or (verdicts[name],))


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
    needed = set()
    for file in certified.files:
        words = {True: "accepted", False: "refused", None: "unanswered"}
        word = words[file.outcome.accepted]
        proof = file.outcome.proof
        program = f"{file.program} {file.version}".strip()
        answers.setdefault(program, Counter())["accepted" if proof.startswith("REFUSED") else word] += 1
        if proof and word != "unanswered":
            verified, _, by = proof.partition(" by ")
            known = verified in ("verified", "REFUSED")
            checker = by if known else proof.partition(":")[0]
            word_of_proof = {"verified": "accepted", "REFUSED": "refused"}.get(verified, "unanswered")
            answers.setdefault(checker, Counter())[word_of_proof] += 1
        if not file.is_extra or word == "refused":
            needed.add(word)
    said = next((f for f in certified.files if f.outcome.accepted is False), None)
    said = said or next((f for f in certified.files if f.outcome.accepted is None and not f.is_extra), None)
    why = certified.missing or (f"{said.name}: {said.outcome.proof or said.outcome.said}" if said else "")
    if not certified.files:
        word = "missing"
    else:
        word = next(word for word in ("refused", "unanswered", "accepted") if word in needed)
    return {
        "outcome": "certified" if word == "accepted" else word,
        "files": len(certified.files),
        "programs": {program: dict(count) for program, count in answers.items()},
        **({"why": why} if why and word != "accepted" else {}),
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
            name: row[name] if _rank(row[name]) <= _rank(before[name]) else before[name]
            for name in PROPERTIES
        }
        found[key] = {**row, **better}
    return found


def _rank(part: dict[str, Any]) -> int:
    return -1 if part["outcome"] == "refused" else OUTCOMES.index(part["outcome"])


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
    parser.add_argument("--again", nargs="+", choices=OUTCOMES, default=[])
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--machine", default=platform.processor() or platform.machine())
    options = parser.parse_args()
    lines = options.json.read_text(encoding="utf-8").splitlines() if options.json.exists() else []
    rows = [json.loads(text) for text in lines]
    if options.markdown is None:
        run(options, rows)
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
            part in before and before[part]["outcome"] in options.again for part in PROPERTIES
        )
        if (before is not None and not is_again) or (options.only and game not in options.only):
            continue
        source = str(path) if options.folder is not None else game
        measuring = partial(measure, source, options.deciding, options.checking, options.keep)
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

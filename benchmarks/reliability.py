"""Tries what disks, peers and programs can do, and prints how many cases were tried and what was lost.

`python benchmarks/reliability.py` runs all parts, and with their names some:

| part        | what is tried                                                 | needs about     |
|-------------|---------------------------------------------------------------|-----------------|
| `sheets`    | damaged rulesheets in all notations (module `fuzz_sheets`)    | 20 ms a case    |
| `damage`    | damaged databases of match records                            | 30 ms a case    |
| `faults`    | each call of the system failing once                          | 1 s a case      |
| `budgets`   | every command that reads rules, on hostile ones               | 7 s a case      |
| `peers`     | strangers in the place of players, workers that lie           | 5 ms a case     |
| `pages`     | pictures and matches asked for at once (module `previews`)    | 0.3 s a picture |
| `endurance` | a player and managers among hostile peers (`endurance`)       | the minutes     |

`--cases N` is the number of cases of each part (of each kind of work in `faults`, and of commands in
`budgets`, by default all of them; of pictures in `pages`; of minutes in `endurance`), `--seed N` chooses
others, `--json` prints the outcomes and failures of each kind.  The exit status is 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import endurance
import previews
from budgets import try_budgets
from case_report import CaseReport
from damage import DamageBench
from false_peers import try_false_peers
from faults import try_faults
from fuzz_sheets import fuzz

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["PARTS", "main"]


def _sheets(_: Path, cases: int, seed: int) -> list[CaseReport]:
    report = fuzz(seed, seconds=math.inf, texts=cases)
    outcomes = Counter({"read": report.readable, "diagnosed": report.texts - report.readable})
    return [CaseReport("damaged rulesheet", report.texts, outcomes, sorted(report.failures))]


def _faults(folder: Path, cases: int, seed: int) -> list[CaseReport]:
    return try_faults(folder, limit=cases or None, seed=seed)


def _damage(folder: Path, cases: int, seed: int) -> list[CaseReport]:
    return DamageBench(folder).run(range(cases), seed=seed)


def _budgets(folder: Path, cases: int, seed: int) -> list[CaseReport]:
    return try_budgets(folder, limit=cases or None, seed=seed)


def _pages(_: Path, cases: int, __: int) -> list[CaseReport]:
    return previews.summarise([previews.crowd(cases, 25) for _ in range(3)])


def _endurance(_: Path, cases: int, __: int) -> list[CaseReport]:
    return endurance.summarise(endurance.endure(cases))


PARTS: Final[dict[str, tuple[int, Callable[[Path, int, int], list[CaseReport]]]]] = {
    "sheets": (3000, _sheets),
    "damage": (1050, _damage),
    "faults": (0, _faults),
    "budgets": (0, _budgets),
    "peers": (4000, try_false_peers),
    "pages": (60, _pages),
    "endurance": (120, _endurance),
}
"""The parts by name: the default number of cases, and a function of a folder, that number and a seed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that the arguments name, and print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python benchmarks/reliability.py")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; default: all")
    parser.add_argument("--cases", type=int, metavar="N", help="number of cases of each part")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="chooses the cases; default: 0")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part `{unknown[0]}` (one of {', '.join(PARTS)})")
    results: dict[str, list[CaseReport]] = {}
    for part in options.parts or PARTS:
        cases, try_cases = PARTS[part]
        with tempfile.TemporaryDirectory() as folder:
            results[part] = try_cases(Path(folder), options.cases or cases, options.seed)
    if options.json:
        shown = {part: [report.as_json() for report in reports] for part, reports in results.items()}
        print(json.dumps(shown, indent=2))
    else:
        print("\n".join(_table(results)))
    return int(any(report.failures for reports in results.values() for report in reports))


def _table(results: dict[str, list[CaseReport]]) -> list[str]:
    """Return a table in Markdown, and the failures after it."""
    lines = ["| part | case | tried | outcome | lost |", "|---|---|--:|---|--:|"]
    failures = []
    for part, reports in results.items():
        for report in reports:
            outcome = ", ".join(f"{count} {name}" for name, count in sorted(report.outcomes.items()))
            outcome += f"; {report.note}" if report.note else ""
            lines.append(f"| {part} | {report.kind} | {report.tried} | {outcome} | {len(report.failures)} |")
            failures += [f"{part}: {report.kind}: {failure}" for failure in report.failures]
    return [*lines, *([""] if failures else []), *failures]


if __name__ == "__main__":
    sys.exit(main())

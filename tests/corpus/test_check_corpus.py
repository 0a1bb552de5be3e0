"""The outside collection of rulesheets through all checks: verdicts compared with another validator.

`docs/reference/agreement.md` is written from the same comparison: `pytest --update` rewrites it.
"""

from __future__ import annotations

import csv
import os
import time
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from herbrand.check import check
from herbrand.check.finite import finite_certificate
from herbrand.check.step_counter import StepCounter, step_counter
from herbrand.diagnostic import Severity
from herbrand.syntax import read_file

if TYPE_CHECKING:
    from herbrand.check.rules import Rules

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference" / "agreement.md"


@dataclass(frozen=True)
class Row:
    """One sheet: what the other validator said, and what we found."""

    game: str
    valid: bool
    rules: Rules
    seconds: float
    finite: bool
    counter: StepCounter | None

    @property
    def agrees(self) -> bool:
        return self.valid == (not self.rules.errors)


@cache
def rows(folder: Path) -> tuple[Row, ...]:
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        manifest = list(csv.DictReader(file))
    found = []
    for entry in manifest:
        tree = read_file(folder / "rulesheets" / f"{entry['game']}.kif")
        begin = time.process_time()
        rules = check(tree)
        seconds = time.process_time() - begin
        found.append(
            Row(
                entry["game"],
                entry["valid"] == "True",
                rules,
                seconds,
                finite_certificate(tree.statements).holds,
                step_counter(tree.statements),
            )
        )
    return tuple(found)


def test_none_of_some_sheets_has_an_error(corpus_dir: Path) -> None:
    """Among them those that the other validator refuses for mixed capitals, which are warnings here."""
    with (corpus_dir / "manifest.csv").open(encoding="utf-8", newline="") as file:
        manifest = list(csv.DictReader(file))
    names = [entry["game"] for entry in manifest[::12]]
    refused = [entry["game"] for entry in manifest if entry["valid"] != "True"][:4]
    assert len(names) > 15
    for name in [*names, *refused]:
        rules = check(read_file(corpus_dir / "rulesheets" / f"{name}.kif"))
        assert not rules.errors, name
        assert name not in refused or "inconsistent-case" in {d.check for d in rules.diagnostics}


@pytest.mark.corpus
def test_no_sheet_has_an_error(corpus_dir: Path) -> None:
    """All of them are played by others, so an error would be a false one."""
    assert len(rows(corpus_dir)) > 200
    wrong = [
        (row.game, [str(d.message) for d in row.rules.errors]) for row in rows(corpus_dir) if row.rules.errors
    ]
    assert not wrong


@pytest.mark.corpus
def test_mixed_capitals_are_warnings(corpus_dir: Path) -> None:
    """Each sheet that the other validator refuses, always for inconsistent capitals, gets that warning."""
    refused = [row for row in rows(corpus_dir) if not row.valid]
    assert refused
    for row in refused:
        assert "inconsistent-case" in {d.check for d in row.rules.diagnostics}, row.game
    warned = {
        row.game
        for row in rows(corpus_dir)
        if any(
            d.check == "inconsistent-case" and d.severity is Severity.WARNING for d in row.rules.diagnostics
        )
    }
    assert warned == {row.game for row in refused}


@pytest.mark.corpus
def test_every_sheet_is_checked_quickly(corpus_dir: Path) -> None:
    """The slowest takes less than a second of processor time, all of them less than twenty."""
    assert max(row.seconds for row in rows(corpus_dir)) < 1
    assert sum(row.seconds for row in rows(corpus_dir)) < 20


@pytest.mark.corpus
def test_certificates_are_found(corpus_dir: Path) -> None:
    """All real sheets have finitely many states and nearly half a step counter of the general form."""
    assert all(row.finite for row in rows(corpus_dir))
    assert sum(row.counter is not None for row in rows(corpus_dir)) >= 140


@pytest.mark.corpus
def test_recorded_matches_keep_the_bound(corpus_dir: Path) -> None:
    """No recorded match is longer than the bound that a step counter gives."""
    with (corpus_dir / "manifest.csv").open(encoding="utf-8", newline="") as file:
        moves = {entry["game"]: entry for entry in csv.DictReader(file)}
    compared = 0
    for row in rows(corpus_dir):
        if row.counter is not None:
            for match in ("match0", "match1"):
                played, end = moves[row.game][f"{match}_moves"], moves[row.game][f"{match}_end"]
                if played:
                    assert int(played) <= row.counter.bound, row.game
                    compared += end == "terminal"
    assert compared > 100


@pytest.mark.corpus
def test_the_page_of_agreement_is_up_to_date(corpus_dir: Path, update: bool) -> None:
    """docs/reference/agreement.md holds these verdicts."""
    text = page(rows(corpus_dir))
    if update or os.environ.get("HERBRAND_UPDATE") == "1":
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def page(found: tuple[Row, ...]) -> str:
    """Return the page of agreement: counts and games only."""
    agree = [row for row in found if row.agrees]
    sheets: Counter[tuple[int, str, str]] = Counter()
    for row in found:
        for check_name, severity in {(d.check, d.severity) for d in row.rules.diagnostics}:
            sheets[severity.rank, severity.value, check_name] += 1
    bounds = [row.counter.bound for row in found if row.counter is not None]
    lines = [
        "# Agreement with another validator",
        "",
        "Written by `HERBRAND_UPDATE=1 pytest tests/corpus/test_check_corpus.py`; do not edit.",
        "",
        f"This page compares `herbrand check` with the validator of ggp-base on {len(found)} rulesheets of",
        "the public collection ggp-org/ggp-repository. A sheet is accepted if it has no errors; warnings",
        "and notes do not count.",
        "",
        "| verdict | sheets |",
        "|---|---|",
        f"| accepted by both | {sum(row.agrees and row.valid for row in found)} |",
        f"| refused by both | {sum(row.agrees and not row.valid for row in found)} |",
        f"| accepted here, refused there | {sum(not row.agrees and not row.valid for row in found)} |",
        f"| refused here, accepted there | {sum(not row.agrees and row.valid for row in found)} |",
        f"| **agreement** | **{len(agree)} of {len(found)}** |",
        "",
        "## Every disagreement",
        "",
        "| game | there | here | reason |",
        "|---|---|---|---|",
    ]
    for row in found:
        if not row.agrees:
            mine = sorted(
                {d.check for d in (row.rules.errors or row.rules.diagnostics) if d.severity.rank < 2}
            )
            there = "accepted" if row.valid else "refused: inconsistent capitals"
            here = f"{'refused' if row.rules.errors else 'accepted'} ({', '.join(mine)})"
            reason = "names are compared without case, so the sheet means what it says; a warning tells"
            lines.append(f"| {row.game} | {there} | {here} | {reason} |")
    lines += [
        "",
        "## Diagnostics by check",
        "",
        "The number of sheets in which each check reports something:",
        "",
        "| check | severity | sheets |",
        "|---|---|---|",
    ]
    for (_, severity, check_name), count in sorted(sheets.items()):
        lines.append(f"| [{check_name}](checks.md#{check_name}) | {severity} | {count} |")
    lines += [
        "",
        "`negation-cycle-by-name` is forbidden by the specification (no relation may depend on its own",
        "negation), but the other validator does not find it; all these sheets are stratified rule by rule,",
        "so they have one meaning and are accepted with a note. In strict mode they are refused.",
        "",
        "## Certificates",
        "",
        f"Finitely many states are proved for {sum(row.finite for row in found)} of {len(found)} sheets, and",
        f"that every play ends, by a step counter, for {len(bounds)}, with bounds from {min(bounds)} to",
        f"{max(bounds)} steps.",
    ]
    return "\n".join(lines) + "\n"

"""Which sheets of collections load, agree with their traces and become networks: the report, and the numbers."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from covered import UNCOUNTED, main, sheets_of, summary

import herbrand
from herbrand.check import check
from herbrand.syntax import read_file
from herbrand.verify import verify_trace

if TYPE_CHECKING:
    from pathlib import Path

LAMP = """(role red) (init off) (legal red push) (<= (next on) (does red push)) (<= terminal (true on))
(goal red 100)
"""
STEPS: list[dict[str, Any]] = [
    {"type": "game", "roles": ["red"]},
    {"type": "match", "match": 0},
    {
        "type": "step",
        "match": 0,
        "step": 0,
        "terminal": False,
        "goals": [100],
        "move": ["push"],
        "state_n": 1,
        "state": ["off"],
        "legal_n": [1],
        "legal": [["push"]],
    },
    {
        "type": "step",
        "match": 0,
        "step": 1,
        "terminal": True,
        "goals": [100],
        "move": None,
        "state_n": 1,
        "state": ["on"],
        "legal_n": [1],
        "legal": [["push"]],
    },
    {"type": "end", "status": "ok"},
]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Four sheets: sound, tolerated, of a trace that is no measure, and rejected."""
    sheets = {
        "lamp": LAMP,
        "lamp2": LAMP + "(base lamp (x on off))\n",
        "other": LAMP.replace("(init off)", "(init on)"),
        "broken": LAMP + "(<= (next ?x) (true on))\n",
    }
    (tmp_path / "rulesheets").mkdir()
    (tmp_path / "traces").mkdir()
    for name, text in sheets.items():
        (tmp_path / "rulesheets" / f"{name}.kif").write_text(text)
        with gzip.open(tmp_path / "traces" / f"{name}.jsonl.gz", "wt") as trace:
            trace.write("\n".join(map(json.dumps, STEPS)))
    (tmp_path / "manifest.csv").write_text("file,oracle_use\nlamp.kif,good\nother.kif,other reading\n")
    return tmp_path


def test_the_report(
    collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each sheet is measured once, goes into the JSON, and the page says what became of it."""
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    arguments = [
        "covered",
        str(collection),
        "--names",
        "lamps",
        "--json",
        str(results),
        "--machine",
        "a machine",
    ]
    monkeypatch.setattr("sys.argv", arguments)
    assert main() == 0
    assert json.loads(capfd.readouterr().out) == {
        "sheets": 4,
        "load": 3,
        "traces": 2,
        "rules": 2,
        "compared": 2,
        "network": 2,
        "networks": 3,
    }
    monkeypatch.setattr("sys.argv", [*arguments, "--continue", "--markdown", str(page)])
    assert main() == 0
    assert capfd.readouterr().err == ""  # nothing is measured again
    text = page.read_text()
    shares = ("3 of 4 (75.0 %)", "2 of 2 (100.0 %)", "2 of 2 (100.0 %)", "3 of 3 (100.0 %)")
    assert f"| lamps | 4 | {' | '.join(shares)} |" in text
    assert "| [keyword-arity](checks.md#keyword-arity) | 1 |" in text
    assert "| broken | line 3: [unsafe-variable](checks.md#unsafe-variable), `?x` in the head" in text
    rows = {row["game"]: row for row in json.loads(results.read_text())["rows"]}
    assert rows["other"]["rules"]["difference"].startswith("match 0, step 0: state differs")
    assert rows["lamp2"]["network"] == {"states": 2, "difference": None}


SOME = 12
"""Every so many sheets of the collection are tried without `--corpus`."""


def test_some_sheets_of_the_second_collection(second_corpus_dir: Path) -> None:
    """They load, and agree with the beginning of their traces where these are a measure."""
    sheets = sheets_of(second_corpus_dir)[::SOME]
    assert len(sheets) > 10
    rejected = [sheet.name for sheet in sheets if check(read_file(sheet.file)).errors]
    assert len(rejected) <= 0.05 * len(sheets), rejected


@pytest.mark.corpus
def test_the_second_collection(second_corpus_dir: Path) -> None:
    """At least 95 % of the sheets load, and 98 % of these agree with their traces by the rules."""
    sheets = sheets_of(second_corpus_dir)
    games = {sheet: herbrand.load(sheet.file) for sheet in sheets}
    loaded = [sheet for sheet in sheets if not games[sheet].rules.errors]
    assert len(loaded) >= 0.95 * len(sheets)
    compared = [sheet for sheet in loaded if sheet.trace.is_file() and sheet.use not in UNCOUNTED]
    differ = [
        sheet.name for sheet in compared if not verify_trace(games[sheet], sheet.trace, engine="rules").ok
    ]
    assert len(differ) <= 0.02 * len(compared), differ


def test_a_sheet_that_was_not_loaded_counts_for_nothing() -> None:
    """A row of a process that was killed has no errors, but is not loaded."""
    killed = {"game": "x", "collection": "y", "use": "", "crashed": "killed: over time"}
    assert summary([killed], 20) == dict.fromkeys(
        ("sheets", "load", "traces", "rules", "compared", "network", "networks"), 0
    ) | {"sheets": 1}

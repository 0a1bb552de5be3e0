"""The examples of the five texts that the project has to satisfy: all are read, their mistakes are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from herbrand.diagnostic import apply_fixes
from herbrand.syntax import read, read_file

SEEDS = Path(__file__).parent.parent / "golden" / "seeds"
EXPECTED = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))


def found(path: Path) -> dict[str, object]:
    tree = read_file(path)
    return {
        "notation": tree.notation,
        "statements": len(tree.statements),
        "findings": [
            [d.check, d.severity.value, tree.source.position(d.span.start).line] for d in tree.diagnostics
        ],
    }


def test_every_example_is_expected():
    """Each example has an expectation, and there is an example of each of the five texts."""
    files = {path.name for path in SEEDS.iterdir() if path.suffix != ".json"}
    assert files == set(EXPECTED)
    assert {name[:3] for name in files} == {"000", "001", "002", "003", "004"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name):
    """Reading an example finds what is wrong in it, at its line, and nothing else."""
    assert found(SEEDS / name) == EXPECTED[name]


def test_the_book_sheet_is_repaired_by_its_fixes():
    """The fixes for the two missing and two dangling signs give the golden text, without findings."""
    tree = read_file(SEEDS / "000_tictactoe.hrf")
    text, applied = apply_fixes(tree.source.text, tree.diagnostics)
    assert text == (SEEDS / "000_tictactoe.fixed.hrf").read_text(encoding="utf-8")
    assert len(applied) == 4
    again = read(text, "infix")
    assert again.diagnostics == ()
    assert again.statements == tree.statements


def test_the_missing_signs_are_inserted_where_they_belong():
    """The repaired rule has the literal behind the missing sign as its own conjunct."""
    rules = [str(rule) for rule in read_file(SEEDS / "000_tictactoe.hrf").statements]
    assert "(<= (next (cell ?m ?n b)) (does ?w (mark ?j ?k)) (true (cell ?m ?n b)) (distinct ?m ?j))" in rules
    assert "(<= terminal (line ?w))" in rules
    assert "(<= terminal (not open))" in rules


def test_the_prolog_sheet_means_the_same_as_prefix():
    """Signs of SWI-Prolog become the connectives of GDL."""
    rules = [str(rule) for rule in read_file(SEEDS / "001_tictactoe3.pl").statements]
    assert (
        "(<= (next (cell ?m ?n b)) (does ?_w (mark ?j ?k)) (true (cell ?m ?n b))"
        " (or (distinct ?m ?j) (distinct ?n ?k)))" in rules
    )
    assert "(<= (goal white 50) (not (line x)) (not (line o)))" in rules


@pytest.mark.parametrize(("name", "count"), [("input", 20), ("base", 29), ("init", 10), ("legal", 10)])
def test_lists_of_the_book(name, count):
    """The book's lists of sentences are read as that many different facts."""
    statements = read_file(SEEDS / f"000_{name}.hrf").statements
    assert len(set(statements)) == count
    assert all(rule.is_fact and rule.head.name == name for rule in statements)

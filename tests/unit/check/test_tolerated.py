"""Every oddity that is tolerated: a warning with a repair, refused by `--strict`, gone after `convert` and `--fix`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.check import check
from herbrand.check.catalogue import CHECKS
from herbrand.check.fixing import fixed, is_tolerated
from herbrand.cli.main import cli
from herbrand.diagnostic import Severity
from herbrand.syntax import read
from herbrand.syntax.printer import print_tree
from herbrand.verify.diff import diff

COVERAGE = Path(__file__).parents[3] / "docs" / "reference" / "coverage.md"

LAMP = """
(role red)
(role blue)
(init (lamp off))
(init (count 0))
(legal red push)
(legal blue wait)
(<= (next (lamp on)) (does red push))
(<= (next (count 1)) (true (count 0)))
(<= (next (count 2)) (true (count 1)))
(<= terminal (true (count 2)))
(<= (goal red 100) (true (lamp on)))
(<= (goal red 0) (not (true (lamp on))))
(goal blue 50)
"""
FIRST = "(<= (next (count 1)) (true (count 0)))"
LAST = "(<= terminal (true (count 2)))"
OFF = "(not (true (lamp on)))"


def instead(old: str, new: str) -> str:
    """The sheet with one thing replaced."""
    assert LAMP.count(old) == 1
    return LAMP.replace(old, new)


TOLERATED = [
    ("non-ground-fact", LAMP + "(base (lamp ?x))\n"),
    ("left-over-text", LAMP + "lamp(X):-switch(X).\n"),
    ("unsafe-variable", instead("(legal blue wait)", "(<= (legal ?r wait) (true (count ?n)))")),
    ("negated-compound", instead(OFF, "(not (or (true (lamp on)) (true (lamp red))))")),
    ("negated-compound", instead(OFF, "(not (not (true (lamp off))))")),
    ("negated-compound", instead(OFF, "(not (and (true (lamp on)) (true (count ?n))))").replace("(goal red 0)",
     "(goal red 0) (true (count ?n))")),
    ("negated-compound", instead(OFF, "(true (lamp ?x)) (not (distinct ?x off))")),
    ("negated-compound", instead(OFF, "(or (true (lamp off)) (not (or (true (lamp on)) (true (lamp off)))))")),
    ("negated-compound", instead(OFF, "(true (lamp ?x)) (or (not (distinct ?x off)) (not (and (true (lamp off)) "
     "(not (or (true (count 2)) (true (lamp on)))))))")),
    ("negated-compound", LAMP + "(<= (goal red 7) (not (distinct red blue)))\n"),
    ("keyword-arity", LAMP + "(base lamp (x off on))\n"),
    ("commented-rules", "%% ;;; A lamp\n" + re.sub("^", "%% ", LAMP, flags=re.MULTILINE) + "\nlit :- true(lamp(on)).\n"),
    ("unsafe-negation", LAMP + "(<= (legal red rest) (not (true (broken ?x))))\n(<= (next (broken a)) (does red rest))\n"),
    ("list-without-name", LAMP + "(<= (drawing (?x button)) (true (lamp ?x)))\n"),
    ("unsafe-distinct", instead(FIRST, "(<= (differ ?x ?y) (distinct ?x ?y))\n"
     "(<= (next (count 1)) (true (count ?x)) (differ ?x 1))")),
    ("legal-depends-on-does", instead(LAST, "(<= moved (does ?r push))\n(<= idle (not moved))\n"
     "(<= terminal (true (count 2)) idle)")),
    ("misplaced-literal", LAMP + "(distinct a b)\n"),
    ("unrestricted-recursion", instead(FIRST, "(after 0 1)\n(<= (after ?x ?y) (after ?x ?z) (after ?z ?y))\n"
     "(<= (next (count ?n)) (true (count 0)) (after 0 ?n))")),
    ("function-arity", LAMP + "(<= (next (lamp on red)) (does red push))\n"
     "(<= (next (lamp ?x blue)) (true (lamp ?x red)))\n"),
    ("function-arity", LAMP + "(<= (goal red 0) (true (lamp ?x)) (distinct (lamp ?x) (lamp ?x ?x)) (true (count 9)))\n"),
    ("relation-arity", instead(FIRST, "(<= (lit ?x ?x) (true (lamp ?x)))\n(<= (lit ?x) (true (lamp ?x)))\n"
     "(<= (next (count 1)) (true (count 0)) (lit off) (not (lit on on)))")),
    ("keyword-as-function", instead("push)\n", "(goal on))\n").replace("(does red push)", "(does red (goal on))")),
    ("init-in-body", instead(FIRST, "(base (count 0))\n(base (count 1))\n(base (count 2))\n(base (lamp on))\n"
     "(base (lamp off))\n(<= (next (count 1)) (true (count 0)) (base (count 1)))")),
    ("init-in-body", LAMP + "(input red push)\n(input blue wait)\n(<= (legal red ?m) (input red ?m) (true (count 1)))\n"),
    ("negation-cycle-by-name", instead(FIRST, "(<= (lit ?x ?x) (true (lamp ?x)))\n(<= (lit a b) (not (lit on on)))\n"
     "(<= (next (count 1)) (true (count 0)) (lit a b))")),
    ("negation-cycle-by-name", instead(FIRST, "(<= (lit 1) (true (lamp ?x)) (true (count ?x)))\n(<= (lit 2) (not (lit 1)))\n"
     "(<= (next (count 1)) (true (count 0)) (lit 2))")),
    ("sees-in-body", instead("(true (count 2))", "(sees red late)") + "(<= (sees red late) (true (count 2)))\n"),
    ("dynamic-init", LAMP + "(<= (input red ?m) (free ?m))\n(<= (free push) (true (lamp off)))\n"),
    ("goal-value", instead("(goal red 0)", "(goal red 00)")),
    ("foreign-comment", "// a lamp\n" + LAMP),
]  # fmt: skip


def tolerated(text: str) -> list[str]:
    """The names of the checks that are warnings only because checking is not strict; there are no errors."""
    rules = check(read(text, "prefix"))
    assert not rules.errors, [d.message for d in rules.errors]
    return [d.check for d in rules.diagnostics if is_tolerated(d)]


@pytest.mark.parametrize(("name", "text"), TOLERATED)
def test_what_is_tolerated_can_be_repaired(name: str, text: str, tmp_path: Path) -> None:
    """`--fix` and `convert` give the same game, which strict checks accept; before, they refuse it."""
    assert name in tolerated(text)
    assert any(d.fix for d in check(read(text, "prefix")).diagnostics if d.check == name)
    strictly = check(read(text, "prefix"), strict=True)
    assert name in {d.check for d in strictly.errors}
    assert any(d.fix for d in strictly.errors if d.check == name)
    before, after = tmp_path / "before.kif", tmp_path / "after.kif"
    before.write_text(text, encoding="utf-8")
    game = herbrand.loads(text.replace("(goal on)", "(goal_1 on)"))  # the name that a keyword gives way to
    run = CliRunner()
    assert run.invoke(cli, ["convert", str(before), "--to", "prefix", "-o", str(after)]).exit_code == 0
    assert run.invoke(cli, ["check", "--fix", "--no-play", "--strict", str(before)]).exit_code in (0, 1)
    fixed_game, converted = games = [herbrand.load(file) for file in (before, after)]
    for clean in games:
        assert tolerated(clean.tree.source.text) == []
        assert check(clean.tree, strict=True).errors == ()
    assert diff(fixed_game, game).verdict in ("rules", "play")
    is_same = set(converted.tree.statements) == set(fixed_game.tree.statements)
    assert is_same or diff(converted, game).verdict in ("rules", "play")


def test_all_that_is_tolerated_is_tried() -> None:
    """Whatever the collections have, and each check that only warns of what the language forbids."""
    names = {name for name, _ in TOLERATED}
    page = COVERAGE.read_text(encoding="utf-8")
    table = page.partition("Tolerated with a warning:\n\n")[2].partition("\n\n")[0]
    listed = set(re.findall(r"^\| \[([a-z-]+)\]", table, re.MULTILINE))
    assert "left-over-text" in listed
    assert listed <= names
    warned = {name for name, entry in CHECKS.items() if entry.spec and entry.severity is Severity.WARNING}
    assert warned <= names


@pytest.mark.parametrize("notation", ["infix", "prolog"])
def test_negated_compounds_are_fixed_in_each_notation(notation: str) -> None:
    """The statement is written anew where a part of it cannot be."""
    for name, text in TOLERATED:
        if name != "negated-compound":
            continue
        tree = read(print_tree(read(text, "prefix"), notation).text, notation)
        if not any(map(is_tolerated, check(tree).diagnostics)):
            continue  # the notation has no double negation
        clean, fixes = fixed(tree, lambda other: check(other).diagnostics)
        assert set(fixes) == {"negated-compound"}
        assert check(clean, strict=True).errors == ()
        assert diff(herbrand.Game(clean), herbrand.loads(text)).verdict in ("rules", "play")


def test_only_the_negation_is_rewritten_where_that_suffices() -> None:
    """Layout and comments of the rest stay; a statement with an error of its text is left alone."""
    text = instead(OFF, "; dark\n    (not (or (true (lamp on))  (true (lamp ?n)))) (true (count ?n))")
    clean, _ = fixed(read(text, "prefix"), lambda other: check(other).diagnostics)
    assert clean.source.text == text.replace(
        "(not (or (true (lamp on))  (true (lamp ?n))))", "(not (true (lamp on))) (not (true (lamp ?n)))"
    )
    torn = instead(OFF, "(not (true (lamp on) (true (lamp red))))")
    assert "negated-compound" not in {d.check for d in check(read(torn, "prefix")).diagnostics}


@pytest.mark.parametrize(
    "extra",
    [
        "(<= (next (lamp on red)) (does red push))\n",
        "(<= (next (count 7)) (lit on))\n(<= (lit ?x ?y) (true (lamp ?x)) (true (lamp ?y)))\n",
        "(<= (next (goal on)) (does red push))\n",
    ],
)
def test_names_that_may_be_slips_are_not_renamed(extra: str) -> None:
    """What stands once with another number of arguments, or is not defined with it, is probably a mistake."""
    found = [d for d in check(read(LAMP + extra)).diagnostics if is_tolerated(d)]
    assert found
    assert not any(d.fix for d in found)

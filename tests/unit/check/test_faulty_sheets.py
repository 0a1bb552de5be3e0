"""Sheets with one mistake each: a plain `herbrand check` finds it, at its place, and `--fix` repairs most.

Each is the race below with some lines replaced.  Where the mistake leaves no doubt, the repaired sheet plays
as the race does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from pathlib import Path

RACE = """; red and blue change places
(role red)
(role blue)
(cell 1) (cell 2) (cell 3) (cell 4) (cell 5)
(next_to 1 2) (next_to 2 3) (next_to 3 4) (next_to 4 5)
(next_to 2 1) (next_to 3 2) (next_to 4 3) (next_to 5 4)
(next_to 1 3) (next_to 3 5) (next_to 5 3) (next_to 3 1) (next_to 2 4) (next_to 4 2)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(<= (base (at ?p ?x)) (role ?p) (cell ?x))
(<= (base (control ?p)) (role ?p))
(base (clock 0))
(<= (base (clock ?n)) (succ ?m ?n))
(<= (input ?p (step ?x ?y)) (role ?p) (next_to ?x ?y))
(<= (input ?p wait) (role ?p))
(init (at red 1))
(init (at blue 5))
(init (control red))
(init (clock 0))
(<= (taken ?x) (true (at ?p ?x)))
(<= (legal ?p (step ?x ?y)) (true (control ?p)) (true (at ?p ?x)) (next_to ?x ?y) (not (taken ?y)))
(<= (legal ?p wait) (role ?p) (not (true (control ?p))))
(<= (next (at ?p ?y)) (does ?p (step ?x ?y)))
(<= (moved ?p) (does ?p (step ?x ?y)))
(<= (next (at ?p ?x)) (true (at ?p ?x)) (not (moved ?p)))
(<= (next (control red)) (true (control blue)))
(<= (next (control blue)) (true (control red)))
(<= (next (clock ?n)) (true (clock ?m)) (succ ?m ?n))
(<= (home red) (true (at red 5)))
(<= (home blue) (true (at blue 1)))
(<= somebody (home ?p))
(<= terminal somebody)
(<= terminal (true (clock 9)))
(<= (goal ?p 100) (home ?p))
(<= (goal ?p 0) (home ?q) (role ?p) (distinct ?p ?q))
(<= (goal ?p 50) (role ?p) (not somebody))
"""


class Mistake(NamedTuple):
    """One mistake, and what is reported first."""

    name: str
    old: str
    new: str
    check: str
    line: int
    is_repaired: bool = True
    """Whether `--fix` leaves a sheet without findings that plays as the race does."""


MISTAKES = [
    Mistake("a lost parenthesis", "?x)) (next_to ?x ?y)", "?x) (next_to ?x ?y)", "misplaced-parenthesis", 21),
    Mistake("a parenthesis too many", "(init (control red))", "(init (control red)))", "extra-parenthesis", 18),
    Mistake("a misspelt variable", "(at ?p ?y)) (does", "(at ?p ?z)) (does", "unsafe-variable", 23, False),
    Mistake("a misspelt relation", "(true (at ?p ?x)) (next_to", "(true (at ?p ?x)) (nextto", "undefined-relation", 21),
    Mistake("a lost true", "(taken ?x) (true (at ?p ?x))", "(taken ?x) (at ?p ?x)", "relation-and-function", 20),
    Mistake("true of a relation", "(next_to ?x ?y) (not", "(true (next_to ?x ?y)) (not", "relation-and-function", 21),
    Mistake("a misspelt role", "(init (control red))", "(init (control rde))", "undeclared-base", 18),
    Mistake("a lost frame rule", "(<= (next (at ?p ?x)) (true (at ?p ?x)) (not (moved ?p)))\n", "",
            "role-without-legal-move", 21, False),
    Mistake("a move that depends on a move", "wait) (role ?p) (not (true (control ?p)))", "wait) (role ?p) (does ?p wait)",
            "legal-depends-on-does", 22, False),
    Mistake("a goal above 100", "(goal ?p 100)", "(goal ?p 101)", "goal-value", 34),
    Mistake("a draw without goals", "(<= (goal ?p 50) (role ?p) (not somebody))\n", "", "no-goal", 34, False),
    Mistake("two goals", "(home ?q) (role ?p) (distinct ?p ?q)", "(role ?p)", "several-goals", 34, False),
    Mistake("an end in parentheses", "terminal (true", "(terminal) (true", "superfluous-parentheses", 33),
    Mistake("a move of two words", "(legal ?p wait)", "(legal ?p wait now)", "keyword-arity", 22),
    Mistake("a fluent with an argument too many", "(init (at red 1))", "(init (at red 1 1))", "undeclared-base", 16),
    Mistake("a frame rule without the fluent", "(true (at ?p ?x)) (not (moved", "(cell ?x) (not (moved",
            "unsafe-variable", 25),
    Mistake("a misspelt variable in distinct", "(distinct ?p ?q)", "(distinct ?p ?r)", "unsafe-distinct", 35),
    Mistake("a lost role", "(role blue)\n", "", "undeclared-base", 16),
    Mistake("no end", "(<= terminal somebody)\n(<= terminal (true (clock 9)))\n", "", "missing-keyword", 1, False),
    Mistake("no initial state", "(init (at red 1))\n(init (at blue 5))\n(init (control red))\n(init (clock 0))\n", "",
            "never-true", 16, False),
    Mistake("a role without a move", "(<= (legal ?p wait) (role ?p) (not (true (control ?p))))",
            "(<= (legal red wait) (not (true (control red))))", "role-without-legal-move", 21, False),
    Mistake("a misspelt arrow", "(<= (taken ?x)", "(=< (taken ?x)", "non-ground-fact", 20),
    Mistake("a lost arrow", "(<= (taken ?x)", "((taken ?x)", "list-without-name", 20),
    Mistake("lost question marks", "(taken ?x) (true (at ?p ?x))", "(taken x) (true (at ?p x))", "never-true", 20),
    Mistake("a blank in a variable", "(<= (taken ?x)", "(<= (taken ? x)", "nameless-variable", 20),
    Mistake("a comment of C", "; red", "// red", "foreign-comment", 1),
    Mistake("a comment of a shell", "; red", "# red", "foreign-comment", 1),
    Mistake("a comment of Prolog", "; red", "% red", "foreign-comment", 1),
    Mistake("a comment of C with keywords", "; red and blue", "// terminal (true (clock 0)) when", "foreign-comment", 1),
    Mistake("an infix conjunction", "(true (at ?p ?x)) (next_to", "& (true (at ?p ?x)) (next_to", "infix-in-prefix", 21),
    Mistake("not of two", "(not (taken ?y))", "(not (taken ?y) (cell ?y))", "wrong-operand-count", 21),
    Mistake("a lost alternative", "(<= somebody (home ?p))", "(<= somebody (or (home red)))", "several-goals", 34, False),
    Mistake("next as a condition", "(<= terminal somebody)", "(<= terminal (next (home ?p)))", "next-in-body", 32, False),
    Mistake("its own negation", "(home ?p))\n(<= terminal", "(home ?p) (not no))\n(<= no (not somebody))\n(<= terminal",
            "unstratified-negation", 31, False),
    Mistake("a clock of growing terms", "(next (clock ?n)) (true (clock ?m)) (succ ?m ?n)",
            "(next (clock (s ?m))) (true (clock ?m))", "undeclared-base", 28, False),
    Mistake("a gap between numbers", " (succ 6 7)", "", "never-true", 33),
    Mistake("other capitals", "(home blue) (true (at blue 1))", "(home Blue) (true (At blue 1))", "inconsistent-case", 30),
    Mistake("next instead of init", "(init (clock 0))", "(next (clock 0))", "unconditional-next", 19),
    Mistake("a rule for a role", "(role blue)", "(<= (role blue) (cell 1))", "role-not-ground-fact", 3),
    Mistake("a cell that does not exist", "(at red 5)", "(at red 9)", "never-true", 29, False),
    Mistake("a declaration too few", "(role ?p) (cell ?x))", "(role ?p) (cell ?x) (distinct ?x 5))", "undeclared-base", 17),
    Mistake("an undeclared move", "(<= (input ?p wait) (role ?p))\n", "", "undeclared-input", 21),
    Mistake("a role twice", "(role blue)", "(role blue)\n(role red)", "repeated-statement", 4),
    Mistake("the same turn again", "(next (control red)) (true (control blue))", "(next (control red)) (true (control red))",
            "several-goals", 34, False),
    Mistake("a string", "(init (control red))", '(init (control "red"))', "undeclared-base", 18),
    Mistake("a percept of anybody", "(<= terminal somebody)", "(<= (sees ?p ?x) (true (at ?q ?x)))\n(<= terminal somebody)",
            "unsafe-variable", 32, False),
]  # fmt: skip


def checked(file: Path, *options: str) -> list[dict[str, object]]:
    """What `herbrand check` reports, without notes, as a user gets it."""
    outcome = CliRunner().invoke(cli, ["check", "--json", *options, str(file)], catch_exceptions=False)
    return [finding for finding in json.loads(outcome.stdout) if finding["severity"] != "note"]


@pytest.mark.slow_except(*(mistake.name for mistake in MISTAKES[::3]))
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_found_where_it_is_and_repaired(mistake: Mistake, tmp_path: Path) -> None:
    """The first finding that is worst names the mistake; after `--fix`, nothing is left to find."""
    assert RACE.count(mistake.old) == 1
    file = tmp_path / "race.kif"
    file.write_text(RACE.replace(mistake.old, mistake.new), encoding="utf-8")
    findings = checked(file)
    worst = [finding for finding in findings if finding["severity"] == "error"] or findings
    assert (worst[0]["check"], worst[0]["line"]) == (mistake.check, mistake.line)
    if not mistake.is_repaired:
        return
    assert worst[0]["help"]
    assert checked(file, "--fix") == []
    assert diff(herbrand.load(file), herbrand.loads(RACE)).verdict in ("rules", "play")


def test_most_mistakes_are_repaired(tmp_path: Path) -> None:
    """At least 60 % of them; the sheet without a mistake has no finding, nor has one with an arrow glued to its head."""
    assert sum(mistake.is_repaired for mistake in MISTAKES) >= 0.6 * len(MISTAKES)
    file = tmp_path / "race.kif"
    for text in (RACE, RACE.replace("(<= (taken", "(<=(taken")):
        file.write_text(text, encoding="utf-8")
        assert checked(file) == []

"""`check`: options, order, catalogue, features, and what is only seen in play."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

import herbrand
from herbrand.analyse.trial.play import initial_checks, play_checks, possible_checks, sampled_checks
from herbrand.check import check
from herbrand.check.catalogue import CHECKS, FAMILIES, UnknownCheckError, explain, find, page
from herbrand.check.checks.base import documentation, nearest
from herbrand.check.features import features
from herbrand.diagnostic import Severity, apply_fixes
from herbrand.syntax import read

ROOT = Path(__file__).resolve().parent.parent.parent.parent

PLAYABLE = """
(role robot) (base (at 1)) (base (at 2)) (input robot move)
(init (at 1)) (legal robot move) (<= (next (at 2)) (does robot move))
(<= terminal (true (at 2))) (<= (goal robot 100) (true (at 2))) (<= (goal robot 0) (not (true (at 2))))
"""


def names(text: str, **options: object) -> list[str]:
    rules = check(read(text, "prefix"), **options)  # type: ignore[arg-type]
    return [d.check for d in rules.diagnostics]


def test_a_clean_sheet_has_no_findings() -> None:
    """Not even notes."""
    assert names(PLAYABLE) == []


def test_all_findings_come_at_once_in_textual_order() -> None:
    """Findings of the reader and of the checks are merged and sorted by place."""
    text = PLAYABLE + "(<= (next (q ?x)) (true p))\n(p A)\n(p a)\n(legal robot ?x)\n(<= terminal (zzz))"
    rules = check(read(text, "prefix"))
    starts = [d.span.start for d in rules.diagnostics]
    assert starts == sorted(starts)
    assert [d.check for d in rules.diagnostics if d.severity is not Severity.NOTE] == [
        "unsafe-variable",
        "inconsistent-case",
        "non-ground-fact",
        "superfluous-parentheses",
        "undefined-relation",
    ]
    assert [d.check for d in rules.errors] == ["unsafe-variable", "non-ground-fact"]


def test_nothing_is_said_twice() -> None:
    """The same finding at the same place is kept once."""
    found = check(read("(role robot x)(role robot x)", "prefix")).diagnostics
    keys = [(d.check, d.span, d.message) for d in found]
    assert len(keys) == len(set(keys))


def test_select_and_ignore() -> None:
    """`select` keeps only the named checks, `ignore` leaves some out; codes do as well."""
    text = PLAYABLE + "(p 1) (p 1)"
    assert sorted(names(text)) == ["repeated-statement", "unused-relation"]
    assert names(text, select=["unused-relation"]) == ["unused-relation"]
    assert names(text, ignore=["N5"]) == ["repeated-statement"]


def test_checks_that_are_off_must_be_asked_for() -> None:
    """`single-use-variable` is reported when selected or given a severity."""
    text = PLAYABLE + "(<= (next (at 1)) (true (at ?x)))"
    assert names(text) == []
    assert names(text, select=["single-use-variable"]) == ["single-use-variable"]
    levels = {"single-use-variable": Severity.WARNING}
    (found,) = check(read(text, "prefix"), severities=levels).diagnostics
    assert found.severity is Severity.WARNING


def test_strict_makes_errors_of_what_the_specification_forbids() -> None:
    """Warnings of the specification become errors; style remarks and overrides stay."""
    text = PLAYABLE + "(<= (goal robot 50) (not (goal robot 100)) (true (at 3))) (p 1)"
    assert not check(read(text, "prefix")).errors
    strict = check(read(text, "prefix"), strict=True)
    assert [d.check for d in strict.errors] == ["negation-cycle-by-name"]
    mild = check(read(text, "prefix"), strict=True, severities={"D1a": Severity.NOTE})
    assert not mild.errors


def test_unknown_names_are_refused_with_a_suggestion() -> None:
    """A misspelt check is an error of the call, in the options and in `explain`."""
    with pytest.raises(UnknownCheckError, match="did you mean `unsafe-variable`"):
        explain("unsafe-varable")
    with pytest.raises(LookupError):
        check(read(PLAYABLE), select=["nonsense"])


def test_every_check_is_documented() -> None:
    """Four parts, no empty one; names are slugs and unique; codes are unique."""
    checks = [c for _, family in FAMILIES for c in family]
    assert len(checks) == len(CHECKS)
    assert documentation().keys() == CHECKS.keys()
    codes = [c.code for c in checks if c.code]
    assert len(codes) == len(set(codes))
    for c in checks:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", c.name)
        assert all(part.strip() for part in (c.title, c.what, c.why, c.example, c.instead)), c.name
        assert c.title[0] == c.title[0].lower() or c.title[0] == "`"
        assert not c.title.endswith(".")
        text = explain(c.name)
        assert text.startswith(c.name)
        assert all(h in text for h in ("What it does", "Why this is bad", "Example", "Use instead"))
        if c.code:
            assert find(c.code) is c


@pytest.mark.parametrize(
    "name", [c.name for c in CHECKS.values() if c.stage != "play" and c.name not in (
        "misnamed-file", "not-utf-8", "too-deep", "too-large", "not-text", "missing-base-or-input", "repeated-statement",
        "consult-cycle", "import-clash",  # need files
    )]
)  # fmt: skip
def test_the_example_of_a_check_shows_it(name: str) -> None:
    """The faulty text in the documentation is found faulty by just that check."""
    documented = CHECKS[name]
    given = dict(re.findall(r"--param (\w+)=(\w+)", documented.example))
    rules = check(read(documented.example, documented.notation, parameters=given), select=[name])
    assert [d.check for d in rules.diagnostics][:1] == [name]


def test_the_page_of_checks_is_up_to_date(update: bool) -> None:
    """docs/reference/checks.md is what the catalogue prints."""
    path = ROOT / "docs" / "reference" / "checks.md"
    if update:
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page()


def test_missing_parts_are_not_reported_for_a_torn_text() -> None:
    """Where the reader lost statements, nothing is called missing or undefined."""
    found = names("(role robot) (<= terminal (p ?x) (legal robot wait")
    assert "unclosed-parenthesis" in found
    assert not {"missing-keyword", "undefined-relation", "no-init-or-next"} & set(found)


def test_an_empty_sheet_lacks_everything() -> None:
    """No statement at all is four errors, and no crash."""
    rules = check(read("", "prefix"))
    assert [d.check for d in rules.errors] == ["missing-keyword"] * 4


def test_the_offered_fixes_repair() -> None:
    """Applying the fixes of `true` forgotten and of a repeated statement leaves no finding."""
    text = (
        PLAYABLE
        + "(<= terminal (at 3) (true (at 4)))\n(<= terminal (true (at 5)))\n(<= terminal (true (at 5)))\n"
    )
    found = check(read(text, "prefix")).diagnostics
    assert {d.check for d in found} == {"relation-and-function", "repeated-statement"}
    repaired, applied = apply_fixes(text, found)
    assert len(applied) == 2
    assert names(repaired) == []
    assert "(<= terminal (true (at 3)) (true (at 4)))" in repaired


def test_nearest_names() -> None:
    """Signs in names count less than letters; far names are no suggestion."""
    assert nearest("next_rank", ["nextrank", "rank"]) == "nextrank"
    assert nearest("sucC".lower(), ["plus", "suc"]) == "suc"
    assert nearest("xyz", ["succ", "plus"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "(<= (p ?x) (q ?x) (p ?y) (not (p ?z)))" * 20,
        "(<= (next ?p) (true ?p) (or " + "(q ?x) " * 300 + "))",
        "(p " + "(f " * 390 + "a" + ")" * 391,
        "(<= p " + "(not " * 300 + "q" + ")" * 301,
        "(<= p " + "(or (and q " * 150 + "r" + "))" * 150 + ")",
        "(true) (does) (init) (next) (legal) (goal) (role) (sees) (base) (input) (terminal a)",
        "(<= (legal ?r ?m) (does ?r ?m)) (<= (does ?r ?m) (legal ?r ?m)) (<= (true ?x) (next ?x))",
        "(<= (role ?x) (role ?x)) (<= (init ?x) (init ?x)) (<= (goal ?x ?y) (not (goal ?y ?x)))",
        "\n".join(
            f"(<= (p{i} ?x) (p{(i * 7 + 1) % 900} ?x) (not (p{(i * 3) % 900} ?x)))" for i in range(900)
        ),
        "\n".join(f"(<= (p ?x {i}) (q ?x) (not (p ?x {i + 1})))" for i in range(1500)),
    ],
    ids=str.__len__,
)
def test_odd_sheets_are_checked_within_seconds(text: str) -> None:
    """No sheet makes the checks crash or take long."""
    begin = time.process_time()
    rules = check(read(text, "prefix"))
    assert time.process_time() - begin < 5
    assert rules.errors


def test_long_sheets_take_linear_time() -> None:
    """A sheet of 8 000 facts and rules is checked in a few seconds."""
    text = PLAYABLE + "\n".join(
        f"(succ {i} {i + 1}) (<= (next (c {i} ?y)) (true (c {i} ?x)) (succ ?x ?y))" for i in range(4_000)
    )
    begin = time.process_time()
    assert not check(read(text, "prefix")).errors
    assert time.process_time() - begin < 10


# -- features -----------------------------------------------------------------------------------


def test_features_tell_what_a_sheet_uses() -> None:
    """Read off the rules, without playing."""
    found = features(herbrand.loads(PLAYABLE, "prefix").rules)
    assert found.roles == 1
    assert not found.simultaneous
    assert not found.recursion
    assert found.finite
    assert found.declares_base
    assert not found.has_random
    assert found.as_json()["negation"] is True
    assert "finite                  yes" in str(found)
    text = """
    (role a) (role random) (<= (legal ?r ?m) (role ?r) (move ?m)) (move x) (<= (sees a ?m) (does random ?m))
    (<= (move (f ?x)) (move ?x) (small ?x)) (small x) (<= (goal a ?n) (or (n ?n) (and (n ?n) (not (q ?n)))))
    """
    found = features(herbrand.loads(text, "prefix").rules)
    assert (found.roles, found.has_random, found.has_sees, found.simultaneous) == (2, True, True, True)
    assert (found.recursion, found.functions_in_recursion, found.computed_goals) == (True, True, True)
    assert (found.disjunction, found.extended_bodies, found.declares_input) == (True, True, False)


def test_turns_are_seen() -> None:
    """In tic-tac-toe one role moves at a time; in rock-paper-scissors both do."""
    assert features(herbrand.load("ticTacToe").rules).turn_fluent == "control"
    assert features(herbrand.load("rockPaperScissors").rules).simultaneous


# -- checks that play ----------------------------------------------------------------------------


def test_a_clean_game_plays_without_findings() -> None:
    """Nothing is found in play of a sheet that is right."""
    assert play_checks(herbrand.loads(PLAYABLE, "prefix")) == ()


def test_a_terminal_first_state_is_a_warning() -> None:
    """The rule for `terminal` is pointed at."""
    game = herbrand.loads(PLAYABLE + "(<= terminal (true (at 1)))", "prefix")
    (found,) = initial_checks(game)
    assert (found.check, found.severity) == ("initial-state-terminal", Severity.WARNING)


@pytest.mark.parametrize(
    ("rules", "check_name", "severity", "text"),
    [
        ("(<= (goal robot 50) (true (at 2)))", "several-goals", Severity.ERROR, "50, 100"),
        ("(<= (goal robot 50) (true (at 1)))", "several-goals", Severity.WARNING, "0, 50"),
        ("(init (at 3))", "undeclared-base", Severity.ERROR, "`(at 3)`"),
        ("(legal robot stay)", "undeclared-input", Severity.ERROR, "`stay`"),
        ("(role other) (goal other 0)", "role-without-legal-move", Severity.WARNING, "`other`"),
        ("(big 101) (<= (goal robot ?n) (big ?n) (true (at 1)))", "goal-value", Severity.ERROR, "`101`"),
        ("(role other) (legal other move) (input other move)", "no-goal", Severity.ERROR, "`other`"),
    ],
)
def test_faults_met_in_play(rules: str, check_name: str, severity: Severity, text: str) -> None:
    """Each is reported once, with the way to the state in a note."""
    game = herbrand.loads(PLAYABLE + rules, "prefix")
    assert not game.rules.errors
    found = [d for d in sampled_checks(game, playouts=3, seed=1) if d.check == check_name]
    assert len(found) == 1
    assert found[0].severity is severity
    assert text in found[0].message
    assert found[0].notes


def test_impossible_declarations_are_counted() -> None:
    """What is declared and can never be is a note with the number."""
    game = herbrand.loads(PLAYABLE + "(base (at 9)) (base (at 8)) (input robot fly)", "prefix")
    found = possible_checks(game)
    assert [d.message for d in found] == [
        "2 of 4 declared with `base` can never be true: `(at 8)`, …",
        "1 of 2 declared with `input` can never be legal: `robot fly`",
    ]


def test_a_game_with_errors_is_not_played() -> None:
    """Nothing is evaluated then."""
    assert play_checks(herbrand.loads("(role robot)", "prefix")) == ()

"""Faults that leave no doubt about the meaning: read as they are meant, reported, refused in strict mode."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.check import check
from herbrand.diagnostic import Severity, apply_fixes
from herbrand.syntax import read

SHEET = """
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
"""A complete game without faults."""

DECLARED_ONLY = {
    "labelled values": "(base lamp (x off on))\n(base count (n 0 1 2))\n",
    "typed values": "(base lamp (off on))\n(base count (0 1 2))\n",
    "variables": "(base (lamp ?x))\n(base (count 0))\n(<= (base (count ?n)) (true (count ?n)))\n",
    "unsafe input": "(<= (input red push) (not (true (lamp ?x))))\n(<= (input ?r (wait ?n)) (role ?r))\n",
    "input by the state": "(<= (input red ?m) (free ?m))\n(<= (free push) (true (lamp off)))\n",
    "nameless lists": "(<= (drawing (?x button)) (true (lamp ?x)))\n(drawing (?x a) b)\n",
    "a relation for Prolog": "(equal ?x ?x)\n(<= (apart ?x ?y) (distinct ?x ?y))\n",
    "outcomes": "(outcome ?r wait (set (does ?r wait)) (set 1))\n",
}
"""Faulty statements on which nothing depends."""


def warnings(text: str, notation: str = "prefix") -> list[str]:
    """The names of the warnings of a sheet that has no errors."""
    rules = check(read(text, notation))
    assert not rules.errors, [d.message for d in rules.errors]
    return [d.check for d in rules.diagnostics if d.severity is Severity.WARNING]


def fixed(text: str) -> str:
    """A text with all fixes applied, until none is left."""
    for _ in range(5):
        text, applied = apply_fixes(text, check(read(text, "prefix")).diagnostics)
        if not applied:
            break
    return text


def played(text: str) -> list[str]:
    """The states of a game in which everybody makes the first of its legal moves."""
    state = herbrand.loads(text).initial_state("rules")
    shown = []
    while not state.is_terminal and len(shown) < 9:
        moves = {role: [m.gdl for m in state.legal_moves(role)] for role in state.roles}
        shown.append(f"{state.facts} {moves}")
        state = state.next([found[0] for found in moves.values()])
    return [*shown, f"{state.facts} {[state.goal(role) for role in state.roles]}"]


def strict_errors(text: str) -> set[str]:
    return {d.check for d in check(read(text, "prefix"), strict=True).errors}


@pytest.mark.parametrize("fault", DECLARED_ONLY)
def test_what_nothing_depends_on_is_ignored(fault: str) -> None:
    """The game is played as without the statements; the fix deletes them, strict mode refuses them."""
    text = SHEET + DECLARED_ONLY[fault]
    found = warnings(text)
    assert found
    assert strict_errors(text) >= set(found)
    assert played(text) == played(SHEET)
    clean = fixed(text)
    assert warnings(clean) == []
    assert check(read(clean)).tree == check(read(text)).tree
    assert {rule.head.name for rule in read(clean).statements} <= {
        *("role", "init", "legal", "next", "terminal", "goal", "free", "input")
    }


def test_what_something_depends_on_is_not_ignored() -> None:
    """Used as a condition, directly or by a statement that cannot be read, the same statements are errors."""
    used = "(equal ?x ?x)\n(<= terminal (equal ?x ?y))\n"
    assert {d.check for d in check(read(SHEET + used)).errors} == {"non-ground-fact"}
    used = "(equal ?x ?x)\n(<= terminal (equal 1 2) (true (not)))\n"
    assert "non-ground-fact" in {d.check for d in check(read(SHEET + used)).errors}
    used = "(base (lamp ?x))\n(<= terminal (base (lamp broken)))\n"
    assert {d.check for d in check(read(SHEET + used)).errors} == {"non-ground-fact"}


@pytest.mark.parametrize(
    "slip",
    [
        "(=< (next (lamp ?x)) (true (lamp ?x)))",
        "(rule (legal ?r wait) (role ?r))",
        "(<= (termnal ?x) (true (count 2)))",
        "(<= (lited ?x) (true (lamp on)))\n(<= terminal (lighted 1))",
    ],
)
def test_what_is_probably_a_slip_is_not_ignored(slip: str) -> None:
    """A misspelt name or arrow is the reason that nothing depends on the statement."""
    assert check(read(SHEET + slip)).errors


def test_an_unfinished_sheet_is_not_mended() -> None:
    """Where nothing asks for anything yet, errors stay errors."""
    assert {d.check for d in check(read("(role red)\n(base (lamp ?x))\n(equal ?x ?x)")).errors} > {
        "non-ground-fact"
    }


def test_a_torn_statement_is_not_ignored() -> None:
    """What stands behind a lost parenthesis may belong to the game."""
    text = SHEET + "(<= (drawing a) (<= over (true (count 1))))\n"
    assert "nested-rule" in {d.check for d in check(read(text)).errors}


def test_fluents_that_faulty_declarations_name_may_be_conditions() -> None:
    """`(count 1)` means `(true (count 1))` where `base` says that it is part of the state."""
    text = (
        SHEET.replace("(true (lamp on))", "(lamp on)").replace("(true (count 1))", "(count 1)")
        + "(base (lamp ?x))\n(base (count ?n))\n"
    )
    assert played(text) == played(SHEET)
    assert set(warnings(text)) == {"non-ground-fact", "relation-and-function"}
    assert warnings(fixed(text)) == []
    assert played(fixed(text)) == played(SHEET)
    undeclared = SHEET.replace("(true (count 1))", "(count 1)")
    assert warnings(undeclared) == ["relation-and-function"]
    assert len(played(undeclared)) != len(played(SHEET))


def test_only_roles_move() -> None:
    """A variable in place of a role ranges over the roles."""
    text = SHEET.replace("(legal blue wait)", "(<= (legal ?r wait) (true (count ?n)))").replace(
        "(goal blue 50)", "(goal ?someone 50)"
    )
    assert warnings(text) == ["unsafe-variable", "non-ground-fact"]
    clean = fixed(text)
    assert "(<= (legal ?r wait) (role ?r) (true (count ?n)))" in clean
    assert "(<= (goal ?someone 50) (role ?someone))" in clean
    assert warnings(clean) == []
    state = herbrand.loads(text).initial_state("rules")
    assert [move.gdl for move in state.legal_moves("red")] == ["push", "wait"]
    assert strict_errors(text) == {"unsafe-variable", "non-ground-fact"}


def test_other_variables_in_heads_stay_errors() -> None:
    """What no rule binds has no meaning."""
    for rule in ("(<= (next (count ?n)) (true (lamp on)))", "(<= (legal ?r (go ?n)) (true (count 1)))"):
        assert "unsafe-variable" in {d.check for d in check(read(SHEET + rule)).errors}


def test_there_is_none() -> None:
    """A variable that only one `not` has means that there is no such thing."""
    text = (
        SHEET
        + "(<= (legal red pause) (not (true (broken ?x))))\n(<= (next (broken wire)) (does red pause))\n"
    )
    assert warnings(text) == ["unsafe-negation"]
    clean = fixed(text)
    assert "(<= (legal red pause) (not some_broken))\n(<= some_broken (true (broken ?x)))" in clean
    assert warnings(clean) == []
    assert played(text) == played(clean)
    state = herbrand.loads(text).initial_state("rules")
    assert [move.gdl for move in state.legal_moves("red")] == ["pause", "push"]
    state = state.next(["pause", "wait"])
    assert [move.gdl for move in state.legal_moves("red")] == ["push"]


def test_a_variable_that_two_negations_share_is_an_error() -> None:
    """Neither "there is none" nor anything else is certainly meant."""
    text = SHEET + "(<= (legal red pause) (not (true (broken ?x))) (not (true (count ?x))))\n"
    assert "unsafe-negation" in {d.check for d in check(read(text)).errors}


def test_helpers_that_compare_are_unfolded() -> None:
    """Relations that bind nothing, as programs in Prolog have them, hold where they are used."""
    text = (
        SHEET.replace("(<= (next (count 2)) (true (count 1)))", "")
        + """
    (<= (differ ?x ?y ?m ?n) (distinct ?x ?m))
    (<= (differ ?x ?y ?m ?n) (distinct ?y ?n))
    (<= (sorted ?x ?y ?x ?y) (less ?x ?y))
    (<= (sorted ?x ?y ?y ?x) (not (less ?x ?y)))
    (less 0 1) (less 0 2) (less 1 2)
    (<= (next (count ?m)) (true (count 1)) (sorted 2 1 ?n ?m) (differ ?n ?m 0 ?m))
    (<= (open ?x) (true (lamp ?y)) (not (true (broken ?x ?y))))
    (<= (goal red 30) (true (count 1)) (not (open 7)))
    """
    )
    assert set(warnings(text)) == {"unsafe-distinct", "unsafe-variable"}
    assert played(text) == played(SHEET)
    assert strict_errors(text) == {"unsafe-distinct", "unsafe-variable"}
    relations = {rule.head.name for rule in check(read(text)).tree.statements}
    assert not relations & {"differ", "sorted", "open"}


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (same ?x ?y) (not (distinct ?x 1)))\n(<= terminal (same ?x ?y))",  # ?y stays unbound
        "(<= (far ?x ?y) (distinct ?x ?y))\n(<= (far ?x ?y) (far ?y ?x))\n(<= terminal (far 1 2))",  # recursive
    ],
)
def test_helpers_that_cannot_be_unfolded_are_errors(rules: str) -> None:
    """The helper keeps the error that is its own."""
    errors = check(read(SHEET + rules)).errors
    assert {SHEET.count("\n") + 1} == {d.source.position(d.span.start).line for d in errors}
    assert {d.check for d in errors} <= {"unsafe-variable", "unsafe-distinct"}


def test_percepts_as_conditions() -> None:
    """`sees` as a condition is a relation, all of which the players see."""
    text = SHEET.replace("(true (count 2))", "(sees red late)") + "(<= (sees red late) (true (count 2)))\n"
    assert warnings(text) == ["sees-in-body"]
    assert played(text) == played(SHEET)
    clean = fixed(text)
    assert warnings(clean) == []
    assert "(<= (sees ?r ?p) (seen ?r ?p))" in clean
    game = herbrand.loads(text)
    assert game.has_percepts
    assert played(clean) == played(SHEET)


def test_goal_values_with_zeros() -> None:
    """`00` is 0; what is no number from 0 to 100 stays an error."""
    text = SHEET.replace("(goal red 0)", "(goal red 00)")
    assert warnings(text) == ["goal-value"]
    assert fixed(text) == SHEET
    assert herbrand.loads(text).initial_state("rules").goal("red") == 0
    assert {d.check for d in check(read(SHEET.replace("50", "0500"))).errors} == {"goal-value"}


def test_ends_that_depend_on_moves() -> None:
    """Before anybody moves nobody has moved; but a rule that could never hold is an error."""
    moved = "(<= moved (does ?r push))\n(<= idle (not moved))\n"
    text = SHEET.replace("(<= terminal (true (count 2)))", f"{moved}(<= terminal (true (count 2)) idle)")
    text += "(<= (next (was moved)) moved)\n"
    assert warnings(text) == ["legal-depends-on-does"]
    state = herbrand.loads(text).initial_state("rules")
    state = state.next(["push", "wait"])
    assert "(was moved)" in state.facts
    assert state.next(["push", "wait"]).is_terminal
    for rule in ("(<= terminal (does red push))", f"{moved}(<= (legal blue stay) moved)"):
        assert {d.check for d in check(read(SHEET + rule)).errors} == {"legal-depends-on-does"}


def test_infix_sheets_are_mended_too() -> None:
    """Without the fixes whose text would be in prefix notation."""
    text = """role(red) init(on) legal(R,push) :- true(on) next(on) :- does(red,push)
    terminal :- ~true(on) goal(red,00) base(lamp,on,off)"""
    assert warnings(text, "infix") == ["unsafe-variable", "goal-value", "keyword-arity"]
    assert {d.check for d in check(read(text, "infix")).diagnostics if d.fix} == {"goal-value"}


def test_a_game_and_its_copies_have_the_mended_rules() -> None:
    """`Game.tree` is what is played; reading is not done again."""
    game = herbrand.loads(SHEET + DECLARED_ONLY["labelled values"])
    assert game.tree == read(SHEET)
    again = type(game)(game.tree)
    assert again.diagnostics == game.diagnostics
    assert again.tree is game.tree
    assert again == game

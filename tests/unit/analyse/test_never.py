"""Conditions that never hold are found, with what is to blame, and nothing else."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.analyse.trial.never import never_checks
from herbrand.analyse.trial.play import brief_checks, play_checks
from herbrand.diagnostic import apply_fixes

WALK = """
(role a) (init (at 1)) (init (clock 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal a (step ?y)) (true (at ?x)) (succ ?x ?y))
(<= (legal a wait) (role a))
(<= (next (at ?y)) (does a (step ?y)))
(<= (next (at ?x)) (true (at ?x)) (does a wait))
(<= (next (clock ?n)) (true (clock ?m)) (succ ?m ?n))
(<= terminal (true (clock 3)))
(goal a 100)
"""


def found(text):
    return [(d.message, d.help) for d in never_checks(herbrand.loads(text).rules)]


def test_no_condition_of_a_sound_game_is_reported():
    assert found(WALK) == []


@pytest.mark.parametrize(
    ("old", "new", "message", "help_text"),
    [
        ("(true (clock 3))", "(true (clock 4))", "`(true (clock 4))`",
         "argument 1 of `clock` is only ever `0`, `1`, `2`, `3`"),
        ("(true (at ?x)) (does a wait)", "(true (at x)) (does a wait)", "`(true (at x))`",
         "did you mean `?x`, a variable?"),
        ("(does a wait)", "(does b wait)", "`(does b wait)`", "no such move is ever legal"),
        ("(init (clock 0))", "", "`(true (clock ?m))`",
         "nothing makes it true: is an `init` missing, or is the name misspelt?"),
        ("(does a (step ?y))", "(does a (stop ?y))", "`(does a (stop ?y))`", "no such move is ever legal"),
    ],
)  # fmt: skip
def test_a_condition_that_never_holds_is_reported_once(old, new, message, help_text):
    """Where the mistake is, not where rules depend on it."""
    assert found(WALK.replace(old, new)) == [(f"{message} never holds, so its rule never applies", help_text)]


def test_a_lost_question_mark_is_put_back():
    text = WALK.replace("(true (at ?x)) (succ", "(true (at x)) (succ")
    fixed, applied = apply_fixes(text, never_checks(herbrand.loads(text).rules))
    assert len(applied) == 1
    assert fixed == WALK


def test_an_analysis_that_takes_too_long_says_nothing():
    """Neither a finding without proof, nor an error."""
    text = WALK.replace("(true (clock 3))", "(true (clock 4))")
    assert never_checks(herbrand.loads(text).rules, max_steps=10) == ()


@pytest.mark.parametrize("name", ["ticTacToe", "nim", "kuhn", "montyHall", "connectFour", "hex"])
def test_bundled_games_have_no_such_condition(name):
    assert never_checks(herbrand.load(name).rules) == ()


@pytest.mark.parametrize("checks", [brief_checks, play_checks])
def test_games_with_knowledge_conditions_are_checked_without_playing(checks):
    """Other findings are not lost because no state says what roles know."""
    text = WALK.replace("(true (clock 3))", "(true (clock 4))") + "(<= (goal a 0) (knows a (far))) (far)"
    assert [d.check for d in checks(herbrand.loads(text))] == ["never-true"]

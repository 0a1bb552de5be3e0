"""Checks of what players can know: in the rules alone, and met in play."""

from __future__ import annotations

import herbrand
from herbrand.analyse.trial.percepts import knowledge_checks
from herbrand.analyse.trial.play import play_checks, sampled_checks
from herbrand.check import check
from herbrand.diagnostic import Severity

HIDDEN = """(role bob) (role random) (init (step 0)) (num 1) (num 2)
    (<= (legal random (put ?n)) (true (step 0)) (num ?n)) (<= (legal random wait) (not (true (step 0))))
    (<= (legal bob wait) (true (step 0)))
    (<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))
    (<= (next (lies ?n)) (does random (put ?n))) (<= (next (lies ?n)) (true (lies ?n)))
    (<= terminal (true (step 2)))
"""


def names(game: herbrand.Game) -> dict[str, str]:
    return {d.check: d.message for d in knowledge_checks(game, playouts=2)}


def test_a_role_that_cannot_know_its_moves_is_warned_of():
    """Moves that depend on what is hidden are found in play, with the two states that look alike."""
    text = HIDDEN + "(<= (legal bob (take ?n)) (true (step 1)) (true (lies ?n))) (goal bob 0) (sees bob x)"
    (found,) = knowledge_checks(herbrand.loads(text), playouts=2)
    assert (found.check, found.severity) == ("unknown-legal-moves", Severity.WARNING)
    assert found.message == "`bob` cannot know whether `(take 1)` is legal"
    assert found.notes[0] in ("after 1 step: wait (put 1)", "after 1 step: wait (put 2)")
    assert found.notes[1] == ("`bob` cannot distinguish a state with (lies 1) from one with (lies 2) instead")
    assert found.check in {d.check for d in play_checks(herbrand.loads(text))}


def test_a_role_that_is_told_knows_its_moves():
    """The same game with a percept for what lies there has no finding."""
    text = (
        HIDDEN
        + """(<= (legal bob (take ?n)) (true (step 1)) (true (lies ?n))) (goal bob 0)
        (<= (sees bob (lies ?n)) (does random (put ?n)))"""
    )
    assert names(herbrand.loads(text)) == {}


def test_an_end_and_a_result_that_nobody_can_know_are_notes():
    """Both are told, each once."""
    text = (
        HIDDEN
        + """(<= (legal bob stop) (not (true (step 0)))) (sees bob x)
        (<= terminal (true (lies 2)))
        (<= (goal bob 100) (true (lies 1))) (<= (goal bob 30) (not (true (lies 1))))"""
    )
    found = knowledge_checks(herbrand.loads(text), playouts=4)
    assert {d.check for d in found} == {"unknown-end"}
    text = (
        HIDDEN
        + """(<= (legal bob stop) (not (true (step 0)))) (sees bob x)
        (<= (goal bob 100) (true (lies 1))) (<= (goal bob 30) (not (true (lies 1))))"""
    )
    (note,) = knowledge_checks(herbrand.loads(text), playouts=2)
    assert (note.check, note.severity) == ("unknown-goal", Severity.NOTE)
    assert note.message == "`bob` cannot know at the end which of these it gets: 30, 100"


def test_percepts_are_compared_with_their_declaration():
    """`percept` is to `sees` what `input` is to `legal`."""
    rules = HIDDEN + "(<= (legal bob stop) (not (true (step 0)))) (goal bob 0) (percept bob heads) "
    assert names(herbrand.loads(rules + "(sees bob heads)")) == {}
    assert names(herbrand.loads(rules + "(sees bob tails)")) == {
        "undeclared-percept": "`bob` sees `tails`, but no `percept` lists it"
    }


def test_without_percepts_there_is_nothing_to_know():
    """Games of perfect information are not asked."""
    assert knowledge_checks(herbrand.load("ticTacToe")) == ()


def test_a_stuck_random_is_an_error():
    """Nobody but the manager could play on (I6); for other roles it stays a warning."""
    text = """(role bob) (role random) (init a) (legal bob wait) (<= (legal random go) (true b))
        (<= terminal (true c)) (<= (next c) (does bob wait)) (goal bob 0)"""
    (found,) = [d for d in sampled_checks(herbrand.loads(text)) if d.check == "role-without-legal-move"]
    assert found.severity is Severity.ERROR


def test_own_moves_that_are_not_seen_are_told_only_when_asked():
    """Perfect recall rests on the manager where no percept repeats the own move."""
    tree = herbrand.load("kuhn").tree
    assert "unseen-own-move" not in {d.check for d in check(tree).diagnostics}
    found = check(tree, select=["unseen-own-move"]).diagnostics
    assert [d.message for d in found] == [
        "no `sees` tells `first` its own move",
        "no `sees` tells `second` its own move",
    ]
    for percept in ("(sees ?r (does ?r ?m)) (does ?r ?m)", "(sees ?r (did ?s ?m)) (role ?r) (does ?s ?m)"):
        text = HIDDEN + f"(legal bob wait) (goal bob 0) (<= {percept})"
        assert check(herbrand.loads(text).tree, select=["unseen-own-move"]).diagnostics == ()

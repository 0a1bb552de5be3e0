"""Strong winnability refuted by games in which the others pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.certificates import StateSet
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.proofs.restricted import RestrictedPlay, refute_by_preferences
from herbrand.convert.restrict import Preference

# Two pieces on a line begin at its ends and want to stand where the other began; none can jump.
LINE = """
(role red) (role blue) (init (at red 1)) (init (at blue {size})) (init (turn red)) {successors}
(home red {size}) (home blue 1) (other red blue) (other blue red)
(<= (beside ?x ?y) (succ ?x ?y)) (<= (beside ?x ?y) (succ ?y ?x))
(<= (legal ?r stay) (role ?r)) {lost}
(<= (legal ?r (go ?y)) (true (turn ?r)) (true (at ?r ?x)) (beside ?x ?y) (other ?r ?o) (not (true (at ?o ?y))))
(<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
(<= (next (at ?r ?y)) (does ?r (go ?y))) (<= (next (at ?r ?x)) (does ?r stay) (true (at ?r ?x)))
(<= (won ?r) (home ?r ?x) (true (at ?r ?x))) (<= terminal (won ?r))
(<= (goal ?r 100) (won ?r)) (<= (goal ?r 0) (role ?r) (not (won ?r)))
"""


def line(size: int, lost: str = "") -> herbrand.Game:
    """Return the game on a line of cells."""
    successors = " ".join(f"(succ {n} {n + 1})" for n in range(1, size))
    return herbrand.loads(LINE.format(size=size, successors=successors, lost=lost))


@pytest.mark.parametrize(("states", "kind"), [(10_000, StateSet.kind), (2, Invariant.kind)])
def test_who_does_not_win_against_others_that_pass_cannot_force_a_win(states: int, kind: str) -> None:
    """Shown by listing states, or without, and accepted by the rules."""
    game = line(5)
    space = explore(game.expander)
    verdicts = dict(refute_by_preferences(game, [0, 1], Budget(30, states=states)))
    for role, name in enumerate(game.roles):
        assert strong_of(space, role, 100).answer == "refuted"
        verdict = verdicts[role]
        assert verdict.answer == "refuted"
        certificate = verdict.certificate
        assert isinstance(certificate, RestrictedPlay), verdict.reason
        assert certificate.certificate.kind == kind
        assert certificate.as_json()["preferred"] == {game.roles[1 - role]: ["stay"]}
        assert certificate.check(game, 30)
        assert not replace(certificate, preferences=(Preference(name, "stay"),)).check(game, 30)


def test_nothing_is_said_where_passing_does_not_help() -> None:
    """A role that can win by itself."""
    game = line(4, "(<= (legal ?r (go ?x)) (true (turn ?r)) (home ?r ?x))")
    assert not list(refute_by_preferences(game, [0], Budget(30)))


def test_an_analysis_finds_it() -> None:
    """Also where exploring stops early."""
    result = analyse(line(40), ["strong_winnability"], budget=Budget(30, states=50), values=False)
    verdict = result.properties["strong_winnability"]
    assert (verdict.answer, verdict.method, verdict.checked) == ("refuted", RestrictedPlay.kind, True)

"""Strong winnability refuted by others who follow fixed schedules."""

from __future__ import annotations

from dataclasses import replace

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.proofs.restricted import RestrictedPlay
from herbrand.analyse.proofs.scheduled import refute_by_schedules

# Runners on lanes of their own: who is there when not all others are has won.
LANES = """
(role a) (role b) (role c) (init (at a {a})) (init (at b 0)) (init (at c 0)) {counter}
(<= (legal ?r (run 1)) (role ?r)) (<= (legal ?r (run 2)) (role ?r))
(<= (next (at ?r ?y)) (does ?r (run 1)) (true (at ?r ?x)) (succ ?x ?y))
(<= (next (at ?r ?z)) (does ?r (run 2)) (true (at ?r ?x)) (succ ?x ?y) (succ ?y ?z))
(<= (next (at ?r 11)) (does ?r (run 2)) (true (at ?r 10)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (there ?r) (true (at ?r ?x)) (succ 9 ?x)) (<= (there ?r) (true (at ?r 11)))
(<= missing (role ?r) (not (there ?r)))
(<= terminal (there ?r))
(<= (goal ?r 100) (there ?r) missing) (<= (goal ?r 50) (there ?r) (not missing))
(<= (goal ?r 0) (role ?r) (not (there ?r)))
"""


def lanes(start: int = 0, counter: str = "(init (step 0))") -> herbrand.Game:
    """Return the race in which the first runner begins at a place."""
    return herbrand.loads(
        LANES.format(a=start, counter=counter) + " ".join(f"(succ {n} {n + 1})" for n in range(11))
    )


def test_who_is_not_faster_cannot_force_a_win() -> None:
    """As listing the states says; the rules accept it, but not another step or another role."""
    game = lanes()
    space = explore(game.expander)
    verdicts = dict(refute_by_schedules(game, [0, 1, 2], Budget(30)))
    assert sorted(verdicts) == [0, 1, 2]
    for role, verdict in verdicts.items():
        assert strong_of(space, role, 100).answer == "refuted"
        certificate = verdict.certificate
        assert isinstance(certificate, RestrictedPlay)
        assert certificate.check(game, 30)
        assert {one.when for one in certificate.preferences} >= {f"(step {n})" for n in range(1, 5)}
        first, *others = certificate.preferences
        for wrong in (replace(first, move="(run 1)"), replace(first, role=game.roles[role])):
            assert not replace(certificate, preferences=(wrong, *others)).check(game, 30)


def test_who_is_faster_is_not_refuted() -> None:
    """With a start of two places, the first runner can force it, and the others cannot."""
    game = lanes(start=2)
    space = explore(game.expander)
    verdicts = dict(refute_by_schedules(game, [0, 1, 2], Budget(30)))
    assert strong_of(space, 0, 100).answer == "proved"
    assert sorted(verdicts) == [1, 2]


def test_schedules_need_a_step_counter() -> None:
    """Nothing is said without one."""
    assert not list(refute_by_schedules(lanes(counter=""), [0], Budget(30)))


def test_an_analysis_finds_it() -> None:
    """Also where exploring stops early."""
    result = analyse(lanes(), ["strong_winnability"], budget=Budget(60, states=200), values=False)
    verdict = result.properties["strong_winnability"]
    assert (verdict.answer, verdict.method, verdict.checked) == ("refuted", RestrictedPlay.kind, True)

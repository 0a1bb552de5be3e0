"""Conditions under which a role cannot win any more, and searches that end there."""

from __future__ import annotations

from dataclasses import replace

import corrupted
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of, weak
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.invariants.hopeless import CutShort, Hopeless, find_hopeless
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.proofs.out_of_reach import weak_while_in_reach
from herbrand.analyse.solving.certain import strong_by_search
from herbrand.convert.cut_short import cut_short
from herbrand.errors import GameError, InvalidMoveError


def hopeless_of(rules: str, role: int = 0) -> Hopeless | None:
    """What is found in a game given as text."""
    return find_hopeless(herbrand.loads(rules).expander, [role], 20).get(role)


def test_too_few_rounds_are_left() -> None:
    """Three hits take three rounds; what is found is what is out of reach in the graph of all states."""
    game = herbrand.loads(corrupted.TALLY)
    hopeless = hopeless_of(corrupted.TALLY)
    assert hopeless is not None
    assert hopeless.check(game, 30)
    space = explore(game.expander)
    names = space.expander.facts(space.states)
    lost = {
        facts
        for facts in names
        if any(all((f in facts) == value for f, value in condition) for condition in hopeless.conditions)
    }
    for facts in names:
        step, score = (
            int(next(f for f in facts if f.startswith(f"({name}"))[-2]) for name in ("step", "score")
        )
        assert (facts in lost) == (5 - step < 3 - score)
    assert hopeless_of(corrupted.TALLY, role=1) is None


def test_the_search_ends_where_play_is_hopeless() -> None:
    """It answers as exploration does, with a certificate that the rules accept, in fewer states."""
    game = herbrand.loads(corrupted.TALLY)
    space = explore(game.expander)
    verdicts = strong_by_search(game, [0, 1], 100, budget=Budget(30))
    for role in (0, 1):
        assert verdicts[role].answer == strong_of(space, role, 100).answer == "refuted"
        certificate = verdicts[role].certificate
        assert certificate is not None
        assert isinstance(certificate, CutShort) == (role == 0)
        assert certificate.check(game, 30)


def test_a_role_that_can_win_still_can() -> None:
    """Its strategy is one of the game itself."""
    game = herbrand.loads(
        corrupted.TALLY.replace("(<= hit (does red (bet ?s)) (does blue (bet ?s)))", "(hit)")
    )
    verdicts = strong_by_search(game, [0], 100, budget=Budget(30))
    assert verdicts[0].answer == "proved"
    assert verdicts[0].certificate is not None
    assert verdicts[0].certificate.kind == "strategy"
    assert verdicts[0].certificate.check(game, 30)


LATE = corrupted.TALLY.replace("(succ 4 5)", "(succ 4 5) (succ 5 6) (succ 6 7)").replace(
    "(<= won (true (score 3)))", "(<= won (true (score 3)) (true (step 3)))"
)
"""Three hits have to be made in two rounds, of six."""


def test_who_cannot_win_in_time_never_wins() -> None:
    """Few states come up before that is certain; the rules accept the proof, and an analysis finds it."""
    game = herbrand.loads(LATE.replace("(true (step 5))", "(true (step 7))"))
    space = explore(game.expander)
    (found,) = weak_while_in_reach(game, [0], Budget(30))
    assert found[0] == 0
    assert found[1].answer == weak(space, 0, 100).answer == "refuted"
    certificate = found[1].certificate
    assert isinstance(certificate, CutShort)
    assert certificate.check(game, 30)
    assert len(certificate.certificate.space.states) < len(space.states) / 2
    wins = herbrand.loads(corrupted.TALLY)
    (shown,) = weak_while_in_reach(wins, [0, 1], Budget(30))
    assert shown[0] == 0
    assert shown[1].witness is not None
    assert holds(wins, "win", shown[1].witness)


@pytest.mark.parametrize("drop", [True, False])
def test_wrong_conditions_are_refused(drop: bool) -> None:
    """Those that do not last, that do not exclude a win, and those without the groups they rest on."""
    game = herbrand.loads(corrupted.TALLY)
    hopeless = hopeless_of(corrupted.TALLY)
    assert hopeless is not None
    assert not replace(hopeless, invariant=Invariant("")).check(game, 30)
    if drop:
        late = tuple(c for c in hopeless.conditions if ("(step 5)", True) not in c)
        assert not replace(hopeless, conditions=late).check(game, 30)
    else:
        won = ((("(step 5)", True), ("(score 3)", True)),)
        assert not replace(hopeless, conditions=hopeless.conditions + won).check(game, 30)


def test_conditions_are_of_ground_fluents() -> None:
    """Text that would be more than a fluent is refused, and so is a condition that holds always."""
    game = herbrand.loads(corrupted.TALLY)
    for wrong in ("?x", "(score 0)) (true (step 1)", "(score ?n)", ""):
        with pytest.raises(InvalidMoveError):
            cut_short(game, [[(wrong, True)]])
    with pytest.raises(GameError):
        cut_short(game, [[]])


@pytest.mark.parametrize(
    "change",
    [
        ("(<= terminal (true (step 5)))", "(<= terminal (true (score 3)))"),  # play goes on until it is won
        ("(init (step 1))", "(init (step 1)) (init (step 2))"),  # two counters in one
        ("(succ 4 5)", "(succ 4 5) (succ 4 1)"),  # and no clock
        ("(<= won (true (score 3)))", "(<= won (true (step 5)))"),  # nothing is needed but time
    ],
)
def test_little_is_hopeless_in_other_games(change: tuple[str, str]) -> None:
    """Without a clock, or a counter that a win needs; whatever is found holds."""
    old, new = change
    assert old in corrupted.TALLY
    found = hopeless_of(corrupted.TALLY.replace(old, new))
    assert found is None or found.check(herbrand.loads(corrupted.TALLY.replace(old, new)), 30)


def test_a_latch_needs_no_clock() -> None:
    """Who has lost the key that is needed cannot win, however long play goes on."""
    rules = """(role r) (init key) (init closed) (legal r drop) (legal r wait) (<= (legal r open) (true key))
    (<= (next key) (true key) (not (does r drop))) (<= (next open) (does r open)) (<= (next open) (true open))
    (<= terminal (true open)) (<= (goal r 100) (true open) (true key)) (<= (goal r 0) (not (true key)))"""
    hopeless = hopeless_of(rules)
    assert hopeless is not None
    assert hopeless.conditions == ((("key", False),),)
    assert hopeless.check(herbrand.loads(rules), 30)
    assert hopeless_of(rules.replace("(goal r 100) (true open)", "(goal r 90) (true open)")) is None

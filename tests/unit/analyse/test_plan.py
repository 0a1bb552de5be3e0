"""Plans of puzzles are found in two ways, are shortest, and lead where they should."""

from __future__ import annotations

import time

import pytest
from hypothesis import Phase, given, settings
from strategies import games as random_games

import herbrand
from herbrand import GameError
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.replay import replay
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.solving.horizon import line_of_some_length
from herbrand.analyse.solving.plan import any_plans, find_plan, plan_by_states, plan_by_steps

LOOP = """(role r) (index 1) (index 2) (index 3) (index 4)
(init (edge 1 1)) (<= (legal r (join ?x ?y)) (index ?x) (index ?y) (distinct ?x ?y))
(<= (next (edge ?x ?y)) (true (edge ?x ?y))) (<= (next (edge ?x ?y)) (does r (join ?x ?y)))
(<= (linked ?x ?y) (true (edge ?x ?y))) (<= (linked ?x ?z) (linked ?x ?y) (linked ?y ?z))
(<= terminal (linked 1 4)) (<= terminal (linked 4 1))
(<= (goal r 100) (linked 1 4) (linked 1 2) (linked 1 3)) (<= (goal r 40) terminal (not (linked 1 2)))"""


@pytest.mark.parametrize(("name", "steps"), [("blocksWorld", 6), ("knightsTour", 24)])
def test_both_searches_find_plans_of_the_same_length(name: str, steps: int) -> None:
    """The plans differ perhaps, their length does not; both win."""
    game = herbrand.load(name)
    for plan in (
        plan_by_states(game, 100, budget=Budget()),
        plan_by_steps(game.network, 100, budget=Budget()),
    ):
        assert plan.moves is not None
        assert (len(plan.moves), plan.shortest, plan.refuted) == (steps, True, steps - 1)
        last = replay(game, plan.moves)[-1]
        assert last.is_terminal
        assert list(last.goals.values()) == [100]


@pytest.mark.parametrize(
    "name",
    ["blocksWorld", *(pytest.param(name, marks=pytest.mark.slow) for name in ("eightPuzzle", "lightsOut"))],
)
def test_a_plan_that_may_be_longer_leads_to_the_goal(name: str) -> None:
    """A hint for lights out took a minute: its shortest plans are hard to find, others are not."""
    game = herbrand.load(name)
    plan = any_plans(game, 100)(60.0)
    assert plan is not None
    assert plan.moves is not None
    assert (plan.exists, plan.shortest) == (True, False)
    last = replay(game, plan.moves)[-1]
    assert last.is_terminal
    assert list(last.goals.values()) == [100]
    assert any_plans(game, 50)(60.0) is None


LATIN = """(role r) (n 1) (n 2) (n 3) (n 4) (init (cell 1 1 1)) (init (cell 2 2 1)) (init (cell 3 4 2))
(<= (filled ?x ?y) (true (cell ?x ?y ?d))) (<= (blank ?x ?y) (n ?x) (n ?y) (not (filled ?x ?y)))
(<= (legal r (put ?x ?y ?d)) (blank ?x ?y) (n ?d))
(<= (next (cell ?x ?y ?d)) (true (cell ?x ?y ?d))) (<= (next (cell ?x ?y ?d)) (does r (put ?x ?y ?d)))
(<= open (blank ?x ?y)) (<= terminal (not open))
(<= clash (true (cell ?x ?y ?d)) (true (cell ?x ?z ?d)) (distinct ?y ?z))
(<= clash (true (cell ?x ?y ?d)) (true (cell ?z ?y ?d)) (distinct ?x ?z))
(<= (goal r 100) (not clash)) (<= (goal r 0) clash)"""


def test_squares_are_filled_without_refuting_shorter_plans() -> None:
    """A Latin square takes 13 moves in any order; that 12 do not fill it is a problem of pigeons and holes."""
    game = herbrand.loads(LATIN)
    moves = line_of_some_length(game.expander, 0, 100, time.monotonic() + 60)
    assert moves is not None
    assert len(moves) == 13
    last = replay(game, moves)[-1]
    assert (last.is_terminal, last.goals) == (True, {"r": 100})


LAMPS = """(role r) (lamp 1) (lamp 2) (lamp 3) (lamp 4) (lamp 5) (init (step 0)) (<= (init (on ?x)) (lamp ?x))
(ring 1 2) (ring 2 3) (ring 3 4) (ring 4 5) (ring 5 1) (<= (legal r (press ?x)) (lamp ?x))
(<= (hit ?x) (does r (press ?x))) (<= (hit ?y) (does r (press ?x)) (ring ?x ?y))
(<= (hit ?y) (does r (press ?x)) (ring ?y ?x))
(<= (next (on ?x)) (true (on ?x)) (not (hit ?x))) (<= (next (on ?x)) (hit ?x) (not (true (on ?x))))
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 7)
(<= lit (true (on ?x))) (<= terminal (not lit)) (<= terminal (true (step 7)))
(<= (goal r 100) (not lit)) (<= (goal r 0) lit)"""


def test_moves_whose_order_does_not_matter_are_made_in_one_order() -> None:
    """All five lamps of a ring, each of which switches its neighbours, too, are pressed once."""
    line = line_of_some_length(herbrand.loads(LAMPS).expander, 0, 100, time.monotonic() + 60)
    assert line == tuple((f"(press {lamp})",) for lamp in (1, 2, 3, 4, 5))


def test_a_plan_of_some_length_is_found_for_any_goal_value_or_refuted() -> None:
    """With recursion in the rules; where all plays end after two steps, three make no plan."""
    game = herbrand.loads(LOOP)
    for value, ends in ((40, True), (100, True), (70, False)):
        moves = line_of_some_length(game.expander, 0, value, time.monotonic() + (60 if ends else 0.5))
        assert (moves is not None) == ends
        assert moves is None or replay(game, moves)[-1].goals == {"r": value}
    two = herbrand.loads("""(role r) (init (n 0)) (next_of 0 1) (next_of 1 2) (legal r a) (legal r b)
        (<= (next (n ?y)) (true (n ?x)) (next_of ?x ?y)) (<= (next won) (does r b) (true (n 1)) (true lost))
        (<= (next lost) (does r a)) (<= terminal (true (n 2)))
        (<= (goal r 100) (true won) (true lost)) (<= (goal r 0) (not (true won)))
        (<= (goal r 50) (true won) (not (true lost)))""")
    assert line_of_some_length(two.expander, 0, 100, time.monotonic() + 60) is None
    assert line_of_some_length(two.expander, 0, 50, time.monotonic() + 60) == (("a",), ("b",))


def test_hanoi_takes_as_long_as_is_known() -> None:
    """Five discs take 31 moves."""
    plan = find_plan(herbrand.load("hanoi"))
    assert plan.moves is not None
    assert len(plan.moves) == 31
    assert plan.as_json()["steps"] == 31


def test_recursion_within_a_state_is_planned_with() -> None:
    """The loops of a network mean the same to the answer set solver."""
    game = herbrand.loads(LOOP)
    for plan in (
        plan_by_states(game, 100, budget=Budget()),
        plan_by_steps(game.network, 100, budget=Budget()),
    ):
        assert plan.moves is not None
        assert len(plan.moves) == 3
        assert replay(game, plan.moves)[-1].goals == {"r": 100}


def test_no_plan_is_told_from_none_found() -> None:
    """All states known: there is none. Otherwise only lengths are excluded."""
    game = herbrand.load("blocksWorld")
    none = find_plan(game, 17)
    assert (none.exists, none.moves) == (False, None)
    some = find_plan(herbrand.load("sudoku"), budget=Budget(seconds=0.1, states=2000))
    assert (some.exists, some.moves) == (None, None)
    assert -1 <= some.refuted < 50
    assert plan_by_steps(game.network, 17, budget=Budget(), most=5).refuted == 5


def test_a_plan_is_for_one_role() -> None:
    """Two roles have strategies, not plans."""
    with pytest.raises(GameError, match="one role"):
        find_plan(herbrand.load("nim"))


@pytest.mark.slow
def test_analyse_plans_where_it_cannot_explore() -> None:
    """With room for few states a plan proves that a puzzle can be won, even surely."""
    analysis = analyse(
        herbrand.load("knightsTour"),
        ["weak_winnability", "strong_winnability"],
        budget=Budget(states=500),
        symbolic=False,
    )
    for verdict in analysis.properties.values():
        assert (verdict.answer, verdict.method, verdict.checked) == ("proved", "answer set planning", True)
    assert analysis.solution is not None
    assert analysis.solution.value == {"rider": 100}


@settings(max_examples=5, deadline=None, phases=set(Phase) - {Phase.shrink})
@given(random_games())
def test_random_puzzles_have_plans_of_equal_length(text: str) -> None:
    """For every goal value, both searches agree."""
    game = herbrand.loads(text)
    if len(game.roles) != 1:
        return
    for value in (0, 30, 100):
        first = plan_by_states(game, value, budget=Budget(seconds=5, states=300))
        if first.exists is None:
            continue
        second = plan_by_steps(game.network, value, budget=Budget(seconds=5), most=7)
        length = None if first.moves is None else len(first.moves)
        assert (None if second.moves is None else len(second.moves)) == (
            length if length is None or length <= 7 else None
        )

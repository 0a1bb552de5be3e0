"""Estimates are never more than what is to come, and A* finds plans as short as breadth-first search."""

from __future__ import annotations

import time

import numpy as np
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.replay import replay
from herbrand.analyse.invariants.estimate import Estimate, find_estimate
from herbrand.analyse.solving.astar import shortest_line
from herbrand.analyse.solving.plan import plan_by_estimates

pytest.importorskip("pysat", reason="estimates are proved by a SAT solver")

WALK = """(role r) (init (at 1 1)) (init (left s8))
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (after s8 s7) (after s7 s6) (after s6 s5) (after s5 s4) (after s4 s3)
(after s3 s2) (after s2 s1) (after s1 s0)
(<= (legal r (go ?x2 ?y)) (true (at ?x ?y)) (near ?x ?x2)) (<= (legal r (go ?x ?y2)) (true (at ?x ?y)) (near ?y ?y2))
(<= (near ?x ?y) (succ ?x ?y)) (<= (near ?x ?y) (succ ?y ?x))
(<= (next (at ?x ?y)) (does r (go ?x ?y))) (<= (next (left ?s)) (true (left ?t)) (after ?t ?s))
(<= terminal (true (at 5 GOAL))) (<= terminal (true (left s0)))
(<= (goal r 100) (true (at 5 GOAL))) (<= (goal r 0) (not (true (at 5 GOAL))))"""
"""A walk on a board, of eight steps at the most."""


@pytest.mark.parametrize("name", ["hanoi", "blocksWorld"])
def test_an_estimate_is_never_too_high(name: str) -> None:
    """From every state that can be reached; and no step lowers it by more than one."""
    game = herbrand.load(name)
    space = explore(game.expander)
    estimate = find_estimate(game.expander, 100, time.monotonic() + 60)
    assert estimate is not None
    least = estimate(space.states)
    assert least[0] > 0
    origin = np.repeat(np.arange(space.expanded), np.diff(space.starts))
    steps = np.where(space.over & (space.goals[:, 0] == 100), 0, 1 << 20)
    while True:
        before = steps.copy()
        np.minimum.at(steps, origin, before[space.children] + 1)
        if (steps == before).all():
            break
    assert (least <= steps).all()
    assert (least[origin] <= least[space.children] + 1).all()


@pytest.mark.parametrize(("name", "steps"), [("hanoi", 31), ("blocksWorld", 6)])
def test_plans_are_as_short_as_they_can_be(name: str, steps: int) -> None:
    """As long as those that breadth-first search finds, and the rules play them to the goal."""
    game = herbrand.load(name)
    plan = plan_by_estimates(game, 100, budget=Budget())
    assert plan.moves is not None
    assert (plan.method, len(plan.moves), plan.shortest, plan.refuted) == ("A*", steps, True, steps - 1)
    assert list(replay(game, plan.moves)[-1].goals.values()) == [100]


def test_on_a_board_the_estimate_is_the_way() -> None:
    """Four rows and three columns are seven steps; only few of the states have to be looked into."""
    game = herbrand.loads(WALK.replace("GOAL", "4"))
    estimate = find_estimate(game.expander, 100, time.monotonic() + 60)
    assert estimate is not None
    assert estimate(game.expander.initial).tolist() == [7]
    found = shortest_line(game.expander, 100, estimate, Budget())
    assert found.line is not None
    assert len(found.line) == 7
    nothing = Estimate(np.zeros_like(estimate.weights), 0, 1)
    without = shortest_line(game.expander, 100, nothing, Budget())
    assert without.line is not None
    assert len(without.line) == 7
    assert without.states > found.states


def test_a_goal_that_is_too_far_is_known_to_be() -> None:
    """When every state that matters was looked into, there is no plan; with too small a budget that is open."""
    far = WALK.replace("GOAL", "4").replace("(at 1 1)", "(at 1 5)").replace("(left s8)", "(left s4)")
    plan = plan_by_estimates(herbrand.loads(far), 100, budget=Budget())
    assert (plan.exists, plan.moves) == (False, None)
    few = plan_by_estimates(herbrand.load("hanoi"), 100, budget=Budget(states=50))
    assert (few.exists, few.moves) == (None, None)
    assert few.refuted >= 0

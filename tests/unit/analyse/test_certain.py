"""Strong winnability by search, in all games: simultaneous moves, chance, many roles, hidden information."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.certificates import Policy, SpoiledBeliefs, Spoiler, UniformPolicy
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.invariants.hopeless import CutShort
from herbrand.analyse.knowledge.uniform import strong_by_beliefs
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.solving.certain import strong_by_search

# Ann names a number below `size`, the others as well; she wins if nobody names hers.
NUMBERS = """
(role ann) {roles} (number 1) {numbers} (init start)
(<= (legal ?r (name ?n)) (role ?r) (number ?n))
(<= (next over) (true start))
(<= (next hit) (does ann (name ?n)) (does ?r (name ?n)) (distinct ?r ann))
(<= terminal (true over))
(<= (goal ann 100) (not (true hit))) (<= (goal ann 0) (true hit))
(<= (goal ?r 100) (role ?r) (distinct ?r ann) (true hit))
(<= (goal ?r 0) (role ?r) (distinct ?r ann) (not (true hit)))
"""

# A coin lies in one of two boxes; who opens its box first wins, and gets a second chance if `chances` is 2.
COIN = """
(role random) (role seeker) (box 1) (box 2) (init (step 0)) (after 0 1) (after 1 2) (after 2 3)
(<= (legal random (put ?b)) (true (step 0)) (box ?b)) (<= (legal random wait) (not (true (step 0))))
(<= (legal seeker wait) (true (step 0))) (<= (legal seeker (open ?b)) (not (true (step 0))) (box ?b))
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(<= (next (coin ?b)) (does random (put ?b))) (<= (next (coin ?b)) (true (coin ?b)))
(<= (next found) (true (coin ?b)) (does seeker (open ?b))) (<= (next found) (true found))
{sees}
(<= terminal (true found)) (<= terminal (true (step {steps})))
(<= (goal seeker 100) (true found)) (<= (goal seeker 0) (not (true found))) (goal random 0)
"""
SEES_COIN = "(<= (sees seeker (coin ?b)) (does random (put ?b)))"
SEES_NOTHING = "(<= (sees seeker started) (true (step 0)))"


def _budget() -> Budget:
    return Budget(60, megabytes=400)


@pytest.mark.parametrize(
    "name",
    ["ticTacToe", "rockPaperScissors", "prisonersDilemma", "village", "nim", "notakto"],
)
def test_search_and_exploration_agree_on_who_can_force_a_win(name: str) -> None:
    """For each role; and the rules accept the strategies."""
    game = herbrand.load(name)
    space = explore(game.expander)
    for role in range(len(game.roles)):
        expected = strong_of(space, role, 100).answer
        found = strong_by_search(game, [role], 100, budget=_budget())
        assert found[role].answer == expected
        certificate = found[role].certificate
        assert isinstance(certificate, Policy if expected == "proved" else Spoiler | CutShort)
        assert certificate.check(game, 60)


@pytest.mark.parametrize(("others", "size"), [(1, 2), (2, 2), (2, 20), (3, 8), (4, 5)])
def test_others_reply_to_a_move_together(others: int, size: int) -> None:
    """Also with more joint replies than are generated at once; whoever replies cannot win alone."""
    roles = " ".join(f"(role r{k})" for k in range(others))
    numbers = " ".join(f"(number {k})" for k in range(2, size + 1))
    game = herbrand.loads(NUMBERS.format(roles=roles, numbers=numbers))
    found = strong_by_search(game, range(len(game.roles)), 100, budget=_budget())
    assert [found[role].answer for role in range(len(game.roles))] == ["refuted"] * (others + 1)
    for verdict in found.values():
        assert verdict.certificate is not None
        assert verdict.certificate.check(game, 60)
    # against as many others as there are numbers to be left, she wins
    alone = herbrand.loads(
        NUMBERS.format(roles=roles, numbers=numbers).replace("(distinct ?r ann))", "(fall))", 1)
    )
    assert strong_by_search(alone, [0], 100, budget=_budget())[0].answer == "proved"


def test_replies_too_many_to_list_are_found_and_not_written_down() -> None:
    """Six others with a hundred numbers each have 10**12 joint moves."""
    roles = " ".join(f"(role r{k})" for k in range(6))
    numbers = " ".join(f"(number {k})" for k in range(2, 101))
    game = herbrand.loads(NUMBERS.format(roles=roles, numbers=numbers))
    verdict = strong_by_search(game, [0], 100, budget=_budget())[0]
    assert (verdict.answer, verdict.certificate) == ("refuted", None)


def test_states_without_moves_and_ends_without_goals_are_no_wins() -> None:
    """As for exploration: a strategy has to come to an end with the goal value."""
    stuck = herbrand.loads(
        "(role ann) (role bob) (init start) (legal ann go) (<= (legal bob ?m) (true start) (move ?m))"
        "(move left) (move right) (<= (next (was ?m)) (does bob ?m))"
        "(<= terminal (true (was left))) (<= (goal ann 100) (true (was left)))"
    )
    unvalued = herbrand.loads(
        "(role ann) (role bob) (init start) (legal ann go) (<= (legal bob ?m) (move ?m))"
        "(move left) (move right) (<= (next (was ?m)) (does bob ?m))"
        "(<= terminal (not (true start))) (<= (goal ann 100) (true (was left))) (goal bob 0)"
    )
    for game in (stuck, unvalued):
        assert strong_of(explore(game.expander), 0, 100).answer == "refuted"
        found = strong_by_search(game, [0], 100, budget=_budget())
        assert found[0].answer == "refuted"
        assert found[0].certificate is not None
        assert found[0].certificate.check(game, 10)


def test_a_search_out_of_memory_leaves_the_rest_of_an_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its property is unknown, with a note."""

    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("herbrand.analyse.solving.certain.ForcedGoals", fails)
    budget = Budget(20, states=100, megabytes=400)
    analysis = analyse(herbrand.load("ticTacToe"), ["termination", "strong_winnability"], budget=budget)
    assert [verdict.answer for verdict in analysis.properties.values()] == ["proved", "unknown"]
    assert any("memory" in note for note in analysis.notes)


def test_plays_that_need_not_end_are_left_open() -> None:
    """A repeated state decides nothing, here that bob can go round for ever."""
    game = herbrand.loads(
        "(role ann) (role bob) (init here) (legal ann go) (<= (legal bob ?m) (move ?m)) (move stay) (move leave)"
        "(<= (next here) (does bob stay)) (<= (next gone) (does bob leave))"
        "(<= terminal (true gone)) (goal ann 100) (goal bob 0)"
    )
    assert strong_by_search(game, [0], 100, budget=_budget()) == {}
    assert analyse(game, ["strong_winnability"]).properties["strong_winnability"].answer == "refuted"


@pytest.mark.parametrize(
    ("sees", "steps", "answer"),
    [(SEES_COIN, 2, "proved"), (SEES_NOTHING, 2, "refuted"), (SEES_NOTHING, 3, "proved")],
)
def test_strategies_use_what_a_role_sees_and_nothing_else(sees: str, steps: int, answer: str) -> None:
    """With complete information the seeker always wins."""
    game = herbrand.loads(COIN.format(sees=sees, steps=steps))
    assert strong_by_search(game, [1], 100, budget=_budget())[1].answer == "proved"
    verdict = strong_by_beliefs(game, 1, 100, _budget())
    assert verdict.answer == answer
    for budget in (_budget(), replace(_budget(), states=2)):
        found = analyse(game, ["strong_winnability"], budget=budget).properties["strong_winnability"]
        assert found.answer == answer
    if answer == "proved":
        policy = verdict.certificate
        assert isinstance(policy, UniformPolicy)
        assert policy.check(game, 10)
        blind = herbrand.loads(COIN.format(sees=SEES_NOTHING, steps=2))
        assert not policy.check(blind, 10)
        for one, other in combinations(policy.moves, 2):
            swapped = policy.moves | {one: policy.moves[other], other: policy.moves[one]}
            if swapped != policy.moves:
                assert not replace(policy, moves=swapped).check(game, 10)
    else:
        spoiled = verdict.certificate
        assert isinstance(spoiled, SpoiledBeliefs)
        assert spoiled.check(game, 10)
        assert not spoiled.check(herbrand.loads(COIN.format(sees=SEES_COIN, steps=2)), 10)
        for lead in spoiled.leads:
            fewer = {other: after for other, after in spoiled.leads.items() if other != lead}
            assert not replace(spoiled, leads=fewer).check(game, 10)


def test_beliefs_that_recur_do_not_win() -> None:
    """A role that can only wait cannot force an end."""
    game = herbrand.loads(
        "(role random) (role ann) (init here) (legal ann wait) (<= (legal random ?m) (move ?m)) (move on) (move off)"
        "(<= (next here) (does random on)) (<= (next gone) (does random off)) (<= (sees ann ?m) (does random ?m))"
        "(<= terminal (true gone)) (goal ann 100) (goal random 0)"
    )
    verdict = strong_by_beliefs(game, 1, 100, _budget())
    assert verdict.answer == "refuted"
    assert verdict.certificate is not None
    assert verdict.certificate.check(game, 10)


@pytest.mark.parametrize(
    ("name", "role"), [("higherLower", "guesser"), ("liarsDice", "first"), ("pairs", "ann")]
)
def test_what_a_role_is_shown_keeps_it_from_winning(name: str, role: str) -> None:
    """Where chance deals or others hide, by the rules, and not with another belief after a move."""
    game = herbrand.load(name)
    spoiled = strong_by_beliefs(game, game.role_index(role), 100, _budget()).certificate
    assert isinstance(spoiled, SpoiledBeliefs)
    assert spoiled.check(game, 30)
    (first, after), *others = spoiled.leads.items()
    other = next(belief for _, belief in others if belief != after)
    assert not replace(spoiled, leads=spoiled.leads | {first: other}).check(game, 30)


def test_beliefs_end_with_the_budget() -> None:
    """Without an answer."""
    game = herbrand.load("mastermind")
    assert strong_by_beliefs(game, game.role_index("breaker"), 100, Budget(0.2)).answer == "unknown"

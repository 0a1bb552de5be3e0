"""Chance and percepts: what `random` may do, how likely it is, and what everybody is told."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import IllegalMoveError
from herbrand.cli.main import cli


def show(*args: str):
    return CliRunner().invoke(cli, ["show", *args], env={"COLUMNS": "80"}, catch_exceptions=False)


def test_chance_is_even_over_the_moves_of_random():
    """Six deals of Kuhn poker are equally likely; afterwards `random` has one sure move."""
    state = herbrand.load("kuhn").initial_state()
    deals = state.chance_moves()
    assert len(deals) == 6
    assert set(deals.values()) == {Fraction(1, 6)}
    assert list(deals) == sorted(deals)
    assert state.is_chance
    after = state.next({"first": "noop", "second": "noop", "random": "(deal jack king)"})
    assert {str(m): p for m, p in after.chance_moves().items()} == {"noop": Fraction(1)}
    assert not after.is_chance


def test_there_is_no_chance_without_random_and_none_at_the_end():
    """Without the role, and in terminal states, no state has a chance move."""
    state = herbrand.load("ticTacToe").initial_state()
    assert state.chance_moves() == {}
    assert state.game.chance_role is None
    assert state.game.players == state.game.roles
    assert state.outcomes(dict(zip(state.roles, ("(mark 1 1)", "noop"), strict=True))) == {
        state.next(("(mark 1 1)", "noop")): 1
    }
    with pytest.raises(IllegalMoveError, match="no chance move in this state"):
        state.draw(Random(1))
    monty = herbrand.load("montyHall").initial_state()
    for joint in (("(choose 1)", "(hide 1)"), ("noop", "(open 2)"), ("stay", "noop")):
        monty = monty.next(joint)
    assert monty.is_terminal
    assert monty.chance_moves() == {}


def test_outcomes_add_up_equal_states():
    """Two moves with the same effect double its weight, and the weights add up to one."""
    rules = """(role a) (role random) (init (n 0)) (<= terminal (true (n 9)))
        (legal a go) (legal random (roll 1)) (legal random (roll 2)) (legal random six)
        (<= (next (n 3)) (does random (roll ?k))) (<= (next (n 6)) (does random six)) (goal a 0)"""
    outcomes = herbrand.loads(rules).initial_state().outcomes({"a": "go"})
    assert {min(state.facts): p for state, p in outcomes.items()} == {
        "(n 3)": Fraction(2, 3),
        "(n 6)": Fraction(1, 3),
    }


def test_draws_are_seeded_and_even():
    """The same seed draws the same, and every move comes about as often."""
    state = herbrand.load("montyHall").initial_state()
    chance = Random(5)
    drawn = Counter(str(state.draw(chance)) for _ in range(3000))
    assert set(drawn) == {"(hide 1)", "(hide 2)", "(hide 3)"}
    assert max(drawn.values()) - min(drawn.values()) < 150
    assert [state.draw(Random(3)) for _ in range(5)] == [state.draw(Random(3))] * 5


def test_with_perfect_information_everybody_sees_the_joint_move():
    """A game without `sees` tells every role every move, `random`'s too."""
    state = herbrand.load("ticTacToe").initial_state()
    told = ("(did xplayer (mark 1 1))", "(did oplayer noop)")
    assert state.percepts(("(mark 1 1)", "noop")) == {"xplayer": told, "oplayer": told}
    assert not state.game.has_percepts
    assert herbrand.load("kuhn").has_percepts


def test_percepts_by_role_with_moves_and_the_next_state_in_them():
    """A percept may be a `does` term, and may speak of the state that comes (`next` in its body)."""
    rules = """(role a) (role b) (init (at 0)) (succ 0 1) (succ 1 2) (goal a 0) (goal b 0)
        (<= (legal ?r go) (role ?r)) (<= (legal a stay) (true (at 0)))
        (<= (next (at ?y)) (does a go) (true (at ?x)) (succ ?x ?y))
        (<= (next (at ?x)) (does a stay) (true (at ?x)))
        (<= (sees b (does a ?m)) (does a ?m))
        (<= (sees a (will_be ?y)) (next (at ?y)))
        (<= terminal (true (at 2)))"""
    game = herbrand.loads(rules)
    for engine in ("rules", "naive", "network"):
        state = game.initial_state(engine)
        assert state.percepts(("go", "go")) == {"a": ("(will_be 1)",), "b": ("(does a go)",)}
        assert state.percepts(("stay", "go"), "a") == ("(will_be 0)",)


def test_show_draws_what_random_does():
    """The moves of `random` may be left out; they are drawn by the seed, and said so."""
    outcome = show("kuhn", "--moves", ";bet", "--json")
    told = json.loads(outcome.stdout)
    deal = told["moves"][0][2]
    assert outcome.stderr == f"joint move 1: random draws {deal}\n"
    assert told["moves"][1] == ["bet", "noop", "noop"]
    card = deal.strip("()").split()[1]
    assert told["percepts"][0]["first"] == [f"(dealt {card})"]
    assert told["percepts"][1] == {"first": [], "second": ["(did first bet)"], "random": []}
    others = {
        json.loads(show("kuhn", "--moves", ";bet", "--seed", str(n), "--json").stdout)["moves"][0][2]
        for n in range(8)
    }
    assert len(others) > 1
    assert "second saw (did first bet)" in show("kuhn", "--moves", ";bet").stdout


def test_show_refuses_what_chance_cannot_help():
    """A wrong move stays a wrong move, whatever `random` might do."""
    outcome = show("montyHall", "--moves", "(choose 5)")
    assert outcome.exit_code == 2
    assert "no legal move `(choose 5)`" in outcome.stderr

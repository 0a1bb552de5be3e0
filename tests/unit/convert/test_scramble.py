"""Scrambled rules are the same game under other names."""

from __future__ import annotations

import random

import pytest

import herbrand
from herbrand import games
from herbrand.convert.scramble import scramble
from herbrand.game import Game


@pytest.mark.slow_except
@pytest.mark.parametrize("name", games.names())
def test_the_scrambled_game_plays_the_same(name):
    """Along a random game states, legal moves, goals, percepts and the end translate into each other."""
    game = herbrand.load(name)
    scrambled = scramble(game.tree, seed=5)
    other = Game(scrambled.tree, name="scrambled")
    assert not other.rules.errors
    assert len(other.tree.statements) == len(game.tree.statements)
    assert tuple(map(scrambled.unscrambled, other.roles)) == game.roles
    chance = random.Random(1)
    state, twin = game.initial_state("rules"), other.initial_state("rules")
    for _ in range(12):
        assert frozenset(map(scrambled.unscrambled, twin.facts)) == state.facts
        assert twin.is_terminal == state.is_terminal
        for role in game.roles:
            mine = sorted(scrambled.unscrambled(str(m)) for m in twin.legal_moves(scrambled.scrambled(role)))
            assert mine == list(map(str, state.legal_moves(role)))
            assert twin.goal_values(scrambled.scrambled(role)) == state.goal_values(role)
        if state.is_terminal:
            break
        joint = [str(chance.choice(moves)) for moves in state.legal_moves().values()]
        translated = [scrambled.scrambled(move) for move in joint]
        for role in game.roles:
            seen = twin.percepts(translated, scrambled.scrambled(role))
            assert sorted(map(scrambled.unscrambled, seen)) == sorted(state.percepts(joint, role))
        state, twin = state.next(joint), twin.next(translated)


def test_nothing_of_the_old_names_is_left():
    """No name but keywords and numbers is in both texts; order and variables change too."""
    game = herbrand.load("ticTacToe")
    scrambled = scramble(game.tree, seed=1)
    for word in ("xplayer", "cell", "mark", "noop", "control", "index", "?row"):
        assert word in game.tree.source.text.lower()
        assert word not in scrambled.text.lower()
    assert "(role " in scrambled.text
    assert " 100)" in scrambled.text


def test_a_seed_repeats_and_another_differs():
    """The same seed gives the same text."""
    tree = herbrand.load("nim").tree
    assert scramble(tree, 7).text == scramble(tree, 7).text != scramble(tree, 8).text


def test_what_has_a_meaning_keeps_its_name():
    """Keywords, also as constants, the role random, percepts and goal values stay; other numbers do not."""
    text = """(role alice) (role random) (base (holds ?c)) (input random (deal ace)) (init start)
        (<= (sees alice (got ?c)) (does random (deal ?c))) (goal alice 37) (next 4711)"""
    scrambled = scramble(herbrand.read(text), 2)
    rules = {rule.head.name for rule in scrambled.tree.statements}
    assert rules == {"role", "base", "input", "init", "sees", "goal", "next"}
    assert scrambled.scrambled("random") == "random"
    assert "37" in scrambled.text
    assert "4711" not in scrambled.text
    assert scrambled.unscrambled(scrambled.scrambled("(deal ace)")) == "(deal ace)"

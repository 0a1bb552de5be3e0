"""Filtering is the same as listing all plays and keeping those that fit."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import hidden_games

import herbrand
from herbrand.analyse.knowledge import possible_states
from herbrand.analyse.knowledge.histories import HistoryStep

RELAXED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=10
)
PLAYS = 150
SECONDS = 1.0
"""Processor time that one game may take: what is bounded is the test, not the games that are made."""


def plays(game: herbrand.Game, steps: int):
    """Every play of so many steps: its last state, each player's history, and the chance that the others make it.

    None where there are too many.
    """
    until = time.process_time() + SECONDS
    nothing = {role: ((), Fraction(1)) for role in game.players}
    found = [(game.initial_state("naive"), nothing)]
    for _ in range(steps):
        longer = []
        for state, histories in found:
            if state.is_terminal:
                continue
            legal = state.legal_moves()
            ways = prod(map(len, legal.values()))
            for joint in product(*legal.values()):
                made = dict(zip(game.roles, joint, strict=True))
                grown = {
                    role: (
                        (*past, HistoryStep(str(made[role]), frozenset(state.percepts(joint, role)))),
                        chance * len(legal[role]) / ways,
                    )
                    for role, (past, chance) in histories.items()
                }
                longer.append((state.next(joint), grown))
            if len(longer) > PLAYS or time.process_time() > until:
                return None
        found = longer
    return found


def compare(text: str, engines: tuple[str, ...]) -> None:
    game = herbrand.loads(text)
    until = time.process_time() + SECONDS
    for steps in (1, 2, 3):
        listed = plays(game, steps) if time.process_time() < until else None
        if not listed:
            return
        for role in game.players:
            expected: dict[tuple[HistoryStep, ...], dict[frozenset[str], Fraction]] = {}
            for state, histories in listed:
                past, chance = histories[role]
                level = expected.setdefault(past, {})
                level[state.facts] = level.get(state.facts, Fraction(0)) + chance
            for past, level in list(expected.items())[:6]:
                total = sum(level.values())
                for engine in engines:
                    known = possible_states(game, role, past, engine=engine)
                    got = {state.facts: weight for state, weight in known.weights.items()}
                    assert got == {facts: chance / total for facts, chance in level.items()}, text


@pytest.mark.slow
@RELAXED
@given(hidden_games())
def test_filtering_by_rules_is_brute_force(text: str) -> None:
    """The possible states and their chances are those of the plays with the same history."""
    compare(text, ("rules",))


@settings(RELAXED, max_examples=5)
@given(hidden_games())
def test_filtering_on_the_network_is_brute_force(text: str) -> None:
    """The same, all joint moves at once."""
    compare(text, ("network",))


@pytest.mark.slow
@settings(RELAXED, max_examples=200)
@given(hidden_games())
def test_filtering_is_brute_force_at_length(text: str) -> None:
    """Both, many times."""
    compare(text, ("rules", "network"))

"""What is ground means the same as what the plain grounder gives."""

import random

import pytest
from hypothesis import HealthCheck, given, settings

import herbrand
from herbrand.ground import ground
from herbrand.ground.naive import ground_naively
from herbrand.network import wire
from herbrand.simulate.on_network import NetworkEngine
from herbrand.testing import games


def agree(text: str, steps: int = 12) -> None:
    """Play one random game and ask networks made from both groundings everything in every state."""
    rules = herbrand.loads(text).rules
    assert not rules.errors
    plain, shrunk, ours = ground_naively(rules), ground(rules, shrink=False), ground(rules)
    engines = [
        NetworkEngine(wire(p, [p.terms.intern(r) for r in rules.roles])) for p in (plain, shrunk, ours)
    ]
    rng = random.Random(0)
    keys = [engine.initial() for engine in engines]
    for _ in range(steps):
        seen = []
        for engine, key in zip(engines, keys, strict=True):
            name = engine.terms.text
            seen.append(
                (
                    sorted(map(name, engine.fluents(key))),
                    [sorted(map(name, engine.legal(key, i))) for i in range(len(rules.roles))],
                    engine.terminal(key),
                    [sorted(map(name, engine.goals(key, i))) for i in range(len(rules.roles))],
                )
            )
        assert seen[0] == seen[1] == seen[2], text
        _, legal, terminal, _ = seen[0]
        if terminal or not all(legal):
            return
        joint = [rng.choice(moves) for moves in legal]
        for i, engine in enumerate(engines):
            keys[i] = engine.successor(keys[i], list(map(engine.terms.read, joint)))


@pytest.mark.parametrize("name", ["nim", "rockPaperScissors", "montyHall", "kuhn", "lightsOut", "ticTacToe"])
def test_bundled_games(name: str) -> None:
    """Small bundled games mean the same however they are ground."""
    agree(herbrand.load(name).tree.source.text)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=15
)
@given(games())
def test_random_games(text: str) -> None:
    """So do random games."""
    agree(text, 4)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=15
)
@given(games())
def test_random_games_on_demand(text: str) -> None:
    """So do random games when every relation is evaluated on demand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("herbrand.ground.demand.LARGE", 0)
        patch.setattr("herbrand.ground.demand.HUGE", 0)
        agree(text, 4)


SUMS = """
(role a) (role b) (init start)
(<= (legal ?r (say ?n)) (role ?r) (number ?n))
(<= (next (said ?r ?n)) (does ?r (say ?n)))
(<= (next (both ?z)) (does a (say ?x)) (does b (say ?y)) (sum ?x ?y ?z) (not (odd ?z)))
(<= (goal ?r 100) (true (both ?z)) (role ?r) (not (true (said ?r ?z))))
(<= terminal (true (both n8)))
(<= (number n0)) (<= (number ?y) (++ ?x ?y))
(odd n1) (<= (odd ?z) (++ ?x ?y) (++ ?y ?z) (odd ?x))
(<= (sum ?x n0 ?x) (number ?x))
(<= (sum ?x ?y ?z) (++ ?p ?y) (sum ?x ?p ?q) (++ ?q ?z))
""" + " ".join(f"(++ n{i} n{i + 1})" for i in range(9))


@pytest.mark.parametrize("large", [0, 20, 200])
def test_arithmetic_on_demand(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    """Recursion, negation below it and results that are asked for stay what they are."""
    monkeypatch.setattr("herbrand.ground.demand.LARGE", large)
    monkeypatch.setattr("herbrand.ground.demand.HUGE", large)
    agree(SUMS)


def test_what_is_not_asked_for_is_not_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all sums only those are ground that some state can ask for."""
    text = (
        SUMS.replace("(say ?n)) (role ?r) (number ?n)", "(say ?n)) (role ?r) (small ?n)")
        + "(small n1) (small n2)"
    )
    rules = herbrand.loads(text).rules
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 1e12)
    whole = ground(rules).rules
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 100)
    monkeypatch.setattr("herbrand.ground.demand.LARGE", 50)
    assert ground(rules).rules <= whole

"""Whatever the rules, all engines mean the same by them."""

import pytest
from hypothesis import HealthCheck, given, settings
from strategies import games

import herbrand
from herbrand.verify import verify_playouts

RELAXED = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=15
)


def agree(text: str, *engines: str) -> None:
    game = herbrand.loads(text)
    assert not game.rules.errors, [d.message for d in game.rules.errors]
    report = verify_playouts(game, engines=engines, playouts=2, seed=1, max_steps=5)
    assert report.ok, f"{text}\n{report.difference}"


@RELAXED
@given(games())
def test_rules_and_definition_agree(text: str) -> None:
    """The evaluator gives the answers of the naive perfect model on random games."""
    agree(text, "rules", "naive")


@settings(RELAXED, max_examples=6)
@given(games())
def test_rules_and_network_agree(text: str) -> None:
    """The network gives the answers of the rules on random games."""
    agree(text, "rules", "network")


@pytest.mark.slow
@settings(RELAXED, max_examples=1500)
@given(games())
def test_rules_and_definition_agree_at_length(text: str) -> None:
    """The same, many times."""
    agree(text, "rules", "naive")


@pytest.mark.slow
@settings(RELAXED, max_examples=200)
@given(games())
def test_all_engines_agree_at_length(text: str) -> None:
    """All three, many times."""
    agree(text, "rules", "network", "naive")

"""Strong winnability by a role that always makes some moves when some fluents are true."""

from __future__ import annotations

from dataclasses import replace

import corrupted
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.invariants.plain import Exhausted
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.proofs.reactive import ReactivePlay, prove_by_reactions
from herbrand.convert.restrict import Preference
from herbrand.errors import GameError

DROPS = 30
MANY = corrupted.CATCH.replace("(dropped 4)", f"(dropped {DROPS})").replace("(caught 4)", f"(caught {DROPS})")
MANY += " ".join(f"(succ {n} {n + 1})" for n in range(4, DROPS))
"""The same game with so many things that nobody catches all of them by chance."""


def shown(rules: str, states: int = 2) -> ReactivePlay | None:
    """Return how the player of a game wins, if reactions show it."""
    game = herbrand.loads(rules)
    players = [game.role_index(role) for role in game.players]
    verdicts = dict(prove_by_reactions(game, players, Budget(30, states=states)))
    if not verdicts:
        return None
    (verdict,) = verdicts.values()
    assert verdict.answer == "proved"
    assert isinstance(verdict.certificate, ReactivePlay)
    return verdict.certificate


@pytest.mark.parametrize("states", [2, 10_000])
def test_who_reacts_in_time_wins(states: int) -> None:
    """Shown with and without listing states, accepted by the rules, and true."""
    certificate = shown(corrupted.CATCH, states)
    assert certificate is not None
    assert set(certificate.preferences) == {
        Preference("player", f"(catch {column})", f"(falling {column} 1)") for column in "ab"
    }
    game = herbrand.loads(corrupted.CATCH)
    assert strong_of(explore(game.expander), game.role_index("player"), 100).answer == "proved"
    assert (certificate.termination is None) == (certificate.certificate.kind == Exhausted.kind)
    assert certificate.check(game, 30)


def test_a_game_that_is_won_by_reactions_only() -> None:
    """No search finds how to catch everything, whatever chance does; the analysis says how to."""
    verdict = analyse(
        herbrand.loads(MANY), ["strong_winnability"], budget=Budget(40, states=1000), values=False
    ).properties["strong_winnability"]
    assert (verdict.answer, verdict.method, verdict.checked) == ("proved", "reactive play", True)
    assert verdict.reason == "player wins by (catch a) if (falling a 1), (catch b) if (falling b 1)"


@pytest.mark.parametrize(
    "rules",
    [
        corrupted.CATCH.replace("(does player (catch ?c)) (true (falling ?c 1))", "(true (falling a 1))"),
        corrupted.CATCH.replace("(goal player 100)", "(goal player 99)"),
        corrupted.CATCH.replace("(goal random 0)", "(goal random 0) (<= (goal player 50) (true (caught 4)))"),
        corrupted.CATCH.replace("(falling ?c 1))", "(falling ?c 2))"),
        corrupted.CATCH + "(<= (sees player ?f) (true ?f))",
    ],
    ids=["no choice", "no win", "two values", "too late", "percepts"],
)
def test_nothing_is_said_of_other_games(rules: str) -> None:
    """Of those in which reactions do not win, or in which a role need not see what it would react to."""
    assert shown(rules) is None


def test_a_damaged_certificate_is_refused() -> None:
    """With a reaction missing, of another role, without an end, and for a game with percepts."""
    game = herbrand.loads(corrupted.CATCH)
    certificate = shown(corrupted.CATCH)
    assert certificate is not None
    first = certificate.preferences[0]
    for wrong in (
        (first,),
        (*certificate.preferences, replace(first, role="random", move="wait", when="")),
        (replace(first, move="(catch b)"), *certificate.preferences[1:]),
    ):
        assert not replace(certificate, preferences=wrong).check(game, 30)
    endless = replace(certificate, termination=None, certificate=certificate.playability)
    with pytest.raises(GameError, match="need not end"):
        list(endless.premises(game))
    assert not certificate.check(herbrand.loads(corrupted.CATCH + "(<= (sees player ?f) (true ?f))"), 30)

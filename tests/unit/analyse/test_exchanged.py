"""Strong winnability refuted by roles that could change places, and that never win together."""

from __future__ import annotations

from dataclasses import replace

import corrupted
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.certificates import StateSet
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.proofs.exchanged import ExchangedRoles, refute_by_exchange
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.solving.symmetry import Exchanges

SHARED = corrupted.RACE.replace("(does ?o stay))", "(role ?o))").replace(
    " (other ?r ?o) (not (there ?o)))", ")"
)
"""Nobody is in the way, and both win if both arrive."""


@pytest.mark.parametrize(("states", "kind"), [(10_000, StateSet.kind), (2, Invariant.kind)])
def test_who_could_change_places_cannot_force_a_win(states: int, kind: str) -> None:
    """Shown by listing states, or without, and accepted by the rules."""
    game = herbrand.loads(corrupted.RACE)
    space = explore(game.expander)
    verdicts = dict(refute_by_exchange(game, [0, 1], Budget(30, states=states)))
    for role, name in enumerate(game.roles):
        assert strong_of(space, role, 100).answer == "refuted"
        certificate = verdicts[role].certificate
        assert isinstance(certificate, ExchangedRoles)
        assert (certificate.role, certificate.other) == (name, game.roles[1 - role])
        assert certificate.certificate.kind == kind
        assert certificate.check(game, 30)


def test_a_permutation_that_does_not_preserve_the_rules_is_refused() -> None:
    """Or that maps the role to itself; and so is a certificate of a game in which both win."""
    game = herbrand.loads(corrupted.RACE)
    certificate = dict(refute_by_exchange(game, [0, 1], Budget(30)))[0].certificate
    assert isinstance(certificate, ExchangedRoles)
    images = dict(certificate.images)
    name = next(name for name in images if name.startswith("(at"))
    for wrong in (
        {k: v for k, v in images.items() if k != name},
        {k: v for k, v in images.items() if not k.startswith("(role")},
        {**images, "(role red)": "(role red)"},
        {**images, "(role red)": "blue"},
        {},
    ):
        assert not replace(certificate, images=wrong).check(game, 30)
    assert not replace(certificate, other="red").check(game, 30)
    shared = herbrand.loads(SHARED)
    assert Exchanges(shared).find("red", ["blue"]) is not None
    assert not certificate.check(shared, 30)


@pytest.mark.parametrize(
    "rules",
    [
        SHARED,
        corrupted.RACE.replace("(init (at blue 0))", "(init (at blue 1))"),
        corrupted.RACE.replace("(<= (legal ?r run) (role ?r))", "(legal red run)"),
    ],
)
def test_nothing_is_said_of_other_games(rules: str) -> None:
    """Those in which both win, or one is better off from the start."""
    assert not list(refute_by_exchange(herbrand.loads(rules), [0, 1], Budget(30)))


def test_an_analysis_finds_it() -> None:
    """Also where exploring stops early."""
    budget = Budget(30, states=2)
    verdict = analyse(herbrand.loads(corrupted.RACE), ["strong_winnability"], budget=budget, values=False)
    strong = verdict.properties["strong_winnability"]
    assert (strong.answer, strong.method, strong.checked) == ("refuted", ExchangedRoles.kind, True)


def test_names_may_have_braces() -> None:
    """Those of roles are written into the rules of the game with joint wins as they are."""
    game = herbrand.loads(corrupted.RACE.replace("red", "{red}"))
    verdicts = dict(refute_by_exchange(game, [0, 1], Budget(30)))
    assert [verdicts[role].answer for role in (0, 1)] == ["refuted", "refuted"]

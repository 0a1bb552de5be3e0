"""Derived atoms of which one is true at a time, proved in the order of the network."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pysat", reason="the extra analyse")

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.dependencies import exclude_by_dependencies
from herbrand.analyse.invariants.derived import Dependencies, DerivedGroup
from herbrand.analyse.invariants.exposed import derived_relations, expose, exposed_atom
from herbrand.analyse.invariants.frames import Frame, System
from herbrand.analyse.invariants.groups import find_groups
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.proofs import symbolic
from herbrand.analyse.proofs.pdr import Outcome
from herbrand.errors import BudgetExceeded

PLACES = 20
LIGHTS = f"""
(role a) (role b)
(<= (init (light ?n)) (odd ?n))
(<= (legal ?r (toggle ?n)) (role ?r) (place ?n))
(<= (next (light ?n)) (does a (toggle ?n)) (not (true (light ?n))))
(<= (next (light ?n)) (true (light ?n)) (not (does a (toggle ?n))))
(<= terminal (true (light {PLACES})))
(<= (tally 1 1) (true (light 1)))
(<= (tally 1 0) (not (true (light 1))))
(<= (tally ?n ?k) (succ ?m ?n) (place ?n) (tally ?m ?k) (not (true (light ?n))))
(<= (tally ?n ?k) (succ ?m ?n) (place ?n) (tally ?m ?j) (succ ?j ?k) (true (light ?n)))
(<= (goal ?r ?k) (role ?r) (tally {PLACES} ?k))
(odd 1) (odd 3) (odd 5)
(succ 0 1)
""" + "".join(f"(place {n}) (succ {n} {n + 1})" for n in range(1, PLACES + 1))
"""As many lights are on as the goal says; they are counted one after the other."""
NO_INVARIANT = Invariant("")


def find(text: str, wanted: Callable[[Frame], int], seconds: float = 60) -> list[DerivedGroup] | None:
    game = herbrand.loads(text, name="lights")
    exposed = expose(game, derived_relations(game, [("goal", 2)]))
    system = System(exposed.network)
    deadline = time.monotonic() + seconds
    states = play(exposed.expander, time.monotonic() + 5).states
    groups = find_groups(system, time.monotonic() + 60, states)
    return exclude_by_dependencies(system, groups, states, wanted, deadline)


def any_fault(frame: Frame) -> int:
    return frame.system.circuit.any_of([frame.has_no_goal(role) for role in range(2)])


@pytest.fixture(scope="module")
def groups() -> tuple[DerivedGroup, ...]:
    found = find(LIGHTS, any_fault)
    assert found is not None
    return tuple(found)


def test_each_count_is_one_number(groups: tuple[DerivedGroup, ...]) -> None:
    by_place = {group.atoms[0].split()[1]: group for group in groups}
    assert set(by_place) == {str(n) for n in range(1, PLACES + 1)}
    assert all(group.some for group in groups)
    assert set(by_place["3"].atoms) == {f"(tally 3 {k})" for k in range(4)}


def test_the_certificate_is_checked(groups: tuple[DerivedGroup, ...]) -> None:
    game = herbrand.loads(LIGHTS, name="lights")
    certificate = Dependencies("goals", groups, (("tally", 2),), NO_INVARIANT)
    assert certificate.check(game, 60)
    assert certificate.as_json()["groups"][0]["one_is_true"] is True
    two = DerivedGroup(("(tally 3 1)", "(tally 2 1)"), some=False)
    assert not replace(certificate, groups=(two, *groups)).check_groups(game, 60)
    none = DerivedGroup(groups[0].atoms[:1], some=True)
    assert not replace(certificate, groups=(none, *groups)).check_groups(game, 60)


def test_names_keep_their_case() -> None:
    text = LIGHTS.replace("tally", "Tally")
    found = find(text, any_fault)
    assert found is not None
    game = herbrand.loads(text, name="lights")
    assert Dependencies("goals", tuple(found), (("tally", 2),), NO_INVARIANT).check(game, 60)
    # an atom that the network does not have is false
    unknown = DerivedGroup(("(Tally 40 1)", "(Tally 40 2)"), some=False)
    assert Dependencies("goals", (unknown, *found), (("tally", 2),), NO_INVARIANT).check(game, 60)


def test_wrong_counts_are_not_excluded() -> None:
    twice = LIGHTS + f"(<= (goal b 100) (tally {PLACES} 3))"
    assert find(twice, any_fault) is None
    with pytest.raises(BudgetExceeded):
        find(LIGHTS, any_fault, seconds=-1)


def test_relations_that_only_the_state_determines() -> None:
    game = herbrand.loads(LIGHTS, name="lights")
    assert derived_relations(game, [("goal", 2)]) == [("tally", 2)]
    assert derived_relations(game, [("legal", 2)]) == []
    exposed = expose(game, [("tally", 2)])
    assert expose(game, [("tally", 2)]) is exposed
    assert exposed.roles == game.roles
    percepts = exposed.network.percepts[:, 1].tolist()
    atoms = {exposed_atom(exposed.network.terms.text(term)) for term in percepts}
    assert {"(tally 1 0)", f"(tally {PLACES} {PLACES})"} <= atoms
    assert exposed_atom("(heard b)") == ""
    state = exposed.initial_state().next(("(toggle 2)", "(toggle 1)"))
    assert state.goal("a") == 4


def test_a_count_decides_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic, "run_pdr", lambda *_, **__: Outcome())  # it would take most of the time
    game = herbrand.load("trefoil")
    verdict = symbolic.prove(game, ["goals"], Budget(20), only_proofs=True)["goals"]
    assert (verdict.answer, verdict.method) == ("proved", "functional dependencies")
    assert isinstance(verdict.certificate, Dependencies)


def test_percepts_of_states_are_those_of_the_network() -> None:
    from herbrand.analyse.invariants.dependencies import _percepts

    exposed = expose(herbrand.loads(LIGHTS, name="lights"), [("tally", 2)])
    network = System(exposed.network).network
    states = np.random.default_rng(0).random((70, len(network.fluents))) < 0.5
    names = [network.terms.text(term) for term in network.percepts[:, 1].tolist()]
    lights = [network.terms.text(fluent).startswith("(light") for fluent in network.fluents.tolist()]
    every = dict(zip(names, _percepts(network, states), strict=True))
    for number, count in enumerate(states[:, lights].sum(axis=1).tolist()):
        assert [every[f"(view (tally {PLACES} {k}))"] >> number & 1 for k in range(PLACES + 1)] == [
            k == count for k in range(PLACES + 1)
        ]

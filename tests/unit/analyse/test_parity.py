"""Sets of fluents of which the parity stays, and what they exclude."""

from __future__ import annotations

import time
from dataclasses import replace

import corrupted
import numpy as np
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import weak
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.parity import find_parities
from herbrand.analyse.proofs import pdr
from herbrand.analyse.proofs.symbolic import prove

_LATER = 60.0


def lamps(count: int, *lit: int) -> herbrand.Game:
    """Return the game with lamps in a row, of which a move switches two that are next to each other."""
    return herbrand.loads(corrupted.in_line(count, *lit))


def parities_of(game: herbrand.Game) -> list[set[str]]:
    """Return the sets by names of fluents."""
    system, sample = System(game.network), play(game.expander, time.monotonic() + 1)
    groups = find_groups(system, time.monotonic() + _LATER, sample.states)
    found = find_parities(game.expander, system, groups, sample.changes, time.monotonic() + _LATER)
    return [{system.fluent_texts[fluent] for fluent in fluents} for fluents in found]


def test_the_parity_of_lamps_stays() -> None:
    """All of them together, and nothing else."""
    assert parities_of(lamps(5, 1)) == [{f"(lit {n})" for n in range(1, 6)}]
    assert not parities_of(lamps(2, 1))  # two lamps switch in turn: a group says it


@pytest.fixture
def no_checker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do without a model checker, which would decide such small games."""
    monkeypatch.setattr(pdr, "tool", lambda: None)


@pytest.mark.usefixtures("no_checker")
def test_steps_that_random_games_lack_are_learned() -> None:
    """A step counter goes on where few random games come, and says whose colour a piece stands on."""
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(40))
    game = herbrand.loads(f"""
        (role r) {steps} (init (at 0)) (init (step 0))
        (<= (legal r up) (true (at ?x)) (succ ?x ?y)) (<= (legal r down) (true (at ?y)) (succ ?x ?y))
        (<= (next (at ?y)) (does r up) (true (at ?x)) (succ ?x ?y))
        (<= (next (at ?x)) (does r down) (true (at ?y)) (succ ?x ?y))
        (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
        (<= terminal (true (step 40))) (<= (goal r 100) (true (at 21))) (<= (goal r 0) (not (true (at 21))))
    """)
    (found,) = parities_of(game)
    places = sorted(int(name[4:-1]) for name in found if name.startswith("(at"))
    numbers = sorted(int(name[6:-1]) for name in found if name.startswith("(step"))
    assert places in (list(range(0, 41, 2)), list(range(1, 41, 2)))
    assert numbers in (list(range(0, 41, 2)), list(range(1, 41, 2)))
    verdict = prove(game, ["weak_winnability"], Budget(30), only_proofs=True)["weak_winnability"].roles["r"]
    assert (verdict.answer, verdict.method) == ("refuted", "parity")
    assert weak(explore(game.expander), 0, 100).answer == "refuted"


@pytest.mark.usefixtures("no_checker")
def test_what_a_parity_excludes_is_accepted_by_the_rules() -> None:
    """An odd number of lamps is never dark; a smaller set, or an even number, is no proof."""
    game = lamps(5, 1, 2, 5)
    verdict = prove(game, ["weak_winnability"], Budget(30), only_proofs=True)["weak_winnability"].roles["r"]
    assert (verdict.answer, verdict.method) == ("refuted", "parity")
    certificate = verdict.certificate
    assert isinstance(certificate, Invariant)
    assert certificate.check(game, 30)
    assert certificate.as_json()["constant_parities"] == [[f"(lit {n})" for n in range(1, 6)]]
    (fluents,) = certificate.parities
    assert not replace(certificate, parities=(fluents[1:],)).check(game, 30)
    assert not certificate.check(lamps(5, 1, 2), 30)


def test_parities_agree_with_the_states() -> None:
    """In all states that are reached."""
    game = lamps(6, 1, 4)
    (names,) = parities_of(game)
    expander = game.expander
    space = explore(expander)
    places = [expander.fluent_names.index(name) for name in names]
    counts = expander.bits(space.states)[:, places].sum(axis=1)
    assert len(np.unique(counts % 2)) == 1

"""The bundled games that a search has found: their designs are their rules, and what is said of them holds."""

from __future__ import annotations

import pytest

import herbrand
from herbrand import games
from herbrand.analyse.budget import Budget
from herbrand.analyse.proofs.prove import analyse
from herbrand.check.step_counter import step_counter
from herbrand.evolve import design_from_json
from herbrand.syntax import read

EVOLVED = tuple(name for name in games.names() if "evolved" in games.info(name)["features"])


def test_there_are_ten() -> None:
    """Ten games were found and kept, of several kinds."""
    assert len(EVOLVED) == 10
    kinds = {games.info(name)["design"]["block"] for name in EVOLVED}
    assert kinds == {"BoardGame", "TrickGame", "MarketGame"}


@pytest.mark.parametrize("name", EVOLVED)
def test_the_design_is_the_game(name: str) -> None:
    """The design in the facts prints the rules and the words that are bundled."""
    facts = games.info(name)
    design = design_from_json(facts["design"])
    assert design.problems() == []
    assert design.name.lower() == name.lower()
    assert read(design.rulesheet(), "prefix").statements == read(games.text(name), "prefix").statements
    assert facts["description"] == design.in_words()


@pytest.mark.slow_except(*EVOLVED[::4])
@pytest.mark.parametrize("name", EVOLVED)
def test_it_is_well_formed(name: str) -> None:
    """No finding above a note, an end by a step counter, nobody ever stuck, and somebody wins now and then."""
    game = herbrand.load(name)
    assert [d for d in game.diagnostics if d.severity.value != "note"] == []
    counter = step_counter(game.tree.statements)
    assert counter is not None
    statistics = game.simulate(512, seed=1, max_steps=counter.bound, engine="network", threads=1)
    assert (statistics.playouts, statistics.truncated, statistics.stuck) == (512, 0, 0)
    for player in game.players:
        assert statistics.goals[player].distribution.get(100, 0) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", EVOLVED)
def test_it_is_proved_well_formed(name: str) -> None:
    """Every play ends, everybody can always move, each player can win: proved, not only seen in random games."""
    pytest.importorskip("pysat", reason="the proofs need python-sat")
    found = analyse(
        herbrand.load(name), ["well_formed"], budget=Budget(120), values=False, remarks=False, exploring=0.05
    )
    assert found.properties["well_formed"].answer == "proved"

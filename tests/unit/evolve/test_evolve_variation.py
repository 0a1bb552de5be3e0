"""Variation: new games from others, sound, reproducible, with their lineage."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from herbrand import games
from herbrand.check import check
from herbrand.evolve import BoardGame, InARow, Piece, Place, Squares, design_from_json, random_design
from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.evolve.variation import Lineage, cross, cross_rules, mutate, mutate_rules
from herbrand.syntax import read
from herbrand.syntax.argument_types import Types

ROW = BoardGame(Squares(3, 3), (Piece((Place(),)),), goals=(InARow(3),))
SHEETS = ("ticTacToe", "nim", "kuhn", "hiddenHands", "breakthrough")
SEEDS = st.integers(0, 2**32)


def warnings(text: str) -> list[str]:
    """The findings about a rulesheet that are more than notes."""
    return [d.message for d in check(read(text, "prefix")).diagnostics if d.severity.value != "note"]


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(SEEDS, SEEDS)
def test_mutation_of_designs(origin: int, seed: int) -> None:
    """A mutant is another game without problems; its lineage makes it again."""
    design = random_design(origin, ["board"])
    variant = mutate(design, seed)
    assert variant.design is not None
    assert variant.design != design
    assert variant.design.problems() == []
    assert variant.lineage.parents == (design.name,)
    assert variant.lineage.detail
    assert mutate(design, variant.lineage.seed) == variant


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(SEEDS, SEEDS, SEEDS)
def test_crossover_of_designs(one: int, other: int, seed: int) -> None:
    """A child has every part from one of its parents, and is neither."""
    mother, father = random_design(one, ["board"]), random_design(other, ["board"])
    variant = cross(mother, father, seed)
    if variant.design is None:  # nothing they can share makes a game
        assert variant.discarded
        return
    child = variant.design
    assert child not in {mother, father}
    assert child.problems() == []
    for name in ("board", "pieces", "turn", "goals", "settlement", "limit"):
        assert getattr(child, name) in {getattr(mother, name), getattr(father, name)}


def test_families_do_not_mix() -> None:
    """A game on a board and a game of cards have no parts in common."""
    with pytest.raises(TypeError, match="no parts in common"):
        cross(ROW, random_design(1, ["market"]), 1)


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(SHEETS), SEEDS)
def test_mutation_of_rules(name: str, seed: int) -> None:
    """A changed rulesheet reads and is checked without a warning, keeps every arity, and can be made again."""
    text = games.text(name)
    variant = mutate_rules(text, seed)
    assert variant.design is not None
    assert warnings(variant.design.rulesheet()) == []
    before, after = (read(t, "prefix").statements for t in (text, variant.design.rulesheet()))
    assert before != after
    assert {rule.head.key for rule in after} <= {rule.head.key for rule in before}
    assert mutate_rules(text, seed) == variant


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.permutations(SHEETS), SEEDS)
def test_crossover_of_rules(names: list[str], seed: int) -> None:
    """Rules of one sheet in another give a sheet without a warning, or the reasons why none was found."""
    variant = cross_rules(games.text(names[0]), games.text(names[1]), seed)
    if variant.design is None:
        assert variant.discarded
    else:
        assert warnings(variant.design.rulesheet()) == []


def test_a_line_of_descent() -> None:
    """A rulesheet changed twice keeps both changes, its design and its comments, as text and as JSON."""
    first = mutate_rules(ROW, 1).design
    assert isinstance(first, Rewritten)
    second = mutate_rules(first, 2).design
    assert isinstance(second, Rewritten)
    assert second.origin == ROW
    assert second.changes[:1] == first.changes
    assert len(second.changes) == 2
    assert second.rulesheet().count("; changed: ") == 2
    assert "; Who has won" in second.rulesheet()
    assert design_from_json(json.loads(json.dumps(second.as_json()))) == second
    assert ROW.name in second.in_words()


def test_lineage_as_json() -> None:
    """A lineage is its JSON form."""
    lineage = mutate(ROW, 5).lineage
    assert Lineage.from_json(json.loads(json.dumps(lineage.as_json()))) == lineage
    assert str(lineage).startswith(f"mutate of {ROW.name}: ")


def test_types() -> None:
    """Places joined by variables are of one type; what no rule joins is not."""
    types = Types.of(
        read(
            "(role a) (init (at 1 a)) (succ 1 2) (<= (next (at ?y ?r)) (does ?r up) (true (at ?x ?r)) (succ ?x ?y))",
            "prefix",
        ).statements
    )
    assert types.type_of(("at", 2, 0)) == types.type_of(("succ", 2, 1))
    assert types.type_of(("at", 2, 0)) != types.type_of(("at", 2, 1))
    assert [c.name for c in types.domain(("succ", 2, 0))] == ["1", "2"]

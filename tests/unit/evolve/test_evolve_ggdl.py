"""Designs in GGDL: the same games, without a warning, with parameters that mean what the design's fields mean."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from herbrand import games
from herbrand.evolve import (
    Bank,
    BoardGame,
    Hexagons,
    InARow,
    Line,
    Majority,
    MarketGame,
    Piece,
    Place,
    Score,
    Squares,
    Step,
    Torus,
    TrickGame,
    design_from_json,
)
from herbrand.evolve.variation import mutate_rules
from herbrand.game import loads

if TYPE_CHECKING:
    from herbrand.evolve.blocks.design import Design

EVOLVED = tuple(name for name in games.names() if "evolved" in games.info(name)["features"])
STONES = Piece((Place(supply=5),))
KINGS = Piece((Step("any", "both"),), "back")
ROW = BoardGame(Squares(4, 3), (STONES,), goals=(InARow(3),))
RACE = BoardGame(Squares(3, 4), (KINGS, Piece((Step(),), "second")), settlement=Majority("pieces"))


def assert_same(design: Design, text: str, **parameters: int) -> None:
    """Check a text in GGDL: no finding above a note, and random games of it go as those of the design."""
    game, other = loads(text, "ggdl", parameters=parameters), design.game()
    assert [d.message for d in game.diagnostics if d.severity.value != "note"] == []
    chance = Random(1)
    for _ in range(2):
        left, right = game.initial_state("rules"), other.initial_state("rules")
        while True:
            assert left.facts == right.facts
            assert left.is_terminal == right.is_terminal
            if left.is_terminal:
                break
            legal = left.legal_moves()
            assert str(legal) == str(right.legal_moves())
            joint = [str(chance.choice(moves)) for moves in legal.values()]
            for role in game.players if game.has_percepts else ():
                assert left.percepts(joint, role) == right.percepts(joint, role)
            left, right = left.next(joint), right.next(joint)
        assert left.goals == right.goals


@pytest.mark.slow_except(*EVOLVED[::5])
@pytest.mark.parametrize("name", EVOLVED)
def test_the_bundled_games_in_ggdl(name: str) -> None:
    """Each game that was found is the same game in GGDL, with data types, comments and mostly parameters."""
    design = design_from_json(games.info(name)["design"])
    text = design.ggdl()
    assert_same(design, text)
    assert "data number := 0 .. " in text
    assert "// The end" in text
    assert ("init ^ " in text) == (getattr(design, "worth", "trick") == "trick")


@pytest.mark.slow_except("board", "supply and steps", "coins", "torus", "row", "cards")
@pytest.mark.parametrize(
    ("design", "parameters", "other"),
    [
        (ROW, {"width": 5, "height": 4}, replace(ROW, board=Squares(5, 4))),
        (ROW, {"length": 4}, replace(ROW, goals=(InARow(4),))),
        (ROW, {"stone_supply": 3, "steps": 20}, replace(ROW, pieces=(Piece((Place(supply=3),)),), limit=20)),
        (RACE, {"width": 4, "height": 5}, replace(RACE, board=Squares(4, 5))),
        (
            BoardGame(Hexagons(3), (STONES,), goals=(InARow(3),), bank=Bank(1, 1)),
            {"size": 4, "coins": 3},
            BoardGame(Hexagons(4), (STONES,), goals=(InARow(3),), bank=Bank(3, 1)),
        ),
        (
            BoardGame(Torus(4), (STONES,), goals=(InARow(3, loses=True),)),
            {"size": 5},
            BoardGame(Torus(5), (STONES,), goals=(InARow(3, loses=True),)),
        ),
        (
            BoardGame(Line(6), (STONES, Piece((Step("any", "enemy"), Place()))), goals=(Score(2),)),
            {"width": 7, "points": 3},
            BoardGame(Line(7), (STONES, Piece((Step("any", "enemy"), Place()))), goals=(Score(3),)),
        ),
        (TrickGame(6, 2, worth="trick"), {"ranks": 5}, TrickGame(5, 2, worth="trick")),
        (MarketGame(), {"pennies": 5}, MarketGame(pennies=5)),
    ],
    ids=["board", "line", "supply and steps", "second row", "coins", "torus", "row", "cards", "pennies"],
)
def test_parameters_are_fields(design: BoardGame, parameters: dict[str, int], other: BoardGame) -> None:
    """With a parameter of another value the text is the game of the design with that value in its field."""
    assert_same(other, design.ggdl(), **parameters)


def test_what_cannot_vary_is_no_parameter() -> None:
    """A board with pieces at places that are told one by one keeps its size; the rules are the same."""
    design = BoardGame(Squares(4, 4), (Piece((Step("any", "both"),), "middle"), STONES), goals=(InARow(3),))
    names = [parameter.name for parameter in loads(design.ggdl(), "ggdl").parameters]
    assert names == ["stone_supply", "length", "steps"]
    assert_same(design, design.ggdl())


def test_changed_rules_in_ggdl() -> None:
    """Rules that were changed one by one are written in GGDL as well, without parameters."""
    design = mutate_rules(ROW, 1).design
    assert design is not None
    assert "init ^" not in design.ggdl()
    assert_same(design, design.ggdl())

"""Designs of games: whatever is put together from blocks and has no problems is a sound rulesheet."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.solving.solve import solve_space
from herbrand.check.step_counter import step_counter
from herbrand.errors import HerbrandError
from herbrand.evolve import (
    FAMILIES,
    Bank,
    Block,
    BoardGame,
    Connect,
    Contagion,
    Custodian,
    Design,
    Eliminate,
    Fog,
    Hexagons,
    InARow,
    Jump,
    Leap,
    Line,
    Majority,
    NobodyWins,
    NoMove,
    Piece,
    Place,
    Race,
    Score,
    Several,
    Simultaneous,
    Slide,
    Squares,
    Step,
    Torus,
    design_from_json,
    random_design,
)
from herbrand.evolve.blocks.grammar import draw_block, grammar_of, within
from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.game import loads

KINGS = Piece((Step("any", "both"),), "back")
STONES = Piece((Place(),))
BY_HAND = {
    "three in a row": BoardGame(Squares(3, 3), (STONES,), goals=(InARow(3),)),
    "dropped": BoardGame(Squares(4, 4), (Piece((Place("dropped"),)),), goals=(InARow(3),)),
    "chain": BoardGame(Hexagons(4), (STONES,), goals=(Connect(),)),
    "race": BoardGame(
        Squares(4, 4), (Piece((Step("ahead", "both"),), "back"),), goals=(Race(), NoMove()), stalled="ends"
    ),
    "custodian": BoardGame(Torus(4), (STONES,), effect=Custodian(turns=True), settlement=Majority()),
    "contagion": BoardGame(
        Squares(4, 4),
        (STONES,),
        effect=Contagion(straight=True),
        settlement=Majority("territory", even=False),
    ),
    "jumps on a line": BoardGame(
        Line(8), (Piece((Jump(), Step("ahead", "free")), "back"),), goals=(Score(1), Race())
    ),
    "leaps": BoardGame(
        Squares(4, 4),
        (Piece((Leap("knight", "both"),), "middle"), Piece((Slide("orthogonal", "both"),), "ends")),
        goals=(Eliminate(royal=True),),
    ),
    "both at once": BoardGame(Squares(3, 3), (STONES,), turn=Simultaneous(), goals=(InARow(3),)),
    "both at once, moving": BoardGame(
        Squares(3, 4),
        (KINGS,),
        turn=Simultaneous(),
        effect=Custodian(turns=True),
        goals=(Eliminate(), Race()),
    ),
    "three actions": BoardGame(
        Squares(4, 4),
        (STONES,),
        turn=Several(3, 1),
        effect=Custodian(),
        goals=(InARow(4, loses=True), Score(4)),
    ),
    "fog": BoardGame(
        Squares(4, 4), (STONES, Piece((Step("any", "both"),), "middle")), goals=(InARow(3),), fog=Fog()
    ),
    "money": BoardGame(
        Squares(3, 3),
        (
            Piece(
                (Place(cost=2, supply=3), Step()),
            ),
        ),
        goals=(InARow(3),),
        bank=Bank(2, 1, True),
    ),
    "money at once": BoardGame(
        Squares(3, 3), (STONES,), turn=Simultaneous(), goals=(InARow(3),), bank=Bank(1, 1)
    ),
    "money and several actions": BoardGame(
        Squares(3, 3), (STONES,), turn=Several(2, 1), goals=(InARow(3),), bank=Bank(1, 2, True)
    ),
}


def assert_sound(design: Design) -> None:
    """No remark that is a warning; random plays end within the bound, nobody stuck, with a goal for everybody."""
    game = design.game()
    assert [d for d in game.diagnostics if d.severity.value != "note"] == [], design
    counter = step_counter(game.tree.statements)
    assert counter is not None
    statistics = game.simulate(64, seed=1, max_steps=counter.bound, engine="network", threads=1)
    assert statistics.playouts == 64
    assert (statistics.truncated, statistics.stuck) == (0, 0), design
    for player in game.players:
        assert statistics.goals[player].undefined == 0, design


@pytest.mark.parametrize("name", BY_HAND)
def test_designs_by_hand(name: str) -> None:
    """Games that use each block are sound, and say so in words."""
    design = BY_HAND[name]
    assert design.problems() == []
    assert_sound(design)
    assert all(part[0].isupper() and part.endswith(".") and "  " not in part for part in design.paragraphs())


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.sampled_from(sorted(FAMILIES)))
def test_random_designs_are_sound(seed: int, family: str) -> None:
    """What is drawn at random is sound too, whatever the seed; the same seed draws the same design."""
    design = random_design(seed, [family])
    assert random_design(seed, [family]) == design
    assert type(design) is FAMILIES[family]
    assert_sound(design)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(FAMILIES)))
def test_json(seed: int, family: str) -> None:
    """A design is its JSON form, game or not, and every field of it holds what the grammar allows."""
    design = draw_block(FAMILIES[family], Random(seed))
    assert design_from_json(json.loads(json.dumps(design.as_json()))) == design
    assert all(grammar.holds(value) for _, value, grammar in within(design))


def test_wrong_json_is_told_all_at_once() -> None:
    """Every field that is wrong is named, with what may stand there."""
    content = BY_HAND["three in a row"].as_json()
    content["board"]["width"] = 99
    content["pieces"][0]["start"] = "nowhere"
    content["colour"] = "red"
    with pytest.raises(HerbrandError) as caught:
        design_from_json(content)
    for word in (
        "board.width",
        "allowed: 3 to 6",
        "pieces.0.start",
        "'nowhere'",
        "no field `colour`",
    ):
        assert word in str(caught.value)
    with pytest.raises(HerbrandError, match="unknown block"):
        design_from_json({"block": "Nothing"})
    with pytest.raises(HerbrandError, match="a Squares instead of a Design"):
        design_from_json({"block": "Squares"})


@pytest.mark.parametrize(
    ("design", "problem"),
    [
        (BoardGame(Squares(3, 3), (STONES,), goals=(InARow(4),)), "the line is longer than the board"),
        (BoardGame(Squares(3, 3), (STONES,)), "nobody can win"),
        (BoardGame(Torus(4), (STONES,), goals=(Connect(),)), "this board has no sides to join"),
        (BoardGame(Squares(4, 4), (STONES,), goals=(Race(),)), "nothing can run the race"),
        (
            BoardGame(Squares(3, 3), (Piece((Step(),)),), goals=(InARow(3),)),
            "a king never comes onto the board",
        ),
        (BoardGame(Squares(4, 4), (KINGS,), goals=(InARow(4),)), "the game is over before it begins"),
        (
            BoardGame(Torus(4), (Piece((Slide(),), "back"),), goals=(Eliminate(),)),
            "a slide around a torus has no end",
        ),
        (
            BoardGame(Squares(4, 4), (STONES,), goals=(Score(),)),
            "points are counted, but nothing is ever taken",
        ),
        (
            BoardGame(Squares(4, 4), (STONES,), goals=(NoMove(),)),
            "a player that cannot act loses or wins, so that it does not pass",
        ),
        (BoardGame(Squares(2, 5), (STONES,), goals=(InARow(5),)), "invalid value 2 of `board.width`"),
    ],
)
def test_problems(design: BoardGame, problem: str) -> None:
    """What cannot be a game is told with its reason; a field out of its range too, within a block of it as well."""
    assert problem in design.problems()


def test_three_in_a_row_is_tic_tac_toe() -> None:
    """The game put together from blocks has the positions and the value of the well-known one."""
    game = BY_HAND["three in a row"].game()
    space = explore(game.expander)
    assert len(space.states) == 5478
    assert solve_space(space, Budget(seconds=60)).value == {"white": 50, "black": 50}


def test_a_chain_always_has_a_winner() -> None:
    """On a full board of hexagons one of the players has a chain, so that no play is a draw."""
    statistics = BY_HAND["chain"].game().simulate(2000, seed=3, engine="network", threads=1)
    assert set(statistics.goals["white"].distribution) == {0, 100}


def test_nobody_wins_says_so() -> None:
    """What is said about the end of a game fits the rules: without settlement it is a draw."""
    design = BoardGame(Squares(3, 3), (STONES,), goals=(InARow(3),), settlement=NobodyWins())
    assert design.paragraphs()[2].endswith("is a draw.")


def test_the_reference_names_every_block() -> None:
    """Every kind of block is on the page, with every field of it."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "blocks.md").read_text(encoding="utf-8")
    families = [random_design(1, [family]) for family in FAMILIES]
    kinds, open_ = set[type[Block]](), [type(design) for design in families]
    while open_:
        kind = open_.pop()
        kinds.add(kind)
        for grammar in grammar_of(kind).values():
            open_ += [other for other in getattr(grammar, "kinds", ()) if other not in kinds]
    assert len(kinds) > 25
    for kind in kinds:
        assert page.count(f"| **{kind.__name__}** |") == 1
        rows = page.split(f"| **{kind.__name__}** |")[1].split("| **")[0]
        assert all(f"| | `{name}` |" in rows for name in grammar_of(kind))


def test_evolved_games_on_hexagons_show_hexagons() -> None:
    """Also where no rule speaks of neighbours: sheets of designs, their GGDL and their variants say so."""
    design = BoardGame(Hexagons(4), (Piece((Place(),)),), goals=(InARow(3),), turn=Several(2))
    for text, notation in ((design.rulesheet(), "prefix"), (design.ggdl(), "ggdl")):
        (board,) = loads(text, notation).artist.layout.boards
        assert (board.form, board.across, board.upward) == ("hex-left", True, True)
    assert design.game().artist.layout.boards[0].form == "hex-left"
    variant = Rewritten("(role white)", design, ("a change",))
    assert variant.rulesheet().startswith(';;; drawing: {"boards"')
    assert "drawing" not in Rewritten("(role white)", None, ("a change",)).rulesheet()

"""From plain GDL to GGDL and back: the same game."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.convert.notation import ggdl
from herbrand.syntax.ggdl.lift import lift
from herbrand.verify import verify_same

GAMES = (
    *(
        "ticTacToe",
        "nim",
        "kuhn",
        "connectFour",
        "rockPaperScissors",
        "eightPuzzle",
        "montyHall",
        "lightsOut",
    ),
    *("hanoi", "tron", "prisonersDilemma", "trefoil", "ticTacToeInfix", "blocksWorld"),
)


@pytest.mark.slow_except("tron", "ticTacToeInfix", "kuhn", "eightPuzzle", "connectFour", "hanoi", "montyHall")
@pytest.mark.parametrize("name", GAMES)
def test_a_lifted_game_is_the_same_game(name):
    """States, moves, ends, goals and percepts agree in random play; the text is GGDL without errors."""
    game = herbrand.load(name)
    text = ggdl(game, playouts=1)
    assert text.startswith("role ")
    assert any(sign in text for sign in (" -> ", " $= ", "\ndata "))
    lifted = herbrand.loads(text, "ggdl", name="lifted")
    assert lifted.tree.notation == "ggdl"
    assert [d.message for d in lifted.diagnostics if d.severity.value != "note"] == [
        d.message for d in game.diagnostics if d.severity.value == "warning"
    ]
    report = verify_same(game, lifted, playouts=1, seed=2, max_steps=20)
    assert report.ok, f"{report.difference}\n{text}"


def test_what_is_found():
    """Roles, ranges, fluents with one value, moves and payoffs; `next` rules stay."""
    text = ggdl(herbrand.load("ticTacToe"))
    for line in (
        "role xplayer, oplayer",
        "data index := 1 .. 3",
        "data cell_values := b | o | x",
        "base cell(index, index) = cell_values",
        "base control = role",
        "?player -> mark(?row, ?column) :- control == ?player and cell(?row, ?column) == b",
        "?player $= 100 :- wins(?player)",
    ):
        assert line in text.splitlines()
    assert "next(control(?player)) :-" in text


def test_a_fluent_with_two_values_is_none_of_one_value():
    """Without states nothing is taken to be functional, nor what had two values at one place."""
    text = (
        "(role a) (num 1) (num 2) (<= (base (on ?x)) (num ?x)) (init (on 1)) (<= (legal a (go ?x)) (num ?x))"
    )
    tree = herbrand.loads(text).tree
    assert "base on = num" in lift(tree, [{"(on 1)"}], ["(on 1)", "(on 2)"])
    assert "base on" not in lift(tree, [{"(on 1)", "(on 2)"}], ["(on 1)", "(on 2)"])
    assert "base on = " not in lift(tree)


def test_types_are_named_as_ggdl_can_spell_them():
    """A fluent whose name has a sign in it gives a type that can be read."""
    text = "(role a) (init (my-level 1)) (succ 1 2) (<= (legal a go) (true (my-level 1)))"
    text += "(<= (next (my-level ?y)) (true (my-level ?x)) (succ ?x ?y)) (<= terminal (true (my-level 2)))"
    game = herbrand.loads(text + "(<= (goal a 100) (true (my-level 2)))")
    lifted = ggdl(game)
    assert "base my_level = my_level_values" in lifted.splitlines()
    assert herbrand.loads(lifted, "ggdl").initial_state().next(("go",)).goals == {"a": 100}


def test_values_beyond_the_declared_ones_leave_a_fluent_as_it_is():
    """What `base` lists is less than the rules can give: no type for it, but moves and payoffs are lifted."""
    text = "(role a) (init (level 1)) (base (level 1)) (base (level 2)) (succ 1 2) (succ 2 3)"
    text += "(<= (legal a go) (true (level ?x))) (<= (next (level ?y)) (true (level ?x)) (succ ?x ?y))"
    game = herbrand.loads(text + "(<= terminal (true (level 2))) (<= (goal a 100) (true (level 2)))")
    lifted = ggdl(game)
    assert "a -> go :- true(level(?x))" in lifted.splitlines()
    assert "base level" not in lifted
    assert verify_same(game, herbrand.loads(lifted, "ggdl"), playouts=1).ok


def test_a_game_from_ggdl_is_given_back(tmp_path):
    """Converting to what it is already changes nothing; to prefix and back it is the same game."""
    run = CliRunner().invoke(cli, ["convert", "mnk", "--to", "ggdl"])
    assert run.output == herbrand.games.text("mnk")
    run = CliRunner().invoke(cli, ["convert", "mnk", "--to", "prefix", "--param", "M=4"])
    assert "(column 4)" in run.output
    assert max(map(len, run.output.splitlines())) < 120
    plain = herbrand.loads(run.output)
    assert verify_same(herbrand.load("mnk", M=4), plain, playouts=3, declarations=True).ok
    assert verify_same(plain, herbrand.loads(ggdl(plain), "ggdl"), playouts=2).ok

"""One recogniser: text, picture and observation planes show the same boards."""

from __future__ import annotations

import re
from itertools import product
from textwrap import dedent

import pytest

import herbrand
from herbrand.draw.boards.layout import Layout, find_layout
from herbrand.draw.boards.vocabulary import Vocabulary
from herbrand.draw.text import as_text, draw
from herbrand.envs.planes import find_board, make_view


def drawn(expected: str) -> str:
    return dedent(expected).strip("\n")


def layout_of(facts: list[str], *states: list[str]) -> Layout:
    """The boards of a game of these states, in which the facts may be true."""
    known = Vocabulary((), frozenset(facts), frozenset(), tuple(map(frozenset, states or (facts,))), True)
    return find_layout(known)


@pytest.mark.parametrize("name", ["ticTacToe", "breakthrough", "amazons", "checkers", "eightPuzzle"])
def test_text_picture_and_planes_have_the_same_rows_and_columns(name: str) -> None:
    """A fluent stands in the row and the column of the text in which the picture has its cell."""
    game = herbrand.load(name)
    artist = game.artist
    state = game.initial_state("rules")
    svg = artist.draw(state).svg
    found = re.findall(
        r'data-cell="0\.0:([^:"]+):([^:"]+)"[^>]*><rect class="\w+" x="([\d.]+)" y="([\d.]+)"', svg
    )
    xs, ys = (sorted({float(cell[i]) for cell in found}) for i in (2, 3))
    places = {(one, two): (ys.index(float(y)), xs.index(float(x))) for one, two, x, y in found}
    fluents = find_board(game)
    assert {cell.size for cell in fluents.values()} == {(len(ys), len(xs))}
    for fact, cell in fluents.items():
        (spot,) = filter(None, map(artist.layout.spot, artist.layout.facts([fact])))
        one, two = spot.layer.cell(spot.row)
        assert places[one[0], two[0]] == (cell.row, cell.column), fact
    lines = artist.text(state).splitlines()[: len(ys) + 1]
    assert len(lines[0].split()) == len(xs)
    assert [line.split()[0] for line in lines[1:]] == artist.layout.boards[0].labels[0]


def test_hexagons_are_slanted_in_text() -> None:
    """Each row of a board of hexagons stands half a cell further to the right, as in the picture."""
    game = herbrand.load("hex")
    lines = game.artist.text(game.initial_state("rules")).splitlines()
    assert lines[:4] == [
        "  1 2 3 4 5 6 7 8 9",
        "1 . . . . . . . . .",
        "2  . . . . . . . . .",
        "3   . . . . . . . . .",
    ]


def test_a_board_of_boards_is_one_board() -> None:
    """Four coordinates make rows and columns of two parts each."""
    facts = [f"(at {a} {b} {c} {d} {'xo'[(a + d) % 2]})" for a, b, c, d in product((1, 2), repeat=4)]
    assert draw(facts) == drawn("""
            1.1 1.2 2.1 2.2
        1.1   x   o   x   o
        1.2   x   o   x   o
        2.1   o   x   o   x
        2.2   o   x   o   x
    """)


def test_fluents_for_the_contents_of_one_row_of_places_are_a_square() -> None:
    """What is blank, a cross or a nought is shown by three fluents; nine places are a square."""
    places = "abcdefghi"
    every = [f"({name} {place})" for name in ("blank", "cross", "nought") for place in places]
    state = [f"({'cross' if p in 'ae' else 'nought' if p == 'f' else 'blank'} {p})" for p in places]
    assert as_text(state, layout_of(every, [f"(blank {p})" for p in places], state)) == drawn("""
        a-c c . .
        d-f . c n
        g-i . . .

        c cross  n nought
    """)


def test_rows_of_a_star_are_centred() -> None:
    """Rows of different length that all begin with 1 stand like those of Chinese chequers."""
    star = {"a": 1, "b": 2, "c": 3, "d": 2, "e": 1}
    facts = [
        f"(cell {row}{i} {'red' if row == 'a' else 'blank'})"
        for row, n in star.items()
        for i in range(1, n + 1)
    ]
    assert as_text(facts, layout_of(facts)) == drawn("""
        a   r
        b  . .
        c . . .
        d  . .
        e   .

        r red
    """)


def test_fluents_that_put_the_same_into_one_cell_are_told_apart() -> None:
    """A ship of blue and a shot of blue are two things, in text and in the names of planes."""
    cells = list(product("123", "123"))
    every = [
        f"({name} {x} {y} {who})" for name in ("ship", "shot") for x, y in cells for who in ("red", "blue")
    ]
    state = ["(ship 1 1 red)", "(ship 2 2 red)", "(ship 3 3 blue)", "(shot 1 1 blue)", "(shot 2 3 red)"]
    assert as_text(state, layout_of(every, state)) == drawn("""
           1  2  3
        1 rS  .  .
        2  .  r  s
        3  .  .  b

        b blue  r red  S shot blue  s shot red
    """)


def test_only_cells_that_states_speak_of_belong_to_a_board() -> None:
    """Where every state says the same cells, others that are declared are not drawn."""
    every = [f"(cell {x} {y} {what})" for x, y in product("1234", "1234") for what in ("b", "x")]
    state = [f"(cell {x} {y} b)" for x, y in product("123", "1234")]
    after = [fact.replace("1 1 b", "1 1 x") for fact in state]
    assert layout_of(every, state, after).boards[0].size == (3, 4)
    assert layout_of(every, state, state[:-2]).boards[0].size == (4, 4)


def test_numbers_that_some_places_lack_are_marks_on_a_grid() -> None:
    """Falling blocks are a board, though no two of them are at one height; pits with seeds are a row."""
    every = [f"(block {x} {y})" for x in (1, 2, 3) for y in range(1, 7)]
    blocks = layout_of(every, ["(block 1 6)", "(block 1 4)", "(block 2 5)"], ["(block 1 5)", "(block 3 6)"])
    assert [board.form for board in blocks.boards] == ["square"]
    seeds = [f"(pit {p} {n})" for p in range(1, 7) for n in range(5)]
    assert [b.form for b in layout_of(seeds, [f"(pit {p} 4)" for p in range(1, 7)]).boards] == ["row"]


def test_smaller_boards_stand_in_the_corner_of_the_planes() -> None:
    """Boards of two sizes are planes of the larger one."""
    game = herbrand.loads(
        """(role a) (n 1) (n 2) (n 3) (<= (base (big ?x ?y ?w)) (n ?x) (n ?y) (mark ?w)) (mark x) (mark o)
        (<= (base (tiny ?x ?y ?w)) (s ?x) (s ?y) (mark ?w)) (s a) (s b)
        (<= (init (big ?x ?y o)) (n ?x) (n ?y)) (<= (init (tiny ?x ?y o)) (s ?x) (s ?y))
        (<= (legal a (flip ?x ?y)) (n ?x) (n ?y)) (<= (legal a (turn ?x ?y)) (s ?x) (s ?y))
        (<= (next (big ?x ?y x)) (does a (flip ?x ?y))) (<= (next (tiny ?x ?y x)) (does a (turn ?x ?y)))
        (<= (next (big ?x ?y ?w)) (true (big ?x ?y ?w)) (not (does a (flip ?x ?y))))
        (<= (next (tiny ?x ?y ?w)) (true (tiny ?x ?y ?w)) (not (does a (turn ?x ?y))))
        (<= terminal (true (big 1 1 x)) (true (tiny a a x))) (goal a 100)"""
    )
    board = find_board(game)
    assert make_view(game.expander.fluent_names, board).shape == (3, 3, 4)
    assert {board[f"(tiny {x} {y} x)"].size for x, y in product("ab", "ab")} == {(2, 2)}


def test_the_last_move_stands_in_brackets() -> None:
    """Both ends of a move, neighbours that share a bar, and a disc that fell into a rack; others change nothing."""
    game = herbrand.load("breakthrough")
    moves = ["(move b 2 b 3)", "(move g 7 h 6)"]
    text = game.artist.text(game.initial_state("rules"), last=moves)
    assert text.splitlines()[2].startswith("7 b b b b b b[b]b")
    assert text.splitlines()[3] == "6 . . . . . . .[.]"
    assert text.splitlines()[6] == "3 .[.]. . . . . ."
    assert game.artist.text(game.initial_state("rules"), last=["(fly away)"]) == game.artist.text(
        game.initial_state("rules")
    )
    facts = ["(cell 1 1 x)", "(cell 1 2 o)", "(cell 2 1 b)", "(cell 2 2 b)"]
    layout = layout_of(facts)
    assert str(as_text(facts, layout, last=[["0.0:1:1", "0.0:1:2"]])).splitlines()[1] == "1[x|o]"
    rack = herbrand.load("connectFour")
    after = rack.initial_state("rules").next("(drop 4)").next("(drop 4)")
    lines = rack.artist.text(after, last=["(drop 4)"]).splitlines()
    assert [line.count("[") for line in lines[:7]] == [0, 0, 0, 0, 0, 1, 0]


def test_paint_does_not_move_anything() -> None:
    """Colours are added to what stands in the cells and to the legend; columns stay where they are."""
    for name in ("chess", "checkers", "hex", "battleships"):
        game = herbrand.load(name)
        state = game.initial_state("rules")
        painted = game.artist.text(state, paint=lambda text, colour: f"\x1b[1m{text}\x1b[0m")
        assert painted != game.artist.text(state)
        assert re.sub(r"\x1b\[[01]m", "", painted) == game.artist.text(state)

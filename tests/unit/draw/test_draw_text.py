"""Boards and tables as text."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herbrand.draw.boards.rules import columns_first
from herbrand.draw.text import draw, table
from herbrand.syntax.nodes import Atom, Constant, Function, Rule, Variable


def facts(text: str) -> list[str]:
    """One fact a line, or several separated by two blanks."""
    return [fact.strip() for line in text.strip().splitlines() for fact in line.split("  ") if fact.strip()]


def drawn(expected: str) -> str:
    return dedent(expected).strip("\n")


def grid(name: str, columns: str, rows: str, content: dict[str, str], blank: str) -> list[str]:
    return [f"({name} {c} {r} {content.get(c + r, blank)})" for c in columns for r in rows]


def test_a_grid_of_numbers_is_drawn_like_a_matrix() -> None:
    """The first of two numbers counts rows downward, the second columns; empty cells are dots."""
    state = [*grid("cell", "12", "12", {"12": "x", "21": "o"}, "b"), "(control white)"]
    assert draw(state) == drawn("""
          1 2
        1 . x
        2 o .

        control  white
    """)


def test_letters_and_numbers_are_drawn_like_a_chess_board() -> None:
    """Letters go across, numbers upward, and pieces have their usual letters without a legend each."""
    state = grid("cell", "abc", "12", {"a1": "wk", "b1": "wp", "c2": "bk", "b2": "bp"}, "b")
    assert draw(state) == drawn("""
          a b c
        2 . p k
        1 K P .

        capitals: white
    """)


def test_variable_names_tell_which_number_goes_across() -> None:
    """Where the author wrote ?x ?y or ?column ?row, the first coordinate is a column counted from the left."""
    state = grid("cell", "12", "123", {"11": "red", "21": "yellow", "12": "yellow"}, "empty")
    assert draw(state, columns_first=["cell"]) == drawn("""
          1 2
        3 . .
        2 y .
        1 r y

        r red  y yellow
    """)
    column = Function("cell", (Variable("column"), Variable("row"), Constant("red")))
    matrix = Function("mark", (Variable("row"), Variable("column")))
    rules = [Rule(Atom("next", (column,))), Rule(Atom("next", (matrix,)))]
    assert columns_first(rules) == {"cell"}


def test_declared_facts_keep_the_size_of_a_sparse_board() -> None:
    """A board that mentions only its pieces is drawn whole when all possible facts are known."""
    base = [f"(disc {c} {r} {who})" for c in "1234" for r in "123" for who in ("black", "red")]
    assert draw(["(disc 2 1 red)"], base) == drawn("""
          1 2 3
        1 . . .
        2 r . .
        3 . . .
        4 . . .

        r red
    """)
    assert draw([], base) is not None


def test_several_boards_stand_side_by_side() -> None:
    """An argument before the coordinates names the board."""
    state = [
        f"(cell {b} {r} {c} {'x' if b == r == c else 'b'})" for b in (1, 2) for r in (1, 2) for c in (1, 2)
    ]
    assert draw(state) == drawn("""
        cell 1:   cell 2:
          1 2       1 2
        1 x .     1 . .
        2 . .     2 . x
    """)


def test_a_piece_before_its_coordinates_is_the_content() -> None:
    """(location piece x y) is a board too."""
    state = facts("(at king 1 1)  (at rook 1 3)  (at pawn 2 2)  (at knight 3 1)")
    assert draw(state) == drawn("""
          1 2 3
        1 k . r
        2 . p .
        3 K . .

        k king  K knight  p pawn  r rook
    """)


def test_numbers_stay_numbers_and_widen_the_cells() -> None:
    """A sliding puzzle shows its tiles."""
    tiles = {"11": "10", "12": "2", "21": "3"}
    assert draw(grid("cell", "12", "12", tiles, "b")) == drawn("""
           1  2
        1 10  2
        2  3  .
    """)


def test_black_and_white_without_empty_cells_is_not_read_as_blank() -> None:
    """`b` beside `w` on a board that does not mention its empty cells is black."""
    state = facts("(stone 1 1 b)  (stone 1 2 w)  (stone 2 3 b)  (stone 3 3 w)")
    assert draw(state) == drawn("""
          1 2 3
        1 b w .
        2 . . b
        3 . . w
    """)


def test_a_cell_said_to_be_blank_and_taken_shows_what_is_there() -> None:
    """Some sheets keep the blank fact beside the piece."""
    state = [*grid("cell", "12", "12", {}, "b"), "(cell 1 2 x)"]
    assert draw(state) == drawn("""
          1 2
        1 . x
        2 . .
    """)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(step 3)",
        "(heap a 3)  (heap b 4)  (heap c 5)",
        "(score red 1)  (score blue 2)  (score green 2)  (score white 4)",
        "(on a b)  (on b c)  (on c table)  (clear a)",
        "(path x (f 1 2))  (path y (f 2 3))",
    ],
)
def test_what_is_no_board_is_not_drawn_as_one(text: str) -> None:
    """Heaps, scores, stacks and terms are left to the table."""
    assert draw(facts(text)) is None


def test_the_same_facts_in_another_order_give_the_same_drawing() -> None:
    """Sets have no order, so drawings must not depend on it."""
    state = grid("cell", "abcd", "1234", {"a1": "queen", "b2": "quail", "c3": "quark"}, "b")
    assert draw(state) == draw(list(reversed(state)))
    assert "q quail  Q quark  u queen" in (draw(state) or "")


def test_a_table_groups_facts_by_name_and_counts() -> None:
    """Single values share a line; numbers are in counting order; names without arguments stand alone."""
    listed = table(["(heap c10 1)", "(heap c2 3)", "(turn red)", "(turn blue)", "over", "(at (f 1 2) 3)"])
    assert listed == drawn("""
        at    (f 1 2) 3
        heap  c2 3
              c10 1
        over
        turn  blue red
    """)


_ARGUMENT = st.sampled_from(
    ["1", "2", "3", "10", "a", "b", "c", "a1", "b2", "x", "blank", "W", "(f 1 2)", "(g)"]
)
_FACT = st.tuples(st.sampled_from(["cell", "at", "p", "X"]), st.lists(_ARGUMENT, max_size=4)).map(
    lambda parts: f"({' '.join([parts[0], *parts[1]])})" if parts[1] else parts[0]
)


@given(st.lists(_FACT, max_size=30), st.lists(_FACT, max_size=30))
def test_any_facts_can_be_drawn_or_listed(state: list[str], base: list[str]) -> None:
    """Whatever the facts are, there is a drawing or none, without blanks at the ends of lines."""
    drawing = draw(state, base)
    assert drawing is None or all(line == line.rstrip() for line in drawing.splitlines())
    listed = table(state)
    assert len(listed.splitlines()) <= len(set(state))
    assert all(line == line.rstrip() for line in listed.splitlines())


def test_boards_that_are_still_empty_are_drawn() -> None:
    """With all possible facts known, an empty quarter of a board has its place."""
    base = [f"(cell {b} {r} {c} x)" for b in (1, 2) for r in (1, 2) for c in (1, 2)]
    assert draw(["(cell 2 1 1 x)"], base) == drawn("""
        cell 1:   cell 2:
          1 2       1 2
        1 . .     1 x .
        2 . .     2 . .
    """)

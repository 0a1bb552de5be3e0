"""Pictures of states: boards are found, pieces are drawn, names do no harm, clicks name moves."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import games
from herbrand.cli.main import cli
from herbrand.draw.artist import Artist, caption
from herbrand.draw.boards.layout import find_layout
from herbrand.draw.boards.vocabulary import Vocabulary
from herbrand.draw.hints import read_hints
from herbrand.draw.looks import looks
from herbrand.draw.maps import arranged, read_map
from herbrand.draw.style import DARK, LIGHT
from herbrand.draw.svg import draw
from herbrand.errors import HerbrandError

BUNDLED = (
    *("ticTacToe", "connectFour", "breakthrough", "chess", "hex", "checkers", "reversi", "nim", "hanoi"),
    *("eightPuzzle", "blocksWorld", "kuhn", "amazons", "village", "montyHall", "knightsTour"),
)


def picture(facts: list[str], **more: object) -> str:
    """The drawing of facts that are all that is known."""
    return draw(facts, find_layout(Vocabulary.of(facts), **more)).svg  # type: ignore[arg-type]


@pytest.mark.slow_except("ticTacToe", "connectFour", "eightPuzzle", "kuhn", "hex", "knightsTour", "village")
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_games_are_drawn(name: str) -> None:
    """The picture is well-formed, says its name and what is there, and is the same each time."""
    game = herbrand.load(name)
    state = game.initial_state("rules")
    first, second = (Artist.of(game).draw(state, lines=caption(state)) for _ in range(2))
    assert first.svg == second.svg
    root = ET.fromstring(first.svg)  # our own text
    assert root.get("role") == "img"
    assert root.findtext("{http://www.w3.org/2000/svg}title") == game.name
    assert root.findtext("{http://www.w3.org/2000/svg}desc") == first.text
    assert first.text


@pytest.mark.slow_except(*(name for name in BUNDLED if name not in {"chess", "reversi"}))
@pytest.mark.parametrize("name", [n for n in BUNDLED if n not in ("kuhn", "village")])
def test_every_move_can_be_clicked(name: str) -> None:
    """Wherever somebody has a choice on a board, moves name places that are drawn; few share their places."""
    game = herbrand.load(name)
    artist = Artist.of(game)
    state = game.initial_state("rules")
    places = set(re.findall(r'data-cell="([^"]+)"', artist.draw(state).svg))
    moves = [m for legal in state.legal_moves().values() if len(legal) > 1 for m in legal]
    clicks = artist.clicks(moves)
    assert all(clicks), [str(m) for m, c in zip(moves, clicks, strict=True) if not c][:3]
    for move in clicks:
        for place in move:
            pattern = re.escape(place).replace(r"\*", r"[^:]*")
            assert any(re.fullmatch(pattern, there) for there in places), place


def test_which_coordinate_an_argument_is_follows_from_the_rules() -> None:
    """A move that names the column first is clicked where the fluent, row first, has its cell."""
    game = herbrand.loads(
        """(role a) (<= (base (cell ?r ?c b)) (n ?r) (n ?c)) (<= (base (cell ?r ?c x)) (n ?r) (n ?c))
        (n 1) (n 2) (n 3) (<= (init (cell ?r ?c b)) (n ?r) (n ?c))
        (<= (legal a (mark ?c ?r)) (true (cell ?r ?c b)))
        (<= (next (cell ?r ?c x)) (does a (mark ?c ?r)))
        (<= (next (cell ?r ?c ?w)) (true (cell ?r ?c ?w)) (does a (mark ?k ?l)) (or (distinct ?k ?c) (distinct ?l ?r)))
        (goal a 100) (<= terminal (true (cell 3 3 x)))"""
    )
    assert Artist.of(game).clicks(["(mark 3 1)"]) == [("0.0:1:3",)]


def test_a_column_is_clicked_where_moves_name_columns() -> None:
    """In connect four each move names a column, and the board is a rack."""
    artist = Artist.of(herbrand.load("connectFour"))
    assert artist.layout.boards[0].rack
    assert artist.clicks(["(drop 3)"]) == [("0.0:3:*",)]


def test_kinds_of_boards_are_told_apart() -> None:
    """Several boards, boards of boards, rows, rings, stars and towers are what they are taken for."""
    many = [
        f"(cell {k} {x} {y} {'xob'[(x * y + k) % 3]})" for k in (1, 2) for x in (1, 2, 3) for y in (1, 2, 3)
    ]
    layout = find_layout(Vocabulary.of(many))
    assert [board.copies for board in layout.boards] == [(("1",), ("2",))]
    nested = [
        f"(at {a} {b} {c} {d} {'xo'[(a + d) % 2]})"
        for a in (1, 2, 3) for b in (1, 2, 3) for c in (1, 2, 3) for d in (1, 2, 3)
    ]  # fmt: skip
    assert find_layout(Vocabulary.of(nested)).boards[0].nested
    row = find_layout(Vocabulary.of(["(pit p1 4)", "(pit p2 0)", "(pit p3 2)"]))
    assert [board.form for board in row.boards] == ["row"]
    towers = find_layout(Vocabulary.of(["(on a b)", "(on c d)"]))
    assert towers.towers == (("on", 2),)
    rings = [
        f"(pit {r} {d} b)" for r in ("inner", "outer") for d in ("n", "ne", "e", "se", "s", "sw", "w", "nw")
    ]
    rings += [f"(pit middle {d} white)" for d in ("n", "e", "s", "w")]
    assert [board.form for board in find_layout(Vocabulary.of(rings)).boards] == ["rings"]


WALK = """
(role guide) (role ghost) (beside hall stairs) (beside stairs attic) (beside stairs cellar) (beside attic roof)
(<= (near ?a ?b) (beside ?a ?b)) (<= (near ?a ?b) (beside ?b ?a))
(init (here guide hall)) (init (here ghost attic))
(<= (legal ?who (walk ?to)) (true (here ?who ?from)) (near ?from ?to))
(<= (next (here ?who ?to)) (does ?who (walk ?to))) (<= terminal (true (here ?who roof))) (<= (goal ?who 50) (role ?who))
"""
RACE = """
(role red) (init (posx red n1)) (init (posy red p0)) (dir p0) (dir p1)
(track n1 p0) (track p0 p0) (track p1 p0) (track p1 p1) (track p2 p1) (track p2 p2)
(succ n1 p0) (succ p0 p1) (succ p1 p2) (<= (plus ?x p0 ?x) (track ?x ?y)) (<= (plus ?x p1 ?y) (succ ?x ?y))
(<= (legal red (speed ?dx ?dy)) (dir ?dx) (dir ?dy))
(<= (next (posx red ?n)) (does red (speed ?d ?e)) (true (posx red ?x)) (plus ?x ?d ?n))
(<= (next (posy red ?n)) (does red (speed ?d ?e)) (true (posy red ?y)) (plus ?y ?e ?n))
(<= terminal (true (posx red p2))) (goal red 100)
"""


def test_places_with_names_are_drawn_as_a_map() -> None:
    """What lies beside what becomes lines between the places, and moves to places can be clicked."""
    game = herbrand.loads(WALK)
    artist = Artist.of(game)
    (board,) = artist.layout.boards
    assert (board.form, len(board.second), len(board.roads)) == ("map", 5, 4)
    drawing = artist.draw(game.initial_state("rules"))
    assert drawing.text == "here: ghost at attic; guide at hall"
    assert artist.clicks(["(walk cellar)"]) == [("0.0::cellar",)]
    where = arranged(tuple(name for (name,) in board.second), board.roads)
    far = {pair: math.dist(where[pair[0]], where[pair[1]]) for pair in combinations(where, 2)}
    roads = {tuple(sorted(road)) for road in board.roads}
    near = [apart for pair, apart in far.items() if tuple(sorted(pair)) in roads]
    assert max(near) < min(apart for pair, apart in far.items() if tuple(sorted(pair)) not in roads)
    assert (
        read_map([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]) is None
    )  # an order, such as numbers have


def test_a_track_is_the_board_of_what_runs_on_it() -> None:
    """Places of two coordinates lie on the cells that a relation lists; a speed is no place, though it looks so."""
    game = herbrand.loads(RACE)
    artist = Artist.of(game)
    drawing = artist.draw(game.initial_state("rules"))
    assert set(re.findall(r'data-cell="([^"]+)"', drawing.svg)) == {
        *("0.0:n1:p0", "0.0:p0:p0", "0.0:p1:p0", "0.0:p1:p1", "0.0:p2:p1", "0.0:p2:p2")
    }
    assert artist.clicks(["(speed p1 p0)"]) == [()]


def test_a_sheet_of_pictures_names_what_cannot_be_drawn(tmp_path: Path) -> None:
    """contact_sheet.py puts each rulesheet on a page; one with faults is named, and does not stop the rest."""
    (tmp_path / "walk.kif").write_text(WALK, encoding="utf-8")
    (tmp_path / "faulty.kif").write_text("(role a) (legal a", encoding="utf-8")
    program = Path(__file__).parents[3] / "benchmarks" / "contact_sheet.py"
    sheets = sorted(map(str, tmp_path.glob("*.kif")))
    outcome = subprocess.run(
        [sys.executable, str(program), "--steps", "1", str(tmp_path / "out"), *sheets],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={"PYTHONPATH": str(Path(herbrand.__file__).parents[1])},
    )
    first, last = outcome.stdout.splitlines()
    assert first.startswith("faulty: GameError: ")
    assert last.startswith(
        "2 sheets: 1 as boards, towers, rows or lamps, the rest as cards and tables; 2 of 2 moves"
    )
    page = (tmp_path / "out" / "00.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert "<b>faulty</b>" in page


def test_names_are_only_text() -> None:
    """Nothing that stands in a rulesheet becomes markup."""
    nasty = "<script>alert(1)</script>&\"'"
    facts = [f"(cell {x} {y} {nasty})" for x in (1, 2) for y in (1, 2)] + [f"({nasty} {nasty})", nasty]
    svg = picture(facts)
    assert "<script" not in svg
    ET.fromstring(svg)
    titled = draw(facts, find_layout(Vocabulary.of(facts)), name=nasty, lines=[nasty]).svg
    assert "<script" not in titled
    ET.fromstring(titled)


def test_pieces_are_known_by_their_names() -> None:
    """Names that people use for pieces get the pieces; `b` is black only beside `w`."""
    found = looks(["wk", "bp", "b"], ["white", "black"], full=True)
    assert (found["wk"].kind, found["wk"].colour, found["wk"].text) == ("chess", "white", "king")
    assert found["b"].kind == "none"
    assert looks(["whiteKing", "blackPawn"], ["white", "black"])["whiteking"].text == "king"
    assert looks(["x", "o", "b"], ["xplayer", "oplayer"])["x"].kind == "cross"
    assert looks(["w", "b"], ["white", "black"])["b"].colour == "black"
    assert looks(["bp", "wp", "bk"], ["white", "black"], draughts=True)["bp"].kind == "draughts"
    assert looks(["light", "nolight"], [])["light"].kind == "lamp"


def test_the_last_moves_are_marked() -> None:
    """A move from cell to cell leaves two frames and an arrow."""
    game = herbrand.load("breakthrough")
    artist = Artist.of(game)
    state = game.initial_state("rules").next(("(move a 2 a 3)", "noop"))
    plain, marked = artist.draw(state).svg, artist.draw(state, last=["(move a 2 a 3)"]).svg
    assert plain.count('class="last"') == 0
    assert marked.count('class="last"') == 2
    assert marked.count('class="last-arrow"') == 1
    four = herbrand.load("connectFour")
    state = four.initial_state("rules").next(("(drop 3)", "noop")).next(("noop", "(drop 3)"))
    svg = Artist.of(four).draw(state, last=["(drop 3)"]).svg
    mark = re.search(r'class="last" x="([\d.]+)" y="([\d.]+)"', svg)
    discs = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert mark is not None
    assert svg.count('class="last"') == 1  # the upper one of two discs
    assert len({y for _, y in discs if float(y) > float(mark[2])}) == 2


def test_hints_beside_a_rulesheet_are_followed(tmp_path: Path) -> None:
    """A file of hints changes the drawing; a wrong one is refused with its reason."""
    sheet = tmp_path / "noughts.kif"
    sheet.write_text(games.text("ticTacToe"), encoding="utf-8")
    hints = tmp_path / "noughts.drawing.json"
    hints.write_text(json.dumps({"pieces": {"x": {"kind": "disc", "colour": "green"}}}), encoding="utf-8")
    game = herbrand.load(sheet)
    state = game.initial_state("rules").next(("(mark 1 1)", "noop"))
    assert "hb-disc f-green" in Artist.of(game).draw(state).svg
    hints.write_text('{"colour": {}}', encoding="utf-8")
    with pytest.raises(HerbrandError, match="hint `colour`"):
        read_hints(hints)
    hints.write_text("no json", encoding="utf-8")
    with pytest.raises(HerbrandError, match="no valid hints"):
        Artist.of(game)


def test_the_command_writes_a_picture(tmp_path: Path) -> None:
    """`herbrand draw` writes the state after the moves, or says it in words, or what is wrong with a move."""
    path = tmp_path / "board.svg"
    done = CliRunner().invoke(cli, ["draw", "ticTacToe", "--moves", "(mark 1 1)", "-o", str(path)])
    assert done.exit_code == 0, done.output
    assert path.read_text(encoding="utf-8").count('class="last"') == 1
    told = CliRunner().invoke(cli, ["draw", "ticTacToe", "--moves", "(mark 1 1)", "--describe"])
    assert "x at 1 1; 8 empty" in told.output
    wrong = CliRunner().invoke(cli, ["draw", "ticTacToe", "--moves", "(mark 9 9)"])
    assert wrong.exit_code == 2
    assert "joint move 1" in wrong.output


def test_towers_on_one_table_stand_side_by_side() -> None:
    """Blocks on a table are several towers; they were drawn as one, with the table at the bottom."""
    facts = ["(on a table)", "(on b a)", "(on c table)"]
    drawing = draw(facts, find_layout(Vocabulary.of(facts)))
    assert drawing.text == "towers: a under b on table; c on table"
    boxes = dict(re.findall(r'data-cell="item:(\w+)"[^>]*><rect class="[^"]*" x="([\d.]+)"', drawing.svg))
    assert boxes["a"] == boxes["b"] != boxes["c"]
    assert boxes["table"] == "0"


@pytest.mark.parametrize("name", ["leduc", "kuram"])
def test_cards_are_no_map(name: str) -> None:
    """A relation between things of two kinds, such as ranks and copies, does not say what lies beside what."""
    assert herbrand.load(name).artist.layout.boards == ()
    assert read_map([("king", "1"), ("king", "2"), ("queen", "1"), ("queen", "2"), ("jack", "1")]) is None


def test_hex_has_coloured_sides_and_coordinates() -> None:
    """Each role has the sides that it joins in its colour, found by trying chains; every row and column has a name."""
    artist = herbrand.load("hex").artist
    (board,) = artist.layout.boards
    assert (board.form, board.sides) == ("hex", {"rows": "red", "columns": "blue"})
    svg = artist.draw(herbrand.load("hex").initial_state("rules"), style=False).svg
    # of each side nine hexagons with two edges; one edge lies at two sides, twice
    assert (svg.count("side s-red"), svg.count("side s-blue")) == (36, 34)
    assert re.findall(r'<text class="label"[^>]*>(\d)', svg) == [*"123456789"] * 2
    assert not herbrand.load("gomoku").artist.layout.boards[0].sides


def test_sudoku_has_boxes() -> None:
    """A square board with as many digits as rows is divided into boxes."""
    game = herbrand.load("sudoku")
    assert game.artist.layout.boards[0].boxes == 3
    assert game.artist.draw(game.initial_state("rules")).svg.count('<line class="frame"') == 4
    assert herbrand.load("eightPuzzle").artist.layout.boards[0].boxes == 0


def test_pieces_have_their_names_in_words() -> None:
    """`wp` is a white pawn to those who hear it or rest the mouse on it, and in moves."""
    game = herbrand.load("chess")
    drawing = game.artist.draw(game.initial_state("rules"))
    assert "<title>white pawn</title>" in drawing.svg
    assert 'data-say="e2: white pawn"' in drawing.svg
    assert 'data-say="e4"' in drawing.svg
    assert "white pawn at a 2" in drawing.text
    assert game.artist.say("(move wp e 2 e 4)") == "move white pawn e2 e4"
    assert game.artist.say("(castle white kingside)") == "castle white kingside"
    squares = herbrand.load("krugrous").artist
    assert squares.say("(move 2 3 1 2)") == "move 2,3 1,2"
    assert 'data-say="row 3, column 2"' in squares.draw(squares.game.initial_state("rules")).svg


def test_counts_of_roles_are_told_from_other_facts() -> None:
    """What is on no board: scores by role, and the rest; a picture without tables has neither."""
    game = herbrand.load("koukrark")
    state = game.initial_state("rules")
    counts, others = game.artist.undrawn(state)
    assert counts == {"white": {"score": "0"}, "black": {"score": "0"}}
    assert others == {"step": ["0"]}
    assert "step" in game.artist.draw(state).svg
    assert "step" not in game.artist.draw(state, tables=False).svg


def test_the_cells_that_decided_are_known() -> None:
    """Four in a line, a chain from side to side; nothing for a draw, or where many things decided."""
    four = herbrand.load("connectFour")
    state = four.initial_state("rules")
    for step, column in enumerate("1212121"):
        drop = f"(drop {column})"
        state = state.next((drop, "noop") if step % 2 == 0 else ("noop", drop))
    assert four.artist.deciding_cells(state) == tuple(f"0.0:1:{row}" for row in (1, 2, 3, 4))
    assert four.artist.deciding_cells(four.initial_state("rules")) == ()
    chess = herbrand.load("chess")
    mate = [("wp", "f 2 f 3"), ("bp", "e 7 e 5"), ("wp", "g 2 g 4"), ("bq", "d 8 h 4")]
    state = chess.initial_state("rules")
    for step, (piece, where) in enumerate(mate):
        move = f"(move {piece} {where})"
        state = state.next((move, "noop") if step % 2 == 0 else ("noop", move))
    assert state.is_terminal
    assert chess.artist.deciding_cells(state) == ()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_grid_can_be_seen(theme: dict[str, str]) -> None:
    """Lines stand out from the cells that they divide; in the dark they could not be made out."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(theme["line"]), luminance(theme["cell"])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 1.5


def test_hints_in_the_comment_of_a_rulesheet_are_followed() -> None:
    """A line `drawing:` of the first comment says how to draw, also where the text comes from no file."""
    sheet = games.text("ticTacToe")
    game = herbrand.loads(
        f';; drawing: {{"pieces": {{"x": {{"kind": "disc", "colour": "green"}}}}}}\n{sheet}'
    )
    state = game.initial_state("rules").next(("(mark 1 1)", "noop"))
    assert "hb-disc f-green" in game.artist.draw(state).svg
    with pytest.raises(HerbrandError, match="comment `drawing:` has a hint `colour`"):
        _ = herbrand.loads(f';; drawing: {{"colour": {{}}}}\n{sheet}').artist

"""Games as pages of HTML and galleries of them, without a browser; `tests/browser` plays them."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import games
from herbrand.cli.main import cli
from herbrand.draw.terms import arguments
from herbrand.publish import game_page
from herbrand.publish.gallery import gallery_entry
from herbrand.publish.picture import picture_of

if TYPE_CHECKING:
    from pathlib import Path

LINE = """
; The title
;
; Two stones lie in a line. Who takes the last one wins, and this sentence goes on for so long that it is not part of
; the description of the game, which has room for a hundred and sixty letters only, or for one whole sentence.
;
; How it is played: one stone is taken in each turn.
;
; Author: nobody
(role white) (role black) (init (stones 2)) (init (turn white)) (succ 0 1) (succ 1 2) (next_turn white black)
(next_turn black white) (<= (legal ?p take) (true (turn ?p))) (<= (legal ?p wait) (role ?p) (not (true (turn ?p))))
(<= (next (stones ?m)) (true (stones ?n)) (succ ?m ?n)) (<= (next (turn ?q)) (true (turn ?p)) (next_turn ?p ?q))
(<= terminal (true (stones 0))) (<= (goal ?p 0) (true (turn ?p))) (<= (goal ?p 100) (role ?p) (not (true (turn ?p))))
"""


def publish(*arguments: str | Path) -> Any:
    """Run the command."""
    return CliRunner().invoke(cli, ["publish", *map(str, arguments)])


def about(page: str) -> list[str]:
    """What a page says of its game."""
    return re.findall(r"<li>([^<]*)</li>", page)


def test_a_page_says_what_is_proved_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proofs, refutations, what was not decided in time, and what to install for more."""
    game = herbrand.loads(LINE, name="line")
    assert about(game_page(game, proving=20)) == [
        "Every play ends: proved.",
        "Every role can move until the game is over: proved.",
        "Not every role can win: proved.",
        "Each end has one goal value for every role: proved.",
    ]
    assert about(game_page(game, proving=0)) == []
    assert about(game_page(game, proving=0, proofs=["It is short: proved."])) == ["It is short: proved."]
    large = herbrand.load("connectFour")
    assert "Every play ends: not proved in 0.01 seconds." in about(game_page(large, proving=0.01))
    monkeypatch.setitem(sys.modules, "pysat", None)
    missing = "not proved in 0.01 seconds without a solver, which comes with pip install &#39;herbrand[analyse]&#39;."
    assert f"Every play ends: {missing}" in about(game_page(large, proving=0.01))


def test_a_page_describes_its_game() -> None:
    """The first sentences of the comment are the description, the others the help; bundled games have both apart."""
    page = game_page(herbrand.loads(LINE, name="twoStones"), proving=0)
    assert "<h1>Two stones</h1>" in page
    assert '<p class="lead">Two stones lie in a line.</p>' in page
    assert "<p>One stone is taken in each turn.</p>" in page
    assert "Author" not in re.sub(r"<pre.*?</pre>|<script.*", "", page, flags=re.DOTALL)
    page = game_page(herbrand.load("kuhn"), proving=0)
    assert "<h1>Kuhn poker</h1>" in page
    assert f'<p class="lead">{games.info("kuhn")["description"]}</p>' in page


@pytest.mark.slow_except
@pytest.mark.parametrize("name", games.names())
def test_pages_are_small_and_ask_for_nothing(name: str) -> None:
    """No page has an address of anything outside, and even chess is smaller than a photograph."""
    page = game_page(herbrand.load(name), proving=0)
    assert len(page.encode()) < (400_000 if name == "chess" else 200_000)
    assert "‹" not in page
    assert not re.search(r"""(src|href|url|import|fetch)\s*[=(]\s*["']?(?!data:)\w""", page)
    assert set(re.findall(r"https?://[^\s\"'<>]+", page)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.slow_except("ticTacToe", "kuhn", "hanoi", "lightsOut", "hex")
@pytest.mark.parametrize("name", games.names())
def test_every_fluent_and_move_is_drawn_or_said(name: str) -> None:
    """A fluent puts something into a cell, marks one, moves a tower, is said beside the board, or says whose turn it is."""
    game = herbrand.load(name)
    picture = picture_of(game)
    layout = game.artist.layout
    fluents = [game.network.terms.text(fluent) for fluent in game.network.fluents.tolist()]
    towered = {row[0] for towers in picture["towers"] for row in (*towers["on"], *towers["there"])}
    for number, fluent in enumerate(fluents):
        head, *rest = arguments(fluent)
        silent = (head, len(rest)) in (*layout.drawn, *layout.control) or head in layout.hints.get("hide", ())
        shown = (picture["content"][number], picture["walls"][number], picture["beside"][number])
        assert (
            any(shown) or picture["marks"][number] >= 0 or number in (*towered, *picture["lamps"]) or silent
        )
    cells = {cell[0] for cell in picture["cells"]}
    items = {f"item:{thing}" for towers in picture["towers"] for thing in towers["things"]}
    for clicks in picture["clicks"]:
        for place in (place for one in clicks for place in one if "*" not in place):
            assert place in cells | items


def test_one_game_becomes_a_page_and_several_a_gallery(tmp_path: Path) -> None:
    """Files of one name get names of their own; what cannot be published is left out, said, and fails the command."""
    run = publish("nim", "-o", tmp_path / "nim.html", "--proving", "0")
    assert re.fullmatch(rf"wrote {tmp_path}/nim.html \(\d\d kB\)\n", run.output)
    run = publish("nim", "-o", tmp_path, "--proving", "0")
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == (tmp_path / "nim.html").read_text(
        encoding="utf-8"
    )
    sheets = tmp_path / "sheets"
    sheets.mkdir()
    (sheets / "line.kif").write_text(LINE, encoding="utf-8")
    (sheets / "line.gdl").write_text(LINE, encoding="utf-8")
    (sheets / "wrong.kif").write_text("(role a)", encoding="utf-8")
    (sheets / "notes.txt").write_text("no game", encoding="utf-8")
    run = publish(sheets, "-o", tmp_path / "site", "--proving", "0", "--title", "Mine & yours")
    assert run.exit_code == 1
    assert "left out: " in run.output
    assert "wrong.kif" in run.output
    assert sorted(path.name for path in (tmp_path / "site").iterdir()) == [
        "index.html",
        "line-2.html",
        "line.html",
    ]
    gallery = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "<h1>Mine &amp; yours</h1>" in gallery
    assert re.findall(r'href="([^"]*)"', gallery) == ["line.html", "line-2.html"]
    run = publish("nim", "kuhn", "-o", tmp_path / "nim.html")
    assert run.exit_code == 2
    assert "is no folder" in run.output


def test_a_gallery_shows_a_state_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards with pieces, and cards where there is no board."""
    board = gallery_entry(herbrand.load("ticTacToe"), "ticTacToe.html")
    assert board.title == "Tic-tac-toe"
    assert 0 < board.svg.count('class="hb-mark') < 9
    assert "jack" in gallery_entry(herbrand.load("kuhn"), "kuhn.html").svg

"""What objects show of themselves in notebooks, and the example notebook of the documentation."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

import herbrand
from herbrand.analyse.knowledge import solve
from herbrand.analyse.proofs.prove import analyse
from herbrand.match.protocol.manager import Manager, MatchSettings
from herbrand.match.protocol.seats import LocalSeat
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.simple import LegalPlayer
from herbrand.runtime.notebook import Markup, bars, block, column, table

DOCS = Path(__file__).parents[3] / "docs"


class Balance(HTMLParser):
    """Checks that tags are closed in order, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs), attrs
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def seen(html: str) -> str:
    """The text of well-formed HTML without scripts."""
    parser = Balance()
    parser.feed(html)
    parser.close()
    assert not parser.open
    assert "script" not in parser.tags
    return " ".join(" ".join(parser.words).split())


def test_a_state_shows_its_board_and_its_moves() -> None:
    """Text, a picture that is XML, and HTML with what is legal."""
    state = herbrand.load("ticTacToe").initial_state().next(("(mark 2 2)", "noop"))
    shown = state._repr_mimebundle_()
    assert "2 . x ." in shown["text/plain"]
    assert ET.fromstring(shown["image/svg+xml"]).tag.endswith("svg")
    assert "oplayer (mark 1 1), (mark 1 2)" in seen(shown["text/html"])
    assert state._repr_mimebundle_(include=["text/plain"], exclude=None)["text/plain"]


def test_a_state_of_any_engine_and_an_end_are_shown() -> None:
    """The rules and the network show the same; an end has no moves but goals."""
    game = herbrand.load("nim")
    assert (
        game.initial_state("rules")._repr_mimebundle_() == game.initial_state("network")._repr_mimebundle_()
    )
    state = game.initial_state()
    while not state.is_terminal:
        state = state.next({role: moves[0] for role, moves in state.legal_moves().items()})
    words = seen(state._repr_mimebundle_()["text/html"])
    assert "the game is over" in words
    assert "legal moves" not in words


def test_a_game_shows_itself_also_when_it_is_wrong() -> None:
    """Roles, counts, parameters, the board; of a faulty game the findings."""
    assert "xplayer, oplayer" in seen(herbrand.load("ticTacToe")._repr_html_())
    words = seen(herbrand.load("mnk", M=5)._repr_html_())
    assert "M 5 (1 to 19)" in words
    faulty = seen(herbrand.loads("(role a) (legal a ?x)")._repr_html_())
    assert "non-ground-fact" in faulty


def test_names_from_rules_are_text_and_never_markup() -> None:
    """A name that looks like a tag is shown as written."""
    game = herbrand.loads(
        "(role <script>) (init <img/onerror=x>) (legal <script> <b>) (<= terminal (true q)) (goal <script> 100)"
    )
    for html in (game._repr_html_(), game.initial_state("rules")._repr_mimebundle_()["text/html"]):
        assert "<script>" not in html
        assert "<img" not in html
        assert "&lt;script&gt;" in html
        seen(html)


def test_statistics_networks_and_explanations_show_themselves() -> None:
    """Numbers in tables, lengths as bars, explanations as trees."""
    game = herbrand.load("ticTacToe")
    html = game.simulate(playouts=200, seed=1)._repr_html_()
    words = seen(html)
    assert "200 random playouts" in words
    assert "mean goal" in words
    svg = html[html.index("<svg") : html.index("</svg>") + 6]
    assert ET.fromstring(svg).tag.endswith("svg")
    assert f"gates {game.network.gates}" in seen(game.network._repr_html_())
    why = game.initial_state().why("(legal xplayer (mark 1 1))")
    assert "by rule" in seen(why._repr_html_())


def test_what_was_proved_shows_itself() -> None:
    """Verdicts, values, plans and automata."""
    words = seen(analyse(herbrand.load("nim"), ["playability", "strong_winnability"])._repr_html_())
    assert "playability yes exploration" in words
    assert "– second no" in words
    coins = herbrand.load("coinMatching")
    words = seen(solve(coins)._repr_html_())
    assert "even 75/2" in words
    assert "(lay heads): 3/8" in words
    assert ET.fromstring(coins.automaton()._repr_svg_()).tag.endswith("svg")
    assert herbrand.load("nim").automaton()._repr_svg_() is None


def test_a_match_shows_players_moves_and_goals() -> None:
    """Who played, what was played, what came of it."""
    game = herbrand.load("ticTacToe")
    seats = {role: LocalSeat(LegalPlayer(), name="legal") for role in game.roles}
    match = asyncio.run(Manager(game, MatchSettings(start_clock=9, play_clock=9)).play(seats))
    words = seen(match._repr_html_())
    assert "xplayer legal 100" in words
    assert "1 (mark 1 1) noop" in words


def test_a_player_shows_what_it_found() -> None:
    """Each move with how often it was tried, what it is worth and what is expected after it."""
    moves = (
        MoveReport("(mark 2 2)", 90, 71.25, line=(("(mark 2 2)", "noop"), ("noop", "(mark 1 1)"))),
        MoveReport("(mark 1 2)", 10, 50.0, proved=0.0),
    )
    words = seen(PlayerReport("mcts", "xplayer", moves, 1.0, 100, 40, ("in a hurry",))._repr_html_())
    assert "(mark 2 2) 90 71.2 (mark 2 2) noop; noop (mark 1 1)" in words
    assert "0.0 proved" in words
    assert "in a hurry" in words


def test_pieces_of_html() -> None:
    """Escaping, alignment, empty charts; many bars become few."""
    assert column([Markup("<i>")]) == '<pre style="margin:0"><i></pre>'
    assert table([(None,)]).count("–") == block("a", None).count("–") == 1
    assert "&lt;i&gt;" in block("<i>", "<i>", note="<i>")
    assert table([], ("a",)).count("<th") == 2
    assert column(["<"]).endswith("&lt;</pre>")
    assert bars({}, "nothing") == ""
    assert bars(dict.fromkeys(range(1000), 1), "many").count("<rect") <= 60
    assert "<title>7: 2</title>" in bars({7: 2}, "one")


@pytest.fixture(scope="module")
def tool():
    """The program that executes the notebook."""
    sys.path.insert(0, str(DOCS / "site"))
    try:
        return importlib.import_module("notebook")
    finally:
        sys.path.pop(0)


def test_the_example_notebook_shows_what_its_cells_give(tool) -> None:
    """Executing it again gives what stands in it; `python docs/site/notebook.py` writes it anew."""
    notebook = json.loads((DOCS / "example.ipynb").read_text(encoding="utf-8"))
    assert tool.same(notebook, tool.executed(notebook))
    page = tool.page(notebook)
    assert page.count("```python") == sum(cell["cell_type"] == "code" for cell in notebook["cells"])
    assert "<svg" in page


def test_the_learning_notebook_runs(tool) -> None:
    """With few updates: it learns something, draws its curve, and plays a match; the whole was executed once."""
    notebook = json.loads((DOCS / "learn.ipynb").read_text(encoding="utf-8"))
    shown = json.dumps(notebook)
    assert re.search(r"before, (9\d|100)% after", shown), "`python docs/site/notebook.py learn` executes it"
    assert "image/svg+xml" in shown
    short = json.loads(shown.replace("512, 800", "64, 120"))
    outputs = json.dumps(tool.executed(short)["cells"])
    before, after = map(int, re.search(r"moves: (\d+)% before, (\d+)% after", outputs).groups())
    assert after > before
    assert "points against random moves</title>" in outputs
    assert "'xplayer':" in outputs


@pytest.mark.slow
def test_jupyter_executes_the_example_notebook() -> None:
    """A real kernel runs every cell and shows a picture, HTML or text for each value."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(DOCS / "example.ipynb", as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert {o.output_type for o in shown} == {"execute_result", "stream"}
    assert sum("text/html" in o.get("data", {}) for o in shown) > 6
    assert any("image/svg+xml" in o.get("data", {}) for o in shown)

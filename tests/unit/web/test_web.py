"""The web application: pages, matches, and what it refuses."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the web application needs starlette")
pytest.importorskip("multipart", reason="forms need python-multipart")
httpx = pytest.importorskip("httpx", reason="its tests need httpx")

from click.testing import CliRunner  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

import herbrand  # noqa: E402
from herbrand import games  # noqa: E402
from herbrand.cli.main import cli  # noqa: E402
from herbrand.draw.style import DARK, LIGHT, PIECES  # noqa: E402
from herbrand.errors import HerbrandError  # noqa: E402
from herbrand.runtime.json_process import RequestError  # noqa: E402
from herbrand.runtime.rendering import render  # noqa: E402
from herbrand.web.app import make_app  # noqa: E402
from herbrand.web.chances import Chances  # noqa: E402
from herbrand.web.child import Busy, Child, ChildLost, Queue, Turnstile  # noqa: E402
from herbrand.web.guard import MAX_BODY_BYTES  # noqa: E402
from herbrand.web.inspector import Inspector  # noqa: E402
from herbrand.web.library import Library  # noqa: E402
from herbrand.web.table import MatchTable  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JSON = {"accept": "application/json"}
NASTY = "<script>alert(1)</script>\"'&"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A browser without a screen; the games of a folder are there as well."""
    folder = tmp_path_factory.mktemp("sheets")
    (folder / "lamp.kif").write_text(
        "(role a) (init (off)) (legal a press) (<= terminal (true (on)))", "utf-8"
    )
    (folder.parent / "secret.kif").write_text("(role secret)", "utf-8")
    with TestClient(make_app([folder]), base_url="http://127.0.0.1:8888") as client:
        yield client


@pytest.fixture(scope="module")
def token(client: TestClient) -> str:
    """What a page of ours carries."""
    found = re.search(r'name="herbrand-token" content="([0-9a-f]+)"', client.get("/").text)
    assert found
    return found[1]


def begin(client: TestClient, token: str, key: str, **seats: str) -> str:
    """Begin a match; return its address."""
    fields = {"token": token, "key": key, "clock": "0.1", **{f"seat:{r}": s for r, s in seats.items()}}
    answer = client.post("/play", data=fields, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


# -- pages ------------------------------------------------------------------------------------


def test_the_library_lists_searches_and_filters(client: TestClient) -> None:
    """All games are there; a search and a feature leave those that fit; folders are shelves."""
    page = client.get("/").text
    assert all(f'href="/game/{name}"' in page for name in games.names())
    assert 'href="/game/lamp"' in page
    found = client.get("/", params={"q": "connect four"}).text
    assert "/game/connectFour" in found
    assert "/game/chess" not in found
    assert "/game/hanoi" not in client.get("/", params={"feature": "two players"}).text
    assert "/game/lamp" not in client.get("/", params={"q": "one player"}).text
    assert client.get("/game/lamp").status_code == 200
    assert "/game/lamp" in client.get("/", params={"q": "one player"}).text  # it was looked at in between


def test_a_game_has_a_page_with_seats_and_parameters(client: TestClient) -> None:
    """Every role has a seat, every parameter of a game in GGDL a control with its bounds."""
    page = client.get("/game/mnk").text
    assert len(re.findall(r'name="seat:', page)) == 2
    assert re.search(r'<input type="number" name="param:M" min="\d+"', page)
    picture = client.get("/picture/ticTacToe.svg")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert picture.text.count("data-cell=") == 9


def test_a_match_is_played_without_a_script(client: TestClient, token: str) -> None:
    """Forms alone play a whole match of tic-tac-toe for two people, and take a move back."""
    address = begin(client, token, "ticTacToe", xplayer="you", oplayer="you")
    play = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"]
    for step, move in enumerate(play):
        role = "xplayer" if step % 2 == 0 else "oplayer"
        assert f"Your move, {role}" in client.get(address).text
        fields = {"token": token, "role": role, "move": move, "step": str(step)}
        assert client.post(f"{address}/move", data=fields).status_code == 200
    assert "xplayer won: xplayer 100, oplayer 0" in client.get(address).text
    record = client.get(f"{address}/record.json").json()
    assert record["moves"][0] == ["( mark 1 1 )", "noop"]
    assert (record["status"], record["goals"]) == ("completed", {"xplayer": 100, "oplayer": 0})
    back = client.post(f"{address}/undo", data={"token": token}, headers=JSON).json()
    assert (back["steps"], back["turns"]) == (4, ["xplayer"])
    odds = client.get(f"{address}/bar", params={"step": 4}, headers=JSON).json()
    assert odds["by"] in ("proof", "search")  # a busy machine may not get as far as the proof
    assert odds["values"]["xplayer"] > 80
    assert odds["values"]["oplayer"] < 20
    first = client.get(f"{address}/state", params={"step": 1}, headers=JSON).json()
    assert first["step"] == 1
    assert "moves" not in first


def test_programs_answer_and_parameters_are_used(client: TestClient, token: str) -> None:
    """A program moves after a person did; the board has the size that the parameters say."""
    fields = {"token": token, "key": "mnk", "seat:x": "you", "seat:o": "random", "clock": "0.1"}
    fields |= {"param:M": "4", "param:N": "3"}
    address = client.post("/play", data=fields, follow_redirects=False).headers["location"]
    view = client.get(f"{address}/state", params={"step": 0}, headers=JSON).json()
    assert view["count"] == 12
    assert all(len(move["clicks"]) == 1 for move in view["moves"])
    fields = {"token": token, "role": "x", "move": view["moves"][0]["move"], "step": "0"}
    view = client.post(f"{address}/move", data=fields, headers=JSON).json()
    assert view["auto"]
    view = client.post(f"{address}/advance", data={"token": token, "step": "1"}, headers=JSON).json()
    assert (view["steps"], view["turns"]) == (2, ["x"])


def test_wrong_moves_are_refused_and_explained(client: TestClient, token: str) -> None:
    """Moves that are not legal, of others, or too late leave the match as it was."""
    address = begin(client, token, "ticTacToe", xplayer="you", oplayer="random")
    for role, move, step in (
        ("xplayer", "(mark 9 9)", 0),
        ("oplayer", "noop", 0),
        ("xplayer", "(mark 1 1)", 7),
    ):
        fields = {"token": token, "role": role, "move": move, "step": str(step)}
        answer = client.post(f"{address}/move", data=fields, headers=JSON)
        assert answer.status_code == 409
        assert answer.json()["error"]
    assert client.get(f"{address}/state", params={"step": 0}, headers=JSON).json()["steps"] == 0


def table_of(name: str, **more: Any) -> MatchTable:
    """A match of a bundled game, with `seats` and other settings."""
    table = MatchTable()
    table.open(games.text(name), "prefix", name, **{"clock": 0.1, **more})
    return table


def test_only_what_a_person_can_know_is_shown() -> None:
    """In a game of hidden information neither picture nor data have what the rules hide, until it is over."""
    table = table_of("kriegTicTacToe", seats={"x": "you", "o": "random"}, seed=3)
    view = table.view()
    for _ in range(12):
        if view["over"]:
            break
        assert view["hidden"]
        assert view["history"] == []
        assert view["last"] == []
        assert view["steps"] != 2 or " o at" not in view["said"]  # where o went first, x cannot know
        if view["turns"]:
            table.move("x", view["moves"][0]["move"], view["steps"])
        else:
            table.advance(view["steps"])
        view = table.view()
    table = table_of("kuhn", seats={"first": "you", "second": "random"}, seed=1)
    assert table.view()["hidden"]
    table.advance(0)
    assert table.view()["hidden"]
    assert "holds second" not in table.view()["said"]
    with pytest.raises(ValueError, match="hidden"):
        table.hint("first")
    with pytest.raises(ValueError, match="hidden"):
        table.document()


def test_programs_say_what_they_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a move stand values and visits of the best ones and what is expected; a hint says the same."""
    monkeypatch.setattr("herbrand.web.table.PREPARATION", 200.0)  # a busy machine
    table = table_of("ticTacToe", seats={"xplayer": "mcts", "oplayer": "you"}, clock=0.5, seed=1)
    table.advance(0)
    view = table.view()
    (thought,) = view["thoughts"]
    assert (thought["role"], thought["player"]) == ("xplayer", "mcts")
    assert view["last"][0] == {"role": "xplayer", "move": thought["moves"][0]["text"]}
    assert all(0 <= one["value"] <= 100 and one["visits"] > 0 for one in thought["moves"])
    assert thought["line"][0] == thought["moves"][0]["text"]
    assert table.view(step=0)["thoughts"] == []
    told = table.hint("oplayer")
    assert told["move"] in [move["move"] for move in view["moves"]]
    assert told["thought"]["moves"][0]["text"] == told["text"] == told["move"].strip("()")


@pytest.mark.slow
def test_what_roles_can_expect_is_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree says it, a proof where there is one; by the rules without a network; where something is hidden, chance."""
    chances = Chances()
    told = chances.odds(games.text("connectFour"), "prefix", "connectFour", ["(control red)"])
    assert told["by"] == "search"
    assert told["games"] > 512
    assert 40 < told["values"]["red"] < 100
    assert told["values"]["red"] + told["values"]["yellow"] == pytest.approx(100, abs=0.2)
    game = ["(mark 1 1)", "noop"], ["noop", "(mark 2 2)"], ["(mark 1 2)", "noop"], ["noop", "(mark 3 3)"]
    (judged,) = chances.judge(games.text("ticTacToe"), "prefix", "ticTacToe", [*game])
    assert (judged["role"], judged["value"], judged["best"]) == ("oplayer", 0, "(mark 1 3)")
    assert judged["grade"] == "gives away a sure 50"
    state = herbrand.load("kuhn").initial_state("rules")
    told = chances.odds(games.text("kuhn"), "prefix", "kuhn", sorted(state.facts))
    assert (told["by"], set(told["values"])) == ("random", {"first", "second"})
    monkeypatch.setattr("herbrand.web.chances._by_search", lambda *_: _raise(HerbrandError("no network")))
    nearly = ["(control xplayer)", *(f"(cell {x} {y} {c})" for x, y, c in CORNERS)]
    told = chances.odds(games.text("ticTacToe"), "prefix", "ticTacToe", nearly)
    assert told["by"] == "search"
    assert told["values"]["xplayer"] > 60


CORNERS = (
    *((1, 1, "x"), (1, 2, "x"), (1, 3, "b"), (2, 1, "o"), (2, 2, "o"), (2, 3, "b")),
    *((3, 1, "b"), (3, 2, "b"), (3, 3, "b")),
)


def _raise(error: Exception) -> None:
    raise error


def test_the_editor_is_answered(client: TestClient, token: str) -> None:
    """Findings with repairs, layout, notations, preview, reasons and relations come as data."""
    headers = {"x-herbrand-token": token, **JSON}

    def ask(do: str, **more: Any) -> Any:
        return client.post(
            f"/api/{do}", json={"text": text, "notation": "auto", **more}, headers=headers
        ).json()

    text = games.text("ticTacToe")
    assert ask("check")["playable"]
    assert ask("preview", moves=[["(mark 1 1)", "noop"]])["svg"].count("s-blue") == 1
    assert ask("why", atom="(legal xplayer (mark 1 1))", moves=[])["holds"]
    assert any(row["relation"] == "legal/2" for row in ask("graph")["relations"])
    assert ":-" in ask("convert", to="prolog")["text"]
    text = "(role a)\n(<= (legal a m) (true (f ?x))"
    told = ask("check")
    assert not told["playable"]
    number = next(i for i, one in enumerate(told["findings"]) if one["fix"])
    fixed = ask("fix", number=number)["text"]
    assert fixed != text
    assert "error" in ask("layout")
    assert "error" in ask("repair")
    text = """(role a) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 4)
        (<= (legal a step) (true (at ?n)) (succ ?n 3))  (<= (legal a wait) (true (at 1)))
        (<= (next (at ?m)) (true (at ?n)) (succ ?n ?m)) (<= terminal (true (at 4)))
        (<= (goal a 100) (true (at 4))) (<= (goal a 0) (not (true (at 4))))"""
    repaired = ask("repair")
    assert repaired["faults"] == ["a role can be without a legal move", "not every role can win"]
    assert repaired["edits"]
    assert all(is_proved for _, is_proved in repaired["properties"])
    text = repaired["text"]
    assert ask("repair") == {"faults": [], "edits": [], "properties": [], "text": None, "tried": 0}


def test_rules_are_taken_from_files_and_given_back(client: TestClient, token: str) -> None:
    """An uploaded file opens in the editor under its name; what is written comes back as a file."""
    file = {"file": ("my <b>game.kif", b"(role robot)", "text/plain")}
    page = client.post("/upload", data={"token": token}, files=file)
    assert "(role robot)" in page.text
    assert "<b>game" not in page.text
    fields = {"token": token, "text": "(role r)", "notation": "prefix", "title": "../../etc/x"}
    answer = client.post("/edit/download", data=fields)
    assert answer.text == "(role r)"
    assert answer.headers["content-disposition"] == 'attachment; filename="..-..-etc-x.kif"'


def test_what_is_written_is_played_at_once(client: TestClient, token: str) -> None:
    """The editor's button begins a match; with errors in the text it stays in the editor."""
    fields = {"token": token, "text": games.text("nim"), "notation": "prefix", "title": "heaps"}
    assert "Your move, first" in client.post("/edit/play", data=fields).text
    broken = client.post("/edit/play", data={**fields, "text": "(role"})
    assert broken.status_code == 409
    assert "(role" in broken.text


def test_a_game_is_looked_into(client: TestClient, token: str) -> None:
    """Verdicts, charts and the drawn states of a small game are on the page."""
    assert "Verdicts" not in client.get("/analyse/coinMatching").text
    page = client.post("/analyse/coinMatching", data={"token": token}).text
    assert "herbrand certify coinMatching --property termination -o FOLDER" in page
    assert "herbrand certify coinMatching --remarks " in page
    assert "Verdicts" in page
    assert 'class="badge proved"' in page
    assert 'class="chart"' in page
    assert "the longest play has" in page


def test_one_walks_through_the_game_tree(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each position shows its moves and what they are worth with best play, and the way back."""
    monkeypatch.setattr("herbrand.web.inspector.SOLVE_BUDGET", (300.0, 400_000, 800.0))
    rules = games.text("nim")
    told = Inspector().explore(rules, "prefix", "nim", [])
    winning = [number for number, branch in enumerate(told["branches"]) if branch["values"]["first"] == 100]
    assert 0 < len(winning) < len(told["branches"])
    assert told["value"] == {"first": 100, "second": 0}
    after = Inspector().explore(rules, "prefix", "nim", winning[:1])
    assert after["value"] == told["value"]
    assert all(branch["values"]["first"] == 100 for branch in after["branches"])
    entry = Library().find("nim")
    page = render("web/explore.html", entry=entry, path=winning[:1], position=after, token="")
    assert "With best play from here: <strong>first 100, second 0" in page
    assert 'href="/explore/nim">initial state' in page
    assert f'href="/explore/nim?path={winning[0]}.0"' in page
    with pytest.raises(ValueError, match="no such branch"):
        Inspector().explore(rules, "prefix", "nim", [99_999])
    assert client.get("/explore/nim?path=x").status_code == 400
    assert client.get("/explore/none").status_code == 404


# -- what can be seen by everybody ------------------------------------------------------------


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb`, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, two: str) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_colours_can_be_told_apart(theme: int) -> None:
    """Text has a contrast of 4.5 to what it stands on (WCAG 2.2, 1.4.3), what can be clicked 3 (1.4.11)."""
    css = files("herbrand.web").joinpath("static", "app.css").read_text("utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", css)
    colours = {name: both[theme] for name, *both in pairs}
    for text in ("ink", "muted", "accent", "good", "bad", "warn"):
        for under in ("paper", "sheet", "soft") if text in ("ink", "muted") else ("paper", "sheet"):
            assert contrast(colours[text], colours[under]) >= 4.5, (text, under)
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
    assert contrast(colours["accent"], colours["accent-soft"]) >= 4.5
    board = (LIGHT, DARK)[theme]
    for text, under in (
        ("ink", "paper"),
        ("ink", "cell"),
        ("muted", "paper"),
        ("muted", "chip"),
        ("muted", "cell"),
    ):
        assert contrast(board[text], board[under]) >= 4.5, (text, under)
    for name, (fill, outline, letters) in PIECES.items():
        edge = board.get(f"edge-{name}", outline)
        squares = ("light-square", "dark-square") if name in ("black", "white") else ()
        for under in ("cell", *squares):
            assert max(contrast(fill, board[under]), contrast(edge, board[under])) >= 3, (name, under)
        assert contrast(letters, fill) >= 4.5, name


def test_pages_can_be_heard_and_used_without_a_mouse(client: TestClient) -> None:
    """Every page has a language, one heading of the first level and a way past the links; every field has a name."""
    for address in ("/", "/game/mnk", "/edit", "/help", "/records", "/analyse/nim", "/game/none"):
        page = client.get(address).text
        assert '<html lang="en">' in page, address
        assert page.count("<h1") <= 1, address
        assert 'href="#main" class="skip"' in page, address
        labels = set(re.findall(r'<label[^>]* for="([^"]+)"', page))
        inside = re.sub(r"<label.*?</label>", "", page, flags=re.DOTALL)
        for field in re.findall(r"<(?:input|select|textarea)([^>]*)>", inside):
            named = re.search(r' id="([^"]+)"', field)
            hidden = 'type="hidden"' in field
            assert hidden or "aria-label=" in field or (named and named[1] in labels), (address, field)
        for image in re.findall(r"<img([^>]*)>", page):
            assert " alt=" in image, (address, image)
        for button in re.findall(r"<button[^>]*>(.*?)</button>", page, re.DOTALL):
            assert button.strip(), address
    drawn = client.get("/picture/ticTacToe.svg").text
    assert 'role="img"' in drawn
    assert "<desc>" in drawn


# -- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        *("/game/../secret", "/game/..%2fsecret", "/picture/..%2f..%2fsecret.svg", "/static/..%2fapp.py"),
        *(
            "/static/../../../etc/passwd",
            "/edit?game=../secret",
            "/edit?game=/etc/passwd",
            "/download/%2e%2e%2fsecret",
        ),
    ],
)
def test_names_are_no_paths(client: TestClient, address: str) -> None:
    """No name leads out of the library, and the page that says so does not repeat it as markup."""
    answer = client.get(address)
    assert answer.status_code == 404
    assert "role secret" not in answer.text


@pytest.mark.parametrize(
    "address", ["/play", "/edit", "/edit/play", "/edit/download", "/analyse/nim", "/match/x/move"]
)
def test_forged_requests_are_refused(client: TestClient, token: str, address: str) -> None:
    """Without the token of the session, or from another origin, nothing is done."""
    assert client.post(address, data={"key": "nim"}).status_code == 403
    assert client.post(address, data={"key": "nim", "token": "0" * 64}).status_code == 403
    elsewhere = {"origin": "http://example.org"}
    assert client.post(address, data={"key": "nim", "token": token}, headers=elsewhere).status_code == 403
    with TestClient(make_app(), base_url="http://127.0.0.1") as other:
        assert other.post(address, data={"key": "nim", "token": token}).status_code == 403


def test_scripts_of_other_sites_are_refused(client: TestClient) -> None:
    """The questions of the editor need the token too, and uploads as well."""
    assert client.post("/api/check", json={"text": "(role a)"}).status_code == 403
    assert client.post("/upload", files={"file": ("a.kif", b"(role a)")}).status_code == 403
    other = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get("/picture/nim.svg", headers=other).status_code == 403
    assert client.get("/", headers={**other, "sec-fetch-mode": "navigate"}).status_code == 200


def test_other_names_of_this_computer_are_refused(client: TestClient) -> None:
    """A name that somebody pointed at this computer gets no page (DNS rebinding)."""
    assert client.get("/", headers={"host": "evil.example:8888"}).status_code == 421
    assert client.get("/", headers={"host": "localhost:8888"}).status_code == 200


def test_too_much_is_refused(client: TestClient, token: str) -> None:
    """A text of more than a megabyte is not read, said in advance or not."""
    headers = {"x-herbrand-token": token, **JSON}
    big = "x" * (MAX_BODY_BYTES + 10)
    assert client.post("/api/check", content=big, headers=headers).status_code == 413
    chunks = (b"x" * 100_000 for _ in range(20))
    assert client.post("/api/check", content=chunks, headers=headers).status_code == 413
    file = {"file": ("a.kif", b"x" * 1_000_100)}
    assert client.post("/upload", data={"token": token}, files=file).status_code == 413


def test_names_do_not_become_markup(client: TestClient, token: str) -> None:
    """Nothing in a text, a title or an address becomes an element of a page."""
    fields = {"token": token, "text": f"; {NASTY}\n(role a)", "notation": "prefix", "title": NASTY}
    page = client.post("/edit", data=fields).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    for address in (f"/?q={NASTY}", f"/game/{NASTY}", f"/nothing/{NASTY}"):
        assert "<script>alert" not in client.get(address).text
    rules = "(role |<b>x</b>|) (init (cell 1 1 <img/src=x>)) (legal |<b>x</b>| <i>) (<= terminal (true done))"
    table = Inspector().check(rules)
    assert table["findings"]


class Elements(HTMLParser):
    """Collects what must not come from a name: elements, handlers of events, and scripts that are no data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.active: list[dict[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "script" or any(name.startswith("on") for name, _ in attrs):
            self.active.append(dict(attrs))


def test_names_of_rules_do_not_become_markup(client: TestClient, token: str) -> None:
    """Roles, moves and facts that look like tags are text on every page of their game."""
    rules = """(role </title></script><b>'&) (init (</textarea><img/src=x/onerror=y> 1)) (init (at <u> '))
        (legal </title></script><b>'& (put </li><i>)) (<= (next (done <s>)) (does ?r ?m)) (<= terminal (true (done <s>)))
        (goal </title></script><b>'& 100)"""
    fields = {"token": token, "text": rules, "notation": "prefix", "title": NASTY}
    match = client.post("/edit/play", data=fields)
    assert match.status_code == 200, match.text
    key = re.search(r'href="/game/(own-[0-9a-f]+)"', match.text)
    assert key is not None
    pages = [match.text, client.post(f"/analyse/{key[1]}", data={"token": token}).text]
    pages += [client.get(f"/{name}/{key[1]}").text for name in ("game", "explore")]
    pages += [client.get(f"/edit?game={key[1]}").text, client.get("/").text]
    for page in pages:
        elements = Elements(page)
        assert not elements.tags & {"b", "i", "u", "s"}
        for script in elements.active:
            ours = re.fullmatch(r"/static/\w+\.js", script.get("src") or "")
            assert ours or script.get("type") == "application/json"
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;b&gt;" in pages[0]


def test_pages_load_nothing_from_elsewhere(client: TestClient) -> None:
    """The policy allows our own files only, and no page names another server."""
    answer = client.get("/game/ticTacToe")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for address in ("/", "/game/chess", "/edit", "/help", "/static/match.js", "/static/app.css"):
        text = client.get(address).text.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://", text), address
    with TestClient(make_app(), base_url="http://127.0.0.1") as fresh:
        cookie = fresh.get("/").headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


# -- other users of the computer --------------------------------------------------------------


SECRET = "correct-horse-battery"


@pytest.fixture
def locked() -> Iterator[TestClient]:
    """A server with a token, and a browser that does not know it yet."""
    with TestClient(make_app(token=SECRET), base_url="http://127.0.0.1:8888") as client:
        yield client


@pytest.mark.parametrize(
    "address",
    ["/", "/game/nim", "/picture/nim.svg", "/records", "/help", "/no/such/page", "/?token=wrong", "/?token="],
)
def test_other_users_get_nothing_without_the_token(locked: TestClient, address: str) -> None:
    """Every address answers with a page that says what to do, and begins no session."""
    answer = locked.get(address)
    assert answer.status_code == 403
    assert "herbrand web" in answer.text
    assert SECRET not in answer.text
    assert "set-cookie" not in answer.headers


def test_scripts_of_other_users_get_nothing_without_the_token(locked: TestClient) -> None:
    """Neither questions of the editor nor requests that bring a token of forms are answered."""
    assert locked.post("/api/check", json={"text": "(role a)"}).json() == {
        "error": "this server asks for its token"
    }
    assert locked.post("/play", data={"key": "nim", "token": SECRET}).status_code == 403
    assert locked.post(f"/play?token={SECRET}", data={"key": "nim"}).status_code == 403
    assert locked.get("/static/app.css").status_code == 200  # the page that asks for the token uses it


def test_the_token_is_exchanged_for_a_cookie(locked: TestClient) -> None:
    """The address loses it at once, so that it is neither in the history nor sent on."""
    answer = locked.get("/game/nim", params={"token": SECRET, "a": "ü b"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/game/nim?a=%C3%BC+b")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert SECRET not in cookie
    page = locked.get("/game/nim")
    assert page.status_code == 200
    forms = re.search(r'name="herbrand-token" content="([0-9a-f]+)"', page.text)
    assert forms
    assert begin(locked, forms[1], "nim")


def test_the_token_leads_to_no_other_host(locked: TestClient) -> None:
    """A path that begins with two slashes would name a host in a redirection."""
    for path in ("//evil.example/", "/%5cevil.example/", "///evil.example"):
        answer = locked.get(f"http://127.0.0.1:8888{path}?token={SECRET}", follow_redirects=False)
        assert re.match(r"/[^/\\]", answer.headers["location"]), path


@pytest.mark.parametrize("change", ["", "a" * 32, "{0}", "{0}.", "{0}.{1}x", "x{0}.{1}"])
def test_made_up_cookies_begin_no_session(locked: TestClient, change: str) -> None:
    """Only a cookie that this server has signed is a session; a server started anew has other ones."""
    cookie = locked.get("/", params={"token": SECRET}, follow_redirects=False).headers["set-cookie"]
    name, _, value = cookie.partition(";")[0].partition("=")
    session, _, signature = value.partition(".")
    locked.cookies.clear()
    for wrong in (name, "herbrand", "herbrand-9999"):
        text = value if wrong != name else change.format(session, signature)
        assert locked.get("/", headers={"cookie": f"{wrong}={text}"}).status_code == 403
    assert locked.get("/", headers={"cookie": f"{name}={value}"}).status_code == 200


def test_a_ticket_is_good_for_one_visit() -> None:
    """Other users see the address on the browser's command line, but too late."""
    app = make_app(token=SECRET)
    ticket = app.ticket()
    with TestClient(app, base_url="http://127.0.0.1:8888") as client:
        assert client.get("/", params={"token": ticket}).status_code == 200
        client.cookies.clear()
        assert client.get("/", params={"token": ticket}).status_code == 403


def test_the_command_prints_an_address_with_a_token_that_is_new_each_time(tmp_path: Path) -> None:
    """Without the token its server answers 403; HERBRAND_TOKEN chooses it, --no-token goes without."""
    settings: list[tuple[list[str], dict[str, str]]] = [
        ([], {}),
        ([], {}),
        ([], {"HERBRAND_TOKEN": SECRET}),
        (["--no-token"], {"HERBRAND_TOKEN": SECRET}),
    ]
    servers, tokens = [], []
    with contextlib.ExitStack() as stack:
        for number, (options, environment) in enumerate(settings):  # they start at the same time
            words = [sys.executable, "-m", "herbrand", "web", "--port", "0", *options]
            environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path / str(number)), **environment}
            server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
            servers.append(stack.enter_context(server))
            stack.callback(server.terminate)
        for server in servers:
            assert server.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/(?:\?token=([\w-]+))?", server.stderr.readline())
            assert found
            tokens.append(found[1])
            bare = found[0].partition("?")[0]
            with httpx.Client(follow_redirects=True, timeout=60) as browser:
                assert _patiently(browser, bare).status_code == (403 if found[1] else 200)
                assert browser.get(found[0]).status_code == 200
                assert browser.get(bare).status_code == 200
    assert len(tokens[0]) == 32
    assert len({*tokens}) == 4
    assert tokens[2:] == [SECRET, None]


def _patiently(browser: httpx.Client, address: str) -> httpx.Response:
    """Wait for the server to listen."""
    until = time.monotonic() + 60
    while True:
        try:
            return browser.get(address)
        except httpx.ConnectError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@pytest.mark.parametrize("token", ["short", "with a blank", "with/slash", "ünknown-"])
def test_a_token_that_an_address_cannot_have_is_refused(token: str) -> None:
    """The command says what a token may be."""
    for command in ("web", "player"):
        result = CliRunner().invoke(cli, [command, "--token", token])
        assert result.exit_code == 2
        assert "8 to 200 letters" in result.output


def test_a_token_with_other_letters_is_refused_like_any_other(client: TestClient) -> None:
    """Comparing such texts in constant time raised an error."""
    assert client.post("/play", data={"key": "nim", "token": "ünknown"}).status_code == 403


def test_errors_have_pages_that_help(client: TestClient) -> None:
    """A wrong address, game or match says what to do."""
    assert 'Did you mean <a href="/game/connectFour">connectFour</a>?' in client.get("/game/conectfour").text
    assert "There is no such match" in client.get("/match/none").text
    missing = client.get("/nowhere")
    assert missing.status_code == 404
    assert "Back to the library" in missing.text


# -- children ---------------------------------------------------------------------------------


def test_a_child_that_takes_too_long_is_ended() -> None:
    """Rules that go on for ever do not hold up the server: the child is killed."""
    child = Child()
    endless = "(role a) (init (n 0)) (<= (p (s ?x)) (p ?x)) (p z) (<= (legal a m) (p ?x)) (goal a 0) (<= terminal (p q))"
    try:
        with pytest.raises((ChildLost, RequestError)):
            child.ask("preview", seconds=0.05, text=endless, moves=[])
    finally:
        child.close()
    assert not child.is_alive


def test_a_child_that_ended_by_itself_is_not_asked_again() -> None:
    """It is known to be gone before anybody asks, so that another one takes its place."""
    child = Child()
    try:
        assert child.ask("preview", text=games.text("nim"), moves=[])["over"] is False
        process = child._process._process
        assert process is not None
        process.kill()
        process.wait()
        assert not child.is_alive
        with pytest.raises(ChildLost):
            child.ask("preview", text=games.text("nim"), moves=[])
    finally:
        child.close()


def test_a_child_has_a_limit_on_memory() -> None:
    """A child that wants more memory than it may have says so or ends; the server goes on."""
    pytest.importorskip("resource", reason="limits on memory need the module resource")
    child = Child(megabytes=150)
    many = " ".join(f"(n {i})" for i in range(400))
    text = f"(role a) {many} (<= (legal a (m ?x ?y ?z)) (n ?x) (n ?y) (n ?z)) (goal a 0) (<= terminal (n q)) (init (f))"
    try:
        with pytest.raises((ChildLost, RequestError)):
            child.ask("preview", seconds=60, text=text, moves=[])
    finally:
        child.close()


def test_games_of_folders_are_found_by_name_only(tmp_path: Path) -> None:
    """A folder's rulesheets get names that are safe in addresses."""
    from herbrand.web.library import NotThere

    (tmp_path / "odd name&.kif").write_text("(role a)", encoding="utf-8")
    library = Library([tmp_path])
    assert library.find("odd-name-").text == "(role a)"
    with pytest.raises(NotThere):
        library.find("../odd name&")


def test_what_a_rulesheet_says_of_itself_is_shown(tmp_path: Path) -> None:
    """The sentences of the comment at its begin describe a game of a folder; title, legend and author do not."""
    from herbrand.evolve import BoardGame, InARow, Piece, Place, Squares

    design = BoardGame(Squares(3, 3), (Piece((Place(),)),), goals=(InARow(3),))
    (tmp_path / "one.kif").write_text(design.rulesheet(), encoding="utf-8")
    (tmp_path / "two.ggd").write_text(design.ggdl(), encoding="utf-8")
    (tmp_path / "three.kif").write_text("(role a) ; Not a comment at the begin.", encoding="utf-8")
    library = Library([tmp_path])
    told = design.in_words()
    assert [library.find(name).description for name in ("one", "two", "three")] == [told, told, ""]


def test_a_link_out_of_a_shown_folder_is_no_game(tmp_path: Path) -> None:
    """Neither one that was there at the start nor one that replaces a rulesheet later."""
    secret = tmp_path / "secret.kif"
    secret.write_text("(role secret)")
    folder = tmp_path / "shown"
    folder.mkdir()
    (folder / "linked.kif").symlink_to(secret)
    (folder / "inside.kif").symlink_to(folder / "lamp.kif")
    (folder / "lamp.kif").write_text("(role lamp)")
    library = Library([folder])
    assert library.find("lamp").text == library.find("inside").text == "(role lamp)"
    with pytest.raises(LookupError):
        library.find("linked")
    (folder / "lamp.kif").unlink()
    (folder / "lamp.kif").symlink_to(secret)
    with pytest.raises(LookupError):
        library.find("lamp")


def test_a_rulesheet_is_read_again_only_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading all files for each view of the home page took most of its time."""
    file = tmp_path / "lamp.kif"
    file.write_text("(role lamp)")
    library = Library([tmp_path])
    first = library.find("lamp")
    with monkeypatch.context() as unread:
        unread.delattr("pathlib.Path.read_bytes")
        assert library.find("lamp") is first
    file.write_text("(role candle)")
    assert library.find("lamp").text == "(role candle)"
    file.unlink()
    with pytest.raises(LookupError):
        library.find("lamp")


@pytest.mark.parametrize("waiting", [0, 1])
def test_a_turnstile_lets_few_wait(waiting: int) -> None:
    """The caller after those is refused at once; the others pass one after the other."""
    turnstile = Turnstile(waiting=waiting)
    inside, leave = threading.Event(), threading.Event()
    passed = []

    def enter() -> None:
        with turnstile.pass_through():
            inside.set()
            leave.wait(30)
            passed.append(True)

    threads = [threading.Thread(target=enter) for _ in range(1 + waiting)]
    for thread in threads:
        thread.start()
    assert inside.wait(30)
    if not waiting:
        with pytest.raises(Busy), turnstile.pass_through():
            pytest.fail("two are inside at once")
    leave.set()
    for thread in threads:
        thread.join(30)
    with turnstile.pass_through():
        assert len(passed) == 1 + waiting


def test_a_queue_lets_few_wait_without_threads() -> None:
    """One after the other; who comes when all places are taken is refused, and a failure gives its place back."""

    async def play() -> list[int]:
        queue, passed = Queue(1, 2), []

        async def enter(number: int) -> None:
            async with queue.pass_through():
                await asyncio.sleep(0.001)
                passed.append(number)
                if number == 1:
                    raise LookupError

        results = await asyncio.gather(*map(enter, range(5)), return_exceptions=True)
        assert [type(result) for result in results] == [type(None), LookupError, type(None), Busy, Busy]
        await enter(5)
        return passed

    assert asyncio.run(play()) == [0, 1, 2, 5]


@pytest.mark.parametrize(("accept", "text"), [("application/json", '"error"'), ("text/html", "is busy")])
def test_a_busy_server_says_so(accept: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks the browser to come back; the list of games is shown all the same."""

    def ask(*_: object, **__: object) -> None:
        raise Busy("too many requests are waiting; try again in a moment")

    monkeypatch.setattr("herbrand.web.matches.ChildPool.ask", ask)
    with TestClient(make_app(), base_url="http://127.0.0.1:8888") as client:
        answer = client.get("/game/nim", headers={"accept": accept})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert text in answer.text
        picture = client.get("/picture/nim.svg")
        assert (picture.status_code, picture.headers["content-type"]) == (503, "image/svg+xml")
        assert client.get("/").status_code == 200

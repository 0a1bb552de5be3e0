"""Matches in the web application: they are kept, followed from several screens, and end with a result."""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the web application needs starlette")
pytest.importorskip("multipart", reason="forms need python-multipart")
pytest.importorskip("httpx", reason="its tests need httpx")

from click.testing import CliRunner
from starlette.testclient import TestClient

from herbrand import games
from herbrand.cli.main import cli
from herbrand.errors import IllegalMoveError
from herbrand.match.records import Store, Verifier
from herbrand.play.simple import LegalPlayer
from herbrand.web.app import make_app
from herbrand.web.library import Library
from herbrand.web.matches import Matches, NoMatch
from herbrand.web.table import MatchTable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JSON = {"accept": "application/json"}
SECRET = "correct-horse-battery"
LINE = ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)")
"""A game of tic-tac-toe that x wins."""


class Browser:
    """A browser without a screen at a server of its own."""

    def __init__(self, database: Path, **options: Any) -> None:
        guard = make_app(database=database, **options)
        self.app = guard._app.routes[0].endpoint.__self__  # type: ignore[attr-defined]
        self.client = TestClient(guard, base_url="http://127.0.0.1:8888")
        self.client.__enter__()
        page = self.client.get("/help", params={"token": SECRET}).text
        found = re.search(r'name="herbrand-token" content="([0-9a-f]+)"', page)
        assert found
        self.token = found[1]

    def begin(self, game: str, **seats: str) -> str:
        """Begin a match; return its address."""
        fields = {"token": self.token, "key": game, **{f"seat:{r}": s for r, s in seats.items()}}
        answer = self.client.post("/play", data=fields, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    def view(self, address: str, **query: int) -> Any:
        """Return the view of a match."""
        answer = self.client.get(f"{address}/state", params=query, headers=JSON)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def act(self, address: str, do: str, **fields: object) -> Any:
        """Do something in a match; return its view, or the error."""
        data = {"token": self.token, **{name: str(value) for name, value in fields.items()}}
        return self.client.post(f"{address}/{do}", data=data, headers=JSON).json()

    def play(self, address: str, moves: tuple[str, ...]) -> Any:
        """Make moves of tic-tac-toe in turn; return the last view."""
        view = self.view(address)
        for move in moves:
            view = self.act(address, "move", role=view["turns"][0], move=move, step=view["steps"])
        return view

    def close_match(self, address: str) -> None:
        """End the process of a match, as if there were too many."""
        key = address.rpartition("/")[2]
        self.app.matches._open.pop(key).close()

    def close(self) -> None:
        """Stop the server."""
        self.client.__exit__(None, None, None)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where matches are kept."""
    return tmp_path / "matches.db"


@pytest.fixture
def browser(database: Path) -> Iterator[Browser]:
    """A browser at a server that other computers can reach."""
    browser = Browser(database, token=SECRET, address="http://192.0.2.7:8888")
    yield browser
    browser.close()


def table_of(name: str, **more: Any) -> MatchTable:
    """A match of a bundled game, with `seats` and other settings."""
    table = MatchTable()
    table.open(games.text(name), "prefix", name, **{"clock": 0.1, **more})
    return table


def test_a_restarted_server_goes_on_with_its_matches(database: Path) -> None:
    """Position, moves and what was taken back are in the records; the match is verified, and over as it was."""
    first = Browser(database)
    address = first.begin("ticTacToe", xplayer="you", oplayer="you")
    first.play(address, (*LINE[:3], "(mark 3 3)"))
    first.act(address, "undo")
    first.act(address, "flip")
    first.close()
    second = Browser(database)
    view = second.view(address)
    assert (view["steps"], view["turns"]) == (3, ["oplayer"])
    view = second.play(address, LINE[3:])
    assert view["result"] == {"kind": "over", "text": "xplayer won: xplayer 100, oplayer 0"}
    assert view["decided"] == ["0.0:1:1", "0.0:1:2", "0.0:1:3"]
    second.act(address, "undo")
    assert "go on" in second.client.get("/records").text
    view = second.act(address, "resign", role="xplayer")
    assert view["result"] == {"kind": "over", "text": "xplayer resigned: oplayer wins"}
    second.close()
    (verification,) = Verifier().verify_database(database)
    assert verification.findings == []
    record = verification.record
    assert record is not None
    assert (record.status, record.reason, len(record.moves)) == ("cut", "resigned xplayer", 4)
    third = Browser(database)
    assert third.view(address)["result"] == view["result"]
    third.close()


def test_a_ninth_match_ends_none(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a few matches have a subprocess; the others go on when their page asks for something."""
    monkeypatch.setattr("herbrand.web.matches.MAX_OPEN", 2)
    Store(database).close()
    matches = Matches(database)
    entry = Library().find("nim")
    seats = {"first": "you", "second": "you"}
    some = [matches.begin(entry, {"seats": seats, "clock": None, "parameters": {}}) for _ in range(3)]
    assert [match.is_alive for match in some] == [False, True, True]
    again = matches.find(some[0].key)
    assert again.is_alive
    assert again.ask("view")["turns"] == ["first"]
    assert not some[1].is_alive
    with pytest.raises(NoMatch):
        matches.find("none")
    matches.close()


def test_a_step_that_two_pages_ask_for_is_made_once(browser: Browser) -> None:
    """Both pages of a watched match ask for its next step; the version tells them when there is one."""
    address = browser.begin("ticTacToe", xplayer="random", oplayer="random")
    before = browser.client.get(f"{address}/version").json()["version"]
    views = [browser.act(address, "advance", step=0) for _ in range(2)]
    assert [view["steps"] for view in views] == [1, 1]
    assert browser.client.get(f"{address}/version").json()["version"] != before


@pytest.mark.parametrize(
    ("seats", "goals", "kind", "text"),
    [
        ("x", (100, 0), "won", "You won: xplayer 100, oplayer 0"),
        ("o", (100, 0), "lost", "You lost: xplayer 100, oplayer 0"),
        ("x", (50, 50), "draw", "A draw: xplayer 50, oplayer 50"),
        ("xo", (0, 100), "over", "oplayer won: xplayer 0, oplayer 100"),
    ],
)
def test_the_result_is_said_to_those_who_played(
    seats: str, goals: tuple[int, int], kind: str, text: str
) -> None:
    """A person reads "You won" or "You lost"; two at one screen read who won."""
    moves = {
        (100, 0): LINE,
        (0, 100): ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 3 3)", "(mark 2 3)"),
        (50, 50): tuple(f"(mark {a} {b})" for a, b in ("22", "11", "13", "31", "21", "23", "12", "32", "33")),
    }[goals]
    joints = [(move, "noop") if step % 2 == 0 else ("noop", move) for step, move in enumerate(moves)]
    table = table_of("ticTacToe", seats={f"{letter}player": "you" for letter in seats}, moves=joints)
    assert table.view()["result"] == {"kind": kind, "text": text}


def test_a_puzzle_is_solved_or_not() -> None:
    """One player has nobody to win against; facts that are on no board are beside it."""
    table = table_of("knightsTour", seats={"rider": "you"})
    view = table.view()
    while not view["over"]:
        if view["turns"]:
            table.move("rider", view["moves"][0]["move"], view["steps"])
        else:  # only one move is left
            table.advance(view["steps"])
        view = table.view()
    assert view["result"]["kind"] == "lost"
    assert view["result"]["text"].startswith("The game is over: rider ")
    assert ["jumps", str(view["steps"])] in view["others"]


def test_the_screen_is_handed_over_where_something_is_hidden() -> None:
    """Two people at one screen see only what they may, each after the screen was handed to them."""
    table = table_of("kuhn", seats={"first": "you", "second": "you"}, seed=1)
    table.advance(0)  # the cards are dealt
    view = table.view()
    assert view["hand_over"] == "first"
    assert "holds" not in view["said"]
    assert view["seen"] == []
    assert "moves" not in view
    table.show("first")
    view = table.view()
    assert view["hand_over"] == ""
    assert "holds first" in view["said"]
    assert view["moves"]
    table.move("first", "check", view["steps"])
    view = table.view()
    assert view["hand_over"] == "second"
    assert "holds" not in view["said"]
    assert all("first" not in one["role"] for one in view["seen"])
    with pytest.raises(IllegalMoveError):
        table.show("random")


def test_nothing_hidden_is_in_the_record_of_a_match_that_goes_on(browser: Browser) -> None:
    """The page of its record leads back to the match, and its data are refused."""
    address = browser.begin("kuhn", first="you", second="random")
    browser.act(address, "advance", step=0)
    key = address.rpartition("/")[2]
    answer = browser.client.get("/record", params={"match": key}, follow_redirects=False)
    assert answer.headers["location"] == address
    for what in ("state", "match", "curve", "judged?step=1"):
        assert browser.client.get(f"/record/{what}", params={"match": key}).status_code == 404, what
    assert browser.client.get("/record.json", params={"match": key}).status_code == 404
    assert browser.client.get(f"{address}/record.json", headers=JSON).status_code == 409


class Stubborn(LegalPlayer):
    """Reports on all moves but the one that it plays."""

    def report(self) -> Any:
        """Return a report whose first move is another one."""
        from herbrand.play.explanation import MoveReport, PlayerReport

        return PlayerReport("stubborn", self.role, (MoveReport("(mark 3 3)", 9, 70.0, proved=70.0),), 0.1)


def test_the_panel_names_the_move_that_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """It named the first move of the report, which is another one where a player draws."""
    monkeypatch.setattr("herbrand.match.local.make_player", lambda *_, **__: Stubborn())
    table = table_of("ticTacToe", seats={"xplayer": "legal", "oplayer": "you"})
    table.advance(0)
    view = table.view()
    assert view["last"][0]["move"] == "mark 1 1"
    (thought,) = view["thoughts"]
    assert [move["text"] for move in thought["moves"]] == ["mark 1 1", "mark 3 3"]


def test_programs_prepare_while_people_think(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reply of a match took as long as the preparation, which began only then."""
    ready = threading.Event()

    class Slow(LegalPlayer):
        def prepare(self, deadline: float) -> None:
            """Take a while."""
            del deadline
            ready.wait(60)

    monkeypatch.setattr("herbrand.match.local.make_player", lambda *_, **__: Slow())
    monkeypatch.setattr("herbrand.web.table.NETWORK_SECONDS", 0.0)
    table = table_of("ticTacToe", seats={"xplayer": "you", "oplayer": "legal"})
    assert table.view()["turns"] == ["xplayer"]
    table.move("xplayer", "(mark 2 2)", 0)
    ready.set()
    table.advance(1)
    assert table.view()["steps"] == 2


def test_proved_is_never_said_of_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a player proved for one of the states that are possible is an estimate."""
    monkeypatch.setattr("herbrand.match.local.make_player", lambda *_, **__: Stubborn())
    table = table_of("kriegTicTacToe", seats={"x": "legal", "o": "random"})
    table.advance(0)
    (thought,) = table.view()["thoughts"]
    assert [move["proved"] for move in thought["moves"]] == [False, False]
    assert thought["moves"][1]["value"] == 70


@pytest.mark.parametrize("player", ["puzzle", "mcts"])
def test_hints_for_puzzles_have_a_plan(player: str) -> None:
    """The planner knows a shortest way, or tree search a way: it gave such a move the 0 points of its playouts."""
    table = table_of("blocksWorld", seats={"robot": "you"})
    assert table.hint("robot")["thought"]["moves"][0]["value"] == 100
    match = table._require_match()
    _, report = match.hint("robot", player)
    assert report is not None
    assert (report.best.value, report.best.proved) == (100, 100)


def test_a_match_is_played_again_with_sides_switched(browser: Browser) -> None:
    """A rematch has the same game and clock, and each role the seat of the next one if sides are switched."""
    address = browser.begin("ticTacToe", xplayer="you", oplayer="beginner")
    fields = {"token": browser.token, "switch": "yes"}
    answer = browser.client.post(f"{address}/rematch", data=fields, follow_redirects=False)
    again = answer.headers["location"]
    assert again != address
    assert [role["seat"] for role in browser.view(again)["roles"]] == ["beginner", "you"]


def test_the_board_is_turned_for_the_upper_side() -> None:
    """Whoever plays black in breakthrough sees its pieces below, and can turn the board."""
    table = table_of("breakthrough", seats={"black": "you"})
    turned = table.view()
    assert turned["flipped"]
    table.flip()
    back = table.view()
    assert not back["flipped"]
    assert turned["svg"] != back["svg"]
    assert not table_of("breakthrough", seats={"white": "you"}).view()["flipped"]


# -- friends elsewhere ------------------------------------------------------------------------


def test_a_friend_plays_by_a_link(browser: Browser) -> None:
    """The link admits to one seat without a token: its moves, its side of the board, nothing else."""
    address = browser.begin("breakthrough", white="you", black="friend")
    page = browser.client.get(address).text
    found = re.search(r'value="http://192\.0\.2\.7:8888(/seat/[\w-]{20,})"', page)
    assert found
    seat = found[1]
    friend = TestClient(browser.client.app, base_url="http://127.0.0.1:8888")
    shown = friend.get(seat).text
    assert "/seat/" in shown
    assert address.rpartition("/")[2] not in shown
    assert "Take back" not in shown
    view = friend.get(f"{seat}/state", headers=JSON).json()
    assert (view["turns"], view["awaited"], view["flipped"]) == ([], ["white"], True)
    wrong = friend.post(
        f"{seat}/move", data={"role": "white", "move": "(move a 2 a 3)", "step": "0"}, headers=JSON
    )
    assert (wrong.status_code, wrong.json()["error"]) == (409, "white is not played here")
    browser.act(address, "move", role="white", move="(move a 2 a 3)", step=0)
    answer = friend.post(
        f"{seat}/move", data={"role": "black", "move": "(move a 7 a 6)", "step": "1"}, headers=JSON
    )
    assert answer.json()["steps"] == 2
    assert browser.view(address)["turns"] == ["white"]
    for do in ("undo", "hint", "show", "rematch"):
        assert friend.post(f"{seat}/{do}", headers=JSON).status_code in (404, 405), do
    for closed in (address, "/", f"{seat}/record.json", f"{seat}/bar?step=0"):
        assert friend.get(closed).status_code in (403, 404, 405), closed
    assert friend.get("/seat/none").status_code == 403
    assert friend.get("/seat/e").status_code == 403  # part of what is in the database
    browser.close_match(address)
    assert friend.get(f"{seat}/state", headers=JSON).json()["steps"] == 2
    settings = browser.client.get(f"{address}/record.json").json()["settings"]
    assert "friends" not in settings
    foreign = friend.post(f"{seat}/flip", headers={"origin": "http://other.example"})
    assert foreign.status_code == 403


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--listen", "0.0.0.0", "--no-token"], "anyone who can reach"),
        (["--listen", "here"], "no IPv4 address"),
    ],
)
def test_others_reach_the_server_with_a_token_only(options: list[str], message: str) -> None:
    """A server open to everyone is refused, as is an invalid address."""
    result = CliRunner().invoke(cli, ["web", *options])
    assert result.exit_code == 2
    assert message in result.output


def test_only_a_server_that_others_reach_has_seats_for_friends(database: Path) -> None:
    """Without an address for others the seat is neither offered nor accepted."""
    browser = Browser(database)
    assert 'value="friend"' not in browser.client.get("/game/nim").text
    fields = {"token": browser.token, "key": "nim", "seat:first": "friend", "seat:second": "you"}
    assert browser.client.post("/play", data=fields).status_code == 400
    browser.close()


def test_seats_for_friends_are_offered_by_a_server_that_others_reach(browser: Browser) -> None:
    """The page of a game has them, and what each player is for."""
    page = browser.client.get("/game/nim").text
    assert page.count('value="friend"') == 2
    assert 'data-about="sees a move ahead, and often errs"' in page
    assert '<option value="strong" selected' in page
    assert "Monte-Carlo tree search" in browser.client.get("/help").text


# -- files ------------------------------------------------------------------------------------


def test_a_record_is_imported(browser: Browser) -> None:
    """A document of herbrand, or of ggp-base with its game; one that contradicts the rules is refused."""
    address = browser.begin("ticTacToe", xplayer="you", oplayer="you")
    browser.play(address, LINE)
    document = browser.client.get(f"{address}/record.json").json()

    def send(data: object, **fields: str) -> Any:
        file = {"file": ("match.json", data if isinstance(data, bytes) else json.dumps(data).encode())}
        return browser.client.post("/records/import", data={"token": browser.token, **fields}, files=file)

    copied = send({**document, "matchId": "copy", "randomToken": "a" * 32})
    assert copied.status_code == 200, copied.text
    assert "<h1>ticTacToe</h1>" in copied.text
    assert browser.client.get("/match/copy").status_code == 404
    assert "already" in send(document).text
    wrong = {**document, "matchId": "wrong", "randomToken": "b" * 32, "moves": [["( mark 9 9 )", "noop"]]}
    assert "contradicts the rules" in send(wrong).text
    assert "not JSON" in send(b"[").text
    assert send(b"\x89PNG\r\n\x1a\n\xff").status_code == 415
    ours = ("format", "rulesheet", "settings", "replies")
    bare = {key: value for key, value in document.items() if key not in ours}
    bare |= {"matchId": "base", "randomToken": "c" * 32}
    assert "give its game" in send(bare).text
    assert send(bare, game="ticTacToe").status_code == 200


def test_a_picture_is_no_rulesheet(browser: Browser) -> None:
    """A file that is not text was opened in the editor as thousands of errors."""
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))
    answer = browser.client.post(
        "/upload", data={"token": browser.token}, files={"file": ("board.png", png, "image/png")}
    )
    assert answer.status_code == 415
    assert "`board.png` is not text" in answer.text


def test_what_is_written_is_saved_into_the_library(database: Path, tmp_path: Path) -> None:
    """It is a file of the folder and a game of the library; another file of that name is replaced only on request."""
    folder = tmp_path / "mine"
    browser = Browser(database, saved=folder)
    fields = {"token": browser.token, "text": games.text("nim"), "notation": "auto", "title": "../my heaps"}
    answer = browser.client.post("/edit/save", data=fields, headers=JSON)
    key = answer.json()["key"]
    assert [path.name for path in folder.iterdir()] == ["my heaps.kif"]
    assert browser.client.get(f"/game/{key}").status_code == 200
    other = {**fields, "text": games.text("ticTacToe")}
    refused = browser.client.post("/edit/save", data=other, headers=JSON)
    assert (refused.status_code, "already" in refused.json()["error"]) == (409, True)
    assert "already" in browser.client.post("/edit/save", data=other).text
    assert (folder / "my heaps.kif").read_text("utf-8") == games.text("nim")
    for more in ({"opened": key}, {"replace": "yes"}):
        assert browser.client.post("/edit/save", data={**other, **more}, headers=JSON).status_code == 200
    assert browser.client.get(f"/download/{key}").text == games.text("ticTacToe")
    browser.close()
    with TestClient(make_app(saved=folder), base_url="http://127.0.0.1") as again:
        assert "my heaps" in again.get("/").text


def test_the_analysis_finds_imported_files(tmp_path: Path) -> None:
    """As all other pages do, beside the file of the rulesheet."""
    from herbrand.web.inspector import Inspector

    (tmp_path / "ends.ggd").write_text("over(done)\n")
    text = 'consult { over } from "ends"\nrole a\nbase State = done | going\ninit State := going\n'
    text += "a -> go ==> State = done\nterminal :- State == ?s and over(?s)\na $= 100\n"
    results = Inspector().analyse(text, "ggdl", "main", str(tmp_path / "main.ggd"), playouts=10)
    assert results["verdicts"]["properties"]["termination"]["verdict"] == "proved"


def test_an_unknown_verdict_names_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The documented install had no SAT solver, and nothing said that verdicts were unknown for that reason."""
    from herbrand.web.inspector import Inspector

    monkeypatch.setattr("herbrand.web.inspector.find_spec", lambda _: None)
    monkeypatch.setattr("herbrand.analyse.proofs.prove.analyse", lambda *_, **__: FakeAnalysis())
    notes = Inspector().analyse(games.text("coinMatching"), "prefix", "coinMatching", playouts=10)["notes"]
    assert any("python-sat and scipy not installed" in note and "[analyse]" in note for note in notes)


class FakeAnalysis:
    """An analysis that found nothing."""

    def as_json(self) -> dict[str, Any]:
        """Return an unknown verdict."""
        return {"properties": {"termination": {"verdict": "unknown", "reason": "", "witness": None}}}

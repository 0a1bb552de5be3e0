"""The web application solves games, says how far it is, and offers a player that follows the solution."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from herbrand import games
from herbrand.errors import GameError
from herbrand.web.solver import find_solution
from herbrand.web.table import MatchTable

pytest.importorskip("starlette")
pytest.importorskip("httpx")

from starlette.testclient import TestClient

from herbrand.web import make_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A browser without a screen."""
    with TestClient(make_app(), base_url="http://127.0.0.1:8888") as client:
        yield client


def token_of(client: TestClient) -> str:
    """What a page of ours carries."""
    found = re.search(r'name="herbrand-token" content="([0-9a-f]+)"', client.get("/").text)
    assert found is not None
    return found[1]


def played(name: str, solution: dict[str, str], **seats: str) -> Any:
    """Play a match of programs to the end; return the views after the first and the last step."""
    table = MatchTable()
    table.open(games.text(name), "auto", name, seats, clock=0.2, seed=1, solution=solution)
    view = table.view()
    while not view["over"]:
        table.advance(view["step"])
        view = table.view()
    return table.view(step=1), view


def test_a_game_is_solved_as_a_job_and_its_solution_plays(client: TestClient) -> None:
    """Before, no seat is perfect; while it runs, the page says how far it is; then values, and another opponent."""
    token = token_of(client)
    fields = {"token": token, "key": "nim", "seat:first": "perfect", "seat:second": "legal", "clock": "0.2"}
    assert client.post("/play", data=fields).status_code == 400
    assert client.get("/analyse/nim/solution", headers={"accept": "application/json"}).status_code == 404
    assert 'value="perfect"' not in client.get("/game/nim").text
    assert client.post("/analyse/nim/solution", data={"token": "none"}).status_code == 403
    page = client.post("/analyse/nim/solution", data={"token": token}).text
    assert 'id="solving"' in page
    assert client.post("/analyse/kuhn/solution", data={"token": token}).status_code == 503
    deadline = time.monotonic() + 60
    while client.get("/analyse/nim/solution").json()["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    page = " ".join(client.get("/analyse/nim").text.split())
    assert "<li>With best play: first 100, second 0</li>" in page
    moves = re.findall(r'<tr><td>([^<]*)</td><td class="number">(\d+)</td></tr>', page)
    assert moves[0] == ("(take a 2)", "100")
    assert {worth for _, worth in moves[1:]} == {"0"}
    assert "follows the solution: all 232 positions are solved." in page
    assert 'value="perfect"' in client.get("/game/nim").text
    match = client.post("/play", data=fields)
    assert match.status_code == 200
    state = client.get(f"{match.url.path}/state").json()
    assert [one["seat"] for one in state["roles"]] == ["perfect", "legal"]


def test_what_cannot_be_solved_is_said(client: TestClient) -> None:
    """Errors of the solver are shown on the page, and there is no perfect player."""
    token = token_of(client)
    client.post("/analyse/kuhn/solution", data={"token": token})
    deadline = time.monotonic() + 60
    while client.get("/analyse/kuhn/solution").json()["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert "The game was not solved: roles do not see everything" in client.get("/analyse/kuhn").text
    assert 'value="perfect"' not in client.get("/game/kuhn").text


def test_strategies_are_replayed_and_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game with too many states to be listed is searched; its strategies win from the file, for these rules only."""
    monkeypatch.setattr("herbrand.analyse.solving.value._FEW_STATES", 20)
    file = str(tmp_path / "nim.npz")
    reports: list[Any] = []
    found = find_solution(games.text("nim"), "prefix", "nim", file, report=reports.append)
    assert found["claims"] == ["first gets at least 100"]
    assert found["value"] == {"first": 100, "second": 0}
    assert found["perfect"]["file"] == file
    assert reports[0]["task"] == "solving"
    for other in ("random", "legal"):
        first, last = played("nim", found["perfect"], first="perfect", second=other)
        assert last["result"]["text"].startswith("first won")
        assert "by a strategy of nim.npz: first gets at least 100" in str(first["thoughts"])
    with pytest.raises(GameError, match="solved with other parameters"):
        played("ticTacToe", found["perfect"], xplayer="perfect", oplayer="legal")


def test_games_with_few_states_are_solved_by_the_player(tmp_path: Path) -> None:
    """Infix notation and GGDL are solved as the rules that players are sent, so that matches have the same ones."""
    for name in ("ticTacToeInfix", "nim.ggd"):
        found = find_solution(games.text(name), "auto", name, str(tmp_path / "none.npz"))
        assert found["perfect"]["file"] == ""
        roles = list(found["value"])
        first, last = played(name, found["perfect"], **{roles[0]: "perfect", roles[1]: "random"})
        assert "states solved in" in str(first["thoughts"])
        assert last["over"]
    assert not list(tmp_path.iterdir())

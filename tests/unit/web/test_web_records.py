"""Records on the page: lists, replays with notes, tournaments while they are played."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("starlette", reason="the web application needs starlette")
pytest.importorskip("httpx", reason="its tests need httpx")

from starlette.testclient import TestClient

import herbrand
from herbrand.match.protocol.manager import Manager, MatchSettings, seats_for
from herbrand.match.protocol.seats import LocalSeat
from herbrand.match.records import Store
from herbrand.match.records.record import new_token
from herbrand.match.records.recorder import Recorder
from herbrand.match.tournament import Tournament
from herbrand.match.tournament.runner import plan_with
from herbrand.play import make_player
from herbrand.web.app import App, make_app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NASTY = "</script><b>x&y?z/../#"
OPENING = [["(mark 2 2)", "noop"], ["noop", "(mark 1 1)"]]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match with an opening, a copy with a name that nobody expects, a tournament of two matches."""
    path = tmp_path_factory.mktemp("records") / "matches.db"
    game = herbrand.load("ticTacToe")
    with Store(path) as store:
        manager = Manager(
            game, MatchSettings(start_clock=20, play_clock=10, seed=4), listener=Recorder(store)
        )
        seats = [LocalSeat(make_player("random", seed=n), name=f"player-{n}") for n in range(2)]
        asyncio.run(manager.play(seats_for(game, seats), match_id="m.1", opening=OPENING))
        record = store.load("m.1")
        store.save(replace(record, id=NASTY, token=new_token(), players={"xplayer": NASTY, "oplayer": "b"}))
        coins = herbrand.load("coinMatching")
        players = {"one": "random", "two": "random"}
        plan = plan_with({"coinMatching": coins}, players, name="cup of coins", start_clock=20, play_clock=10)
        with ThreadPoolExecutor(1) as executor:
            Tournament.create(store, plan).run(executor)
    return path


@pytest.fixture(scope="module")
def client(database: Path) -> Iterator[TestClient]:
    """A browser without a screen."""
    with TestClient(make_app(database=database), base_url="http://127.0.0.1:8888") as client:
        yield client


def test_matches_and_tournaments_are_listed(client: TestClient) -> None:
    """Each match has a line with players and goals and a way to its page; names do not become markup."""
    page = client.get("/records").text
    assert 'href="/record?match=m.1"' in page
    assert 'href="/tournament?name=cup%20of%20coins"' in page
    assert "2 of 2 matches played" in page
    assert "<b>x" not in page
    address = re.search(r'href="(/record\?match=%3C[^"]*)"', page)
    assert address is not None
    other = client.get(address[1]).text
    assert "<b>x" not in other
    assert "&lt;b&gt;x" in other


def test_a_match_is_replayed_with_notes(client: TestClient) -> None:
    """Every step has its position, who played what and how long it took; the opening is said to be one."""
    told = client.get("/record/match", params={"match": "m.1"}).json()
    assert [one["opening"] for one in told["steps"]][:3] == [True, True, False]
    assert [made["move"] for made in told["steps"][0]["moves"]] == ["(mark 2 2)", "noop"]
    assert [made["text"] for made in told["steps"][0]["moves"]] == ["mark 2 2", "noop"]
    assert any(made["seconds"] is not None for made in told["steps"][2]["moves"])
    for step in (0, 1, 5):
        shown = client.get("/record/state", params={"match": "m.1", "step": step}).json()
        assert shown["svg"].count("hb-mark") == step
    page = client.get("/record", params={"match": "m.1", "step": 2}).text
    assert "step=1" in page
    assert "step=3" in page
    assert "prescribed move" in page
    assert "the game is over" in client.get("/record", params={"match": "m.1"}).text


def test_how_the_chances_went_is_drawn(client: TestClient) -> None:
    """The curve has a line for each role, which ends at what it got."""
    drawn = client.get("/record/curve", params={"match": "m.1"}).json()
    told = client.get("/record/match", params={"match": "m.1"}).json()
    assert drawn["svg"].count("<polyline") == 2
    spoken = re.search(r'aria-label="([^"]*)"', drawn["svg"])
    assert spoken is not None
    for role in told["roles"]:
        assert re.search(rf"{role['name']} from \d+ to {role['goal']}\b", spoken[1])


def test_moves_are_judged(client: TestClient) -> None:
    """A search says of the move of each step what it is worth, and what would have been better."""
    (one,) = client.get("/record/judged", params={"match": "m.1", "step": 3}).json()
    assert one["role"] == "xplayer"
    assert 0 <= one["value"] <= one["best_value"] <= 100
    assert (one["best"] == one["move"]) == (one["value"] == one["best_value"])
    assert client.get("/record/judged", params={"match": "m.1", "step": 0}).json() == []


def test_standings_are_shown(client: TestClient) -> None:
    """A tournament has its table, who beat whom, and its matches."""
    page = client.get("/tournament", params={"name": "cup of coins"}).text
    for text in ("Standings", "Head to head", "2 of 2 matches played", "/record?match=cup-of-coins.1.1.a"):
        assert text in page


def test_those_who_listen_hear_what_is_written(tmp_path: Path) -> None:
    """The stream says so in the beginning and after each writing of another program, and then only."""
    path = tmp_path / "matches.db"
    with Store(path) as store:

        async def listen() -> list[bool]:
            response: Any = await App((), path, tmp_path).records.changes(None)  # type: ignore[arg-type]
            events = response.body_iterator
            heard = ["changed" in await anext(events), "changed" in await anext(events)]
            plan = plan_with(
                {"nim": herbrand.load("nim")}, {"one": "random", "two": "random"}, name="another cup"
            )
            Tournament.create(store, plan)
            heard += ["changed" in await anext(events), "changed" in await anext(events)]
            await events.aclose()
            return heard

        assert asyncio.run(listen()) == [True, False, True, False]


def test_what_is_not_there_is_said(client: TestClient) -> None:
    """Unknown matches and tournaments, and a server without matches, have pages that help."""
    for address in ("/record?match=none", "/tournament?name=none", "/record/match?match=none", "/record"):
        assert client.get(address).status_code == 404
    assert client.get("/record/state?match=m.1&step=x").status_code == 400
    with TestClient(make_app(), base_url="http://127.0.0.1") as other:
        assert "--record matches.db" in other.get("/records").text
        assert other.get("/record?match=m.1").status_code == 404

"""The web application in a real browser: people click, type and look.

Needs Playwright for Python and a Chromium; screenshots go to the folder that HERBRAND_SCREENSHOTS names.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("starlette", reason="the web application needs starlette")
uvicorn = pytest.importorskip("uvicorn", reason="serving it needs uvicorn")
sync_api = pytest.importorskip("playwright.sync_api", reason="driving a browser needs playwright")

from herbrand.web.app import make_app  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from herbrand.web.guard import Guard

PATIENCE = 25_000
"""Milliseconds to wait for what the server has to work out."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of records, with a tournament in which nothing has been played yet."""
    import herbrand
    from herbrand.match.records import Store
    from herbrand.match.tournament import Tournament
    from herbrand.match.tournament.runner import plan_with

    path = tmp_path_factory.mktemp("records") / "matches.db"
    players = {"red cap": "random", "blue cap": "random"}
    options = {"name": "cup", "start_clock": 60, "play_clock": 60}
    plan = plan_with({"ticTacToe": herbrand.load("ticTacToe")}, players, **options)
    with Store(path) as store:
        Tournament.create(store, plan)
    return path


@contextmanager
def served(app: Guard) -> Iterator[str]:
    """The address of a running server."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def address(database: Path) -> Iterator[str]:
    """A server for everyone."""
    with served(make_app(database=database)) as address:
        yield address


@pytest.fixture
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh window; faults of the script and requests to other servers fail the test."""
    settings = {
        "viewport": {"width": 1280, "height": 860},
        "reduced_motion": "reduce",
        **getattr(request, "param", {}),
    }
    context = browser.new_context(base_url=address, **settings)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: None if asked.url.startswith(address) else faults.append(asked.url))
    yield page
    context.close()
    assert not [fault for fault in faults if "409" not in fault]


def keep(page: Page, name: str) -> None:
    """Keep a picture of the page."""
    folder = os.environ.get("HERBRAND_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def sit(page: Page, game: str, **seats: str) -> None:
    """Begin a match."""
    page.goto(f"/game/{game}")
    for role, seat in seats.items():
        page.select_option(f'select[name="seat:{role}"]', seat)
    page.click("button.primary")
    page.wait_for_selector("#board svg")


def turn(page: Page, said: str) -> None:
    """Wait until the page says whose turn it is; asked in each frame, it would have to be painted as often."""
    page.wait_for_function(
        "said => document.getElementById('turn').textContent.startsWith(said)", arg=said, polling=50
    )


def click(page: Page, place: str) -> None:
    """Click a cell of the board."""
    page.click(f'[data-cell="{place}"]')


def test_the_page_asks_for_a_token_and_then_opens_everything(browser: Browser) -> None:
    """Typed or in the address, the token is gone from it at once, and links, pictures and forms work."""
    for way in ("typed", "address"):
        with served(make_app(token="correct-horse")) as address, browser.new_context() as context:
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(address)
            sync_api.expect(page.locator("h1")).to_have_text("Whose server is this?")
            keep(page, "token")
            if way == "typed":
                page.fill("#token", "battery-staple")
                page.press("#token", "Enter")
                sync_api.expect(page.locator(".lead")).to_contain_text("not the token")
                page.fill("#token", "correct-horse")
                page.press("#token", "Enter")
            else:
                page.goto(f"{address}/?token=correct-horse")
            sync_api.expect(page).to_have_url(f"{address}/")
            page.click('a[href="/game/nim"]')
            sync_api.expect(page).to_have_url(f"{address}/game/nim")
            page.click("button.primary")
            sync_api.expect(page).to_have_url(re.compile("/match/"))


def test_tic_tac_toe_is_played_by_clicks_and_replayed(page: Page) -> None:
    """Two people at one screen click a whole game; its last move, the only one, makes itself."""
    sit(page, "ticTacToe", xplayer="you", oplayer="you")
    for step, cell in enumerate(("2:2", "1:1", "1:3", "3:1", "2:1", "2:3", "1:2", "3:2")):
        turn(page, "Your move, xplayer" if step % 2 == 0 else "Your move, oplayer")
        click(page, f"0.0:{cell}")
    turn(page, "The game is over: xplayer 50, oplayer 50")
    keep(page, "tic-tac-toe")
    page.fill("#slider", "1")
    turn(page, "Step 1 of 9")
    assert page.locator(".hb-mark").count() == 1
    page.click('[data-step="last"]')
    turn(page, "The game is over")
    assert page.locator(".hb-mark").count() == 9


@pytest.mark.slow  # a phone drops a disc into a column, too
def test_connect_four_is_won_by_clicking_columns(page: Page) -> None:
    """Any cell of a column drops a disc into it; four in a line win."""
    sit(page, "connectFour", red="you", yellow="you")
    for step, column in enumerate("4343434"):
        turn(page, "Your move, red" if step % 2 == 0 else "Your move, yellow")
        click(page, f"0.0:{column}:6")
        if step == 4:
            keep(page, "connect-four")
    turn(page, "The game is over: red 100, yellow 0")


def test_breakthrough_is_played_from_cell_to_cell_against_a_program(page: Page) -> None:
    """Two clicks are a move, a third elsewhere changes one's mind; the program answers, and one takes it back."""
    sit(page, "breakthrough", white="you", black="random")
    turn(page, "Your move, white")
    click(page, "0.0:d:2")
    assert page.locator(".hb-cell.can").count() == 3
    click(page, "0.0:e:2")
    click(page, "0.0:e:3")
    page.wait_for_function("() => document.querySelectorAll('#history li').length === 2")
    turn(page, "Your move, white")
    assert page.locator(".last-arrow").count() == 1
    keep(page, "breakthrough")
    page.click("text=Take back")
    page.wait_for_function("() => document.querySelectorAll('#history li').length === 0")


def test_a_game_is_played_with_the_keyboard_alone(page: Page) -> None:
    """From the page of the game on: Tab leads to the board and stays there, arrows go from cell to cell, Enter clicks."""
    page.goto("/game/ticTacToe")
    page.select_option('select[name="seat:oplayer"]', "you")
    page.focus("button.primary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#board .can")
    turn(page, "Your move, xplayer")
    while page.evaluate("() => document.activeElement.dataset.cell") is None:
        page.keyboard.press("Tab")
    for row, column in ((2, 2), (1, 2), (1, 1), (2, 1), (3, 3)):
        page.wait_for_function("() => document.activeElement.dataset.cell")
        for _ in range(4):
            _, here, there = page.evaluate("() => document.activeElement.dataset.cell").split(":")
            down, right = row - int(here), column - int(there)
            if down or right:
                way = ("Up", "Down")[down > 0] if down else ("Left", "Right")[right > 0]
                page.keyboard.press(f"Arrow{way}")
        page.keyboard.press("Enter")
        page.wait_for_selector(f'[data-cell="0.0:{row}:{column}"] .hb-mark')
    turn(page, "The game is over: xplayer 100, oplayer 0")
    assert page.inner_text("#heard") == "xplayer: mark 3 3. The game is over: xplayer 100, oplayer 0"


def test_moves_without_places_are_in_the_list(page: Page) -> None:
    """The list has every move, and the filter leaves those that fit."""
    sit(page, "nim", first="you", second="you")
    turn(page, "Your move, first")
    click(page, "0.0::b")
    page.wait_for_selector("dialog[open]")
    keep(page, "which-move")
    page.click("#cancel")
    page.fill("#filter", "c 2")
    assert page.locator("#moves .move").all_inner_texts() == ["take c 2"]
    page.click("#moves .move")
    turn(page, "Your move, second")


def test_a_game_is_broken_and_mended(page: Page) -> None:
    """A missing parenthesis is found while one types, and its button puts it back; then the game is played."""
    page.goto("/edit?game=ticTacToe")
    page.wait_for_function("() => document.getElementById('verdict').textContent === 'no problems'")
    whole = page.input_value("#text")
    page.fill("#text", whole.replace("(init (control xplayer))", "(init (control xplayer)"))
    page.wait_for_selector("#findings li.error")
    assert page.locator("#verdict").inner_text().endswith("error")
    assert page.is_disabled("#play")
    page.locator("mark.error").first.wait_for(state="attached")
    keep(page, "editor-error")
    page.locator("button.fix").first.click()
    page.wait_for_function("() => document.getElementById('verdict').className.includes('good')")
    page.click("#tab-game")
    page.wait_for_selector("#preview svg")
    keep(page, "editor")
    page.click("#tab-relations")
    page.click('#drawn [data-relation="legal/2"]')
    assert page.locator("#drawn .relation:not(.faint)").count() == 3  # legal, true and rivals
    keep(page, "relations")
    page.fill("#text", whole.replace("(rivals xplayer oplayer)", "(rivals xplayer xplayer)"))
    page.click("#repair")
    page.locator("#findings ins").first.wait_for()
    keep(page, "editor-repair")
    page.click("#findings li.note button.fix")
    page.wait_for_function("() => document.getElementById('verdict').className.includes('good')")
    assert page.input_value("#text") == whole
    page.click("#play")
    page.wait_for_selector("#board svg")
    turn(page, "Your move, xplayer")


@pytest.mark.parametrize(
    "page",
    [{"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": "dark"}],
    indirect=True,
    ids=["phone"],
)
def test_pages_fit_a_phone(page: Page) -> None:
    """At the width of a phone, in the dark, no page has to be moved sideways, and one can play by touch."""
    narrow = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    for where in ("/", "/game/connectFour", "/edit?game=nim", "/help"):
        page.goto(where)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(narrow), where
        keep(page, "phone" + where.split("?")[0].replace("/", "-").rstrip("-"))
    sit(page, "connectFour", red="you", yellow="you")
    turn(page, "Your move, red")
    page.tap('[data-cell="0.0:4:1"]')
    turn(page, "Your move, yellow")
    assert page.evaluate(narrow)
    keep(page, "phone-match")


def test_the_library_filters_while_one_types(page: Page) -> None:
    """Cards that do not fit go away at once."""
    page.goto("/")
    page.fill("#query", "connect four")
    page.wait_for_function("() => document.getElementById('amount').textContent === '2 games'")
    page.fill("#query", "")
    page.wait_for_function("() => [...document.images].slice(0, 4).every((one) => one.complete)")
    keep(page, "library")


def test_a_tournament_is_watched_and_a_match_of_it_replayed(page: Page, database: Path) -> None:
    """The table fills while matches are played elsewhere; then one of them is gone through by the slider."""

    def play() -> None:
        from herbrand.match.records import Store
        from herbrand.match.tournament import Tournament

        with Store(database) as store, ThreadPoolExecutor(1) as executor:
            Tournament(store, "cup").run(executor)

    page.goto("/records")
    page.click("text=cup")
    page.wait_for_selector("text=0 of 0 matches played")
    playing = threading.Thread(target=play)
    playing.start()
    page.wait_for_selector("text=2 of 2 matches played", timeout=120_000)
    playing.join()
    keep(page, "tournament")
    page.click("text=cup.1.1.a")
    page.wait_for_selector("#curve svg")
    page.fill("#slider", "2")
    page.wait_for_function("() => document.querySelectorAll('#board .hb-mark').length === 2")
    assert page.locator("#notes tr").count() == 2
    keep(page, "replay")
    page.locator("#history li").first.click()
    page.wait_for_function("() => document.querySelectorAll('#board .hb-mark').length === 1")

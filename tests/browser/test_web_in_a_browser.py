"""The web application in a real browser: people click, type and look.

Needs Playwright for Python and a Chromium; screenshots go to the folder that HERBRAND_SCREENSHOTS names.
"""

from __future__ import annotations

import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
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

PATIENCE = 60_000
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
def reserved(port: int = 0) -> Iterator[socket.socket]:
    """A socket at a port, which nobody else gets while it is open; without a server, connections are refused."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
        yield bound


@contextmanager
def served(app: Guard, port: int = 0) -> Iterator[str]:
    """The address of a running server."""
    with reserved(port) as listener:
        listener.listen(100)
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
    assert not [fault for fault in faults if "409" not in fault and "404" not in fault]


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
    """Wait until the page says whose turn it is; asked in each frame, it would have to be painted as often.

    A move that is clicked before the script has loaded is sent as a form: a page that is loading has no such line.
    """
    page.wait_for_function(
        "said => document.getElementById('turn')?.textContent.startsWith(said)", arg=said, polling=50
    )


def click(page: Page, place: str) -> None:
    """Click a cell of the board."""
    page.click(f'[data-cell="{place}"]')


def test_the_page_asks_for_a_token_and_then_opens_everything(browser: Browser) -> None:
    """Typed or in the address, the token is gone from it at once, and links, pictures and forms work."""
    with served(make_app(token="correct-horse")) as address:
        for way in ("typed", "address"):
            context = browser.new_context()
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
            else:  # few games: each picture is drawn by the server
                page.goto(f"{address}/?q=nim&token=correct-horse")
            sync_api.expect(page).to_have_url(f"{address}/{'' if way == 'typed' else '?q=nim'}")
            page.click('a[href="/game/nim"]')
            sync_api.expect(page).to_have_url(f"{address}/game/nim")
            page.click("button.primary")
            sync_api.expect(page).to_have_url(re.compile("/match/"))
            context.close()


def test_tic_tac_toe_is_played_by_clicks_and_replayed(page: Page) -> None:
    """Two people at one screen click a whole game; its last move, the only one, makes itself."""
    sit(page, "ticTacToe", xplayer="you", oplayer="you")
    for step, cell in enumerate(("2:2", "1:1", "1:3", "3:1", "2:1", "2:3", "1:2", "3:2")):
        turn(page, "Your move, xplayer" if step % 2 == 0 else "Your move, oplayer")
        click(page, f"0.0:{cell}")
    turn(page, "A draw: xplayer 50, oplayer 50")
    keep(page, "tic-tac-toe")
    page.fill("#slider", "1")
    turn(page, "Step 1 of 9")
    assert page.locator(".hb-mark").count() == 1
    page.click('[data-step="last"]')
    turn(page, "A draw")
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
    turn(page, "red won: red 100, yellow 0")


@pytest.mark.slow
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
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
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
    turn(page, "xplayer won: xplayer 100, oplayer 0")
    assert page.inner_text("#heard") == "xplayer: mark 3 3. xplayer won: xplayer 100, oplayer 0"


@pytest.mark.slow
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


@pytest.mark.slow
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
    for where in ("/?q=cards", "/game/connectFour", "/edit?game=nim", "/help"):
        page.goto(where)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(narrow), where
        keep(page, "phone" + where.split("?")[0].replace("/", "-").rstrip("-"))
    sit(page, "connectFour", red="you", yellow="you")
    turn(page, "Your move, red")
    page.tap('.can[data-cell="0.0:4:1"]')  # a cell is one once the script has its moves
    turn(page, "Your move, yellow")
    assert page.evaluate(narrow)
    keep(page, "phone-match")


def test_the_library_filters_while_one_types(page: Page) -> None:
    """Cards that do not fit go away at once."""
    page.goto("/")
    page.fill("#query", "connect four")
    page.wait_for_function("() => document.getElementById('amount').textContent === '2 games'")
    page.wait_for_function(
        "() => [...document.images].filter((one) => one.offsetParent).every((one) => one.complete)"
    )
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


# -- rough edges ------------------------------------------------------------------------------


def cell_box(page: Page, place: str) -> tuple[float, float]:
    """Return the middle of a cell on the screen."""
    box = page.locator(f'[data-cell="{place}"] > :first-child').bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_piece_is_dragged_to_where_it_goes(page: Page) -> None:
    """Let go elsewhere it goes back; over a cell that it may go to, the move is made."""
    sit(page, "breakthrough", white="you", black="you")
    turn(page, "Your move, white")
    for target, steps in (("0.0:d:5", 0), ("0.0:d:3", 1)):
        page.hover('.can[data-cell="0.0:d:2"]')  # waits until it can be moved, and nothing moves it
        page.mouse.down()
        page.mouse.move(*cell_box(page, "0.0:e:3"))
        assert page.locator(".ghost").count() == 1
        page.mouse.move(*cell_box(page, target))
        keep(page, f"dragged-{steps}")
        page.mouse.up()
        assert page.locator(".ghost").count() == 0
        page.wait_for_function(f"() => document.querySelectorAll('#history li').length === {steps}")
    turn(page, "Your move, black")


@pytest.mark.slow
def test_a_match_is_won_and_played_again(page: Page) -> None:
    """The result is said to the winner, the line is marked, sounds are made only if wanted; sides can be switched."""
    sit(page, "ticTacToe", xplayer="you", oplayer="legal")
    assert page.get_attribute("#sound", "aria-pressed") == "false"
    for step, place in enumerate(("2:2", "1:3", "3:1")):
        page.wait_for_function(f"() => document.querySelectorAll('#history li').length === {2 * step}")
        if step == 2:
            assert page.get_attribute("#board", "data-chimes") is None
            page.click("#sound")
        click(page, f"0.0:{place}")
    turn(page, "You won: xplayer 100, oplayer 0")
    assert page.locator(".hb-cell.decided").count() == 3
    assert page.get_attribute("#board", "data-chimes") == "2"  # a trial, and the end
    keep(page, "won")
    page.click("text=Switch sides")
    page.wait_for_selector("#rematch", state="hidden")
    assert page.locator("#roles .muted").all_inner_texts() == ["legal", "you"]
    page.once("dialog", lambda dialog: dialog.accept())
    turn(page, "Your move, oplayer")
    page.click("text=Resign")
    turn(page, "You resigned: xplayer wins")


@pytest.mark.slow
def test_the_reasoning_of_a_program_is_shown_when_asked_for(page: Page) -> None:
    """It told the opponent's plans after each of its moves."""
    page.goto("/game/ticTacToe")
    page.select_option('select[name="seat:oplayer"]', "mcts")
    page.select_option('select[name="clock"]', "0.2")
    page.click("button.primary")
    page.wait_for_selector("#board svg")
    click(page, "0.0:2:2")
    page.wait_for_function("() => document.querySelectorAll('#history li').length === 2")
    assert not page.is_visible("#thoughts")
    assert not page.is_visible("#bar-said")
    page.click("#analysis summary")
    sync_api.expect(page.locator("#thoughts strong")).to_contain_text("oplayer (mcts) played mark")
    page.wait_for_selector("#bar-said")
    played = page.locator("#history li").nth(1).inner_text().removeprefix("oplayer: ")
    assert page.locator("#thoughts th").nth(3).inner_text() == played


@pytest.mark.slow
def test_two_windows_of_one_match_follow_each_other(page: Page) -> None:
    """What is done in one is seen in the other, which goes on from there."""
    sit(page, "nim", first="you", second="you")
    other = page.context.new_page()
    other.goto(page.url)
    page.click("#moves .move >> nth=0")
    turn(other, "Your move, second")
    other.click("#moves .move >> nth=0")
    turn(page, "Your move, first")
    assert page.locator("#history li").count() == 2


def test_a_lost_server_is_said_in_one_line_and_found_again(browser: Browser, tmp_path: Path) -> None:
    """The match goes on where it was when the server is back, without loading the page anew."""
    database = tmp_path / "matches.db"
    with reserved() as place, browser.new_context() as context:
        port = place.getsockname()[1]
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        with served(make_app(database=database), port) as address:
            page.goto(f"{address}/game/nim")
            page.select_option('select[name="seat:second"]', "you")
            page.click("button.primary")
            page.click("#moves .move >> nth=0")
            turn(page, "Your move, second")
        sync_api.expect(page.locator("#problem")).to_contain_text("The server does not answer")
        keep(page, "lost")
        page.click("#moves .move >> nth=0")
        sync_api.expect(page.locator("#problem")).to_contain_text("The server does not answer")
        with served(make_app(database=database), port):
            sync_api.expect(page.locator("#problem")).to_be_hidden()
            page.click("#moves .move >> nth=0")
            turn(page, "Your move, first")


def test_what_is_written_is_kept_in_the_browser_and_saved(browser: Browser, tmp_path: Path) -> None:
    """The editor lost its text on reload and on leaving."""
    with (
        served(make_app(saved=tmp_path / "mine")) as address,
        browser.new_context(base_url=address) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto("/edit")
        page.fill("#title", "heaps")
        page.fill("#text", NIM)
        sync_api.expect(page.locator("#kept")).to_contain_text("kept in this browser only")
        page.goto("/help")
        page.goto("/edit")
        sync_api.expect(page.locator("#kept")).to_contain_text("which are not saved")
        assert (page.input_value("#text"), page.input_value("#title")) == (NIM, "heaps")
        keep(page, "draft")
        page.click("#save")
        sync_api.expect(page.locator("#kept")).to_contain_text("Saved.")
        assert (tmp_path / "mine" / "heaps.kif").read_text("utf-8") == NIM
        page.reload()
        assert page.input_value("#text") == NIM
        assert page.inner_text("#kept") == ""
        page.goto("/edit")
        assert page.input_value("#text") != NIM
        page.fill("#text", "(role r)")
        page.reload()
        page.click("text=Discard them")
        assert page.input_value("#text") != "(role r)"
        page.goto("/?q=heaps")
        page.click("text=heaps")
        page.wait_for_selector("button.primary")


NIM = """(role taker)
(init (heap 3))
(succ 0 1) (succ 1 2) (succ 2 3)
(legal taker take)
(<= (next (heap ?n)) (true (heap ?m)) (succ ?n ?m))
(<= terminal (true (heap 0)))
(goal taker 100)
"""


@pytest.mark.slow
def test_colours_are_chosen_and_stay(page: Page) -> None:
    """A reader of a light system can have dark pages, on all of them."""
    page.goto("/")
    shade = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(shade)
    page.click("#theme")
    assert page.evaluate(shade) == light
    page.click("#theme")
    dark = page.evaluate(shade)
    assert dark != light
    page.goto("/help")
    assert page.evaluate(shade) == dark
    page.click("#theme")
    assert page.evaluate(shade) == light


def test_the_screen_is_handed_over_before_a_card_is_shown(page: Page) -> None:
    """Two people at one screen: nobody sees the card of the other."""
    page.goto("/game/kuhn")
    page.select_option('select[name="seat:second"]', "you")
    page.click("button.primary")
    for name, other in (("first", "second"), ("second", "first")):
        page.wait_for_selector("#hand-over")
        turn(page, f"{name} is next")
        assert not page.is_visible("#board")
        keep(page, f"hand-over-{name}")
        page.click("#show-form button")
        turn(page, f"Your move, {name}")
        said = page.locator("#board desc").text_content() or ""
        assert f"holds {name}" in said
        assert f"holds {other}" not in said
        page.click("#moves .move >> nth=0")


def test_a_friend_plays_from_another_browser(browser: Browser, tmp_path: Path) -> None:
    """The page of the match has the link; both see each move, and the friend's page has no other links."""
    with ExitStack() as stack:
        port = stack.enter_context(reserved()).getsockname()[1]
        app = make_app(database=tmp_path / "m.db", token="correct-horse", address=f"http://127.0.0.1:{port}")
        address = stack.enter_context(served(app, port))
        one, two = (stack.enter_context(browser.new_context()) for _ in range(2))
        host, friend = one.new_page(), two.new_page()
        for page in (host, friend):
            page.set_default_timeout(PATIENCE)
        host.goto(f"{address}/game/breakthrough?token=correct-horse")
        host.select_option('select[name="seat:black"]', "friend")
        host.click("button.primary")
        link = host.input_value("#link-1")
        keep(host, "friend-host")
        friend.goto(link)
        turn(friend, "Waiting for white")
        assert friend.locator("nav a").count() == 0
        click(host, "0.0:d:2")
        click(host, "0.0:d:3")
        turn(host, "Waiting for black")
        turn(friend, "Your move, black")
        keep(friend, "friend")
        click(friend, "0.0:d:7")
        click(friend, "0.0:d:6")
        turn(host, "Your move, white")


def test_all_cells_and_pieces_have_names(page: Page) -> None:
    """A screen reader reaches every cell: what can be moved is a button, all others are pictures."""
    sit(page, "chess", white="you", black="you")
    board = page.locator("#board")
    sync_api.expect(board.get_by_role("button", name="e2: white pawn", exact=True)).to_have_count(1)
    assert board.get_by_role("img", name="e1: white king", exact=True).count() == 1
    assert board.get_by_role("img", name="e4", exact=True).count() == 1
    assert board.get_by_role("img").count() + board.get_by_role("button").count() == 64
    assert page.locator('#board [tabindex="0"]').count() == 1
    click(page, "0.0:e:2")
    sync_api.expect(board.get_by_role("button", name="e2: white pawn, chosen")).to_have_count(1)
    assert "white pawn e2 e4" in page.inner_text("#moves")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [{"viewport": {"width": 390, "height": 844}, "has_touch": True}], indirect=True, ids=["phone"]
)
def test_cells_are_large_enough_for_a_finger(page: Page) -> None:
    """Where a board has too many cells for the width of a phone, it is larger than its frame, which scrolls."""
    least = """() => Math.min(...[...document.querySelectorAll('#board [data-cell]')].map((cell) => {
        const box = cell.firstElementChild.getBoundingClientRect(); return Math.min(box.width, box.height); }))"""
    narrow = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    for game, role in (("gomoku", "white"), ("hex", "blue")):
        sit(page, game, **{role: "you"})
        assert page.evaluate(least) >= 24, game
        assert page.evaluate(narrow), game
        keep(page, f"phone-{game}")


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_pages_have_no_accessibility_violations(page: Page, database: Path, every: bool) -> None:
    """axe-core finds nothing on the main pages, or on any, and enough contrast in the dark, too."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="checking needs axe-core")
    problems = []

    def check(name: str, *, dark: bool = False) -> None:
        """Colours are the same on all pages: contrast in the dark is checked where there are most of them."""
        for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]}))[: 1 + dark]:
            page.emulate_media(color_scheme=scheme)
            options = {"resultTypes": ["violations"], **rules}
            for found in axe.Axe().run(page, options=options).response["violations"]:
                nodes = [node["html"][:160] for node in found["nodes"][:3]]
                problems.append((name, scheme, found["id"], nodes))

    others = "game/mnk", "help", "records", "explore/nim", "game/none"
    for name in ("?q=hex", "edit", *(others if every else ())):
        page.goto(f"/{name}")
        page.wait_for_load_state("networkidle")
        check(name, dark=name in ("?q=hex", "edit"))
    sit(page, "breakthrough", white="you", black="you")
    page.click("#analysis summary")
    check("match", dark=True)
    if not every:
        assert problems == []
        return
    sit(page, "ticTacToe", xplayer="legal", oplayer="legal")
    turn(page, "xplayer won")
    check("match over")
    page.goto(page.url.replace("/match/", "/record?match="))
    page.wait_for_selector("#curve svg")
    check("record")
    page.goto("/analyse/coinMatching")
    page.click("button.primary")
    page.wait_for_selector(".verdicts")
    check("analysis", dark=True)
    page.goto("/game/kuhn")
    page.select_option('select[name="seat:second"]', "you")
    page.click("button.primary")
    page.wait_for_selector("#hand-over")
    check("hand over")
    assert problems == []

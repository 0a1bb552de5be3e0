"""Published games in a real browser, opened as files, without a network: people play them to the end.

Needs Playwright for Python and a Chromium; screenshots go to the folder that HERBRAND_SCREENSHOTS names.
"""

from __future__ import annotations

import functools
import http.server
import os
import random
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli

sync_api = pytest.importorskip("playwright.sync_api", reason="driving a browser needs playwright")

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": "light"}
DESKTOP = {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"}
PATIENCE = 60_000
"""Milliseconds to wait for players."""

HIDDEN_NUMBER = """
; One player hides a number of fingers, the other guesses.
(role hider) (role guesser) (init (turn hider)) (n 1) (n 2)
(<= (legal hider (hide ?n)) (true (turn hider)) (n ?n)) (<= (legal guesser wait) (true (turn hider)))
(<= (legal guesser (guess ?n)) (true (turn guesser)) (n ?n)) (<= (legal hider wait) (true (turn guesser)))
(<= (next (hidden ?n)) (does hider (hide ?n))) (<= (next (hidden ?n)) (true (hidden ?n)))
(<= (next (turn guesser)) (true (turn hider))) (<= (next (guessed ?n)) (does guesser (guess ?n)))
(<= (sees hider (hid ?n)) (does hider (hide ?n))) (<= (sees guesser (guessed ?n)) (does guesser (guess ?n)))
(<= terminal (true (guessed ?n)))
(<= right (true (guessed ?n)) (true (hidden ?n)))
(<= (goal guesser 100) right) (<= (goal hider 0) right)
(<= (goal guesser 0) (not right)) (<= (goal hider 100) (not right))
"""
WIDE = (
    """
; A board of twenty by twenty squares.
(role a) (role b) (init (control a)) (succ 1 2)
"""
    + "".join(f"(index {i})" for i in range(1, 21))
    + """
(<= (base (cell ?x ?y ?p)) (index ?x) (index ?y) (role ?p)) (<= (base (control ?p)) (role ?p))
(<= (input ?p (mark ?x ?y)) (role ?p) (index ?x) (index ?y)) (<= (input ?p noop) (role ?p))
(<= (legal ?p (mark ?x ?y)) (true (control ?p)) (index ?x) (index ?y) (not (full ?x ?y)))
(<= (full ?x ?y) (true (cell ?x ?y ?p)))
(<= (legal a noop) (true (control b))) (<= (legal b noop) (true (control a)))
(<= (next (cell ?x ?y ?p)) (does ?p (mark ?x ?y))) (<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p)))
(<= (next (control a)) (true (control b))) (<= (next (control b)) (true (control a)))
(<= terminal (true (cell 20 20 ?p))) (<= (goal ?p 100) (true (cell 20 20 ?p)))
(<= (goal ?p 0) (role ?p) (not (true (cell 20 20 ?p))))
"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of some games with their gallery, written by the command."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in {"fingers": HIDDEN_NUMBER, "wide": WIDE}.items():
        (folder / f"{name}.kif").write_text(text, encoding="utf-8")
    own = [str(folder / "fingers.kif"), str(folder / "wide.kif")]
    names = ["connectFour", "ticTacToe", "kuhn", "kosil", "hanoi", "chess"]
    run = CliRunner().invoke(cli, ["publish", *names, *own, "-o", str(folder), "--proving", "0"])
    assert run.exit_code == 0, run.output
    solved = str(folder / "nim.npz")
    for command in (
        ["solve", "nim", "-o", solved],
        ["publish", "nim", "--solution", solved, "--proving", "0"],
    ):
        output = ["-o", str(folder / "nim.html")] if command[0] == "publish" else []
        run = CliRunner().invoke(cli, [*command, *output])
        assert run.exit_code == 0, run.output
    return folder


@contextmanager
def opened(browser: Browser, site: Path, name: str, settings: dict[str, object]) -> Iterator[Page]:
    """A page opened as a file without a network; faults of the script and requests to anywhere fail the test."""
    context = browser.new_context(offline=True, reduced_motion="reduce", **settings)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "blob:", "data:")) else faults.append(asked.url),
    )
    page.goto(f"file://{site / name}.html")
    if name != "index":
        page.wait_for_selector("#board .can, #choices button, #cover:not([hidden]), .status.over")
    yield page
    context.close()
    assert not faults


def keep(page: Page, name: str) -> None:
    """Keep a picture of the page."""
    folder = os.environ.get("HERBRAND_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"published-{name}.png"), full_page=True)


def sit(page: Page, *seats: str) -> None:
    """Choose who plays: a person, or a level."""
    for number, seat in enumerate(seats):
        page.locator("#seats select").nth(number).select_option(seat)


def status(page: Page, said: str) -> None:
    """Wait until the page says how the game stands."""
    sync_api.expect(page.locator("#status")).to_contain_text(said, timeout=PATIENCE)


def click(page: Page, *places: str) -> None:
    """Click cells of the board."""
    for place in places:
        page.click(f'[data-cell="{place}"]')


def finish(page: Page, seed: int) -> None:
    """Make random moves for all people until the game is over."""
    chance = random.Random(seed)
    for _ in range(300):
        page.wait_for_selector("#board .can, #choices button, #cover:not([hidden]), .status.over")
        if page.is_visible("#cover"):
            page.click("#uncover")
        elif page.locator(".status.over").count():
            return
        else:
            ways = page.locator("#board .can:not(.picked), #choices button").all()
            chance.choice(ways).click()
    pytest.fail("the game does not end")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("connectFour", PHONE, id="connectFour, phone"),
        pytest.param("kuhn", DESKTOP, id="kuhn, desktop", marks=pytest.mark.slow),
        pytest.param("kosil", PHONE, id="kosil, phone", marks=pytest.mark.slow),
        pytest.param("connectFour", DESKTOP, id="connectFour, desktop", marks=pytest.mark.slow),
        pytest.param("kuhn", PHONE, id="kuhn, phone", marks=pytest.mark.slow),
        pytest.param("kosil", DESKTOP, id="kosil, desktop", marks=pytest.mark.slow),
    ],
)
def test_games_are_played_to_the_end(
    browser: Browser, site: Path, name: str, settings: dict[str, object]
) -> None:
    """Against a program, on a telephone and on a screen; nothing is wider than the page."""
    with opened(browser, site, name, settings) as page:
        sit(page, "person", "beginner")
        finish(page, seed=3)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        assert page.locator("#played li").count() >= 2
        assert any(
            page.inner_text("#status").startswith(said) for said in ("You won!", "You lost.", "A draw.")
        )
        keep(page, f"{name}-{'phone' if settings is PHONE else 'desktop'}")


@pytest.mark.slow
def test_a_line_of_four_is_marked_and_taken_back(browser: Browser, site: Path) -> None:
    """Any cell of a column drops a disc; the last move and the winning line are marked; the link has the position."""
    with opened(browser, site, "connectFour", PHONE) as page:
        sit(page, "person", "person")
        for step, column in enumerate("4343434"):
            status(page, "red to move" if step % 2 == 0 else "yellow to move")
            click(page, f"0.0:{column}:6")
        status(page, "red wins. (red 100, yellow 0)")
        cells = [cell.get_attribute("data-cell") for cell in page.locator(".decisive").all()]
        assert sorted(map(str, cells)) == [f"0.0:4:{row}" for row in range(1, 5)]
        address = page.url
        page.click("#undo")
        status(page, "red to move.")
        assert page.locator(".decisive").count() == 0
        assert [cell.get_attribute("data-cell") for cell in page.locator(".last").all()] == ["0.0:3:3"]
        page.click("#hint")
        sync_api.expect(page.locator("#note")).to_contain_text("Hint: drop 4 – it leads to 100 for certain.")
        assert page.locator(".hinted").count() == 6
        page.goto("about:blank")
        page.goto(address)
        status(page, "red wins.")
        assert page.locator("#played li").count() == 7
        page.goto(address.partition("#")[0] + "#zz.1")
        page.reload()
        sync_api.expect(page.locator("#note")).to_contain_text("not legal here")


def test_chess_is_mated_in_four_clicks_each(browser: Browser, site: Path) -> None:
    """The page of chess is small enough to be sent; pieces and squares have names."""
    assert (site / "chess.html").stat().st_size < 400_000
    with opened(browser, site, "chess", PHONE) as page:
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        sit(page, "person", "person")
        for step, (start, end) in enumerate(
            ("f2 f3", "e7 e5", "g2 g4", "d8 h4")[i].split() for i in range(4)
        ):
            status(page, "white to move" if step % 2 == 0 else "black to move")
            click(page, f"0.0:{start[0]}:{start[1]}")
            if step == 1:
                status(page, "Pick where it goes.")
                assert page.locator(".spot").count() == 2
            click(page, f"0.0:{end[0]}:{end[1]}")
        status(page, "black wins. (white 0, black 100)")
        assert page.locator("#played li").all_inner_texts() == [
            "white move pawn f2 to f3",
            "black move pawn e7 to e5",
            "white move pawn g2 to g4",
            "black move queen d8 to h4",
        ]
        assert page.locator('[data-cell="0.0:h:4"]').get_attribute("aria-label") == "h4: black queen"
        keep(page, "mate")


def test_a_solved_game_shows_values_and_is_played_perfectly(browser: Browser, site: Path) -> None:
    """Moves are listed by what they are worth; a mistake in a won game costs it, and the hint is the best move."""
    with opened(browser, site, "nim", PHONE) as page:
        sit(page, "person", "perfect")
        assert not page.is_visible("#values")
        page.click("#worth")
        assert page.inner_text("#values").startswith("With best play: first 100, second 0, in 11 steps.")
        assert page.locator("#values dd").first.inner_text() == "take a 2"
        page.click("#hint")
        sync_api.expect(page.locator("#note")).to_contain_text(
            "Hint: take a 2 – with best play: 100 in 11 steps."
        )
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        keep(page, "solved")
        click(page, "0.0::b")
        page.click("#choices button:has-text('take b 1')")
        status(page, "Your move, first.")
        assert page.inner_text("#values").startswith("With best play: first 0, second 100")
        page.click("#thoughts-panel summary")
        sync_api.expect(page.locator("#thoughts")).to_contain_text(
            "second followed the solution in move 2: 100 in"
        )
        finish(page, seed=1)
        status(page, "You lost. (first 0, second 100)")


def test_the_next_person_sees_nothing_before_it_is_ready(browser: Browser, site: Path) -> None:
    """Cards and choices are covered between people, and never shown to the other before the end."""
    with opened(browser, site, "kuhn", PHONE) as page:
        sit(page, "person", "person")
        mine = page.inner_text("#beside")
        assert "first holds" in mine
        assert "second holds\n?" in mine
        assert page.inner_text("#seen").startswith("first sees: dealt ")
        page.click("#choices button:has-text('bet')")
        page.wait_for_selector("#cover:not([hidden])")
        assert page.evaluate("() => document.querySelector('main').inert")
        assert not page.locator("#beside").is_visible()
        keep(page, "cover")
        page.click("#uncover")
        assert "first holds\n?" in page.inner_text("#beside")
        page.click("#choices button:has-text('call')")
        page.wait_for_selector(".status.over")
        assert "?" not in page.inner_text("#beside")
    with opened(browser, site, "fingers", DESKTOP) as page:
        sit(page, "person", "person")
        page.click("#choices button:has-text('hide 2')")
        page.click("#uncover")
        assert "hidden\n?" in page.inner_text("#beside")
        assert page.locator("#played li").count() == 0
        page.click("#choices button:has-text('guess 1')")
        status(page, "hider wins.")
        assert page.locator("#played li").all_inner_texts() == ["hider hide 2", "guesser guess 1"]


def test_a_game_is_played_with_the_keyboard_and_read_out(browser: Browser, site: Path) -> None:
    """Arrows go from cell to cell, Enter clicks, the focus stays; what others play is said, and whose turn it is."""
    with opened(browser, site, "ticTacToe", DESKTOP) as page:
        sit(page, "person", "beginner")
        while page.evaluate("() => document.activeElement.dataset.cell") is None:
            page.keyboard.press("Shift+Tab")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        assert page.evaluate("() => document.activeElement.ariaLabel") == "row 2, column 2"
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelectorAll('#played li').length === 2")
        assert page.evaluate("() => document.activeElement.ariaLabel") == "row 2, column 2: x"
        heard = page.inner_text("#heard")
        assert heard.startswith("oplayer: mark ")
        assert heard.endswith("Your move, xplayer.")
    with opened(browser, site, "kuhn", DESKTOP) as page:
        page.focus("#choices button")
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelectorAll('#played li').length >= 2")


@pytest.mark.slow
def test_towers_are_moved_by_clicks(browser: Browser, site: Path) -> None:
    """A disc is clicked, then its peg; where it stands needs no click."""
    with opened(browser, site, "hanoi", PHONE) as page:
        click(page, "item:1")
        assert page.locator(".can").count() == 2
        click(page, "item:c")
        assert page.locator("#played li").all_inner_texts() == ["solver move 1 a c"]
        assert page.locator('[data-cell="item:1"]').get_attribute("aria-label") == "1 on c"
        assert page.locator(".spot").count() == 0


@pytest.mark.slow
def test_small_cells_can_be_zoomed(browser: Browser, site: Path) -> None:
    """Cells that a finger would not hit are enlarged on request, and the board scrolls within the page."""
    width = "() => document.querySelector('.can').getBoundingClientRect().width"
    with opened(browser, site, "wide", PHONE) as page:
        sit(page, "person", "person")
        assert page.evaluate(width) < 24
        page.click("#zoom")
        assert page.evaluate(width) >= 24
        click(page, "0.0:20:1")
        status(page, "b to move")
        assert page.evaluate(width) >= 24
        assert page.evaluate("() => document.getElementById('board').scrollLeft") > 0
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        page.click("#zoom")
        assert page.evaluate(width) < 24


def test_a_page_plays_where_workers_are_refused(browser: Browser, site: Path) -> None:
    """Then the page itself thinks."""
    with opened(browser, site, "ticTacToe", PHONE) as page:
        page.add_init_script("delete window.Worker; delete window.WebAssembly")
        page.reload()
        page.wait_for_selector("#board .can")
        sit(page, "person", "beginner")
        click(page, "0.0:1:1")
        page.wait_for_function("() => document.querySelectorAll('#played li').length === 2")
        status(page, "Your move")


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        pytest.param("connectFour", PHONE, id="connectFour, light"),
        pytest.param("kuhn", DESKTOP, id="kuhn, dark", marks=pytest.mark.slow),
        pytest.param("index", DESKTOP, id="gallery, dark"),
        pytest.param("connectFour", DESKTOP, id="connectFour, dark", marks=pytest.mark.slow),
        pytest.param("kuhn", PHONE, id="kuhn, light", marks=pytest.mark.slow),
        pytest.param("index", PHONE, id="gallery, light", marks=pytest.mark.slow),
    ],
)
def test_pages_are_accessible(browser: Browser, site: Path, name: str, settings: dict[str, object]) -> None:
    """axe-core has no complaint about boards, cards and the gallery; a finger hits every control."""
    reason = "this needs axe-playwright-python"
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=reason).Axe()
    with opened(browser, site, name, settings) as page:
        if name != "index":
            sit(page, "person", "beginner")
            page.click("#hint")
            page.locator("#board .can, #choices button").first.click()
            page.wait_for_function("() => document.querySelectorAll('#played li').length >= 2")
            page.evaluate("() => document.querySelectorAll('details').forEach((one) => (one.open = true))")
            small = "element => element.offsetParent && element.getBoundingClientRect().height < 24"
            controls = page.locator("button, select, summary")
            assert controls.evaluate_all(f"all => all.filter({small}).map((one) => one.outerHTML)") == []
        answer = axe.run(page, options={"resultTypes": ["violations"]})
        assert answer.violations_count == 0, answer.generate_report()
        keep(page, f"{name}-{settings['color_scheme']}")


def test_a_module_plays_in_a_page_of_another(browser: Browser, tmp_path: Path) -> None:
    """As the reference says: a module worker of two lines, and the picture of a state in the page."""
    from herbrand.publish import javascript

    (tmp_path / "game.mjs").write_text(javascript(herbrand.load("ticTacToe")), encoding="utf-8")
    (tmp_path / "worker.mjs").write_text(
        'import { game, serve } from "./game.mjs";\nserve(game, self);', encoding="utf-8"
    )
    (tmp_path / "index.html").write_text("<!doctype html><title>A page</title><div></div>", encoding="utf-8")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        chosen = page.evaluate(
            """async () => {
              const { LEVELS, RemotePlayer, drawState, game, initialState } = await import("./game.mjs");
              const worker = new Worker(new URL("./worker.mjs", location.href), { type: "module" });
              const player = new RemotePlayer(worker);
              const state = initialState.next(["(mark 1 1)", "noop"]).next(["noop", "(mark 3 3)"])
                .next(["(mark 1 2)", "noop"]);
              document.querySelector("div").innerHTML = drawState(state);
              const level = { ...LEVELS[2], seconds: 0.3 };
              return (await player.choose(state, game.role("oplayer"), level, 1)).text;
            }"""
        )
        assert chosen == "(mark 1 3)"
        assert page.locator("svg .hb-mark").count() == 3
        page.close()
        server.shutdown()


@pytest.mark.slow
def test_light_and_dark_can_be_changed(browser: Browser, site: Path) -> None:
    """The button changes page and board, and is remembered."""
    with opened(browser, site, "chess", DESKTOP) as page:
        colors = (
            "() => [document.body, document.querySelector('.hb .light')].map((one) => getComputedStyle(one))"
        )
        colors += "\n.map((style, i) => i ? style.fill : style.backgroundColor)"
        dark = page.evaluate(colors)
        page.click("#theme")
        light = page.evaluate(colors)
        assert all(a != b for a, b in zip(dark, light, strict=True))
        page.reload()
        page.wait_for_selector("#board .can")
        assert page.evaluate(colors) == light


@pytest.mark.slow
def test_the_gallery_leads_to_its_games(browser: Browser, site: Path) -> None:
    """Each game has a picture, a title and a sentence."""
    with opened(browser, site, "index", PHONE) as page:
        assert page.locator(".gallery li").count() == 8
        assert page.locator(".gallery svg").count() == 8
        page.click("text=Kuhn poker")
        page.wait_for_selector("#choices button")
        assert page.inner_text("h1") == "Kuhn poker"


def test_what_stands_in_rules_is_only_text(browser: Browser, tmp_path: Path) -> None:
    """Names, comments and titles never become markup or programs."""
    nasty = "</script><img/src=x>&'`"
    text = f"; Title\n;\n; A sentence {nasty}.\n(role {nasty}a) (init (cell 1 1 {nasty})) (init (cell 1 2 b))"
    role = f"{nasty}a"
    text += f"(init (cell 2 1 b)) (init (cell 2 2 b)) (legal {role} {nasty}) (legal {role} (mark 1 1))"
    text += f"(<= (next ?x) (true ?x)) (<= (next {nasty}) (does {role} {nasty})) (<= terminal (true {nasty})) (goal {role} 100)"
    game = herbrand.loads(text, name=nasty)
    from herbrand.publish import game_page

    (tmp_path / "nasty.html").write_text(game_page(game, proving=0), encoding="utf-8")
    with opened(browser, tmp_path, "nasty", DESKTOP) as page:
        assert page.locator("img").count() == 0
        page.click("#choices button")
        status(page, "Solved!")

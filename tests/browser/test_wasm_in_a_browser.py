"""WebAssembly in a real browser: modules of games, and the players of modules for pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from wasm_host import ask_browser, differences

import herbrand
from herbrand.convert.wasm import wasm
from herbrand.publish import javascript

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WITH_LANES = """async (source) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { game, initialState, Chance, Search } = await import(address);
  const search = new Search(initialState, new Chance(1));
  const rounds = search.run(500, 20);
  return [game.engine, rounds, search.opinions(0)[0].value];
}"""


@pytest.mark.slow_except("connectFour")
@pytest.mark.parametrize("name", ["kuhn", "connectFour"])
def test_modules_compute_what_the_core_and_the_interpreter_do(browser: Browser, name: str) -> None:
    """Random games, states, and games from given states."""
    game = herbrand.load(name)
    page = browser.new_page()
    assert not differences(game.network, wasm(game), partial(ask_browser, page))
    page.close()


def test_players_search_with_webassembly(browser: Browser) -> None:
    """They write the code of the game themselves, and see who moves first with advantage."""
    page = browser.new_page()
    engine, rounds, value = page.evaluate(WITH_LANES, javascript(herbrand.load("connectFour")))
    assert (engine, rounds) == ("wasm", 500)
    assert 50 < value < 75
    page.close()

"""A browser that the tests of a file share."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60_000
"""Milliseconds to wait for what a page shows, on a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a screen.

    It has an event loop that runs until it is closed: no test of another file must meet it.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="driving a browser needs playwright")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium to drive")
    sync_api.expect.set_options(timeout=PATIENCE)
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()

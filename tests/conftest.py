"""Options and fixtures that all tests share.

Tiers: `pytest` is what everybody runs, about seven minutes of processor time; `--slow` adds what takes longer;
`--corpus` replays the whole outside collection; `--update` rewrites golden files and pages,
to be reviewed as text.

A test of all bundled games that is not cheap has the mark `slow_except`: games that stand for the others run always,
the others with `--slow`.
"""

from __future__ import annotations

import functools
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import herbrand

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPRESENTATIVE = (
    "ticTacToe",  # small
    "breakthrough",  # large
    "hex",  # recursive within a state
    "hanoi",  # one role
    "tron",  # moves at once
    "montyHall",  # chance
    "kuhn",  # hidden cards
    "connectFour.ggd",  # written in GGDL
    "kosil",  # evolved
)
"""Bundled games that stand for all of them."""

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started in the background: children would ignore it too
    with suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("herbrand", deadline=None)  # a busy machine is no fault of an example
settings.load_profile("herbrand")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("herbrand")
    group.addoption("--slow", action="store_true", help="run the tests marked slow")
    group.addoption(
        "--corpus", action="store_true", help="run the tests marked corpus (needs the collection)"
    )
    group.addoption("--update", action="store_true", help="rewrite golden files and generated pages")


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and (but := item.get_closest_marker("slow_except")):
            cases = {str(value) for value in item.callspec.params.values()}
            if not cases & set(but.args or REPRESENTATIVE):
                item.add_marker("slow")
        for mark in ("slow", "corpus"):
            if item.get_closest_marker(mark) and not config.getoption(f"--{mark}"):
                item.add_marker(pytest.mark.skip(reason=f"runs with --{mark}"))


def find_corpus() -> Path | None:
    """The outside collection of rulesheets, which the variable HERBRAND_CORPUS names; None without it."""
    given = os.environ.get("HERBRAND_CORPUS")
    return Path(given) if given and (Path(given) / "rulesheets").is_dir() else None


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    """The collection; the test is skipped, saying so, where it is missing."""
    folder = find_corpus()
    if folder is None:
        pytest.skip("no collection of rulesheets: set HERBRAND_CORPUS to the folder that has rulesheets/")
    return folder


@pytest.fixture(scope="session")
def bundled() -> Callable[[str], herbrand.Game]:
    """`bundled(name)` is that game, the same one for all tests: its network is built once."""
    return functools.cache(herbrand.load)


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten rather than compared."""
    return bool(request.config.getoption("--update"))

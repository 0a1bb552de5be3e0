"""Options and fixtures that all tests share.

Tiers: `pytest` is what everybody runs, about eight minutes of processor time; `--slow` adds what takes longer;
`--corpus` replays the whole outside collection; `--update` rewrites golden files and pages,
to be reviewed as text.

A test of all bundled games that is not cheap has the mark `slow_except`: games that stand for the others run always,
the others with `--slow`.
"""

from __future__ import annotations

import functools
import gc
import os
import signal
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

import herbrand
import herbrand.game
from herbrand import games
from herbrand.ground import clingo_child
from herbrand.play.threads import available_cores

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

REPRESENTATIVE = (
    "ticTacToe",  # small
    "breakthrough",  # large
    "hex",  # recursive within a state
    "hanoi",  # one role
    "tron",  # moves at once
    "montyHall",  # chance
    "kuhn",  # hidden cards
    "mnk.ggd",  # written in GGDL
    "kosil",  # evolved
)
"""Bundled games that stand for all of them."""
LONG_OUTPUT = 1 << 20
"""Bytes of the grounder's output that are not kept for other tests."""

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # started in the background: children would ignore it too
    with suppress(ValueError):  # only the main thread may
        signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is no fault of an example.
settings.register_profile("herbrand", deadline=None, max_examples=40)
settings.register_profile("slow", deadline=None, max_examples=200)
settings.load_profile("herbrand")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("herbrand")
    group.addoption("--slow", action="store_true", help="run the tests marked slow")
    group.addoption(
        "--corpus", action="store_true", help="run the tests marked corpus (needs the collection)"
    )
    group.addoption(
        "--processor-time", action="store_true", help="list the tests that took most processor time"
    )
    group.addoption("--update", action="store_true", help="rewrite golden files and generated pages")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all tests are collected: see `pytest_collection_finish`
    if config.getoption("--slow"):
        settings.load_profile("slow")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of workers for `-n auto`: one more than processors, since some tests wait for processes."""
    return available_cores() + 1


def pytest_report_header(config: pytest.Config) -> str:
    left_out = [f"--{tier}" for tier in ("slow", "corpus") if not config.getoption(f"--{tier}")]
    return f"left out: the tests of {' and '.join(left_out)}" if left_out else "all tests"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selected, left_out = [], []
    for item in items:
        if isinstance(item, pytest.Function) and (but := item.get_closest_marker("slow_except")):
            cases = {item.callspec.id, *map(str, item.callspec.params.values())}
            if not cases & set(but.args or REPRESENTATIVE):
                item.add_marker("slow")
        tiers = [tier for tier in ("slow", "corpus") if item.get_closest_marker(tier)]
        (selected if all(config.getoption(f"--{tier}") for tier in tiers) else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = selected


def _processor_seconds() -> float:
    """What this process and its children that have ended took so far."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


SPENT = pytest.StashKey[float]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[SPENT] = _processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note with each report the processor time since the one before: with workers, reports come from theirs."""
    report = yield
    now = _processor_seconds()
    report.user_properties.append(("processor", now - item.stash.get(SPENT, now)))
    item.stash[SPENT] = now
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--processor-time"):
        return
    spent: Counter[str] = Counter()
    for report in terminalreporter.getreports("") + [
        report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)
    ]:
        spent[report.nodeid] += dict(report.user_properties).get("processor", 0.0)
    terminalreporter.section(f"processor time: {sum(spent.values()):.0f} s in tests")
    for nodeid, seconds in spent.most_common(30):
        terminalreporter.write_line(f"{seconds:7.2f} s  {nodeid}")


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going again and again through what was imported and collected to stay.

    Modules and thousands of tests are most of the objects there are: a tenth of all the time went into that.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="module", autouse=True)
def _keep_out_of_collections() -> Iterator[None]:
    """Keep the collector from going through what the tests of a file leave behind: games, caches, results.

    A full collection of everything that a worker has gathered after some hundred tests takes seconds, and can
    fall into a test that looks at the clock.
    """
    yield
    gc.collect()
    gc.freeze()


def find_corpus(variable: str = "HERBRAND_CORPUS") -> Path | None:
    """The outside collection of rulesheets whose folder the variable names; None without it."""
    given = os.environ.get(variable)
    return Path(given) if given and (Path(given) / "rulesheets").is_dir() else None


@pytest.fixture(scope="session")
def corpus_dir() -> Path:
    """The collection; the test is skipped, saying so, where it is missing."""
    folder = find_corpus()
    if folder is None:
        pytest.skip("no collection of rulesheets: set HERBRAND_CORPUS to the folder that has rulesheets/")
    return folder


@pytest.fixture(scope="session")
def second_corpus_dir() -> Path:
    """The second collection, of sheets from many places; the test is skipped, saying so, where it is missing."""
    folder = find_corpus("HERBRAND_CORPUS_2")
    if folder is None:
        pytest.skip("no second collection: set HERBRAND_CORPUS_2 to the folder that has rulesheets/")
    return folder


@pytest.fixture(autouse=True, scope="session")
def shared_games() -> Iterator[None]:
    """`herbrand.load("ticTacToe")` gives all tests the same game: its network is built once.

    Tests that need a game of which nothing was made yet take it from `herbrand.game.load`.
    """
    names = frozenset(games.names())
    once = functools.cache(herbrand.game.load)

    def load(path: str | Path, *args: Any, **options: Any) -> herbrand.Game:
        if path in names and not args and not options:
            return once(path)
        return herbrand.game.load(path, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(herbrand, "load", load)
        yield


@pytest.fixture(autouse=True, scope="session")
def shared_groundings() -> Iterator[Any]:
    """The grounder, a process of its own, runs once for each program: later calls get its first output.

    It runs again for calls with less time or memory than the first, and where the output is long.  The value
    of the fixture is the function that always runs it, for tests of the grounder.
    """
    run = clingo_child.grounder
    printed: dict[str, tuple[float, int, bytes]] = {}

    @contextmanager
    def grounder(text: str, *, seconds: float, megabytes: int) -> Iterator[Iterator[bytes]]:
        known = printed.get(text)
        if known is not None and seconds >= min(known[0], 10.0) and megabytes >= known[1]:
            yield iter([known[2]])
            return
        with run(text, seconds=seconds, megabytes=megabytes) as output:

            def copying() -> Iterator[bytes]:
                chunks = []
                for chunk in output:
                    chunks.append(chunk)
                    yield chunk
                if sum(map(len, chunks)) < LONG_OUTPUT:
                    printed[text] = seconds, megabytes, b"".join(chunks)

            yield copying()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clingo_child, "grounder", grounder)
        yield run


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten rather than compared."""
    return bool(request.config.getoption("--update"))

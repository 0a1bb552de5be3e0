"""The search for games: the same seed gives the same archive, whatever executes it and whenever it is interrupted."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from herbrand.cli.evolve import command
from herbrand.errors import HerbrandError
from herbrand.evolve import BoardGame, InARow, Piece, Place, Simultaneous, Squares, gallery, random_design
from herbrand.evolve.search import Archive, Candidate, GameSearch, SearchSettings, loop
from herbrand.evolve.search.candidate import EvaluationJob
from herbrand.evolve.search.evaluate import Proofs, admission, evaluate, look_at
from herbrand.evolve.search.judging import cell_of, quality, reason_against
from herbrand.evolve.variation import Lineage, Variant
from herbrand.game import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from herbrand.evolve.blocks.design import Design
    from herbrand.game import Game

ROW = BoardGame(Squares(3, 3), (Piece((Place(),)),), goals=(InARow(3),))
REFUSED = 60
QUICK = SearchSettings(seed=5, batch=4, first=4, families=("board",))


def fake(game: Game, seed: int) -> dict[str, float]:
    """Measures that are quickly taken: made from the name of the game."""
    del seed
    digits = hashlib.sha256(game.name.encode()).digest()
    return {
        "search_length": digits[0] / 5,
        "branching": digits[1] / 8,
        "search_balance": digits[2] / 255,
        "skill": digits[3] / 255,
        "depth": digits[4] / 128,
    }


def named(design: Design) -> Proofs:
    """Verdicts that are quickly found: some games are refused, by their name."""
    refused = hashlib.sha256(design.name.encode()).digest()[5] < REFUSED
    return {"termination": "proved (by its name)"}, "not proved: playability" if refused else "", {}


class Inline(Executor):
    """Does everything at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except (ArithmeticError, LookupError, ValueError) as error:
            future.set_exception(error)
        return future


def found(search: GameSearch) -> list[dict[str, Any]]:
    """The archive as data, without what a clock decided: how much was proved in time, and seconds."""
    return [{**candidate.as_json(), "seconds": {}, "proofs": {}} for candidate in search.archive.elites()]


@pytest.fixture(scope="module", autouse=True)
def _few() -> Iterator[None]:
    """Games are varied as soon as there is one, so that small searches vary some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "MIN_ELITES", 1)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> GameSearch:
    """A search of three batches in one go."""
    search = GameSearch(tmp_path_factory.mktemp("search") / "whole.db", QUICK, measure=fake, prove=named)
    search.run(batches=3, executor=Inline())
    return search


def test_a_search_finds_games(whole: GameSearch) -> None:
    """Every candidate is kept with what became of it; those in the archive are proved and of quality."""
    assert whole.candidates == 12
    everything = whole.everything()
    assert [candidate.number for candidate in everything] == list(range(12))
    assert len(whole.archive) > 1
    assert sum(whole.reasons.values()) == sum(bool(candidate.reason) for candidate in everything)
    for elite in whole.archive:
        assert elite.proofs == named(elite.design)[0]
        assert elite.quality == quality(elite.measures) > 0
    assert {candidate.lineage.operator for candidate in everything} > {"random"}
    refused = {candidate.name for candidate in everything if candidate.reason.startswith("not proved")}
    assert refused
    assert refused.isdisjoint(elite.name for elite in whole.archive)


@pytest.mark.slow
def test_threads_find_the_same(whole: GameSearch, tmp_path: Path) -> None:
    """Two workers that finish in any order lead to the same archive."""
    search = GameSearch(tmp_path / "threads.db", QUICK, measure=fake, prove=named)
    with ThreadPoolExecutor(2) as pool:
        search.run(batches=3, executor=pool)
    assert found(search) == found(whole)


@pytest.mark.slow
def test_an_interrupted_search_finds_the_same(whole: GameSearch, tmp_path: Path) -> None:
    """Stopped after each batch, and begun anew from the database, a search comes to the same archive."""

    class Killed(Exception):
        pass

    def kill(progress: object) -> None:
        raise Killed

    path = tmp_path / "killed.db"
    for _ in range(3):
        search = GameSearch(path, QUICK, measure=fake, prove=named)
        with pytest.raises(Killed):
            search.run(batches=3, executor=Inline(), listener=kill)
        search.close()
    again = GameSearch(path, QUICK, measure=fake, prove=named)
    assert again.run(batches=3, executor=Inline()) is again.archive
    assert again.batches == 3
    assert found(again) == found(whole)


def test_tasks_of_several_candidates_find_the_same(
    whole: GameSearch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where tasks fail that have more than one candidate, each is evaluated alone."""
    evaluate_all, groups = loop._evaluate_all, []

    def fail(jobs: Any) -> Any:
        groups.append(len(jobs))
        if len(groups) == 2:
            raise ValueError("one of them")
        return evaluate_all(jobs)

    monkeypatch.setattr(loop, "_TASKS", 2)
    monkeypatch.setattr(loop, "_evaluate_all", fail)
    search = GameSearch(tmp_path / "groups.db", QUICK, measure=fake, prove=named)
    search.run(batches=3, executor=Inline())
    assert sorted(groups) == [1, 1, 2, 2, 2, 2, 2, 2]
    assert found(search) == found(whole)


def test_another_search_is_not_mixed_in(tmp_path: Path) -> None:
    """A database goes on with the settings that it began with, and says so; other files are refused."""
    GameSearch(tmp_path / "a.db", QUICK).close()
    with pytest.raises(HerbrandError, match="began with seed 5, not 6"):
        GameSearch(tmp_path / "a.db", SearchSettings(seed=6, batch=4, first=4, families=("board",)))
    (tmp_path / "text.db").write_text("no database" * 100)
    with pytest.raises(HerbrandError, match="not a search database"):
        GameSearch(tmp_path / "text.db")


def test_time_that_is_over(tmp_path: Path) -> None:
    """Without time nothing is looked at and nothing is kept."""
    search = GameSearch(tmp_path / "none.db", QUICK, measure=fake, prove=named)
    with ThreadPoolExecutor(1) as pool:
        search.run(seconds=0, batches=1, executor=pool)
    assert search.candidates == 0


def test_a_failing_worker_costs_one_candidate(tmp_path: Path) -> None:
    """What raises in a worker is the reason why a candidate was thrown away."""

    def broken(game: Game, seed: int) -> dict[str, float]:
        raise ValueError("out of order")

    search = GameSearch(tmp_path / "broken.db", QUICK, measure=broken)
    search.run(batches=1, executor=Inline())
    assert search.reasons["failed"] > 0
    assert any(c.reason == "failed: out of order" for c in search.everything())


def test_the_archive_keeps_the_best() -> None:
    """One game a cell; a better one takes its place; a worse one, a bad one and one thrown away do not."""

    def candidate(number: int, quality: float, reason: str = "") -> Candidate:
        design = random_design(number, ["tricks"])
        return Candidate(design, Lineage("random", number), reason, {}, quality, ("cards", "6-10", "3-6"))

    archive = Archive()
    assert not archive.add(candidate(5, 0.01))
    assert archive.add(candidate(1, 0.5))
    assert not archive.add(candidate(2, 0.4))
    assert not archive.add(candidate(3, 0.9, "refuted"))
    assert archive.add(candidate(4, 0.6))
    assert not archive.add(candidate(4, 0.7))
    assert [c.quality for c in archive] == [0.6]


def test_cells_and_quality() -> None:
    """Cells are ranges of measures; a game that is fair, decided and deep is better than one that is not."""
    measures = {"search_length": 7.5, "branching": 24.0}
    assert cell_of(ROW, measures) == ("squares", "6-10", "24-")
    assert cell_of(BoardGame(turn=Simultaneous()), {})[0] == "at once"
    good = {
        "search_balance": 1.0,
        "search_draws": 0.0,
        "skill": 1.0,
        "depth": 2.0,
        "drama": 0.5,
        "uncertainty": 1.0,
    }
    assert quality(good) == 1.0
    assert quality({**good, "search_balance": 0.5}) == quality({**good, "skill": 0.0, "depth": 0.0}) == 0.5
    assert quality({**good, "search_draws": 1.0}) == 0
    assert quality({"balance": 1.0, "draws": 0.0, "agency": 0.5}) == 0.125


def test_filters() -> None:
    """A game that fails a cheap filter is thrown away with the reason; tic-tac-toe passes them."""
    usual = {"completion": 1.0, "length": 9.0, "branching": 5.0, "agency": 0.9, "balance": 0.7, "draws": 0.1}
    assert reason_against(usual) == ""
    assert reason_against({**usual, "completion": 0.9}) == "some random games do not end"
    assert reason_against({**usual, "draws": 1.0}) == "hardly ever a winner"
    job = EvaluationJob("mutate", 3, (ROW,), QUICK, fake)
    one, other = evaluate(job), evaluate(job)
    assert one.lineage.parents == (ROW.name,)
    one.seconds = other.seconds = {}
    assert one == other


def test_changes_that_do_not_matter() -> None:
    """A condition that always holds changes no gate; one that matters does."""
    text = ROW.rulesheet()
    turn = "(next (step ?more)) (true (step ?n))"
    assert turn in " ".join(text.split())
    rule = "    (true (step ?n))\n    (succ ?n ?more))"
    assert text.count(rule) == 1
    idle = loads(text.replace(rule, f"    (row 1)\n{rule}"))
    stuck = loads(text.replace(rule, f"    (row 9)\n{rule}"))
    assert ROW.game().network.digest == idle.network.digest
    assert ROW.game().network.digest != stuck.network.digest
    job = EvaluationJob("random", 1, (), QUICK, fake, frozenset([idle.network.digest]))
    assert look_at(Variant(ROW, Lineage("random", 1)), job).reason == "plays as a game before"


def test_proofs_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game that both can win is admitted; one that nobody can win by its rules is not; what is missing is said."""
    winnable = BoardGame(Squares(3, 2), (Piece((Place(),)),), goals=(InARow(2),))
    verdicts, against, _ = admission(winnable, 120)
    assert against == ""
    assert {name: verdict.split()[0] for name, verdict in verdicts.items()} == {
        "termination": "proved",
        "playability": "proved",
        "weak_winnability": "proved",
    }
    verdicts, _, _ = admission(
        BoardGame(Squares(6, 6), (Piece((Place(supply=9),)),), goals=(InARow(4),)), 0.0
    )
    assert verdicts["playability"] == "unknown (not decided in 0 s)"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pysat", None)
        verdicts, _, _ = admission(
            BoardGame(Squares(6, 6), (Piece((Place(supply=9),)),), goals=(InARow(4),)), 0.0
        )
    assert verdicts["playability"] == "unknown (not decided in 0 s without pip install 'herbrand[analyse]')"
    unwinnable = BoardGame(Squares(2, 2), (Piece((Place(supply=1),)),), goals=(InARow(2),))
    assert admission(unwinnable, 120)[1] == "not proved: weak_winnability"


def test_gallery(whole: GameSearch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command writes a page that needs nothing else, the rulesheets, pages to play, and everything as JSON."""
    monkeypatch.setattr(gallery, "MAX_PICTURES", 1)
    with closing(sqlite3.connect(whole.store.path)) as database:
        database.execute("vacuum into ?", (str(tmp_path / "search.db"),))
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "Gone.kif").write_text("(role a)")
    (tmp_path / "play").mkdir()
    (tmp_path / "play" / "Gone.html").write_text("")
    run = CliRunner().invoke(command, ["--out", str(tmp_path), "--minutes", "0"])
    assert run.exit_code == 0, run.output
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    content = json.loads((tmp_path / "games.json").read_text(encoding="utf-8"))
    assert content
    sheets = sorted(path.stem for path in (tmp_path / "games").iterdir())
    assert sheets == sorted(game["name"] for game in content)
    for game in content:
        assert page.count(f'<section id="{game["name"]}">') == 1
        assert game["rules"][0] in page
        assert game["name"] in run.output
    assert page.count("<svg") == 1
    assert not re.search(r'(src|href)="(?!#|games/|play/)', page)
    (best,) = (tmp_path / "play").iterdir()
    assert page.count(f'href="play/{best.name}"') == 2
    for key, value in next(game for game in content if game["name"] == best.stem)["proofs"].items():
        assert f"{key.replace('_', ' ').capitalize()}: {value}." in best.read_text(encoding="utf-8")
    told = CliRunner().invoke(command, ["--out", str(tmp_path), "--minutes", "0", "--json"])
    assert json.loads(told.stdout)["candidates"] == 12
    typed = ["--out", str(tmp_path), "--minutes", "0", "--notation", "ggdl"]
    assert CliRunner().invoke(command, typed).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "games").iterdir()) == [f"{name}.ggd" for name in sheets]
    assert 'href="games/' + sheets[0] + '.ggd"' in (tmp_path / "index.html").read_text(encoding="utf-8")
    refused = CliRunner().invoke(command, ["--out", str(tmp_path), "--minutes", "0", "--seed", "1"])
    assert isinstance(refused.exception, HerbrandError)


@pytest.mark.slow
def test_processes(tmp_path: Path) -> None:
    """Without an executor, processes are started, and ended again, that find the same with a real measure."""
    settings = SearchSettings(seed=5, batch=2, first=2, families=("tricks",), pairs=2)
    search = GameSearch(tmp_path / "processes.db", settings)
    search.run(batches=1, jobs=1)
    inline = GameSearch(tmp_path / "inline.db", settings)
    inline.run(batches=1, executor=Inline())
    assert search.candidates == 2
    assert found(search) == found(inline)

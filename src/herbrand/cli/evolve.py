"""`herbrand evolve`: search for new games."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.options import FOLDER
from herbrand.cli.output import count, remark, result, table, write_json
from herbrand.cli.workers import worker_options, workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from herbrand.evolve.search import GameSearch, SearchProgress, SearchSettings

__all__ = ["command"]

_FAMILIES = ("board", "tricks", "market")


@click.command("evolve")
@click.option(
    "--out",
    "folder",
    metavar="DIR",
    type=FOLDER,
    required=True,
    help="Output folder; an existing search in it is resumed.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0),
    default=10.0,
    help="Duration of the search; 0 only rewrites the gallery.",
)
@click.option("--batches", type=click.IntRange(1), help="Stop after this many batches in total.")
@click.option("--seed", type=int, help="Determines the search.  [default: 0]")
@click.option(
    "--batch",
    type=click.IntRange(1),
    help="Candidates drawn from one state of the archive: with many workers, twice their number or more.  "
    "[default: 16]",
)
@click.option(
    "--family",
    "families",
    type=click.Choice(_FAMILIES),
    multiple=True,
    help="Start with games of this family only; may be repeated.",
)
@click.option(
    "--notation",
    type=click.Choice(("prefix", "ggdl")),
    default="prefix",
    help="Notation of the rulesheets; in GGDL, sizes and the like are parameters.",
)
@worker_options("Number of processes.  [default: one per core]")
@click.option("--json", "wants_json", is_flag=True, help="Print the games as JSON.")
def command(
    folder: Path,
    minutes: float,
    batches: int | None,
    seed: int | None,
    batch: int | None,
    families: tuple[str, ...],
    notation: str,
    jobs: int | None,
    cluster: str | None,
    wants_json: bool,
) -> None:
    """Search for new games, and write a gallery of them.

    Random games are generated, varied, evaluated by programs, and kept if they are better than the previous
    best of their kind. The state of the search is always saved in DIR/search.db, so that an interrupted
    search can be resumed. DIR/index.html shows the games, and leads to a page to play each.
    """
    from herbrand.evolve.gallery import write_gallery
    from herbrand.evolve.search import GameSearch

    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "search.db"
    settings = _settings(database, seed=seed, batch=batch, families=families or None)
    search = GameSearch(database, settings)
    if search.candidates:
        remark(f"resuming after {count(search.candidates, 'candidate')}")
    try:
        if minutes:
            with _progress() as listener, workers(None if cluster is None else jobs, cluster) as executor:
                search.run(
                    seconds=60 * minutes, batches=batches, executor=executor, jobs=jobs, listener=listener
                )
    except KeyboardInterrupt:
        remark("stopped; the same command resumes the search")
    remark("writing the gallery...")
    page = write_gallery(folder, search.progress(), search.everything(), notation)
    _report(search, page, wants_json=wants_json)
    search.close()


def _settings(database: Path, **options: Any) -> SearchSettings:
    """Return the settings of an existing search or the defaults, updated by the options that were given."""
    from dataclasses import replace

    from herbrand.evolve.search import SearchSettings
    from herbrand.evolve.search.store import SearchStore

    settings = SearchSettings()
    if database.exists():
        store = SearchStore(database)
        settings = store.begun() or settings
        store.close()
    return replace(settings, **{name: value for name, value in options.items() if value is not None})


def _report(search: GameSearch, page: Path, *, wants_json: bool) -> None:
    elites = search.archive.elites()
    if wants_json:
        write_json(
            {
                "candidates": search.candidates,
                "measured": search.measured,
                "thrown_away": dict(search.reasons),
                "seconds": dict(search.spent),
                "games": [candidate.as_json() for candidate in elites],
                "page": str(page),
            }
        )
        return
    result(_table(search.progress()))
    result(f"{count(len(elites), 'game')} in {page}, which plays them in any browser")


def _table(progress: SearchProgress) -> str:
    """Format the best games as a table."""
    best = progress.archive.elites()[:10]
    rows = [(f"{candidate.quality:.2f}", *candidate.cell, candidate.name) for candidate in best]
    return table(rows, ("quality", "kind", "steps", "choices", "game"), right=(0,))


def _summary(progress: SearchProgress) -> str:
    at = f"{progress.seconds:5.0f} s  "
    if not progress.candidates:
        return f"{at}evaluating the first games ({progress.under_way} so far)"
    total_seconds = sum(progress.spent.values())
    most = ", ".join(
        f"{name} {seconds / total_seconds:.0%}" for name, seconds in progress.spent.most_common(3)
    )
    under_way = f" (+{progress.under_way})" if progress.under_way else ""
    return (
        f"{at}{progress.candidates}{under_way} candidates, {progress.measured} measured, "
        f"{len(progress.archive)} kept  ({most})"
    )


@contextmanager
def _progress() -> Iterator[Callable[[SearchProgress], None]]:
    """Yield a function that shows progress: as a live table, or as lines without a terminal."""
    if not sys.stderr.isatty():
        finished = 0

        def line(progress: SearchProgress) -> None:
            nonlocal finished
            if progress.candidates > finished:
                finished = progress.candidates
                remark(_summary(progress))

        yield line
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live("evaluating the first games...", console=Console(stderr=True), transient=True) as live:
        yield lambda progress: live.update(Text.from_ansi(f"{_summary(progress)}\n{_table(progress)}"))

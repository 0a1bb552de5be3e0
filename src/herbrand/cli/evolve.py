"""`herbrand evolve`: search for new games."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.output import count, remark, result, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.evolve.search import GameSearch, SearchProgress, SearchSettings

__all__ = ["command"]

_FAMILIES = ("board", "tricks", "market")


@click.command("evolve")
@click.option(
    "--out",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where the games go; a search that is there goes on.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    help="How long to search; 0 only writes the gallery again.",
)
@click.option("--batches", type=click.IntRange(1), help="Stop after so many batches of candidates in all.")
@click.option("--seed", type=int, help="Decides what is found.  [default: 0]")
@click.option(
    "--family",
    "families",
    type=click.Choice(_FAMILIES),
    multiple=True,
    help="Begin with games of this kind only; may be given several times.",
)
@click.option(
    "--notation",
    type=click.Choice(("prefix", "ggdl")),
    default="prefix",
    show_default=True,
    help="How the rulesheets are written; in GGDL, boards and the like are parameters.",
)
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one for each core]")
@click.option("--json", "wants_json", is_flag=True, help="Print what was found as JSON.")
def command(
    folder: Path,
    minutes: float,
    batches: int | None,
    seed: int | None,
    families: tuple[str, ...],
    notation: str,
    jobs: int | None,
    wants_json: bool,
) -> None:
    """Search for new games, and write a gallery of them.

    Games are put together at random, varied, played by programs, and kept when they are better than what
    was found of their kind so far. Everything is kept in DIR/search.db at every moment, so that a search that
    was ended, or killed, goes on where it was. DIR/index.html shows the games; `herbrand web DIR/games` lets
    one play them.
    """
    from herbrand.evolve.gallery import write_gallery
    from herbrand.evolve.search import GameSearch

    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "search.db"
    search = GameSearch(database, _settings(database, seed, families))
    if search.candidates:
        remark(f"going on after {count(search.candidates, 'candidate')}")
    listener, close = _live()
    try:
        if minutes:
            search.run(seconds=60 * minutes, batches=batches, jobs=jobs, listener=listener)
    except KeyboardInterrupt:
        remark("stopped; the same command goes on")
    finally:
        close()
    remark("writing the gallery...")
    page = write_gallery(folder, search.progress(), search.everything(), notation)
    _report(search, page, wants_json=wants_json)
    search.close()


def _settings(database: Path, seed: int | None, families: tuple[str, ...]) -> SearchSettings:
    """The settings asked for; those that a search began with stand in for what is not said."""
    from dataclasses import replace

    from herbrand.evolve.search import SearchSettings
    from herbrand.evolve.search.store import SearchStore

    settings = SearchSettings()
    if database.exists():
        store = SearchStore(database)
        settings = store.begun() or settings
        store.close()
    given: dict[str, Any] = {} if seed is None else {"seed": seed}
    if families:
        given["families"] = families
    return replace(settings, **given)


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
    for line in _table(search.progress()):
        result(line)
    result(f"{count(len(elites), 'game')} in {page}; to play them: herbrand web {page.parent / 'games'}")


def _table(progress: SearchProgress) -> list[str]:
    """The best games as lines."""
    lines = [f"{'quality':>7}  {'kind':10} {'steps':7} {'choices':7} game"]
    for candidate in progress.archive.elites()[:10]:
        kind, steps, choices = candidate.cell
        lines.append(f"{candidate.quality:7.2f}  {kind:10} {steps:7} {choices:7} {candidate.name}")
    return lines


def _summary(progress: SearchProgress) -> str:
    at = f"{progress.seconds:5.0f} s  "
    if not progress.candidates:
        return f"{at}looking at the first games ({progress.under_way} so far)"
    spent = sum(progress.spent.values())
    most = ", ".join(f"{name} {seconds / spent:.0%}" for name, seconds in progress.spent.most_common(3))
    under_way = f" (+{progress.under_way})" if progress.under_way else ""
    return (
        f"{at}{progress.candidates}{under_way} candidates, {progress.measured} measured, "
        f"{len(progress.archive)} kept  ({most})"
    )


def _live() -> tuple[Callable[[SearchProgress], None], Callable[[], None]]:
    """Return what is told of every batch, and what closes it: a table that changes, or a line each."""
    if not sys.stderr.isatty():
        finished = 0

        def line(progress: SearchProgress) -> None:
            nonlocal finished
            if progress.candidates > finished:
                finished = progress.candidates
                remark(_summary(progress))

        return line, lambda: None
    from rich.console import Console
    from rich.live import Live

    live = Live("looking at the first games...", console=Console(stderr=True), transient=True)
    live.start()
    return lambda progress: live.update("\n".join([_summary(progress), *_table(progress)])), live.stop

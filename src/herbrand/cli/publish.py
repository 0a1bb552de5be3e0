"""`herbrand publish`: games as pages that play anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import NOTATION, read_game
from herbrand.cli.options import INPUT_FILE
from herbrand.cli.output import count, progress_bar, remark
from herbrand.cli.workers import SHEETS, sheets_of
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.cli.output import Progress
    from herbrand.game import Game
    from herbrand.publish.solution import PublishedSolution

__all__ = ["command"]


@click.command("publish")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=SHEETS)
@NOTATION
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The page to write; a folder for several games or those of a folder.",
)
@click.option("--title", default="Games", help="The title of a gallery.")
@click.option(
    "--proving",
    metavar="SECONDS",
    default=5.0,
    type=click.FloatRange(min=0),
    help="Time for proving the properties that the page lists; 0 for none.",
)
@click.option(
    "--solution",
    metavar="FILE",
    type=INPUT_FILE,
    help="What `herbrand solve -o FILE` wrote: adds a perfect player and values of moves.",
)
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    notation: str,
    output: Path,
    title: str,
    proving: float,
    solution: Path | None,
) -> None:
    """Write games as pages of HTML to play anywhere.

    A page holds all that it needs: the board to click, opponents of five levels, hints, the rules. It can be
    opened as a file, and loads nothing from the network. Several games, or a FOLDER of rulesheets, become
    a folder of pages with a gallery, index.html; a game that cannot be published is named and left out.

    A --solution is replayed against every reply before it is published. Where all states can be listed, up to
    a million, the page gets the value of each of them, else the moves of the strategies in the file.
    """
    from herbrand.publish.page import game_page
    from herbrand.runtime.files import write_atomically

    if len(files) > 1 or Path(files[0]).is_dir():
        if solution is not None:
            raise click.UsageError("--solution is for one game")
        if not _gallery(sheets_of(files), notation, output, title, proving):
            ctx.exit(1)
        return
    if output.is_dir():
        output = output / "index.html"
    game = read_game(files[0], notation)
    solved = None if solution is None else _solution(game, solution)
    page = game_page(game, proving=proving, solution=solved)
    write_atomically(str(output), page)
    remark(f"wrote {output} ({len(page.encode()) / 1000:.0f} kB)")


def _solution(game: Game, file: Path) -> PublishedSolution:
    """Check a solution, and say how much of it is published."""
    from herbrand.analyse.solving.strategy import read_strategy
    from herbrand.publish.solution import REPLAYING, published_solution
    from herbrand.runtime.limits import seconds_left

    solved = published_solution(game, read_strategy(file), seconds=min(REPLAYING, 0.9 * seconds_left()))
    published = "the value of" if solved.is_complete else "moves of strategies for"
    replayed = ", ".join(str(one.claim) for one in solved.claims)
    remark(f"replayed: {replayed}; the page has {published} {count(solved.states, 'state')}")
    return solved


def _gallery(sheets: list[str], notation: str, folder: Path, title: str, proving: float) -> bool:
    """Write pages and their gallery; return whether all could be written."""
    from herbrand.publish import write_gallery

    if folder.exists() and not folder.is_dir():
        raise click.BadParameter(f"{folder} is no folder", param_hint="--output")
    unread = []

    def read(update: Progress | None) -> Iterator[Game]:
        for number, sheet in enumerate(sheets):
            if update is not None:
                update(number, len(sheets))
            try:
                yield read_game(sheet, notation)
            except HerbrandError as error:
                unread.append((sheet, error))

    with progress_bar(len(sheets), "publishing") as update:
        entries, failures = write_gallery(folder, read(update), title, proving=proving)
    for name, reason in (*unread, *failures):
        remark(f"left out: {name}: {reason}")
    remark(f"wrote {count(len(entries), 'page')} and a gallery, {folder / 'index.html'}")
    return not unread and not failures

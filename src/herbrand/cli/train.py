"""`herbrand train`: values of a game, learned by self-play."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, OUTPUT_FILE
from herbrand.cli.output import count, progress_bar, remark, result, spaced, table, write_json
from herbrand.cli.workers import worker_options, workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game
    from herbrand.play.training.trainer import Snapshot, Trainer

__all__ = ["command"]

_SAVE_SECONDS = 30.0
"""The file is written at least so often, in seconds."""


@click.command("train")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Duration of the training, earlier calls included.  [default: 20]",
)
@click.option(
    "--games", type=click.IntRange(1), help="Train for so many games in all, however long they take."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=OUTPUT_FILE,
    help="The file to write (.npz); an existing training in it goes on.  [default: GAME.npz]",
)
@click.option("--seed", type=click.IntRange(0), help="Determines the training, with --games.  [default: 0]")
@click.option(
    "--batch",
    type=click.IntRange(1),
    help="Tasks of self-play in each round: with many workers, their number or a multiple.  [default: 2]",
)
@click.option("--plot", metavar="OUT", type=OUTPUT_FILE, help="Write a plot of the ratings (SVG).")
@worker_options("Number of processes for self-play.  [default: this one]")
@JSON
def command(
    file: str,
    notation: str,
    minutes: float | None,
    games: int | None,
    output: str | None,
    seed: int | None,
    batch: int | None,
    plot: str | None,
    jobs: int | None,
    cluster: str | None,
    *,
    as_json: bool,
) -> None:
    """Learn to play a game by self-play, for the player `learned`.

    Only the rules are needed. The player `learned(file='GAME.npz')` searches with the values of the file.
    Ctrl-C ends the training and keeps what was learned; the same command goes on. Ratings compare the
    values with earlier ones, both looking one step ahead: they show progress, not strength against others.
    For games in which one role at a time chooses, without chance and hidden information.
    """
    from herbrand.errors import BudgetExceeded
    from herbrand.runtime.limits import seconds_left

    began = time.monotonic()
    game = read_game(file, notation)
    path = Path(output or f"{game.name}.npz")
    trainer, resumes = _open(game, path, seed, batch)
    if resumes:
        remark(f"{path}: going on after {count(trainer.games, 'game')}")
    seconds = (
        math.inf if minutes is None and games is not None else 60 * (20.0 if minutes is None else minutes)
    )
    show, close = _progress(seconds, math.inf if games is None else games)
    saved = time.monotonic()
    # what was prepared counts, too, and the file is still to be written
    left = 0.95 * (seconds - trainer.seconds - (saved - began))

    def listen(trainer: Trainer, snapshot: Snapshot | None) -> None:
        nonlocal saved
        show(trainer, snapshot)
        if snapshot is not None or time.monotonic() - saved > _SAVE_SECONDS:
            _write(path, game, trainer)
            saved = time.monotonic()

    try:
        with workers(jobs, cluster) as executor:
            trainer.run(
                seconds=trainer.seconds + max(0.0, left),
                games=math.inf if games is None else games,
                executor=executor,
                listener=listen,
            )
    except KeyboardInterrupt:
        remark("stopped; the same command goes on")
    except BudgetExceeded:
        if seconds_left():  # it was memory
            raise
        remark("the time was up in the middle of a round, which does not count")
    finally:
        close()
    _write(path, game, trainer)
    if plot is not None:
        from herbrand.play.training.chart import plot as draw_plot
        from herbrand.runtime.files import write_atomically

        write_atomically(plot, draw_plot(game.name, trainer.snapshots))
    if as_json:
        write_json(_as_json(trainer, path))
    else:
        result(_report(trainer))
        result(f"{path}: play against it with --opponent \"learned(file='{path}')\"")


def _open(game: Game, path: Path, seed: int | None, batch: int | None) -> tuple[Trainer, bool]:
    """Return the training of the file, or a new one, and whether it goes on."""
    from dataclasses import replace

    from herbrand.play.training.file import read_training
    from herbrand.play.training.trainer import Settings, Trainer

    if path.exists():
        trainer = read_training(path, game)
        if seed is not None and seed != trainer.settings.seed:
            raise click.UsageError(f"`{path}` was begun with the seed {trainer.settings.seed}")
        if batch is not None:
            trainer.settings = replace(trainer.settings, batch=batch)
        return trainer, True
    remark(f"{game.name}: choosing conditions of the rules...")
    settings = Settings(seed or 0)
    return Trainer.start(game, settings if batch is None else replace(settings, batch=batch)), False


def _write(path: Path, game: Game, trainer: Trainer) -> None:
    from herbrand.play.training.file import write_training

    write_training(path, game, trainer)


def _progress(
    seconds: float, games: float
) -> tuple[Callable[[Trainer, Snapshot | None], None], Callable[[], None]]:
    """Return a function that shows progress, as a bar on a terminal and a line for each snapshot."""
    bar = progress_bar(1000, "training")

    def show(trainer: Trainer, snapshot: Snapshot | None) -> None:
        if snapshot is not None:
            remark(_line(snapshot))
        if bar is not None:
            share = min(1.0, max(trainer.seconds / seconds, trainer.games / games))
            elo = trainer.snapshots[-1].elo if trainer.snapshots else 0.0
            bar[0](int(1000 * share), 1000, f"{spaced(trainer.games)} games, Elo {elo:+.0f}")

    return show, bar[1] if bar is not None else lambda: None


def _line(snapshot: Snapshot) -> str:
    return (
        f"{snapshot.seconds:6.0f} s  {spaced(int(snapshot.games)):>9} games  error {snapshot.error:4.1f}  "
        f"{snapshot.score:4.0%} against the last snapshot  Elo {snapshot.elo:+5.0f}"
    )


def _report(trainer: Trainer) -> str:
    last = trainer.snapshots[-1] if trainer.snapshots else None
    rows = [
        ("games", spaced(trainer.games)),
        ("positions", spaced(trainer.states)),
        ("minutes", f"{trainer.seconds / 60:.1f}"),
        ("conditions of the rules", str(len(trainer.model.literals))),
    ]
    if last is not None:
        rows.append(("Elo above the beginning", f"{last.elo:.0f}"))
    return table(rows)


def _as_json(trainer: Trainer, path: Path) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "game": trainer.game.name,
        "file": str(path),
        "games": trainer.games,
        "states": trainer.states,
        "seconds": round(trainer.seconds, 3),
        "cpu_seconds": round(trainer.cpu_seconds, 3),
        "inputs": len(trainer.model.literals),
        "snapshots": [asdict(snapshot) for snapshot in trainer.snapshots],
    }

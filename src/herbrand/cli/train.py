"""`herbrand train`: train a player for one game."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, OUTPUT_FILE
from herbrand.cli.output import count, progress_bar, remark, result, table, write_json
from herbrand.cli.workers import worker_options, workers

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.play.training import Training

__all__ = ["command"]

_SAVE_SECONDS = 30.0
"""Longest time between writes of the file, in seconds."""
_WORTH_PROCESSES = 60.0
"""Seconds of training from which others than this process play the games."""


@click.command("train")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Duration of the training, earlier calls included.  [default: 20]",
)
@click.option(
    "--games",
    type=click.IntRange(1),
    help="Train for this many games (or rounds of regret minimisation) in total, without a time limit.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=OUTPUT_FILE,
    help="The file to write (.npz); an existing training in it goes on.  [default: GAME.npz]",
)
@click.option("--seed", type=click.IntRange(0), help="Determines self-play, with --games.  [default: 0]")
@click.option(
    "--batch",
    type=click.IntRange(1),
    help="Tasks of self-play in each round: with many workers, their number or a multiple.  [default: 2]",
)
@click.option(
    "--device",
    metavar="NAME",
    help="Fit on this device of PyTorch, such as cuda or cuda:1; needs herbrand[torch].  [default: NumPy]",
)
@click.option("--plot", metavar="OUT", type=OUTPUT_FILE, help="Write a plot of the progress (SVG).")
@worker_options(
    "Number of processes for self-play.  [default: two, if there are two processors and a minute]"
)
@JSON
def command(
    file: str,
    notation: str,
    minutes: float | None,
    games: int | None,
    output: str | None,
    seed: int | None,
    batch: int | None,
    device: str | None,
    plot: str | None,
    jobs: int | None,
    cluster: str | None,
    *,
    as_json: bool,
) -> None:
    """Learn to play a game by self-play, for the player `learned`.

    Only the rules are needed, and `learned(file='GAME.npz')` plays by the result. Ctrl-C ends the training
    and keeps what was learned; the same command resumes.

    Where one role at a time chooses, without chance and hidden information, values of positions are learned
    by self-play, and the player searches with them, or without values where quick games at the end say that
    this is better. Ratings compare the values with earlier ones, both looking one step ahead: they show
    progress, not strength against others.

    Other games need a tree of histories that is small enough. Regret minimisation (CFR+) then learns
    strategies, by whose probabilities the player draws its moves. The exploitability is what a player gains
    on average if it alone replies as well as possible; at 0.001 points the training ends. It uses one process
    and no random numbers: --seed, --batch, --jobs and --cluster make no difference.
    """
    from herbrand.errors import BudgetExceeded
    from herbrand.play.threads import available_cores
    from herbrand.play.training import Trainer, write_training
    from herbrand.runtime.limits import seconds_left

    began = time.monotonic()
    game = read_game(file, notation)
    path = Path(output or f"{game.name}.npz")
    training, resumes = _open(game, path, seed, batch)
    if resumes:
        remark(f"{path}: going on after {count(training.done, training.unit)}")
    seconds = 60 * (minutes or (20.0 if games is None else math.inf))
    most = math.inf if games is None else games
    if jobs is None and cluster is None and seconds >= _WORTH_PROCESSES and isinstance(training, Trainer):
        jobs = min(training.settings.batch, available_cores())
        jobs = jobs if jobs > 1 else None
    saved = time.monotonic()
    # preparation counts, too, and the file is still to be written
    left = 0.95 * (seconds - training.seconds - (saved - began))

    def listen(training: Training, snapshot: object) -> None:
        nonlocal saved
        if snapshot is not None:
            remark(training.describe(snapshot))
        if update is not None:
            share = min(1.0, max(training.seconds / seconds, training.done / most))
            update(int(1000 * share), 1000, training.progress())
        if time.monotonic() - saved > _SAVE_SECONDS:
            write_training(path, training)
            saved = time.monotonic()

    try:
        with progress_bar(1000, "training") as update, workers(jobs, cluster) as executor:
            training.run(
                seconds=training.seconds + max(0.0, left),
                games=most,
                executor=executor,
                device=device,
                listener=listen,
            )
    except KeyboardInterrupt:
        remark("stopped; the same command resumes")
    except BudgetExceeded:
        if seconds_left():  # it was memory
            raise
        remark("the time was up in the middle of a round, which does not count")
    write_training(path, training)
    if training.converged:
        remark(f"trained to the end: {training.converged}")
    if plot is not None:
        from herbrand.play.training.chart import plot as draw_plot
        from herbrand.runtime.files import write_atomically

        write_atomically(plot, draw_plot(training))
    if as_json:
        write_json(
            {
                "game": game.name,
                "file": str(path),
                "seconds": round(training.seconds, 3),
                "cpu_seconds": round(training.cpu_seconds, 3),
                **training.as_json(),
            }
        )
    else:
        result(table(training.summary()))
        result(f"{path}: play against it with --opponent \"learned(file='{path}')\"")


def _open(game: Game, path: Path, seed: int | None, batch: int | None) -> tuple[Training, bool]:
    """Return the training of the file, or a new one, and whether it goes on."""
    from dataclasses import replace

    from herbrand.play.training import Settings, Trainer, read_training, start_training

    if path.exists():
        training = read_training(path, game)
        if isinstance(training, Trainer):
            if seed is not None and seed != training.settings.seed:
                raise click.UsageError(f"`{path}` was begun with the seed {training.settings.seed}")
            if batch is not None:
                training.settings = replace(training.settings, batch=batch)
        return training, True
    remark(f"{game.name}: preparing...")
    settings = Settings(seed or 0)
    return start_training(game, settings if batch is None else replace(settings, batch=batch)), False

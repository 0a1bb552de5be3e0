"""`herbrand count`: how many states can be reached, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from herbrand.analyse.budget import Budget
from herbrand.cli.files import NOTATION, read_game
from herbrand.cli.listing import counting, explore_options, listing
from herbrand.cli.options import FOLDER, JSON, time_limit
from herbrand.cli.output import count as counted
from herbrand.cli.output import remark, result, spaced, table, write_json
from herbrand.cli.workers import RESULTS, SHEETS, is_collection, run_collection, worker_options

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.analyse.counting.count import StateCount
    from herbrand.game import Game

__all__ = ["command"]


@click.command("count")
@click.argument("files", metavar="FILE...", type=SHEETS, nargs=-1, required=True)
@NOTATION
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    type=FOLDER,
    help="Store the last step in this folder, and resume from it.",
)
@explore_options("List the states in sorted files in this folder instead, and resume from there.")
@time_limit(600.0)
@worker_options("Number of processes, each of which counts one game at a time.")
@RESULTS
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    notation: str,
    checkpoint: Path | None,
    explore: Path | None,
    disk: float,
    seconds: float,
    as_json: bool,
    **how: Any,
) -> None:
    """Count the reachable states of a game without listing them.

    Each line has the states first reached after each number of steps, terminal ones included. Sets of
    states are decision diagrams, so that there may be billions of states, if the sets are regular. With
    --explore the states are listed instead, in files on disk, eight bytes or more for each.
    Within the limits of time and memory, or until Ctrl+C, the steps up to then are counted (exit 3);
    with --checkpoint or --explore the next call resumes from there. Several files, or a folder, are counted
    at the same time, each within the limits; the count of one game is not divided.
    """
    from herbrand.analyse.counting import count_states
    from herbrand.runtime.limits import seconds_left

    if len(files) > 1 or is_collection(files, **how):
        if checkpoint is not None or explore is not None:
            raise click.UsageError("--checkpoint and --explore are for one game; --results is for several")
        run_collection(
            "count", files, notation, _as_data, {"seconds": seconds},
            show=_table, as_json=as_json, is_whole=lambda row: row["complete"], seconds=seconds, **how,
        )  # fmt: skip
    game = read_game(files[0], notation)
    budget = Budget(min(seconds, seconds_left()) - 0.5, megabytes=game.limits.megabytes)
    if explore is not None:
        if checkpoint is not None:
            raise click.UsageError("--explore has checkpoints of its own: leave out --checkpoint")
        ctx.exit(_explore(game, explore, disk, budget, as_json=as_json))
    show = remark if as_json else result
    outcome = count_states(game, budget=budget, checkpoint=checkpoint, progress=counting(show))
    if as_json:
        write_json({"game": game.name, **outcome.as_json()})
    else:
        result(_summary(outcome))
    if not outcome.is_complete:
        help_ = "the next call resumes" if checkpoint else "--checkpoint FOLDER lets the next call resume"
        remark(f"{outcome.stopped}: {help_}")
        ctx.exit(3)


def _explore(game: Game, folder: Path, disk: float, budget: Budget, *, as_json: bool) -> int:
    """List the states in files; return the exit status."""
    from herbrand.analyse.exploration.on_disk import explore_on_disk

    outcome = explore_on_disk(
        game,
        folder,
        budget=budget,
        disk=disk,
        progress=listing(remark if as_json else result),
    )
    if as_json:
        write_json({"game": game.name, **outcome.as_json()})
    elif outcome.is_complete:
        steps = counted(len(outcome.by_step) - 1, "step")
        ends = f"{spaced(sum(outcome.terminal))} of them terminal"
        result(f"{counted(outcome.states, 'state')}, {ends}, the last after {steps}")
    else:
        result(f"at least {spaced(outcome.states)} states, in {outcome.bytes} bytes each")
    if not outcome.is_complete:
        remark(f"{outcome.stopped}: the same command resumes")
        return 3
    return 0


def _as_data(game: Game, seconds: float) -> dict[str, Any]:
    from herbrand.analyse.counting import count_states

    budget = Budget(seconds - 0.5, megabytes=game.limits.megabytes)
    return {"game": game.name, **count_states(game, budget=budget).as_json()}


def _table(rows: list[dict[str, Any]]) -> str:
    """Return one line for each game."""
    cells = [
        (row["game"], spaced(row["states"]), len(row["by_step"]) - 1, row["stopped"] or "") for row in rows
    ]
    return table(cells, ("game", "states", "steps", "stopped by"), right=(1, 2))


def _summary(outcome: StateCount) -> str:
    """Return the total in words."""
    steps = counted(len(outcome.by_step) - 1, "step")
    if not outcome.by_step:
        return "no step was counted"
    if not outcome.is_complete:
        return f"at least {spaced(outcome.states)} states, those within {steps}"
    return f"{counted(outcome.states, 'state')}, the last after {steps}"

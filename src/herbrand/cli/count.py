"""`herbrand count`: how many states can be reached, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, time_limit
from herbrand.cli.output import count as counted
from herbrand.cli.output import remark, result, spaced, write_json

if TYPE_CHECKING:
    from herbrand.analyse.counting.count import StateCount, StepCount

__all__ = ["command"]

_HEAD = f"{'step':>5} {'states':>24} {'nodes':>12} {'seconds':>9}"


@click.command("count")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the last step in this folder, and go on from it.",
)
@time_limit(600.0)
@JSON
@click.pass_context
def command(
    ctx: click.Context, file: str, notation: str, checkpoint: Path | None, seconds: float, as_json: bool
) -> None:
    """Count the reachable states of a game without listing them.

    Each line has the states that are first reached after so many steps, terminal ones included. Sets of
    states are decision diagrams, so that there may be billions of them; what counts is how regular they are.
    Within the limits of time and memory, or until Ctrl+C, the steps up to then are counted (exit 3); with
    --checkpoint the next call goes on from there.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.counting import count_states
    from herbrand.runtime.limits import seconds_left

    game = read_game(file, notation)

    def show(step: StepCount) -> None:
        line = f"{step.step:5} {spaced(step.states):>24} {spaced(step.nodes):>12} {step.seconds:9.1f}"
        if as_json:
            remark(line)
        else:
            if not step.step:
                result(_HEAD)
            result(line)

    outcome = count_states(
        game,
        budget=Budget(min(seconds, seconds_left()) - 0.5, megabytes=game.limits.megabytes),
        checkpoint=checkpoint,
        progress=show,
    )
    if as_json:
        write_json({"game": game.name, **outcome.as_json()})
    else:
        result(_summary(outcome))
    if not outcome.is_complete:
        help_ = "the next call goes on" if checkpoint else "--checkpoint FOLDER lets the next call go on"
        remark(f"{outcome.stopped}: {help_}")
        ctx.exit(3)


def _summary(outcome: StateCount) -> str:
    """Return the total in words."""
    steps = counted(len(outcome.by_step) - 1, "step")
    if not outcome.by_step:
        return "no step was counted"
    if not outcome.is_complete:
        return f"at least {spaced(outcome.states)} states, those within {steps}"
    return f"{counted(outcome.states, 'state')}, the last after {steps}"

"""`herbrand simulate`: play random games and report statistics."""

from __future__ import annotations

import math
import os
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, engine_option, max_steps, time_limit
from herbrand.cli.output import count, progress_bar, remark, result, table, write_json
from herbrand.cli.workers import RESULTS, going_on, worker_options, workers
from herbrand.engine.description import ENGINES
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from herbrand.engine.playouts import GoalStatistics, Simulation

__all__ = ["command"]


@click.command("simulate")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option("-n", "--playouts", type=click.IntRange(min=1), default=1000, help="Number of games.")
@click.option("--seed", type=int, help="Makes the games reproducible.")
@engine_option(*ENGINES)
@max_steps(None, "Stop a game after this many steps.")
@time_limit()
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Cores to use; all by default.")
@worker_options("Number of processes that play; each builds the network for itself, --threads share it.")
@RESULTS
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True),
    metavar="PATH",
    help="Plot lengths and goals as .svg, .png or .pdf.",
)
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    playouts: int,
    seed: int | None,
    engine: str,
    max_steps: int | None,
    seconds: float | None,
    threads: int | None,
    jobs: int | None,
    cluster: str | None,
    results: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Play random games and report statistics.

    In every state each role chooses uniformly among its legal moves. Means are given with half the width of
    their 95 % confidence interval. The result depends on the seed only, not on --threads, --jobs or
    --cluster, which divide games on the network; playing by the rules is not divided. With --results, which
    needs --seed, a call that is stopped is continued by the same command.
    """
    if results is not None:
        if seed is None:
            raise click.UsageError("--results needs --seed: other games cannot be added to those played")
        if cluster is None and jobs is None:
            jobs = os.cpu_count() or 1
    game = read_game(file, notation)
    options: dict[str, Any] = {} if max_steps is None else {"max_steps": max_steps}
    limits = Limits(seconds=math.inf if seconds is None else seconds, atoms=DEFAULT.atoms)
    with (
        progress_bar(playouts, f"playing {game.name}") as update,
        going_on("simulate", results) as stored,
        workers(jobs, cluster) as executor,
    ):
        simulation = game.simulate(
            playouts=playouts,
            seed=seed,
            engine=engine,
            limits=limits,
            progress=update,
            threads=threads,
            executor=executor,
            results=stored,
            **options,
        )
    if as_json:
        write_json(simulation.as_json())
    else:
        result(_report(simulation))
    if plot is not None:
        from herbrand.draw.charts import save_chart

        save_chart(simulation, plot)
    if simulation.note is not None:
        remark(f"note: {simulation.note}")
    if results is not None and simulation.engine != "network":
        remark(f"note: playing by the rules is not divided: nothing is written to {results}")
    if simulation.stopped is not None:
        remark(f"error: {simulation.stopped}; {simulation.playouts} of {playouts} playouts were finished")
        ctx.exit(3)


def _report(simulation: Simulation) -> str:
    """Format the statistics."""
    length = simulation.length
    speed = simulation.transitions / simulation.seconds if simulation.seconds else 0
    played = f"{count(simulation.playouts, 'playout')} with {count(simulation.transitions, 'step')}"
    rate = f"{simulation.seconds:.2f} s ({count(round(speed), 'step')} a second)"
    lengths = _about(length["mean"], simulation.length_interval)
    lines = [
        f"{simulation.game}: {played} in {rate}, seed {simulation.seed}",
        f"length: {lengths} steps on average, {length['min']} to {length['max']}",
        f"engine: {simulation.engine}",
    ]
    if simulation.truncated:
        lines.append(
            f"truncated: {count(simulation.truncated, 'playout')} that reached the maximum number of steps"
        )
    if simulation.stuck:
        state = shorten(simulation.stuck_in or "", 400, placeholder=" ...")
        lines.append(f"stuck: {count(simulation.stuck, 'playout')}, the first as {state}")
    rows = []
    for role, goal in simulation.goals.items():
        spread = "  ".join(f"{value}: {_share(n, goal)}" for value, n in sorted(goal.distribution.items()))
        if goal.undefined:
            spread += f"{'  ' * bool(spread)}no single value: {_share(goal.undefined, goal)}"
        mean = None if goal.mean is None else _about(goal.mean, goal.interval)
        rows.append((role, mean, f"{simulation.branching.get(role, 0):.2f}", spread))
    lines += ["", table(rows, ("role", "mean goal", "legal moves", "goals"), right=(1, 2))]
    return "\n".join(lines)


def _about(mean: float, interval: tuple[float, float] | None) -> str:
    """Format a mean with half the width of its confidence interval."""
    return f"{mean:.2f}" if interval is None else f"{mean:.2f} ± {interval[1] - mean:.2f}"


def _share(number: int, goal: GoalStatistics) -> str:
    total = sum(goal.distribution.values()) + goal.undefined
    return f"{100 * number / total:.1f} %"

"""`herbrand measure`: measure properties of games."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import NOTATION, read_game
from herbrand.cli.options import JSON, POSITIVE
from herbrand.cli.output import progress_bar, remark, result, table, write_json
from herbrand.cli.workers import RESULTS, SHEETS, is_collection, run_collection, worker_options
from herbrand.errors import HerbrandError
from herbrand.runtime.limits import seconds_left
from herbrand.runtime.watchdog import watch

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.measure import Measures

__all__ = ["command"]

_EFFORTS = ("cheap", "full", "thorough")
_COLUMNS = (
    "length",
    "branching",
    "draws",
    "balance",
    "first_mover",
    "skill",
    "depth",
    "drama",
    "play_novelty",
)
"""The measures in the table of a collection, unless --only names others."""


@click.command("measure")
@click.argument("files", metavar="FILE...", type=SHEETS, nargs=-1, required=True)
@NOTATION
@click.option(
    "--budget",
    type=click.Choice(_EFFORTS),
    default="full",
    help="Effort: random games only, also games between searching players, or more of both.",
)
@click.option("--only", metavar="NAME,...", help="Compute only these measures.")
@click.option("--seed", type=int, default=0, help="Determines all games.")
@click.option(
    "--seconds",
    type=POSITIVE,
    help="Skip measures that are not done after this many seconds per game.",
)
@worker_options("Number of processes, each of which measures one game at a time.")
@RESULTS
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    notation: str,
    budget: str,
    only: str | None,
    seed: int,
    seconds: float | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Measure games: balance, draws, skill, depth, drama, novelty and more.

    Measures are computed from the rules, random games and games between Monte Carlo players. They are given
    with half the width of their 95 % confidence intervals; the same seed gives the same numbers. FILE may
    be a folder: with one, --jobs, --cluster or --results, the games are measured at the same time and
    become one table.

    Exits with 1 if a game could not be measured.
    """
    from herbrand.measure import CATALOGUE

    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    for name in names or ():
        if name not in CATALOGUE:
            raise click.BadParameter(
                f"no measure `{name}` (one of {', '.join(CATALOGUE)})", ctx, param_hint="--only"
            )
    options: dict[str, Any] = {"effort": budget, "seed": seed, "only": names}
    if is_collection(files, **how):

        def show(rows: list[dict[str, Any]]) -> str:
            return _table(
                rows, names or [name for name in _COLUMNS if any(name in row["measures"] for row in rows)]
            )

        run_collection(
            "measure", files, notation, _as_data, {**options, "seconds": seconds},
            show=show, as_json=as_json, seconds=seconds, **how,
        )  # fmt: skip
    measured: list[Measures] = []
    failed = False
    for done, file in enumerate(files):
        limit = math.inf if seconds is None else seconds
        with watch(seconds=limit, time_hint="--seconds sets the limit"):
            game = read_game(file, notation)
            try:
                left = seconds and seconds_left()
                measures = _measure(game, done, len(files), seconds=left, **options)
            except HerbrandError as error:
                remark(f"error: {game.name}: {error}")
                failed = True
                continue
        measured.append(measures)
        if not as_json:
            result(("\n" if len(measured) > 1 else "") + f"{game.name}\n{measures}")
    if as_json:
        write_json([measures.as_json() for measures in measured])
    if failed:
        ctx.exit(1)


def _as_data(game: Game, **options: Any) -> dict[str, Any]:
    from herbrand.measure import measure

    return measure(game, **options).as_json()


def _table(rows: list[dict[str, Any]], names: list[str]) -> str:
    """Return one line for each game."""
    values = [[row["measures"].get(name, {}).get("value") for name in names] for row in rows]
    cells = [
        (row["game"], *(None if value is None else f"{value:.2f}" for value in line))
        for row, line in zip(rows, values, strict=True)
    ]
    return table(cells, ("game", *names), right=range(1, len(names) + 1))


def _measure(game: Game, done: int, files: int, **options: Any) -> Measures:
    """Measure one game, after `done` of `files`, with a progress bar."""
    from herbrand.measure import measure

    with progress_bar(files, game.name) as update:

        def show(group: str) -> None:
            if update is not None:
                update(done, files, f"{game.name}: {group}")

        return measure(game, progress=show, **options)

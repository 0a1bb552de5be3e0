"""`herbrand measure`: what games are like to play, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON
from herbrand.cli.output import remark, result, write_json
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.measure import Measures

__all__ = ["command"]

_EFFORTS = ("cheap", "full", "thorough")


@click.command("measure")
@click.argument("files", metavar="FILE...", type=FILE, nargs=-1, required=True)
@NOTATION
@click.option(
    "--budget",
    type=click.Choice(_EFFORTS),
    default="full",
    show_default=True,
    help="How much is played: random games only, players that search as well, or more of both.",
)
@click.option("--only", metavar="NAME,...", help="Take these measures only.")
@click.option("--seed", type=int, default=0, show_default=True, help="Decides all games.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="Leave out what has not begun after so many seconds, for each game.",
)
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    notation: str,
    budget: str,
    only: str | None,
    seed: int,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Measure games: balance, draws, skill, depth, drama, novelty and more.

    Everything is measured from the rules, from random games and from games between players that look at
    random games before they move. A number stands with half the width of its 95 % confidence interval; the
    same seed gives the same numbers.

    Exits with 1 if a game could not be measured.
    """
    from herbrand.measure import CATALOGUE, measure

    wanted = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    for name in wanted or ():
        if name not in CATALOGUE:
            raise click.BadParameter(
                f"no measure `{name}` (there are {', '.join(CATALOGUE)})", ctx, param_hint="--only"
            )
    found: list[Measures] = []
    failed = False
    for file in files:
        game = read_game(file, notation)
        try:
            measures = measure(game, effort=budget, seed=seed, only=wanted, seconds=seconds)
        except HerbrandError as error:
            remark(f"error: {game.name}: {error}")
            failed = True
            continue
        found.append(measures)
        if not as_json:
            result(("\n" if len(found) > 1 else "") + f"{game.name}\n{measures}")
    if as_json:
        write_json([measures.as_json() for measures in found])
    if failed:
        ctx.exit(1)

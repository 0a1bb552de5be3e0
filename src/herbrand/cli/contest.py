"""Options and helpers of the commands that run matches: clocks, substitutes, records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.options import OUTPUT_FILE, together

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.cli.options import Command

__all__ = ["clocks", "find_player", "forfeit_after", "record_in", "substitute"]


def clocks(start: int, play: int) -> Callable[[Command], Command]:
    """Return the options --start-clock and --play-clock with these defaults in seconds."""
    seconds = click.IntRange(0)
    return together(
        click.option("--start-clock", type=seconds, default=start, help="Seconds to prepare."),
        click.option("--play-clock", type=seconds, default=play, help="Seconds for a move."),
    )


def substitute(forfeit: str) -> Callable[[Command], Command]:
    """Return the option --substitute; `forfeit` describes the effect of a forfeit."""
    return click.option(
        "--substitute",
        type=click.Choice(["random", "first", "noop", "forfeit"]),
        default="random",
        help=f"Replacement for a late or bad move; with forfeit {forfeit}.",
    )


forfeit_after = click.option(
    "--forfeit-after",
    metavar="N",
    type=click.IntRange(0),
    help="A player with more than N bad moves in a match forfeits it; they are replaced until then.",
)


def record_in(purpose: str) -> Callable[[Command], Command]:
    """Return the option --record; the parameter is called `database`."""
    return click.option("--record", "database", metavar="DB", type=OUTPUT_FILE, help=purpose)


def find_player(text: str, *, elsewhere: bool = False, seed: int | None = None) -> Any:
    """Create a player by name; `click.BadParameter` for an unknown one.

    With `elsewhere`, the error message mentions that remote players are possible, too.
    """
    from herbrand.play import make_player
    from herbrand.play.registry import NoSuchPlayer

    try:
        return make_player(text, seed=seed)
    except NoSuchPlayer as error:
        where = "; on the network: HOST:PORT" if elsewhere else ""
        raise click.BadParameter(f"{error}{where}", param_hint="--player") from error

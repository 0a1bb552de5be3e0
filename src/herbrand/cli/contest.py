"""Options and helpers of the commands that run matches: clocks, substitutes, records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from herbrand.cli.options import OUTPUT_FILE

__all__ = ["clocks", "find_player", "forfeit_after", "record_in", "substitute"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def clocks(start: int, play: int) -> Callable[[_Command], _Command]:
    """Return the options --start-clock and --play-clock with these defaults in seconds."""

    def decorate(command: _Command) -> _Command:
        for option, seconds, purpose in (("play", play, "for a move"), ("start", start, "to prepare")):
            command = click.option(
                f"--{option}-clock", type=click.IntRange(0), default=seconds, help=f"Seconds {purpose}."
            )(command)
        return command

    return decorate


def substitute(forfeit: str) -> Callable[[_Command], _Command]:
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


def record_in(purpose: str) -> Callable[[_Command], _Command]:
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

"""What commands that hold matches share: clocks, what replaces a bad move, where it is recorded, ports."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["cannot_listen", "clocks", "find_player", "record_in", "substitute"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def clocks(start: int, play: int) -> Callable[[_Command], _Command]:
    """Return the options --start-clock and --play-clock with these seconds."""

    def decorate(command: _Command) -> _Command:
        for option, seconds, purpose in (("play", play, "for a move"), ("start", start, "to prepare")):
            command = click.option(
                f"--{option}-clock",
                type=click.IntRange(0),
                default=seconds,
                show_default=True,
                help=f"Seconds {purpose}.",
            )(command)
        return command

    return decorate


def substitute(forfeit: str) -> Callable[[_Command], _Command]:
    """Return the option --substitute; `forfeit` says what a forfeit does."""
    return click.option(
        "--substitute",
        type=click.Choice(["random", "first", "noop", "forfeit"]),
        default="random",
        show_default=True,
        help=f"What is played for a player whose move is late or bad; with forfeit {forfeit}.",
    )


def record_in(purpose: str) -> Callable[[_Command], _Command]:
    """Return the option --record; the parameter is called `database`."""
    return click.option("--record", "database", metavar="DB", type=click.Path(dir_okay=False), help=purpose)


def find_player(text: str, *, elsewhere: bool = False, seed: int | None = None) -> Any:
    """Make a player of `herbrand players`; say what a wrong name may have meant.

    `elsewhere` says that players on the network would do as well.
    """
    from herbrand.play import make_player
    from herbrand.play.registry import NoSuchPlayer

    try:
        return make_player(text, seed=seed)
    except NoSuchPlayer as error:
        where = "; on the network: HOST:PORT" if elsewhere else ""
        raise click.BadParameter(f"{error}{where}", param_hint="--player") from error


def cannot_listen(address: str, option: str, error: OSError) -> click.BadParameter:
    """Return what is said of an option with an address at which nobody can listen."""
    taken = error.errno == errno.EADDRINUSE
    reason = "another program listens there" if taken else (error.strerror or str(error)).lower()
    return click.BadParameter(f"cannot listen on {address}: {reason}", param_hint=option)

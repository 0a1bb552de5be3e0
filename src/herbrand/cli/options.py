"""Options shared by several commands; those about FILE are in `files`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from herbrand.runtime.tokens import TOKEN_VARIABLE, is_token

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "FOLDER",
    "INPUT_FILE",
    "JSON",
    "MOVES",
    "OUTPUT",
    "OUTPUT_FILE",
    "POSITIVE",
    "Command",
    "engine_option",
    "json_option",
    "max_steps",
    "roles_named",
    "time_limit",
    "together",
    "token_option",
]

Command = TypeVar("Command", bound="Callable[..., Any]")


def together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def json_option(text: str = "Write JSON.") -> Callable[[Command], Command]:
    """Return the option --json, whose parameter is `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=text)


JSON = json_option()

POSITIVE = click.FloatRange(min=0, min_open=True)

INPUT_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

OUTPUT_FILE = click.Path(dir_okay=False)

FOLDER = click.Path(file_okay=False, path_type=Path)

OUTPUT = click.option("-o", "--output", metavar="OUT", type=OUTPUT_FILE, help="Write to this file.")

MOVES = click.option("--moves", metavar="MOVES", help='Make these moves first: "(mark 1 1); (mark 2 2)".')


def roles_named(names: Sequence[str], roles: Sequence[str], option: str) -> list[str]:
    """Return roles as a game spells them; fail for one that is not there."""
    spelling = {role.lower(): role for role in roles}
    for name in names:
        if name.lower() not in spelling:
            raise click.BadParameter(f"no role `{name}` (roles: {', '.join(roles)})", param_hint=option)
    return [spelling[name.lower()] for name in names]


def engine_option(
    *names: str, text: str = "The engine that evaluates the rules."
) -> Callable[[Command], Command]:
    """Return the option --engine with these choices and the default `auto`."""
    return click.option("--engine", type=click.Choice(names), default="auto", help=text)


def time_limit(seconds: float | None = None) -> Callable[[Command], Command]:
    """Return the option --seconds; None as default is no limit."""
    return click.option("--seconds", type=POSITIVE, default=seconds, help="Time limit in seconds (exit 3).")


def max_steps(steps: int | None, text: str) -> Callable[[Command], Command]:
    """Return the option --max-steps; None as default is no limit."""
    return click.option("--max-steps", type=click.IntRange(1), metavar="N", default=steps, help=text)


def token_option(text: str) -> Callable[[Command], Command]:
    """Return the option --token, which the environment variable HERBRAND_TOKEN can give, too."""

    def check(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
        if value is not None and not is_token(value):
            raise click.BadParameter("a token has 8 to 200 letters, digits and signs of `._~-`")
        return value

    return click.option(
        "--token",
        metavar="TEXT",
        envvar=TOKEN_VARIABLE,
        callback=check,
        help=f"{text} Better in the environment as {TOKEN_VARIABLE}, which other users cannot see.",
    )

"""FILE arguments: a path, the name of a bundled game, or `-` for standard input."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from herbrand.cli.budget import given_limits
from herbrand.cli.options import together

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.syntax.ggdl.program import Value
    from herbrand.syntax.tree import Tree

    _Parameter = click.ParamType[str]
else:
    _Parameter = click.ParamType  # not generic before click 8.3

__all__ = [
    "BUNDLED",
    "FILE",
    "NOTATION",
    "STDIN",
    "GameFile",
    "bundled",
    "given_parameters",
    "read_game",
    "read_tree",
]

STDIN = "-"


class GameFile(_Parameter):
    """A FILE argument, completed to files and bundled games."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path to read, or `-`; fail for a name that is neither a file nor a game."""
        if value == STDIN or Path(value).is_file():
            return value
        path = Path(value)
        from herbrand import games

        sheet = path.suffix in games.ENDINGS and value.lower() in map(str.lower, games.files())
        if not sheet and not path.is_dir() and (len(path.parts) != 1 or path.suffix or path.exists()):
            return value  # reading it gives a better error message
        return bundled(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete bundled games, and let the shell complete files."""
        del ctx, param
        return [*_bundled_completions(incomplete), CompletionItem(incomplete, type="file")]


class BundledName(_Parameter):
    """The name of a bundled game."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the canonical name; fail for an unknown one."""
        from herbrand import games

        return str(games.info(Path(bundled(value, param, ctx)).name)["name"])

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete bundled games."""
        del ctx, param
        return _bundled_completions(incomplete)


def _bundled_completions(incomplete: str) -> list[CompletionItem]:
    from herbrand import games

    return [CompletionItem(name) for name in games.names() if name.startswith(incomplete)]


def bundled(name: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
    """Return the path of a bundled game; for an unknown one, fail with a similar name."""
    from herbrand import games

    try:
        return str(games.path(name))
    except FileNotFoundError:
        from difflib import get_close_matches

        by_lower = {n.lower(): n for n in games.names()}
        near = get_close_matches(name.lower(), by_lower, n=1)
        hint = f"did you mean `{by_lower[near[0]]}`? " if near else ""
        error = f"`{name}` is a directory" if Path(name).is_dir() else f"no file or bundled game `{name}`"
        raise click.BadParameter(f"{error} ({hint}`herbrand games` lists the games)", ctx, param) from None


FILE = GameFile()
BUNDLED = BundledName()

_VALUES = f"{__name__}.parameters"
"""Key in `click.Context.meta` of the values of --param."""


def _store_values(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> None:
    """Parse NAME=VALUE and store the values for `read_tree`."""
    values: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise click.BadParameter(f"`{text}` is not of the form NAME=VALUE", ctx, param)
        values[name.strip()] = value.strip()
    ctx.meta[_VALUES] = values


NOTATION = together(
    click.option(
        "--notation",
        type=click.Choice(["auto", "prefix", "infix", "prolog", "ggdl"]),
        default="auto",
        help="Notation of FILE; by default detected from its ending and content.",
    ),
    click.option(
        "--param",
        metavar="NAME=VALUE",
        multiple=True,
        expose_value=False,
        callback=_store_values,
        help="Set a parameter of a game in GGDL (`herbrand params FILE` lists them).",
    ),
)
"""The options of all commands that read a rulesheet."""


def given_parameters(side: str = "") -> dict[str, Value]:
    """Return the values of --param in the running command.

    In a command with several files, `SIDE:NAME=VALUE` sets the parameter of one of them only.
    """
    ctx = click.get_current_context(silent=True)
    values: dict[str, Value] = {} if ctx is None else dict(ctx.meta.get(_VALUES, {}))
    if not side:
        return values
    own = {
        name.removeprefix(f"{side}:"): value for name, value in values.items() if name.startswith(f"{side}:")
    }
    return {name: value for name, value in values.items() if ":" not in name} | own


def read_tree(file: str, notation: str = "auto", *, parameters: bool = True, side: str = "") -> Tree:
    """Read a rulesheet from a path or from standard input, with the values of --param.

    Those without a `side` are for files in GGDL only, if there are several files.
    """
    from herbrand import syntax

    values = given_parameters(side) if parameters else {}
    if side and values and file != STDIN and syntax.read_file(file, notation).notation != "ggdl":
        values = {name: value for name, value in values.items() if f"{side}:{name}" in given_parameters()}
    if file != STDIN:
        return syntax.read_file(file, notation, values)
    from herbrand.syntax.files import MAX_BYTES, decode, too_large

    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    source, diagnostics = decode(data[:MAX_BYTES], "<stdin>")
    if len(data) > MAX_BYTES:
        diagnostics = (*diagnostics, too_large(source, len(data)))
    tree = syntax.read(source, notation, parameters=values)
    return replace(tree, diagnostics=(*diagnostics, *tree.diagnostics))


def read_game(file: str, notation: str = "auto", *, parameters: bool = True, side: str = "") -> Game:
    """Load a game from a path or from standard input, with the values of --param as for `read_tree`."""
    from herbrand.game import Game

    tree = read_tree(file, notation, parameters=parameters, side=side)
    return Game(tree, name="stdin" if file == STDIN else None, limits=given_limits())

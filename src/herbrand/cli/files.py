"""What a FILE argument may be: a path, the name of a bundled game, or `-` for standard input."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.syntax.tree import Tree

    _Parameter = click.ParamType[str]
else:
    _Parameter = click.ParamType  # before click 8.3 it takes no type argument

__all__ = ["BUNDLED", "FILE", "NOTATION", "GameFile", "bundled", "read_game", "read_tree"]

STDIN = "-"


class GameFile(_Parameter):
    """A file argument; completes to files and bundled games."""

    name = "file"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse at once what is neither a file nor a game; return the path to read, or `-`."""
        if value == STDIN or Path(value).is_file():
            return value
        path = Path(value)
        if not path.is_dir() and (len(path.parts) != 1 or path.suffix or path.exists()):
            return value  # reading it says what is wrong
        return bundled(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer bundled games, and let the shell offer files."""
        del ctx, param
        from herbrand import games

        fitting = [CompletionItem(name) for name in games.names() if name.startswith(incomplete)]
        return [*fitting, CompletionItem(incomplete, type="file")]


class BundledName(_Parameter):
    """The name of a bundled game."""

    name = "name"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse a name that no game has."""
        return Path(bundled(value, param, ctx)).stem

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the games."""
        del ctx, param
        from herbrand import games

        return [CompletionItem(name) for name in games.names() if name.startswith(incomplete)]


def bundled(name: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
    """Return the path of a bundled game; say what a wrong name may have meant."""
    from herbrand import games

    try:
        return str(games.path(name))
    except FileNotFoundError:
        near = get_close_matches(name.lower(), {n.lower(): n for n in games.names()}, n=1)
        hint = f"did you mean `{games.path(near[0]).stem}`? " if near else ""
        what = f"`{name}` is a directory" if Path(name).is_dir() else f"no file and no bundled game `{name}`"
        raise click.BadParameter(f"{what} ({hint}`herbrand games` lists the games)", ctx, param) from None


FILE = GameFile()
BUNDLED = BundledName()

NOTATION = click.option(
    "--notation",
    type=click.Choice(["auto", "prefix", "infix", "prolog"]),
    default="auto",
    show_default=True,
    help="How FILE is written; found out from its ending and content otherwise.",
)
"""The option of every command that reads a rulesheet."""


def read_tree(file: str, notation: str = "auto") -> Tree:
    """Read a rulesheet from a path or from standard input."""
    from herbrand import syntax

    if file != STDIN:
        return syntax.read_file(file, notation)
    from herbrand.syntax.files import MAX_BYTES, decode, too_large
    from herbrand.syntax.tree import Tree

    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    source, found = decode(data[:MAX_BYTES], "<stdin>")
    if len(data) > MAX_BYTES:
        found = (*found, too_large(source, len(data)))
    tree = syntax.read(source, notation)
    return Tree(tree.statements, source, tree.notation, tree.comments, (*found, *tree.diagnostics))


def read_game(file: str, notation: str = "auto") -> Game:
    """Load a game from a path or from standard input."""
    from herbrand.game import Game

    return Game(read_tree(file, notation), name="stdin" if file == STDIN else None)

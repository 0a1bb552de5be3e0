"""`herbrand convert`: convert a game to another notation or for another program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from herbrand.cli.budget import given_limits
from herbrand.cli.files import FILE, NOTATION, STDIN, read_tree
from herbrand.cli.options import OUTPUT, time_limit, together
from herbrand.cli.output import count, remark, render, write_output
from herbrand.cli.targets import OPTIONS, TARGETS

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.cli.options import Command
    from herbrand.cli.targets import Option, Target

__all__ = ["command"]


_HELP = """Convert a rulesheet to another notation or for another program.

Names that the other notation cannot spell are renamed, with a note.  A text with syntax errors is not
converted; `herbrand check --fix` may fix it.

\b
""" + "\n".join(f"--to {name:16}{entry.help}" for name, entry in TARGETS.items())


_TYPES = {"int": int, "str": str}


def _option(name: str, option: Option) -> Callable[[Command], Command]:
    """Return the option of the command for one of some targets."""
    flag = f"--{name.replace('_', '-')}"
    targets = [target for target, entry in TARGETS.items() if name in entry.options]
    text = f"{option.help}  [{', '.join(targets)}]"
    if option.type == "flag":
        return click.option(flag, is_flag=True, help=text)
    choice: Any = click.Choice(option.type) if isinstance(option.type, list) else _TYPES[option.type]
    if option.least is not None:
        choice = click.IntRange(option.least)
    return click.option(
        flag, type=choice, default=option.default, show_default=False, metavar=option.metavar, help=text
    )


@click.command("convert", help=_HELP)
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option("--to", "target", required=True, type=click.Choice(list(TARGETS)), help="The output format.")
@together(*(_option(name, option) for name, option in OPTIONS.items()))
@time_limit(60.0)
@OUTPUT
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: str,
    notation: str,
    target: str,
    output: str | None,
    seconds: float,
    **options: Any,
) -> None:
    """Call the function of the target."""
    from herbrand.game import Game
    from herbrand.syntax.printer import Printed

    entry = TARGETS[target]
    _check_options(ctx, target, entry)
    limits = replace(given_limits(), seconds=seconds)
    game = Game(read_tree(file, notation), name="stdin" if file == STDIN else None, limits=limits)
    tree = game.tree
    errors = [d for d in tree.diagnostics if d.is_error]
    if errors:
        remark(render(errors, "text", err=True).rstrip("\n"))
        kind = "error" if tree.ggdl is not None else "syntax error"
        remark(f"error: {count(len(errors), kind)} in {tree.source.name}; nothing was written")
        ctx.exit(1)
    converted = entry.write(game, **{name: options[name] for name in entry.options})
    if not isinstance(converted, str | bytes):
        if converted.diagnostics:
            remark(render(converted.diagnostics, "line", err=True).rstrip("\n"))
        if output is not None and isinstance(converted, Printed):
            for line in converted.remarks:
                remark(f"note: {line}")
        converted = converted.text
    write_output(converted, output)


def _check_options(ctx: click.Context, target: str, entry: Target) -> None:
    """Fail for options that the target does not take."""
    for name in OPTIONS:
        is_given = ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)
        if is_given and name not in entry.options:
            targets = " or ".join(other for other, one in TARGETS.items() if name in one.options)
            flag = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{flag} needs --to {targets}, not {target}")

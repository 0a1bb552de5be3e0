"""`herbrand params`: the parameters of a game in GGDL."""

from __future__ import annotations

import click

from herbrand.cli.files import FILE, NOTATION, read_tree
from herbrand.cli.options import JSON
from herbrand.cli.output import remark, render, result, table, write_json

__all__ = ["command"]


@click.command("params")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@JSON
@click.pass_context
def command(ctx: click.Context, file: str, notation: str, as_json: bool) -> None:
    """List the parameters of a game in GGDL.

    Each has a type, a range, a description and usually a default. All commands that read a game take values
    with --param NAME=VALUE.
    """
    tree = read_tree(file, notation)
    parameters = () if tree.ggdl is None else tree.ggdl.parameters
    errors = [d for d in tree.diagnostics if d.is_error and d.check.startswith("parameter-")]
    errors = [d for d in errors if d.check != "parameter-missing"]
    if errors:
        remark(render(errors, "text", err=True).rstrip("\n"))
        ctx.exit(1)
    if as_json:
        write_json([parameter.as_json() for parameter in parameters])
    elif parameters:
        rows = [
            (p.name, _format(p.value), _format(p.default), p.range, " ".join(p.doc.split()))
            for p in parameters
        ]
        result(table(rows, ("name", "value", "default", "range", "description")))
    else:
        remark("the game has no parameters")


def _format(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value

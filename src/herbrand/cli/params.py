"""`herbrand params`: the parameters of a game in GGDL."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_tree
from herbrand.cli.options import JSON
from herbrand.cli.output import remark, render, result, terminal_width, write_json

if TYPE_CHECKING:
    from herbrand.syntax.ggdl.program import Parameter

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
        result(_table(parameters))
    else:
        remark("the game has no parameters")


def _table(parameters: tuple[Parameter, ...]) -> str:
    """Format the parameters as a table with wrapped descriptions."""
    head = ("name", "value", "default", "range", "description")
    rows = [
        (p.name, _format(p.value), _format(p.default), p.range, " ".join(p.doc.split())) for p in parameters
    ]
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(4)]
    margin = sum(widths) + 8
    lines: list[str] = []
    for row in (head, *rows):
        text = textwrap.wrap(row[4], max(terminal_width() - margin, 30)) or [""]
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row[:4], widths, strict=True))
        lines.append(f"{cells}  {text[0]}".rstrip())
        lines += [" " * margin + more for more in text[1:]]
    return "\n".join(lines)


def _format(value: object) -> str:
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)

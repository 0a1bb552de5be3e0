"""The reference page of the command line, made from the commands themselves.

`python -m herbrand.cli.reference` prints it; `docs/reference/cli.md` is kept the same by a test.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import click

from herbrand.cli.main import COMMANDS, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["reference"]

_HEAD = """\
# The command line

<!-- made by `python -m herbrand.cli.reference`; `pytest tests/test_docs.py --update` rewrites it -->

FILE is the path of a rulesheet, the name of a bundled game (`herbrand games` lists them), or `-` for
standard input. Results go to standard output, remarks and progress to standard error. `herbrand` and
`python -m herbrand` are the same.

| exit status | meaning                                                                      |
|-------------|------------------------------------------------------------------------------|
| 0           | fine                                                                         |
| 1           | the game has errors, a file is not laid out well, or a difference was found  |
| 2           | wrong use: an unknown option, a file that is not there, an illegal move      |
| 3           | a budget of time or memory was spent before the answer was known             |
| 70          | a bug in herbrand: please report it                                          |
| 130         | interrupted                                                                  |

`herbrand --version --verbose` also tells what herbrand runs on, as reports of faults should: Python, the
platform, how many cores may be used, which kernels the processor gets and which there are, whether games get
machine code of their own and, if not, why, and which compiler built the core.

Colours and progress bars appear on a terminal only. `NO_COLOR` turns colours off, `FORCE_COLOR` turns
them on.
"""


def reference() -> str:
    """Return the page as Markdown."""
    context = click.Context(cli, info_name="herbrand")
    parts = [_HEAD]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, context, info_name=name)
        parts.append("\n".join(_section(command, inner)))
        for sub, part in command.commands.items() if isinstance(command, click.Group) else ():
            parts.append("\n".join(_section(part, click.Context(part, inner, info_name=sub), level=3)))
    return "\n".join(parts)


def _section(command: click.Command, context: click.Context, *, level: int = 2) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    title = context.command_path.removeprefix("herbrand ")
    yield f"{'#' * level} {title}\n"
    yield f"    {usage}\n"
    yield from _paragraphs(command.help or "")
    options = [p for p in command.params if isinstance(p, click.Option)]
    if options:
        yield "| option | meaning |\n|---|---|"
        yield from map(_option, options)
        yield ""


def _paragraphs(text: str) -> Iterator[str]:
    r"""Yield the help text; a block marked with \\b keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.startswith("\b"):
            yield "\n".join(f"    {line}" for line in paragraph.splitlines()[1:])
        else:
            yield paragraph
        yield ""


def _option(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
    if not option.is_flag:
        shown = option.metavar
        if shown is None and isinstance(option.type, click.Choice):
            shown = "\\|".join(map(str, option.type.choices))
        names += f" {shown or option.type.name.upper()}"
    text = option.help or ""
    if option.show_default and option.default is not None:
        text += f" Default: `{option.default}`."
    return f"| {names} | {text} |"


if __name__ == "__main__":
    print(reference(), end="")

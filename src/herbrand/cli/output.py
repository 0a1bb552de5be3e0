"""Output: results go to standard output, remarks to standard error.

Colour is used on terminals; `NO_COLOR` turns it off, `FORCE_COLOR` turns it on.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import click

from herbrand.runtime.numbers import spaced

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from herbrand.diagnostic import Diagnostic
    from herbrand.draw.text import Paint

__all__ = [
    "Progress",
    "columns",
    "count",
    "goals_line",
    "painter",
    "progress_bar",
    "remark",
    "render",
    "result",
    "spaced",
    "table",
    "terminal_width",
    "wants_color",
    "write_json",
    "write_output",
]


def wants_color(stream: TextIO) -> bool:
    """Whether to write colours to a stream."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def result(text: str, *, newline: bool = True) -> None:
    """Write text to standard output."""
    click.echo(text, nl=newline, color=wants_color(sys.stdout))


def remark(text: str) -> None:
    """Write text to standard error."""
    click.echo(text, err=True, color=wants_color(sys.stderr))


def write_json(value: Any) -> None:
    """Write a value as JSON to standard output."""
    import json

    result(json.dumps(value, indent=2, ensure_ascii=False))


def render(diagnostics: Sequence[Diagnostic], form: str, *, err: bool = False) -> str:
    """Render diagnostics as "text", "line", "json" or "sarif", coloured if the stream is."""
    import herbrand.check.render as renderers

    if form == "text":
        return renderers.text(diagnostics, color=wants_color(sys.stderr if err else sys.stdout))
    writer: Callable[[Sequence[Diagnostic]], str] = getattr(renderers, form)
    return writer(diagnostics)


def count(number: int, noun: str) -> str:
    """Return a number with its noun in the singular or plural.

    >>> count(1, "error"), count(1234, "step"), count(2, "entry"), count(3, "match")
    ('1 error', '1 234 steps', '2 entries', '3 matches')
    """
    if number != 1:
        noun = (
            f"{noun[:-1]}ies"
            if noun.endswith(("ry", "ly"))
            else f"{noun}{'es' if noun.endswith('ch') else 's'}"
        )
    return f"{spaced(number)} {noun}"


def columns(items: Iterable[str], *, indent: str = "") -> str:
    """Arrange items in columns from top to bottom, as wide as the terminal.

    >>> print(columns(["a", "bb", "c"], indent="  "))
      a   bb  c
    """
    words = list(items)
    if not words:
        return ""
    width = max(map(len, words)) + 2
    space = max(terminal_width() - len(indent), width)
    across = min(len(words), space // width)
    down = -(-len(words) // across)
    rows = [words[i::down] for i in range(down)]
    return "\n".join((indent + "".join(f"{word:{width}}" for word in row)).rstrip() for row in rows)


def table(rows: Iterable[Sequence[object]], head: Sequence[str] = (), *, right: Container[int] = ()) -> str:
    """Arrange rows in columns, of which those in `right` are set to the right; None becomes a dash.

    On a terminal the head is bold and cells are wrapped where the table is too wide.  Elsewhere each row is
    one line, however long, for programs that cut columns or search lines.

    >>> print(table([("nim", 2), ("lamp", None)], ("game", "roles"), right=[1]))
    game  roles
    nim       2
    lamp      -
    """
    from herbrand.check.render import printable

    whole = [head, *rows] if head else rows
    lines = [["-" if cell is None else printable(str(cell)) for cell in row] for row in whole]
    if not lines:
        return ""
    if sys.stdout.isatty():
        return _terminal_table(lines, bool(head), right)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _terminal_table(lines: Sequence[Sequence[str]], has_head: bool, right: Container[int]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, show_header=has_head, header_style="bold")
    for at, cells in enumerate(zip(*lines, strict=True)):
        if at in right:  # numbers are not divided
            longest = max((len(word) for cell in cells for word in cell.split()), default=1)
            grid.add_column(Text(cells[0]), justify="right", min_width=longest)
        else:
            grid.add_column(Text(cells[0]), overflow="fold")
    for line in lines[has_head:]:
        grid.add_row(*map(Text, line))
    text = StringIO()
    Console(
        file=text,
        width=terminal_width(),
        force_terminal=True,
        legacy_windows=False,
        color_system="auto" if wants_color(sys.stdout) else None,
    ).print(grid, crop=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def painter() -> Paint | None:
    """Return what colours boards and roles on standard output as in pictures; None if it has no colours."""
    if not wants_color(sys.stdout):
        return None
    from rich.console import COLOR_SYSTEMS, Console
    from rich.style import Style

    from herbrand.draw.style import PIECES

    system = Console(force_terminal=True, legacy_windows=False).color_system
    if system is None:
        return None
    styles = {name: Style(color=letters, bgcolor=fill) for name, (fill, _, letters) in PIECES.items()}
    styles |= {"ink": Style(bold=True), "muted": Style(dim=True), "last": Style(bold=True)}
    return lambda text, colour: styles[colour].render(text, color_system=COLOR_SYSTEMS[system])


def write_output(written: str | bytes, output: str | None) -> None:
    """Write a text, which ends with one newline, or data to a file, or else to standard output."""
    from herbrand.runtime.files import write_atomically

    if isinstance(written, str):
        written = written.rstrip("\n") + "\n"
    if output is not None:
        write_atomically(output, written)
        remark(f"wrote {output}")
    elif isinstance(written, str):
        result(written, newline=False)
    elif sys.stdout.isatty():
        raise click.UsageError("this output is binary: write it to a file with -o FILE, or into a pipe")
    else:
        sys.stdout.buffer.write(written)


def goals_line(goals: Mapping[str, object]) -> str:
    """Return goal values by role as text; `-` where the rules give no single number."""
    return ", ".join(f"{role} {'-' if value is None else value}" for role, value in goals.items())


def terminal_width() -> int:
    """Return the width of the terminal in characters, 80 if there is none."""
    return shutil.get_terminal_size().columns


class Progress(Protocol):
    """Shows how many parts are done, of how many (None: unknown), and with a text, the current activity."""

    def __call__(self, done: int, of: int | None, doing: str | None = None) -> None:
        """Update the bar."""


@contextmanager
def progress_bar(total: int | None, description: str) -> Iterator[Progress | None]:
    """Yield a function that updates a progress bar, which the context ends; None without a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=2,  # drawing takes processor time from the measured task
    )
    task = bar.add_task(description, total=total)

    def update(done: int, of: int | None, doing: str | None = None) -> None:
        bar.tasks[0].total = of  # `Progress.update` cannot remove a total
        bar.update(task, completed=done, description=doing, refresh=doing is not None)

    with bar:
        yield update

"""`herbrand format`: format rulesheets."""

from __future__ import annotations

import click

from herbrand.cli.files import FILE, STDIN, read_tree
from herbrand.cli.output import count, remark, render, result
from herbrand.cli.rewrite import rewrite, unified

__all__ = ["command"]


@click.command("format")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--check", is_flag=True, help="Change nothing; exit with 1 if a file is not formatted.")
@click.option("--diff", is_flag=True, help="Change nothing; show the differences.")
@click.pass_context
def command(ctx: click.Context, files: tuple[str, ...], check: bool, diff: bool) -> None:
    """Format rulesheets.

    Files are changed in place; `-` reads standard input and writes to standard output.  Comments and the
    meaning of the rules are preserved.  Only prefix notation has a canonical layout; texts with syntax errors
    are left unchanged.
    """
    from herbrand.syntax.layout import format_text

    different = broken = unreadable = 0
    for file in files:
        try:
            tree = read_tree(file)
        except OSError as error:
            if len(files) == 1:
                raise
            remark(f"error: cannot use `{file}`: {(error.strerror or str(error)).lower()}")
            unreadable += 1
            continue
        name = tree.source.name
        if tree.notation != "prefix":
            raise click.UsageError(
                f"`{name}` is in {tree.notation} notation; convert it with --to prefix first"
            )
        errors = [d for d in tree.diagnostics if d.is_error]
        if errors:
            remark(render(errors, "text", err=True).rstrip("\n"))
            remark(f"error: {name} has syntax errors and is unchanged")
            broken += 1
            continue
        before = tree.source.text
        after = format_text(tree.source)
        changed = before != after
        different += changed
        if diff or check:
            if changed:
                result(unified(before, after, name) if diff else name, newline=not diff)
        elif file == STDIN:
            result(after, newline=False)
        elif changed:
            rewrite(file, after)
            remark(f"{name}: changed")
    if len(files) > 1 or check:
        same = len(files) - different - broken - unreadable
        verb = "would change" if check or diff else "changed"
        remark(f"{count(different, 'file')} {verb}, {same} unchanged")
    if unreadable:
        ctx.exit(2)
    if broken or (different and (check or diff)):
        ctx.exit(1)

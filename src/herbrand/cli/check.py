"""`herbrand check`: find out what is wrong with rulesheets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import click

from herbrand.check import check
from herbrand.cli.files import FILE, NOTATION, STDIN, given_parameters, read_tree
from herbrand.cli.options import json_option
from herbrand.cli.output import count, remark, render, result
from herbrand.cli.rewrite import unified, write_atomically
from herbrand.diagnostic import Severity, apply_fixes
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.check.rules import Rules
    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.tree import Tree

__all__ = ["command"]

ROUNDS: Final = 10
"""A fix can uncover another fault; after this many rounds the rest is left to the author."""


@click.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@NOTATION
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "line", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How to report.",
)
@json_option("The same as --format json.")
@click.option("--fix", is_flag=True, help="Apply the offered repairs to the files.")
@click.option("--diff", is_flag=True, help="With --fix: show the repairs, change nothing.")
@click.option(
    "--strict", is_flag=True, help="Hold the rules to the letter of the language; warnings count as errors."
)
@click.option("--notes", is_flag=True, help="Show notes in text, not only errors and warnings.")
@click.option("--select", metavar="NAMES", help="Report only these checks (names, separated by commas).")
@click.option("--ignore", metavar="NAMES", help="Do not report these checks.")
@click.option("--play", is_flag=True, help="Also make the checks that evaluate the rules.")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    notation: str,
    form: str,
    as_json: bool,
    fix: bool,
    diff: bool,
    strict: bool,
    notes: bool,
    select: str | None,
    ignore: str | None,
    play: bool,
) -> None:
    """Find out what is wrong with rulesheets.

    All errors are reported at once.  `herbrand explain NAME` tells more about a check, and
    --select also turns on a check that is off by default.
    """
    if diff and not fix:
        raise click.UsageError("--diff shows what --fix would do: give both")
    ignored = _names(ignore, "--ignore")
    selected = _names(select, "--select") or None

    def checked(tree: Tree) -> Rules:
        return check(tree, strict=strict, select=selected, ignore=ignored)

    if as_json:
        form = "json"
    if fix and STDIN in files and not diff:
        if len(files) > 1:
            raise click.UsageError(
                "--fix with - reads one text and writes its repaired form: give no other FILE"
            )
        form = "none"
    found: list[Diagnostic] = []
    unreadable = False
    spent = False
    for file in files:
        try:
            tree = read_tree(file, notation)
        except OSError as error:
            if len(files) == 1:
                raise
            remark(f"error: cannot use `{file}`: {(error.strerror or str(error)).lower()}")
            unreadable = True
            continue
        if fix:
            tree = _repair(tree, file, notation, checked, diff=diff)
        try:
            rules = checked(tree)
            found += rules.diagnostics
            if play and not rules.errors:
                found += [d for d in _played(tree) if _wanted(d, selected, ignored)]
        except BudgetExceeded as error:
            remark(f"error: {file}: {error}")
            spent = True
    shown = found if notes or form != "text" else [d for d in found if d.severity is not Severity.NOTE]
    if form != "none" and (shown or form in ("json", "sarif")) and not (fix and diff):
        result(render(shown, form).rstrip("\n"))
    _summarise(found, len(files), hidden=len(found) - len(shown))
    if unreadable:
        ctx.exit(2)
    worst = min((d.severity.rank for d in found), default=2)
    if worst <= (1 if strict else 0):
        ctx.exit(1)
    if spent:
        ctx.exit(3)


def _names(text: str | None, option: str) -> tuple[str, ...]:
    """Read a list of checks; a name that no check has is refused."""
    from herbrand.check.catalogue import UnknownCheckError, find

    try:
        return tuple(find(name).name for name in (text or "").split(",") if name.strip())
    except UnknownCheckError as error:
        raise click.BadParameter(
            f"{error} (`herbrand explain --list` lists them)", param_hint=option
        ) from error


def _played(tree: Tree) -> tuple[Diagnostic, ...]:
    """Make the checks that evaluate the rules."""
    from herbrand.analyse.trial.play import play_checks
    from herbrand.game import Game

    return play_checks(Game(tree))


def _wanted(diagnostic: Diagnostic, selected: Sequence[str] | None, ignored: Sequence[str]) -> bool:
    return (selected is None or diagnostic.check in selected) and diagnostic.check not in ignored


def _repair(tree: Tree, file: str, notation: str, checked: Callable[[Tree], Rules], *, diff: bool) -> Tree:
    """Apply fixes until none is left; write the result, or show it."""
    from herbrand import syntax

    if notation == "auto":
        notation = tree.notation
    before = tree.source.text
    repairs: Counter[str] = Counter()
    for _ in range(ROUNDS):
        text, applied = apply_fixes(tree.source.text, checked(tree).diagnostics)
        if not applied or text == tree.source.text:
            break
        repairs.update(d.check for d in applied)
        tree = syntax.read(text, notation, tree.source.name, given_parameters())
    text = tree.source.text
    if text != before:
        if diff:
            result(unified(before, text, tree.source.name), newline=False)
        elif file != STDIN:
            write_atomically(file, text)
        done = ", ".join(f"{number} {name}" for name, number in sorted(repairs.items()))
        verb = "would repair" if diff else "repaired"
        remark(f"{tree.source.name}: {verb} {done}")
    if file == STDIN and not diff:
        result(text, newline=False)
    return tree


def _summarise(found: Sequence[Diagnostic], files: int, *, hidden: int) -> None:
    """Count what was found, on standard error."""
    numbers = Counter(d.severity for d in found)
    parts = [count(numbers[s], s.value) for s in Severity if numbers[s]]
    where = f" in {count(files, 'file')}" if files > 1 else ""
    tail = f" ({count(hidden, 'note')} hidden: --notes shows them)" if hidden else ""
    fixable = sum(d.fix is not None for d in found)
    if fixable:
        tail += f"\n{fixable} can be repaired with --fix"
    remark((", ".join(parts) or "no findings") + where + tail)

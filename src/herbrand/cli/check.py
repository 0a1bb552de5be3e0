"""`herbrand check`: check rulesheets for errors."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Final

import click

from herbrand.check import check
from herbrand.cli.explain import find_check
from herbrand.cli.files import FILE, NOTATION, STDIN, given_parameters, read_tree
from herbrand.cli.options import json_option
from herbrand.cli.output import count, remark, render, result
from herbrand.cli.rewrite import rewrite, unified
from herbrand.diagnostic import Severity
from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.tree import Tree

__all__ = ["command"]

BRIEF: Final = Limits(seconds=1.0, atoms=300_000)
"""The limits of the checks that evaluate the rules, unless they were asked for."""
DEEP_SECONDS: Final = 10.0
"""Time of --deep for each file."""
LARGEST_BRIEF: Final = 500_000
"""Characters of a sheet beyond which its rules, which take long to prepare, are evaluated only on demand."""
REPAIRABLE = frozenset({"role-without-legal-move", "no-goal", "several-goals", "initial-state-terminal"})
"""Checks about how a game is played, which `herbrand repair` may repair."""

REASONS = frozenset({"undeclared-base", "undeclared-input"})
"""Checks whose findings are often the reason for others, and are reported before them."""


@click.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@NOTATION
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "line", "json", "sarif"]),
    default="text",
    help="Output format.",
)
@json_option("Same as --format json.")
@click.option("--fix", is_flag=True, help="Apply the suggested fixes to the files.")
@click.option("--diff", is_flag=True, help="With --fix: show the fixes as a diff, change nothing.")
@click.option(
    "--strict",
    is_flag=True,
    help="Check against the strict language specification; warnings count as errors.",
)
@click.option("--notes", is_flag=True, help="Show notes in text output, too.")
@click.option("--select", metavar="NAMES", help="Report only these checks (names separated by commas).")
@click.option("--ignore", metavar="NAMES", help="Do not report these checks.")
@click.option(
    "--play/--no-play",
    default=None,
    help="Run the checks that evaluate the rules at length, or not at all; by default for a second.",
)
@click.option(
    "--deep",
    is_flag=True,
    help="List what is proved about the plays of games without errors, for at most 10 seconds each.",
)
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
    play: bool | None,
    deep: bool,
) -> None:
    """Check rulesheets for errors.

    All errors are reported at once.  `herbrand explain NAME` explains a check; --select also enables checks
    that are off by default.  --deep adds rules that never fire, conditions that are always true, moves that
    are never legal, dead ends, the shortest and the longest play and more, each marked as proved or as only
    observed in some games.
    """
    if diff and not fix:
        raise click.UsageError("--diff needs --fix")
    if deep and (as_json or form != "text"):
        raise click.UsageError("--deep is for text; `herbrand analyse --json` has the same as data")
    ignored = _names(ignore, "--ignore")
    selected = _names(select, "--select") or None

    def diagnose(tree: Tree) -> tuple[Diagnostic, ...]:
        rules = check(tree, strict=strict, select=selected, ignore=ignored)
        too_large = play is None and len(tree.source.text) > LARGEST_BRIEF
        if play is False or too_large or rules.errors:
            return rules.diagnostics
        trial = _trial(tree, brief=play is None)
        return (*rules.diagnostics, *(d for d in trial if _is_selected(d, selected, ignored)))

    if as_json:
        form = "json"
    if fix and STDIN in files and not diff:
        if len(files) > 1:
            raise click.UsageError("--fix with - allows no other FILE")
        form = "none"
    diagnostics: list[Diagnostic] = []
    unreadable = False
    over_budget = False
    proved: dict[str, list[str]] = {}
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
            tree = _fix(tree, file, notation, diagnose, diff=diff)
        try:
            file_diagnostics = diagnose(tree)
            diagnostics += file_diagnostics
            if deep and not any(d.is_error for d in file_diagnostics):
                proved[file] = _deep(tree, file)
        except BudgetExceeded as error:
            remark(f"error: {file}: {error}")
            over_budget = True
    shown = diagnostics
    if form == "text" and not notes:
        shown = [d for d in diagnostics if d.severity is not Severity.NOTE]
    if form != "none" and (shown or form in ("json", "sarif")) and not (fix and diff):
        result(render(shown, form).rstrip("\n"))
    for file, lines in proved.items():
        result("\n".join([f"{file}:", *(f"  {line}" for line in lines)]))
    _summarise(diagnostics, len(files), hidden=len(diagnostics) - len(shown))
    is_repairable = any(d.check in REPAIRABLE for d in diagnostics)
    if is_repairable and form == "text" and len(files) == 1 and files[0] != STDIN:
        remark(f"`herbrand repair {files[0]}` looks for an edit that repairs this")
    if unreadable:
        ctx.exit(2)
    worst = min((d.severity.rank for d in diagnostics), default=2)
    if worst <= (1 if strict else 0):
        ctx.exit(1)
    if over_budget:
        ctx.exit(3)


def _names(text: str | None, option: str) -> tuple[str, ...]:
    """Parse a list of checks; fail for an unknown name."""
    return tuple(find_check(name, option).name for name in (text or "").split(",") if name.strip())


def _trial(tree: Tree, *, brief: bool) -> tuple[Diagnostic, ...]:
    """Run the checks that evaluate the rules."""
    from herbrand.analyse.trial.play import brief_checks, play_checks
    from herbrand.game import Game

    diagnostics = brief_checks(Game(tree, limits=BRIEF)) if brief else play_checks(Game(tree))
    return tuple(sorted(diagnostics, key=lambda d: d.check not in REASONS))


def _deep(tree: Tree, file: str) -> list[str]:
    """Return facts about the plays of a game; the first line states the basis."""
    from herbrand.analyse import Budget, analyse
    from herbrand.game import Game

    game = Game(tree)
    analysis = analyse(game, ["termination", "playability"], budget=Budget(DEEP_SECONDS))
    space = analysis.space
    if space is None:
        basis = "nothing is known of its states: " + "; ".join(analysis.notes)
    elif space.complete:
        basis = f"proved for all {count(len(space.states), 'state')}:"
    else:
        basis = (
            f"only {count(len(space.states), 'state')} were explored: "
            "each fact below is proved by other means, or states the number of games that it was seen in"
        )
    verdicts = []
    for name, verdict in analysis.properties.items():
        verdicts.append(f"{name}: {verdict.answer}, {verdict.reason}")
        if verdict.witness is not None or verdict.certificate is not None:
            verdicts.append(f"  certificate: herbrand certify {file} --property {name} -o FOLDER")
    remarks = []
    for kind, same in groupby(analysis.observations, key=lambda one: (one.kind, one.as_command(file))):
        remarks += [f"{one.kind}: {one.text}" for one in same]
        remarks += [f"  certificate: {kind[1]}"] if kind[1] else []
    return [basis, *verdicts, *remarks]


def _is_selected(diagnostic: Diagnostic, selected: Sequence[str] | None, ignored: Sequence[str]) -> bool:
    return (selected is None or diagnostic.check in selected) and diagnostic.check not in ignored


def _fix(
    tree: Tree,
    file: str,
    notation: str,
    diagnose: Callable[[Tree], tuple[Diagnostic, ...]],
    *,
    diff: bool,
) -> Tree:
    """Apply fixes until none is left; write the result or show the diff."""
    from herbrand.check.fixing import fixed

    before = tree.source.text
    tree, fixes = fixed(tree, diagnose, notation, given_parameters())
    text = tree.source.text
    if text != before:
        if diff:
            result(unified(before, text, tree.source.name), newline=False)
        elif file != STDIN:
            rewrite(file, text)
        names = ", ".join(f"{number} {name}" for name, number in sorted(fixes.items()))
        verb = "would fix" if diff else "fixed"
        remark(f"{tree.source.name}: {verb} {names}")
    if file == STDIN and not diff:
        result(text, newline=False)
    return tree


def _summarise(diagnostics: Sequence[Diagnostic], files: int, *, hidden: int) -> None:
    """Write the numbers of diagnostics to standard error."""
    numbers = Counter(d.severity for d in diagnostics)
    parts = [count(numbers[s], s.value) for s in Severity if numbers[s]]
    where = f" in {count(files, 'file')}" if files > 1 else ""
    tail = f" ({count(hidden, 'note')} hidden: --notes shows them)" if hidden else ""
    fixable = sum(d.fix is not None for d in diagnostics)
    if fixable:
        tail += f"\n{fixable} can be fixed with --fix"
    remark((", ".join(parts) or "no problems") + where + tail)

"""Static checks of a rulesheet: `Tree` to `Rules`.

`check` runs every check of `herbrand.check.catalogue` on a tree, adds the diagnostics of the reader, and
returns `Rules`, the input of the evaluators.  All problems are reported at once, each with
the name of its check, a location and usually a help text.

| before (syntax) | here                                                                |
|-----------------|---------------------------------------------------------------------|
| `Tree`          | `Rules`: the tree, its diagnostics, normal form, dependency graph   |

Safety, stratification and the recursion restriction follow Love et al., *General Game
Playing: Game Description Language Specification* (2008); percepts follow Thielscher, *A General
Game Description Language for Incomplete Information Games* (2010).  Where published rulesheets deviate
from the specification, playable ones are accepted: stratification is decided rule by rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from herbrand.check.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from herbrand.check.checks.base import Sheet
    from herbrand.diagnostic import Diagnostic, Severity
    from herbrand.syntax.tree import Tree

__all__ = ["Rules", "check"]


def check(
    tree: Tree,
    *,
    strict: bool = False,
    select: Collection[str] | None = None,
    ignore: Collection[str] = (),
    severities: Mapping[str, Severity] | None = None,
) -> Rules:
    """Check a tree; never raises because of the content of the sheet.

    Faults that leave no doubt about the meaning are warnings, and the tree of the result is without them.
    `strict` turns everything that the language specification forbids into an
    error.  `select` reports only these checks and enables those that are off by default; `ignore` disables
    checks; `severities` overrides severities.  Checks are given by name or code; an unknown one
    raises `UnknownCheckError`, a `LookupError`.
    """
    from herbrand.check.catalogue import CHECKS, find
    from herbrand.check.checks.base import Sheet
    from herbrand.runtime.collector import suspend_collector

    selected = None if select is None else {find(name).name for name in select}
    ignored = {find(name).name for name in ignore}
    levels = {find(name).name: severity for name, severity in (severities or {}).items()}
    opt_in = {"single-use-variable"} & ((selected or set()) | levels.keys())

    def diagnostics_of(tree: Tree) -> list[Diagnostic]:
        with suspend_collector():  # collecting takes a third of the time with a large sheet in memory
            return list(_find(Sheet(tree), single_use="single-use-variable" in opt_in))

    diagnostics = [*tree.diagnostics, *diagnostics_of(tree)]
    if any(d.is_error for d in diagnostics):
        from herbrand.check.correction import corrected

        new = corrected(tree, diagnostics_of)
        if strict:  # nothing is tolerated, but faults that would be have fixes
            repairs = {(d.check, d.span): d for d in new.diagnostics}
            diagnostics = [_repairable(d, repairs.get((d.check, d.span), d)) for d in diagnostics]
        elif new is not tree:
            tree, diagnostics = new, [*new.diagnostics, *diagnostics_of(new)]
    silent = {name for name, definition in CHECKS.items() if not definition.default} - levels.keys()
    reported = [
        d
        for d in diagnostics
        if (d.check not in silent if selected is None else d.check in selected) and d.check not in ignored
    ]
    return Rules(tree, _arranged(_levelled(reported, levels, strict=strict)))


_STYLE: Final = frozenset(
    {
        *("keyword-as-constant", "keyword-as-function", "unbounded-terms", "relation-arity"),
        *("function-arity", "relation-and-function", "unused-relation"),
    }
)
"""Style checks that do not apply to translated rules."""


def _find(sheet: Sheet, *, single_use: bool) -> Iterable[Diagnostic]:
    from herbrand.check.checks import compounds, dependencies, goals, keywords, names, percepts, safety, style

    is_translated = sheet.tree.ggdl is not None  # style notes apply to hand-written rules only
    for family in (keywords, names, safety, dependencies, goals, percepts, style, compounds):
        for diagnostic in family.find(sheet):
            if not is_translated or (family not in (style, compounds) and diagnostic.check not in _STYLE):
                yield diagnostic
    if single_use:
        yield from style.find_single(sheet)


def _repairable(error: Diagnostic, tolerated: Diagnostic) -> Diagnostic:
    """Return an error with the fix that it has where it is tolerated."""
    return replace(error, help=error.help or tolerated.help, fix=error.fix or tolerated.fix)


def _levelled(
    diagnostics: Iterable[Diagnostic], levels: Mapping[str, Severity], *, strict: bool
) -> Iterable[Diagnostic]:
    from herbrand.check.catalogue import CHECKS
    from herbrand.diagnostic import Severity

    for d in diagnostics:
        level = levels.get(d.check, d.severity)
        if strict and d.check not in levels and d.check in CHECKS and CHECKS[d.check].spec:
            level = Severity.ERROR
        yield d if level is d.severity else replace(d, severity=level)


def _arranged(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort by offset, then severity; drop duplicates."""
    ordered = sorted(diagnostics, key=lambda d: (d.span.start, d.severity.rank, d.span.end))
    unique: dict[tuple[str, int, int, str], Diagnostic] = {}
    for d in ordered:
        unique.setdefault((d.check, d.span.start, d.span.end, d.message), d)
    return tuple(unique.values())

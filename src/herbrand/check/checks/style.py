"""Checks of style: allowed, but probably unintended or not portable (N7, N9, B1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import NOTE, WARNING, Check, Sheet, checks_in
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.nodes import Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Rule

__all__ = ["CHECKS", "find"]

REPEATED_STATEMENT: Final = Check("repeated-statement", "N7", NOTE)
SINGLE_USE_VARIABLE: Final = Check("single-use-variable", "N9", NOTE, default=False)
MISSING_BASE_OR_INPUT: Final = Check("missing-base-or-input", "B1", NOTE)

CHECKS: Final = checks_in(globals())


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report stylistic problems."""
    first_uses: dict[Rule, Rule] = {}
    for rule in sheet.statements:
        first = first_uses.setdefault(rule, rule)
        if first is not rule:
            yield _repeated(sheet, rule, first)
    if sheet.statements and not sheet.is_incomplete:
        missing = [name for name in ("base", "input") if name not in sheet.defined_names]
        if missing:
            names = " and ".join(f"`{name}`" for name in missing)
            yield sheet.report(
                MISSING_BASE_OR_INPUT,
                Span(0, 0),
                f"no statement defines {names}",
                help="possible facts and moves are then derived from the rules",
            )


def _repeated(sheet: Sheet, rule: Rule, first: Rule) -> Diagnostic:
    text = sheet.source.text
    start, end = rule.start, rule.end
    while end < len(text) and text[end] in " \t":
        end += 1
    line_start = start
    while line_start and text[line_start - 1] in " \t":
        line_start -= 1
    ends_line = end < len(text) and text[end] in "\r\n"
    if ends_line and (line_start == 0 or text[line_start - 1] in "\r\n"):  # alone on its lines
        start = line_start
        end += 2 if text.startswith("\r\n", end) else 1
    else:
        end = rule.end
    return sheet.report(
        REPEATED_STATEMENT,
        Span(rule.start, rule.end),
        "the statement is repeated",
        severity=WARNING if rule.head.name == "role" else None,
        labels=((first.head, f"first on line {sheet.line(first)}"),),
        help="delete it",
        fix=Fix("delete the repeated statement", (Edit(Span(start, end), ""),)),
    )


def find_single(sheet: Sheet) -> Iterator[Diagnostic]:
    """Report variables that occur once; off by default."""
    for rule in sheet.statements:
        if not rule.body:
            continue
        count: dict[str, list[Variable]] = {}
        for variable in variables_of(rule):
            count.setdefault(variable.name, []).append(variable)
        for variables in count.values():
            if len(variables) == 1 and not variables[0].spelling.startswith("_"):
                shown = sheet.variable(variables[0])
                yield sheet.report(
                    SINGLE_USE_VARIABLE,
                    variables[0],
                    f"{shown} occurs only here in its rule",
                    help="start the name with `_` if this is intended",
                )

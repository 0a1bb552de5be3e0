"""Checks of goal values (G1, G5); those that need states (G2, G3) are in `play`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, NOTE, Check, Sheet, checks_in
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.nodes import Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Term

__all__ = ["CHECKS", "GOAL_VALUE", "find", "is_goal_value"]

GOAL_VALUE: Final = Check("goal-value", "G1", ERROR, spec=True)
NO_EXTREME_GOAL: Final = Check("no-extreme-goal", "G5", NOTE)

CHECKS: Final = checks_in(globals())


def is_goal_value(text: str) -> bool:
    """Whether a text is an integer from 0 to 100 in canonical form.

    >>> [is_goal_value(t) for t in ("0", "100", "101", "007", "-1", "x")]
    [True, True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and (len(text) == 1 or text[0] != "0") and int(text[:4]) <= 100


def _as_goal(value: Term) -> Fix | None:
    """Write the nearest goal value instead of another integer."""
    if not isinstance(value, Constant) or not re.fullmatch("-?[0-9]{1,9}", value.name):
        return None
    nearest = str(min(max(int(value.name), 0), 100))
    return Fix(f"write {nearest}", (Edit(Span(value.start, value.end), nearest),))


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check the values in the heads of `goal`."""
    values: set[str] = set()
    goals = sheet.definitions.get(("goal", 2), [])
    for rule in goals:
        value = rule.head.args[1]
        if isinstance(value, Variable):
            values |= {"0", "100"}  # computed: any value is possible
        elif isinstance(value, Constant) and is_goal_value(value.name):
            values.add(value.name)
        else:
            yield sheet.report(
                GOAL_VALUE,
                value,
                f"{sheet.quote(value)} is not a goal value",
                help="write an integer from 0 to 100, without leading zeros",
                fix=_as_goal(value),
            )
    missing = [value for value in ("100", "0") if value not in values]
    if goals and missing and not sheet.is_incomplete:
        head = goals[0].head
        yield sheet.report(
            NO_EXTREME_GOAL,
            Span(head.start, head.end),
            f"no rule gives the goal value {' or '.join(missing)}",
            help="players treat 100 as a win and 0 as a loss",
        )

"""Goal values (G1, G5); what is met only in play (G2, G3) is in `played`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, NOTE, Check, Sheet
from herbrand.diagnostic import Span
from herbrand.syntax.nodes import Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic

__all__ = ["CHECKS", "GOAL_VALUE", "find", "is_goal_value"]

GOAL_VALUE: Final = Check(
    "goal-value", "G1", ERROR, "a goal value is no integer from 0 to 100",
    "Points at the second argument of `goal` when it is no variable and no integer from 0 to 100 without "
    "leading zeros; values that rules compute are looked at when they are met in play.",
    "Players and managers compare results as such numbers; others are refused or misread.",
    "(<= (goal robot 1000) (true done))",
    "Scale the values to 0 to 100:\n\n    (<= (goal robot 100) (true done))",
    spec=True,
)  # fmt: skip
NO_EXTREME_GOAL: Final = Check(
    "no-extreme-goal", "G5", NOTE, "no rule gives 100, or none gives 0",
    "Reports a sheet in whose rules the best or the worst result does not occur.",
    "Players take 100 as winning and 0 as losing.",
    "(<= (goal robot 90) (true done))\n(<= (goal robot 0) (not (true done)))",
    "Use the whole range:\n\n    (<= (goal robot 100) (true done))",
)  # fmt: skip

CHECKS: Final = (GOAL_VALUE, NO_EXTREME_GOAL)


def is_goal_value(text: str) -> bool:
    """Whether a text is an integer from 0 to 100 in canonical form.

    >>> [is_goal_value(t) for t in ("0", "100", "101", "007", "-1", "x")]
    [True, True, False, False, False, False]
    """
    return text.isascii() and text.isdigit() and (len(text) == 1 or text[0] != "0") and int(text[:4]) <= 100


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check the values in the heads of `goal`."""
    values: set[str] = set()
    goals = sheet.definitions.get(("goal", 2), [])
    for rule in goals:
        value = rule.head.args[1]
        if isinstance(value, Variable):
            values |= {"0", "100"}  # computed: anything may come out
        elif isinstance(value, Constant) and is_goal_value(value.name):
            values.add(value.name)
        else:
            yield sheet.report(
                GOAL_VALUE,
                value,
                f"{sheet.quote(value)} is no goal value",
                help="write an integer from 0 to 100, without leading zeros",
            )
    missing = [value for value in ("100", "0") if value not in values]
    if goals and missing and not sheet.is_torn:
        head = goals[0].head
        yield sheet.report(
            NO_EXTREME_GOAL,
            Span(head.start, head.end),
            f"no rule gives the goal value {' or '.join(missing)}",
            help="players take 100 as winning and 0 as losing",
        )

"""Games with hidden information and chance: `sees` and `random` (I1, I2, I7, I8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check, Sheet, nearest
from herbrand.syntax.tree import Constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic

__all__ = ["CHECKS", "find"]

SEES_IN_BODY: Final = Check(
    "sees-in-body", "I1", ERROR, "`sees` is a condition",
    "Points at `sees` in bodies.",
    "`sees` tells the players something; the game itself does not depend on what they were told.",
    "(<= (next (known ?x)) (sees bob ?x))",
    "Use the condition under which it is seen:\n\n    (<= (next (known ?x)) (does bob (look ?x)))",
    spec=True,
)  # fmt: skip
UNKNOWN_PERCEPT_ROLE: Final = Check(
    "unknown-percept-role", "I2", WARNING, "a percept is for a role that is none",
    "Points at the first argument of `sees` in a head when it is no role and no variable.",
    "Nobody gets the percept; the name is probably misspelt.",
    "(role bob)\n(<= (sees bobby ?x) (does bob (look ?x)))",
    "Use the name of a role:\n\n    (<= (sees bob ?x) (does bob (look ?x)))",
)  # fmt: skip
RANDOM_GOAL: Final = Check(
    "random-goal", "I7", NOTE, "a goal for `random`",
    "Points at a goal of the role `random`.",
    "`random` is played by chance and wants nothing; the value is not used.",
    "(role random)\n(goal random 100)",
    "Leave it out. Some old systems want it; then it does no harm.",
)  # fmt: skip
RANDOM_PERCEPTS: Final = Check(
    "random-percepts", "I8", NOTE, "a percept for `random`",
    "Points at a `sees` for the role `random`.",
    "`random` is played by chance and looks at nothing.",
    "(role random)\n(<= (sees random ?m) (does bob ?m))",
    "Leave it out.",
)  # fmt: skip

CHECKS: Final = (SEES_IN_BODY, UNKNOWN_PERCEPT_ROLE, RANDOM_GOAL, RANDOM_PERCEPTS)


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check `sees` and `random`."""
    for _, atom, _ in sheet.body_atoms:
        if atom.key == ("sees", 2):
            yield sheet.report(
                SEES_IN_BODY,
                atom,
                "`sees` is a condition here",
                help="use the condition under which it is seen, or a relation of your own for it",
            )
    roles = {role.name for role in sheet.roles if isinstance(role, Constant)}
    for rule in sheet.definitions.get(("sees", 2), ()):
        role = rule.head.args[0]
        if not isinstance(role, Constant):
            continue
        if role.name == "random" and "random" in roles:
            yield sheet.report(
                RANDOM_PERCEPTS, rule.head, "`random` looks at nothing", help="leave the rule out"
            )
        elif roles and role.name not in roles:
            near = nearest(role.name, roles)
            yield sheet.report(
                UNKNOWN_PERCEPT_ROLE,
                role,
                f"{sheet.quote(role)} is no role, so nobody sees this",
                help=f"did you mean `{near}`?" if near else None,
            )
    for rule in sheet.definitions.get(("goal", 2), ()):
        role = rule.head.args[0]
        if isinstance(role, Constant) and role.name == "random" and "random" in roles:
            yield sheet.report(RANDOM_GOAL, rule.head, "`random` needs no goal", help="leave it out")
            break

"""Games with hidden information and chance: `sees` and `random` (I1-I3, I7-I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check, Sheet, nearest
from herbrand.syntax.nodes import Atom, Constant, Distinct, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["CHECKS", "find"]

SEES_IN_BODY: Final = Check(
    "sees-in-body", "I1", ERROR, "`sees` is a condition",
    "Points at `sees` in bodies.",
    "`sees` informs the players; the game itself must not depend on what they were told.",
    "(<= (next (known ?x)) (sees bob ?x))",
    "Use the condition of the percept:\n\n    (<= (next (known ?x)) (does bob (look ?x)))",
    spec=True,
)  # fmt: skip
UNKNOWN_PERCEPT_ROLE: Final = Check(
    "unknown-percept-role", "I2", WARNING, "a percept for an unknown role",
    "Points at the first argument of `sees` in a head when it is neither a role nor a variable.",
    "No player receives the percept; the name is probably misspelt.",
    "(role bob)\n(<= (sees bobby ?x) (does bob (look ?x)))",
    "Use the name of a role:\n\n    (<= (sees bob ?x) (does bob (look ?x)))",
)  # fmt: skip
RANDOM_GOAL: Final = Check(
    "random-goal", "I7", NOTE, "a goal for `random`",
    "Points at a goal of the role `random`.",
    "`random` is chance and has no goal; the value is not used.",
    "(role random)\n(goal random 100)",
    "Delete it. Some older systems require it; it does no harm.",
)  # fmt: skip
RANDOM_PERCEPTS: Final = Check(
    "random-percepts", "I8", NOTE, "a percept for `random`",
    "Points at a `sees` for the role `random`.",
    "`random` is chance and ignores percepts.",
    "(role random)\n(<= (sees random ?m) (does bob ?m))",
    "Delete it.",
)  # fmt: skip

CHANCE_IN_THE_OPEN: Final = Check(
    "chance-in-the-open", "I9", NOTE, "`random` is a role, and `sees` is not defined",
    "Reports a sheet with the role `random` that does not define `sees`.",
    "It is read as a game of perfect information: every role sees every move, those of `random` too. That is "
    "right for dice on the table, but not for cards in a hand.",
    "(role bob)\n(role random)\n(<= (legal random (roll ?n)) (face ?n))",
    "Define `sees` if something is hidden:\n\n"
    "    (<= (sees bob (rolled ?n)) (does random (roll ?n)))",
)  # fmt: skip
UNSEEN_OWN_MOVE: Final = Check(
    "unseen-own-move", "", NOTE, "a role is not told its own move",
    "Reports roles with a choice whose own moves no `sees` reports. Off by default.",
    "Players remember what they did (perfect recall), and newer managers repeat it. With older ones a player "
    "whose move came too late is not told which move was made in its place; then it knows its own moves "
    "only if it sees them.",
    "(role bob)\n(role random)\n(<= (sees bob (opened ?d)) (does random (open ?d)))\n"
    "(<= (legal bob (choose ?d)) (door ?d))",
    "Tell it:\n\n    (<= (sees bob (did ?m)) (does bob ?m))",
    default=False,
)  # fmt: skip

EPISTEMIC_CONDITION: Final = Check(
    "epistemic-condition", "", NOTE, "a rule depends on what a role knows (GDL-III)",
    "Reports the first `knows` in a body, where no statement defines it.",
    "What holds then depends on the history, not on the state alone. Few systems play such games; "
    "`herbrand show` evaluates small ones by tracking all possible plays.",
    "(<= (legal bob shout) (knows bob won))",
    "Leave it as it is, or record what is known in the state:\n\n"
    "    (<= (next (told bob ?x)) (does alice (tell bob ?x)))",
)  # fmt: skip
KNOWS_ARITY: Final = Check(
    "knows-arity", "", ERROR, "`knows` has neither one argument nor two",
    "Points at `knows` in bodies with another number of arguments.",
    "`(knows r p)` asks whether the role r knows p, `(knows p)` whether p is common knowledge.",
    "(<= (legal bob shout) (knows bob at home))",
    "Write what is known as one term:\n\n    (<= (legal bob shout) (knows bob (at home)))",
)  # fmt: skip

CHECKS: Final = (
    SEES_IN_BODY,
    UNKNOWN_PERCEPT_ROLE,
    RANDOM_GOAL,
    RANDOM_PERCEPTS,
    CHANCE_IN_THE_OPEN,
    UNSEEN_OWN_MOVE,
    EPISTEMIC_CONDITION,
    KNOWS_ARITY,
)


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check `sees` and `random`."""
    for rule, atom, _ in sheet.body_atoms:
        if atom.key == ("sees", 2):
            ruled = _ruled_by(sheet, rule)
            yield sheet.report(
                SEES_IN_BODY,
                atom,
                "`sees` is a condition here",
                help="use the condition of the percept, or define a relation for it",
                notes=[f"{' and '.join(ruled)} would depend on percepts [I3]"] if ruled else (),
            )
    roles = {role.name for role in sheet.roles if isinstance(role, Constant)}
    for rule in sheet.definitions.get(("sees", 2), ()):
        role = rule.head.args[0]
        if not isinstance(role, Constant):
            continue
        if role.name == "random" and "random" in roles:
            yield sheet.report(
                RANDOM_PERCEPTS, rule.head, "`random` ignores percepts", help="delete the rule"
            )
        elif roles and role.name not in roles:
            suggestion = nearest(role.name, roles)
            yield sheet.report(
                UNKNOWN_PERCEPT_ROLE,
                role,
                f"{sheet.quote(role)} is not a role, so no player receives this",
                help=f"did you mean `{suggestion}`?" if suggestion else None,
            )
    for rule in sheet.definitions.get(("goal", 2), ()):
        role = rule.head.args[0]
        if isinstance(role, Constant) and role.name == "random" and "random" in roles:
            yield sheet.report(RANDOM_GOAL, rule.head, "`random` needs no goal", help="delete it")
            break
    if "random" in roles and not sheet.has_percepts and len(roles) > 1 and not sheet.is_incomplete:
        place = next(r.head for r in sheet.definitions[("role", 1)] if str(r.head.args[0]) == "random")
        yield sheet.report(
            CHANCE_IN_THE_OPEN,
            place,
            "`random` is a role and `sees` is undefined: every role sees all moves",
            help="define `sees` if some moves are hidden",
        )
    if sheet.has_percepts:
        yield from _unseen_moves(sheet, roles - {"random"})
    yield from _knowing(sheet, roles)


def _knowing(sheet: Sheet, roles: set[str]) -> Iterator[Diagnostic]:
    """Check `knows`, unless the sheet has a relation of its own of that name."""
    if "knows" in sheet.defined_names:
        return
    noted = False
    for _, atom, _ in sheet.body_atoms:
        if atom.name != "knows":
            continue
        if len(atom.args) not in (1, 2):
            yield sheet.report(
                KNOWS_ARITY,
                atom,
                f"`knows` has {len(atom.args)} arguments here",
                help=f"write {sheet.apply('knows', 'role', 'what')}, or {sheet.apply('knows', 'what')} "
                "for common knowledge",
            )
            continue
        if not noted:
            noted = True
            yield sheet.report(EPISTEMIC_CONDITION, atom, "the rules depend on what roles know (GDL-III)")
        role = atom.args[0]
        if len(atom.args) == 2 and roles and isinstance(role, Constant) and role.name not in roles:
            suggestion = nearest(role.name, roles)
            yield sheet.report(
                UNKNOWN_PERCEPT_ROLE,
                role,
                f"{sheet.quote(role)} is not a role, so it knows nothing",
                help=f"did you mean `{suggestion}`?" if suggestion else None,
            )


def _ruled_by(sheet: Sheet, rule: Rule) -> list[str]:
    """Return the relations that must not depend on percepts but depend on the head of a rule."""
    targets = [("role", 1), ("legal", 2), ("goal", 2), ("terminal", 0)]
    reached = {rule.head.key}
    is_growing = True
    while is_growing:
        heads = {r.head.key for r, atom, _ in sheet.body_atoms if atom.key in reached}
        is_growing = not heads <= reached
        reached |= heads
    return [f"`{name}`" for name, arity in targets if (name, arity) in reached]


def _unseen_moves(sheet: Sheet, players: set[str]) -> Iterator[Diagnostic]:
    informed: set[str] = set()
    for rule, atom, negative in sheet.body_atoms:
        if rule.head.key == ("sees", 2) and atom.key == ("does", 2) and not negative:
            seer, doer = rule.head.args[0], atom.args[0]
            if seer == doer or (isinstance(doer, Variable) and not _joined(rule, seer, doer)):
                informed |= {seer.name} if isinstance(seer, Constant) else players
    for role in sheet.roles:
        if isinstance(role, Constant) and role.name in players - informed:
            yield sheet.report(
                UNSEEN_OWN_MOVE,
                role,
                f"no `sees` tells {sheet.quote(role)} its own move",
                help="define a percept for its own moves, or rely on managers that repeat them",
            )


def _joined(rule: Rule, seer: Term, doer: Variable) -> bool:
    """Whether another condition mentions both, such as one that they are rivals."""
    return any({seer, doer} <= {*variables_of(literal), *_args(literal)} for literal in rule.body)


def _args(literal: Literal) -> tuple[Term, ...]:
    """Return the arguments of an atom or of `distinct`; of other literals none."""
    if isinstance(literal, Distinct):
        return literal.left, literal.right
    return literal.args if isinstance(literal, Atom) else ()

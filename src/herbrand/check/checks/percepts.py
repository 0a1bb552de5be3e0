"""Games with hidden information and chance: `sees` and `random` (I1-I3, I7-I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, NOTE, WARNING, Check, Sheet, checks_in, nearest
from herbrand.syntax import tokens
from herbrand.syntax.nodes import Atom, Constant, Distinct, Function, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["CHECKS", "find"]

SEES_IN_BODY: Final = Check("sees-in-body", "I1", ERROR, spec=True)
UNKNOWN_PERCEPT_ROLE: Final = Check("unknown-percept-role", "I2", WARNING)
RANDOM_GOAL: Final = Check("random-goal", "I7", NOTE)
RANDOM_PERCEPTS: Final = Check("random-percepts", "I8", NOTE)

CHANCE_IN_THE_OPEN: Final = Check("chance-in-the-open", "I9", NOTE)
UNSEEN_OWN_MOVE: Final = Check("unseen-own-move", "", NOTE, default=False)

EPISTEMIC_CONDITION: Final = Check("epistemic-condition", "", NOTE)
UNKNOWN_TOPIC: Final = Check("unknown-topic", "", WARNING)
KNOWS_ARITY: Final = Check("knows-arity", "", ERROR)

CHECKS: Final = checks_in(globals())


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
            message = "`random` ignores percepts"
            yield sheet.report(RANDOM_PERCEPTS, rule.head, message, help="delete the rule")
        yield from _stranger(sheet, roles, role, "no player receives this")
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
        yield from _topic(sheet, atom.args[-1])
        if len(atom.args) == 2:
            yield from _stranger(sheet, roles, atom.args[0], "it knows nothing")


def _stranger(sheet: Sheet, roles: set[str], role: Term, effect: str) -> Iterator[Diagnostic]:
    """Report a constant in the place of a role that is none."""
    if roles and isinstance(role, Constant) and role.name not in roles:
        suggestion = nearest(role.name, roles)
        yield sheet.report(
            UNKNOWN_PERCEPT_ROLE,
            role,
            f"{sheet.quote(role)} is not a role, so {effect}",
            help=f"did you mean `{suggestion}`?" if suggestion else None,
        )


def _topic(sheet: Sheet, topic: Term) -> Iterator[Diagnostic]:
    """Report a topic that is not an atom of a relation: fluents are known through a relation."""
    if (
        not isinstance(topic, Constant | Function)
        or topic.key in sheet.definitions
        or topic.name in tokens.KEYWORDS
    ):
        return
    is_fluent = topic.key in sheet.last_arguments(("init", "next"))
    text = sheet.quote(topic).strip("`")
    relation = text.replace(topic.name, f"is_{topic.name}", 1)
    yield sheet.report(
        UNKNOWN_TOPIC,
        topic,
        f"no statement defines the relation `{topic.name}`, so nobody knows {sheet.quote(topic)}",
        help=f"it is a fluent: define `{relation}` from `{sheet.apply('true', text)}`, and ask for that"
        if is_fluent
        else None,
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

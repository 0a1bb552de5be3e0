"""Decide playability by the form of the rules and the initial state alone.

A role with an unconditional `legal` rule can always move.  A role without a legal move in the initial
state is stuck at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.verdict import Verdict, Witness
from herbrand.syntax.nodes import Atom, Constant, Variable, variables_of

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Rule

__all__ = ["free_roles", "playability"]

METHOD = "form of the rules"


def playability(game: StateMachine) -> Verdict | None:
    """Return a verdict, or None where the form of the rules is inconclusive."""
    start = game.initial_state("rules")
    if not start.is_terminal:
        stuck = next((role for role in game.roles if not start.legal_moves(role)), None)
        if stuck is not None:
            witness = Witness((), role=stuck, shortest=True)
            return Verdict("refuted", METHOD, f"{stuck} has no legal move in the initial state", witness)
    if free_roles(game) != frozenset(map(str.lower, game.roles)):
        return None
    reason = "each role has a move that is always legal"
    return Verdict("proved", METHOD, reason, certificate=Invariant("playability"))


def free_roles(game: StateMachine) -> frozenset[str]:
    """Return the roles, in lower case, that have a move that is always legal."""
    roles = [str(role).lower() for role in game.rules.roles]
    return frozenset(
        role for rule in game.rules.normal.rules if rule.head.key == ("legal", 2)
        for role in roles if _frees(rule, role)
    )  # fmt: skip


def _frees(rule: Rule, role: str) -> bool:
    """Return whether a `legal` rule gives a role a move under no condition except that it is a role."""
    owner, move = rule.head.args
    bound = set()
    if isinstance(owner, Variable):
        bound.add(owner.name)
    elif str(owner).lower() != role:
        return False
    for literal in rule.body:
        if not isinstance(literal, Atom) or literal.key != ("role", 1):
            return False
        argument = literal.args[0]
        if isinstance(argument, Constant) and argument.name.lower() == role:
            continue
        if not isinstance(argument, Variable) or argument.name not in bound:
            return False
    return all(variable.name in bound for variable in variables_of(move))

"""Unfolds relations that only compare their arguments, so that joins over pairs of cells decompose.

A frame axiom for cells that a move does not change may call `(different_cells ?x ?y ?u ?v)`, which holds if
`?x` and `?u` differ or `?y` and `?v` do.  As a relation it joins four variables; unfolded into
a disjunction, each case joins two, and the others can be eliminated separately.

A relation is unfolded if each of its rules only compares arguments and tests domains (unary relations given
by facts), and where a call has a variable that is not in the head of the calling rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.ground.decompose import substituted
from herbrand.rules.clauses import Call, Clause, Differ, DisjunctionCall, goal_variables

if TYPE_CHECKING:
    from herbrand.rules.clauses import Goal, Predicate

__all__ = ["unfolded"]

MAX_RULES: Final = 4
"""Relations with more rules are not unfolded."""
MAX_CALLS: Final = 4
"""Calls unfolded in one rule; each multiplies the rule by the rules of the called relation."""


def unfolded(clause: Clause) -> Clause:
    """Return the clause with calls of comparing relations unfolded into disjunctions."""
    head = {arg for arg in clause.head if isinstance(arg, str)}
    body: list[Goal] = []
    calls = 0
    for goal in clause.body:
        if (
            calls < MAX_CALLS
            and isinstance(goal, Call)
            and not goal.negated
            and not goal_variables(goal) <= head
            and _compares(goal.predicate)
            and all(isinstance(arg, int | str) for arg in goal.args)
        ):
            calls += 1
            body += _expand(goal)
        else:
            body.append(goal)
    return Clause(clause.predicate, clause.head, tuple(body), clause.text) if calls else clause


def _compares(predicate: Predicate) -> bool:
    """Whether a relation only compares its arguments and tests them for domains."""
    if predicate.kind != "rules" or predicate.rows or not 1 < len(predicate.clauses) <= MAX_RULES:
        return False
    for clause in predicate.clauses:
        names = {arg for arg in clause.head if isinstance(arg, str)}
        if len(names) < predicate.arity:
            return False
        for goal in clause.body:
            if isinstance(goal, DisjunctionCall) or not goal_variables(goal) <= names:
                return False
            if isinstance(goal, Call) and (
                goal.negated or goal.predicate.kind != "facts" or len(goal.args) > 1
            ):
                return False
        if not any(isinstance(goal, Differ) for goal in clause.body):
            return False
    return True


def _expand(call: Call) -> list[Goal]:
    """Return the goals that all rules of a relation share, and a disjunction of the others."""
    cases: list[dict[object, Goal]] = []
    for clause in call.predicate.clauses:
        binding = {
            name: arg for name, arg in zip(clause.head, call.args, strict=True) if isinstance(name, str)
        }
        cases.append({_key(goal): goal for goal in (substituted(g, binding) for g in clause.body)})
    common = [key for key in cases[0] if all(key in case for case in cases)]
    disjuncts = tuple(tuple(goal for key, goal in case.items() if key not in common) for case in cases)
    names = tuple(sorted(goal_variables(call)))
    goals = [cases[0][key] for key in common]
    if not all(disjuncts):
        return goals
    return [*goals, DisjunctionCall(call.predicate, names, disjuncts, frozenset())]


def _key(goal: Goal) -> object:
    if isinstance(goal, Differ):
        return frozenset((goal.left, goal.right)), None
    assert isinstance(goal, Call)
    return goal.predicate, goal.args

"""Tests for different cells, written out where they are asked: joins over pairs of cells fall apart.

A rule for cells that a move leaves alone asks `(different_cells ?x ?y ?u ?v)`, which holds when
`?x` and `?u` differ or `?y` and `?v` do.  Asked as a relation it ties four variables
together; written out, each case ties two, and the others can be eliminated alone.

A relation is unfolded when each of its rules only compares the relation's arguments and asks
domains (relations of one argument, given by facts), and where it is called with some variable
that the rule's head does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.rules.clauses import Call, Clause, Differ, DisjunctionCall, goal_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.rules.clauses import Goal, Pattern, Predicate

__all__ = ["unfolded"]

MOST_RULES: Final = 4
"""A relation with more rules than this is left as it is."""
MOST_CALLS: Final = 4
"""How many calls of one rule are unfolded; each multiplies it by the rules of what it calls."""

_Binding: TypeAlias = "Mapping[str, Pattern]"


def unfolded(clause: Clause) -> Clause:
    """Return the clause with calls that only compare written out as disjunctions of comparisons."""
    head = {v for arg in clause.head if isinstance(arg, str) for v in (arg,)}
    body: list[Goal] = []
    calls = 0
    for goal in clause.body:
        if (
            calls < MOST_CALLS
            and isinstance(goal, Call)
            and not goal.negated
            and not goal_variables(goal) <= head
            and _compares(goal.predicate)
            and all(isinstance(arg, int | str) for arg in goal.args)
        ):
            calls += 1
            body += _written_out(goal)
        else:
            body.append(goal)
    return Clause(clause.predicate, clause.head, tuple(body), clause.text) if calls else clause


def _compares(predicate: Predicate) -> bool:
    """Whether all that a relation asks is which arguments differ and are in some domain."""
    if predicate.kind != "rules" or predicate.rows or not 1 < len(predicate.clauses) <= MOST_RULES:
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


def _written_out(call: Call) -> list[Goal]:
    """Return what all rules of a relation ask, and a disjunction of what each asks besides."""
    cases: list[dict[object, Goal]] = []
    for clause in call.predicate.clauses:
        binding = {
            name: arg for name, arg in zip(clause.head, call.args, strict=True) if isinstance(name, str)
        }
        cases.append({_key(goal): goal for goal in (_bound(g, binding) for g in clause.body)})
    common = [key for key in cases[0] if all(key in case for case in cases)]
    disjuncts = tuple(tuple(goal for key, goal in case.items() if key not in common) for case in cases)
    names = tuple(sorted(goal_variables(call)))
    goals = [cases[0][key] for key in common]
    if not all(disjuncts):
        return goals
    return [*goals, DisjunctionCall(call.predicate, names, disjuncts, frozenset())]


def _bound(goal: Goal, binding: _Binding) -> Goal:
    def put(pattern: Pattern) -> Pattern:
        return binding.get(pattern, pattern) if isinstance(pattern, str) else pattern

    if isinstance(goal, Differ):
        return Differ(put(goal.left), put(goal.right))
    assert isinstance(goal, Call)
    return Call(goal.predicate, tuple(map(put, goal.args)))


def _key(goal: Goal) -> object:
    if isinstance(goal, Differ):
        return frozenset((goal.left, goal.right)), None
    assert isinstance(goal, Call)
    return goal.predicate, goal.args

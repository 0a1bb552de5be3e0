"""Fluents that never change: facts to the grounder, where they would be inputs.

Walls, colours of cells or sizes are often written as fluents that each state hands on to the
next.  All fluents with a functor are *fixed* when the initial state lists them as facts and
the only rule that gives such a fluent says that it stays as it is:

    (init (wall 4 1 east))        (<= (next (wall ?x ?y ?d)) (true (wall ?x ?y ?d)))

In every reachable state the same ones are true, so questions for them become questions for a
table.  What is ground from such rules says nothing about other states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.ground.constants import calls_in
from herbrand.rules.clauses import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.rules.clauses import Clause, Predicate, Program

__all__ = ["fix"]


def fix(program: Program) -> frozenset[int]:
    """Let the rules ask tables for fluents that never change; return the functors of these.

    Changes the clauses of the program.
    """
    init, following = program.relation("init", 1), program.relation("next", 1)
    functors = program.terms.functor
    terms = [row[0] for row in init.rows]
    changing = {functors[row[0]] for row in following.rows}
    for clause in (*init.clauses, *following.clauses):
        functor = _functor(clause, functors)
        if functor is None:
            return frozenset()
        if clause.predicate is init or not _stays(clause):
            changing.add(functor)
    staying = {_functor(clause, functors) for clause in following.clauses}
    fixed = {functors[term] for term in terms if functors[term] in staying} - changing
    tables: dict[int, Predicate] = {}
    for functor in fixed:
        table = program.table(f"always {program.terms.functors[functor][0]}", program.fluent(functor).arity)
        table.rows.update((program.terms.args[term], None) for term in terms if functors[term] == functor)
        tables[functor] = table
    for predicate in program.predicates:
        for clause in predicate.clauses:
            for call in calls_in(clause.body):
                if call.predicate.kind == "fluent" and call.predicate.functor in tables:
                    call.predicate = tables[call.predicate.functor]
    if fixed:
        program.classify()
    return frozenset(fixed)


def _functor(clause: Clause, functors: Sequence[int]) -> int | None:
    """Return the functor of the fluents that a rule gives, None if that may be any."""
    (term,) = clause.head
    if isinstance(term, int):
        return functors[term]
    return None if isinstance(term, str) else int(term[0])  # type: ignore[arg-type]


def _stays(clause: Clause) -> bool:
    """Whether a rule says that every fluent with its functor stays true."""
    (head,) = clause.head
    if not isinstance(head, tuple) or len(clause.body) != 1:
        return False
    (goal,) = clause.body
    args = head[1:]
    return (
        isinstance(goal, Call)
        and not goal.negated
        and goal.predicate.kind == "fluent"
        and goal.predicate.functor == head[0]
        and goal.args == args
        and all(isinstance(arg, str) for arg in args)
        and len(set(args)) == len(args)
    )

"""Treats fluents that never change as facts instead of inputs.

Walls, colours of cells or sizes are often written as fluents that each state copies to the next.  The
fluents with a functor are *fixed* if `init` facts list them and the only `next` rule for them is a frame
axiom:

    (init (wall 4 1 east))        (<= (next (wall ?x ?y ?d)) (true (wall ?x ?y ?d)))

The same fixed fluents are true in every reachable state, so that rules can use a table instead.  The ground
program is then invalid for other states.
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
    """Replace fixed fluents by tables; return their functors.

    Changes the clauses of the program in place.
    """
    init, following = program.relation("init", 1), program.relation("next", 1)
    functors = program.terms.functor
    terms = [row[0] for row in init.rows]
    changing = {functors[row[0]] for row in following.rows}
    for clause in (*init.clauses, *following.clauses):
        functor = _functor(clause, functors)
        if functor is None:
            return frozenset()
        if clause.predicate is init or not _is_frame_axiom(clause):
            changing.add(functor)
    persistent = {_functor(clause, functors) for clause in following.clauses}
    fixed = {functors[term] for term in terms if functors[term] in persistent} - changing
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
    """Return the functor of the fluents that a rule derives, None if it may be any."""
    (term,) = clause.head
    if isinstance(term, int):
        return functors[term]
    return None if isinstance(term, str) else int(term[0])  # type: ignore[arg-type]


def _is_frame_axiom(clause: Clause) -> bool:
    """Whether a `next` rule keeps every fluent with its functor true."""
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

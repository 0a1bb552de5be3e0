"""Restricts relations to the constants that they are called with.

A relation such as `(count ?x ?y ?z ?n)` may have instances for all triples of cells although the rules
call it with a few triples of constants only.  If every call of a relation has constants for the same
arguments, its rules get a *guard*: a table of these constants.  This is the part of magic sets (see
`demand`) that needs no evaluation, used where the rest does not pay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.rules.clauses import Call, Clause, DisjunctionCall, Predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.rules.clauses import Goal, Program

__all__ = ["calls_in", "guarded", "guards"]


def guards(
    program: Program, roots: Iterable[Predicate]
) -> dict[Predicate, tuple[tuple[int, ...], Predicate]]:
    """Return the guarded arguments and the guard of each predicate that can have one.

    A guard is a predicate of kind "facts" with the constants of all calls, one row for each call.
    All instances of `roots` are needed.
    """
    whole = set(roots)
    calls: dict[Predicate, list[Call]] = {}
    for predicate in program.predicates:
        for clause in predicate.clauses:
            for call in calls_in(clause.body):
                calls.setdefault(call.predicate, []).append(call)
    tables: dict[Predicate, tuple[tuple[int, ...], Predicate]] = {}
    for predicate, sites in calls.items():
        if predicate in whole or predicate.kind != "rules" or predicate.name.startswith("or "):
            continue
        places = tuple(
            i for i in range(predicate.arity) if all(isinstance(site.args[i], int) for site in sites)
        )
        if not places:
            continue
        guard = Predicate(f"asked {predicate.name}", len(places), "facts", number=-1)
        for site in sites:
            guard.rows.setdefault(tuple(arg for i in places if isinstance(arg := site.args[i], int)))
        tables[predicate] = places, guard
    return tables


def guarded(clause: Clause, places: Sequence[int], guard: Predicate) -> Clause:
    """Return the clause with its guard as the first condition."""
    test = Call(guard, tuple(clause.head[i] for i in places))
    return Clause(clause.predicate, clause.head, (test, *clause.body), clause.text)


def calls_in(body: Iterable[Goal]) -> Iterator[Call]:
    """Yield the calls of a body, including those in disjunctions."""
    for goal in body:
        if isinstance(goal, Call):
            yield goal
        elif isinstance(goal, DisjunctionCall):
            for disjunct in goal.disjuncts:
                yield from calls_in(disjunct)

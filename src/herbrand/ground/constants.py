"""Ground only what is asked for: constants at the places where a relation is called.

A relation such as `(count ?x ?y ?z ?n)` may have instances for all triples of cells, though
the rules only ever ask for a few given triples.  Where every call of a relation has
constants at the same arguments, its rules get a guard: a table of the constants asked for.
This is the part of magic sets (see `demand`) that needs no evaluation, and is done where the
rest would not pay.
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
    """Return for each predicate that can be guarded the guarded arguments and the guard.

    The guard is a predicate of kind "facts" with the constants of all calls, one row a call.
    `roots` are asked for whole.
    """
    whole = set(roots)
    calls: dict[Predicate, list[Call]] = {}
    for predicate in program.predicates:
        for clause in predicate.clauses:
            for call in calls_in(clause.body):
                calls.setdefault(call.predicate, []).append(call)
    found: dict[Predicate, tuple[tuple[int, ...], Predicate]] = {}
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
        found[predicate] = places, guard
    return found


def guarded(clause: Clause, places: Sequence[int], guard: Predicate) -> Clause:
    """Return the clause with the guard as its first condition."""
    asked = Call(guard, tuple(clause.head[i] for i in places))
    return Clause(clause.predicate, clause.head, (asked, *clause.body), clause.text)


def calls_in(body: Iterable[Goal]) -> Iterator[Call]:
    """Yield the calls of a body, those in disjunctions too."""
    for goal in body:
        if isinstance(goal, Call):
            yield goal
        elif isinstance(goal, DisjunctionCall):
            for disjunct in goal.disjuncts:
                yield from calls_in(disjunct)

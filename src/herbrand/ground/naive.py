"""The reference grounder: all instances of all rules, by exhaustive matching.

Slow and simple; tests compare `ground` with it.  A fluent may be true if `init` or `next` may derive
it, a move may be made if it may be legal, and a negated condition may always hold; the atoms that may hold
are the least fixpoint of the rules read so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from herbrand.ground.encode import INTERFACE
from herbrand.ground.program import GroundProgram
from herbrand.rules.clauses import Call, Differ, DisjunctionCall, Program
from herbrand.rules.terms import TermTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.check.rules import Rules
    from herbrand.rules.clauses import Goal, Pattern

__all__ = ["ground_naively"]

_Atom: TypeAlias = tuple[str, tuple[int, ...]]
"""A relation with its arity, such as `cell/3`, and ground terms."""
_Instance: TypeAlias = tuple[_Atom, tuple[_Atom, ...], tuple[_Atom, ...]]
"""A head, its positive conditions, its negated conditions."""
_Binding: TypeAlias = dict[str, int]


def ground_naively(rules: Rules) -> GroundProgram:
    """Ground the rules of a (small) game."""
    terms = TermTable(rules.spelling, folds_case=rules.tree.folds_case)
    program = Program(rules.normal.rules, terms)
    possible: dict[_Atom, None] = {}
    while True:
        instances = dict.fromkeys(_instances(program, possible))
        derived = dict.fromkeys(head for head, _, _ in instances)
        for name, args in list(derived):
            if name in ("init/1", "next/1"):
                derived["true/1", args] = None
            elif name == "legal/2":
                derived["does/2", args] = None
        if derived == possible:
            break
        possible = derived
    always = _always(instances, possible)
    number = {atom: 0 if atom in always else i for i, atom in enumerate(sorted(possible), 1)}
    remaining = [
        (head, holds, fails)
        for head, holds, fails in instances
        if head not in always and not always.intersection(fails)
    ]
    bodies = [
        [number[atom] for atom in holds if atom not in always]
        + [-number[atom] for atom in fails if atom in number]
        for _, holds, fails in remaining
    ]
    named = {
        name: np.array(
            [[i, *args] for (relation, args), i in number.items() if relation == f"{name}/{arity}"], np.int64
        ).reshape(-1, 1 + arity)
        for name, arity in (*INTERFACE, ("true", 1), ("does", 2))
    }
    return GroundProgram(
        terms,
        np.array([number[head] for head, _, _ in remaining], np.int32),
        np.cumsum([0, *map(len, bodies)]).astype(np.int64),
        np.array([literal for body in bodies for literal in body], np.int32),
        len(possible),
        named,
    )


def _always(instances: Iterable[_Instance], possible: dict[_Atom, None]) -> set[_Atom]:
    """Return the atoms that hold in every state: derived without fluents, moves or possible negated atoms."""
    always: set[_Atom] = set()
    while True:
        derived = {
            head
            for head, holds, fails in instances
            if always.issuperset(holds) and possible.keys().isdisjoint(fails)
        }
        if derived == always:
            return always
        always = derived


def _instances(program: Program, possible: dict[_Atom, None]) -> Iterator[_Instance]:
    extension: dict[str, list[tuple[int, ...]]] = {}
    for name, args in possible:
        extension.setdefault(name, []).append(args)
    for predicate in list(program.predicates):
        name = f"{predicate.name}/{predicate.arity}"
        if predicate.name.startswith("or "):
            continue  # disjunctions are expanded in the bodies that contain them
        for row in predicate.rows:
            yield (name, row), (), ()
        for clause in predicate.clauses:
            for body in _without_disjunctions(clause.body):
                for binding in _bindings(program, body, extension, {}):
                    calls = [goal for goal in body if isinstance(goal, Call)]
                    holds = tuple(_atom(program, c, binding) for c in calls if not c.negated)
                    fails = tuple(_atom(program, c, binding) for c in calls if c.negated)
                    head = tuple(_term(program, arg, binding) for arg in clause.head)
                    yield (name, head), holds, fails


def _without_disjunctions(body: tuple[Goal, ...]) -> Iterator[tuple[Goal, ...]]:
    for i, goal in enumerate(body):
        if isinstance(goal, DisjunctionCall):
            for part in goal.disjuncts:
                yield from _without_disjunctions((*body[:i], *part, *body[i + 1 :]))
            return
    yield body


def _bindings(
    program: Program, body: tuple[Goal, ...], extension: dict[str, list[tuple[int, ...]]], binding: _Binding
) -> Iterator[_Binding]:
    """Yield all bindings of the variables under which the body may hold."""
    positive = [goal for goal in body if isinstance(goal, Call) and not goal.negated]
    if not positive:
        tests = (goal for goal in body if isinstance(goal, Differ))
        if all(_term(program, t.left, binding) != _term(program, t.right, binding) for t in tests):
            yield binding
        return
    first = positive[0]
    rest = tuple(goal for goal in body if goal is not first)
    name, patterns = _call(first)
    for row in extension.get(name, ()):
        extended = dict(binding)
        if all(_match(program, pattern, t, extended) for pattern, t in zip(patterns, row, strict=True)):
            yield from _bindings(program, rest, extension, extended)


def _call(call: Call) -> tuple[str, tuple[Pattern, ...]]:
    """Return the relation and its arguments; a fluent is an argument of `true/1`."""
    predicate = call.predicate
    if predicate.kind == "fluent":
        return "true/1", ((predicate.functor, *call.args),)
    return f"{predicate.name}/{predicate.arity}", call.args


def _atom(program: Program, call: Call, binding: _Binding) -> _Atom:
    name, args = _call(call)
    return name, tuple(_term(program, arg, binding) for arg in args)


def _term(program: Program, pattern: Pattern, binding: _Binding) -> int:
    if isinstance(pattern, int):
        return pattern
    if isinstance(pattern, str):
        return binding[pattern]
    functor = pattern[0]
    assert isinstance(functor, int)
    return program.terms.cons[(functor, *(_term(program, arg, binding) for arg in pattern[1:]))]


def _match(program: Program, pattern: Pattern, term: int, binding: _Binding) -> bool:
    """Whether a term is an instance of a pattern under `binding`, which it extends."""
    if isinstance(pattern, int):
        return pattern == term
    if isinstance(pattern, str):
        return binding.setdefault(pattern, term) == term
    functors, args = program.terms.functor, program.terms.args
    return functors[term] == pattern[0] and all(
        _match(program, part, t, binding) for part, t in zip(pattern[1:], args[term], strict=True)
    )

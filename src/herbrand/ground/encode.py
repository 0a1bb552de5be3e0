"""Clauses as text for the grounder.

| in the program          | in the text                                          |
|-------------------------|------------------------------------------------------|
| constant number 12      | `12`                                                 |
| functor 7 applied       | `f7(...)`                                            |
| variable                | `V0`, `V1`, ... within a rule                        |
| predicate number 5      | `p5(...)`                                            |
| true, does              | `true(F)`, `does(R,M)`, as choices over what init, next and legal give |

The grounding of this program lists every instance that can matter in some state that can be
reached when legality and negation are taken as loosely as possible: an over-approximation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.ground.decompose import decompose, without_choices
from herbrand.ground.demand import guarded, guards
from herbrand.program.clauses import Call, Differ, Predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.program.clauses import Clause, Goal, Pattern, Program

__all__ = ["INTERFACE", "encode"]

INTERFACE = (
    ("role", 1),
    ("init", 1),
    ("legal", 2),
    ("next", 1),
    ("goal", 2),
    ("terminal", 0),
    ("sees", 2),
)
"""The relations whose instances are named in the ground program."""


def encode(program: Program, wanted: Iterable[tuple[str, int]] = INTERFACE, *, shrink: bool = True) -> str:
    """Return the text of all clauses that the wanted relations depend on.

    `shrink` guards and decomposes rules first; without it the text has one rule for each clause.
    """
    return "\n".join(_Encoder(program, shrink=shrink).lines(list(wanted))) + "\n"


class _Encoder:
    def __init__(self, program: Program, *, shrink: bool) -> None:
        self.program = program
        self.shrink = shrink
        self.helpers = 0

    def lines(self, wanted: Sequence[tuple[str, int]]) -> Iterator[str]:
        relation = self.program.relation
        roots = [relation(*key) for key in wanted]
        yield "{true(F)} :- init(F)."
        yield "{true(F)} :- next(F)."
        yield "{does(R,M)} :- legal(R,M)."
        for name, arity in (("init", 1), ("next", 1), ("legal", 2)):
            arguments = "F" if arity == 1 else "R,M"
            yield f"{name}({arguments}) :- {self._name(relation(name, arity))}({arguments})."
        for root, (name, arity) in zip(roots, wanted, strict=True):
            if name not in ("init", "next", "legal"):
                arguments = ",".join(f"A{i}" for i in range(arity))
                left = f"{name}({arguments})" if arity else name
                right = f"{self._name(root)}({arguments})" if arity else self._name(root)
                yield f"{left} :- {right}."
            yield f"#show {name}/{arity}."
        yield "#show true/1."
        yield "#show does/2."
        yield from self._definitions(roots)

    def _definitions(self, roots: Iterable[Predicate]) -> Iterator[str]:
        makers = [self.program.relation(*key) for key in (("init", 1), ("next", 1), ("legal", 2))]
        stack = list(dict.fromkeys([*roots, *makers]))
        seen = set(stack)
        asked = guards(self.program, seen) if self.shrink else {}
        for number, (_, guard) in enumerate(asked.values()):
            guard.number = -1_000_000 - number
            for row in guard.rows:
                yield self._atom(guard, row, {}) + "."
        while stack:
            predicate = stack.pop()
            yield f"#defined {self._name(predicate)}/{predicate.arity}."
            for row in predicate.rows:
                yield self._atom(predicate, row, {}) + "."
            for clause in predicate.clauses:
                wanted = guarded(clause, *asked[predicate]) if predicate in asked else clause
                for part in self._parts(wanted):
                    yield self._rule(part)
                    for goal in part.body:
                        if isinstance(goal, Call) and goal.predicate.kind in ("rules", "facts"):
                            called = goal.predicate
                            if called.number >= 0 and called not in seen:
                                seen.add(called)
                                stack.append(called)

    def _parts(self, clause: Clause) -> Iterator[Clause]:
        for part in without_choices(clause, self._helper):
            if self.shrink:
                yield from decompose(part, self._helper)
            else:
                yield part

    def _helper(self, args: Sequence[str]) -> Predicate:
        self.helpers += 1
        return Predicate(f"helper {self.helpers}", len(args), number=-self.helpers)

    def _name(self, predicate: Predicate) -> str:
        return f"p{predicate.number}" if predicate.number >= 0 else f"h{-predicate.number}"

    def _rule(self, clause: Clause) -> str:
        names: dict[str, str] = {}
        head = self._atom(clause.predicate, clause.head, names)
        body = ", ".join(self._goal(goal, names) for goal in clause.body)
        return f"{head} :- {body}." if body else f"{head}."

    def _goal(self, goal: Goal, names: dict[str, str]) -> str:
        if isinstance(goal, Differ):
            return f"{self._term(goal.left, names)} != {self._term(goal.right, names)}"
        assert isinstance(goal, Call)
        sign = "not " if goal.negated else ""
        predicate = goal.predicate
        if predicate.kind == "fluent":
            if predicate.arity:
                term = self._term((predicate.functor, *goal.args), names)
            else:
                number = self.program.terms.cons[(predicate.functor,)]
                term = self._term(number, names)
            return f"{sign}true({term})"
        if predicate.kind in ("fluents", "does"):
            name = "true" if predicate.kind == "fluents" else "does"
            return f"{sign}{name}({','.join(self._term(arg, names) for arg in goal.args)})"
        return sign + self._atom(predicate, goal.args, names)

    def _atom(self, predicate: Predicate, args: Sequence[Pattern], names: dict[str, str]) -> str:
        name = self._name(predicate)
        return f"{name}({','.join(self._term(arg, names) for arg in args)})" if args else name

    def _term(self, pattern: Pattern, names: dict[str, str]) -> str:
        if isinstance(pattern, str):
            return names.setdefault(pattern, f"V{len(names)}")
        if isinstance(pattern, int):
            terms = self.program.terms
            args = terms.args[pattern]
            if not args:
                return str(pattern)
            return f"f{terms.functor[pattern]}({','.join(self._term(arg, names) for arg in args)})"
        return f"f{pattern[0]}({','.join(self._term(arg, names) for arg in pattern[1:])})"

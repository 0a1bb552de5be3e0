"""Estimates the sizes of relations and joins from the values that each argument can take.

Each argument of a relation, of a fluent and of a compound term is a *place*.  A place has the constants and
functors that some rule can put there given the places of its body.  Arguments are treated independently, so
that the fixpoint is reached soon and is finite even if terms grow.  The size of a relation is the product
of the sizes of its places, that of a table its number of rows.  Sizes only guide heuristics; they never
change a result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.rules.clauses import Call, goal_variables, positive

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.rules.clauses import Clause, Goal, Pattern, Predicate, Program

__all__ = ["Sizes"]

ENDLESS: Final = 1e12
"""Size of a place whose terms can grow without bound."""

NOTHING: Final = 0.0
"""Rows of a relation of which no rule has derived any yet."""

_ROUNDS: Final = 200


@dataclass(slots=True)
class _Place:
    """The constants and functors that an argument can have."""

    constants: set[int] = field(default_factory=set)
    functors: set[int] = field(default_factory=set)

    def __and__(self, other: _Place) -> _Place:
        return _Place(self.constants & other.constants, self.functors & other.functors)


class Sizes:
    """Estimates for a set of clauses without disjunctions.

    With `rounds`, joins account for the values that relations lack, and recursive relations are estimated by
    at most that many iterations; otherwise the bound of a recursive relation is the product of its places.
    """

    def __init__(
        self, program: Program, clauses: Mapping[Predicate, Sequence[Clause]], *, rounds: int = 0
    ) -> None:
        self.program = program
        self.rounds = rounds
        self.careful = rounds > 0
        self.clauses = clauses
        self._places: dict[tuple[str, int, int], _Place] = {}
        self._sizes: dict[tuple[str, int, int], float] = {}
        self._rows: dict[Predicate, float] = {}
        relation = program.relation
        self._state = {relation("init", 1), relation("next", 1)}
        self._legal = relation("legal", 2)
        self._fixpoint()
        if self.careful:
            return  # estimated on demand, callees first
        for predicate in sorted(clauses, key=lambda p: p.component):  # callees first
            if predicate.kind == "facts" or not predicate.recursive:
                self._rows[predicate] = self._estimated(predicate)

    # -- estimates ------------------------------------------------------------------------

    def values(self, predicate: Predicate, argument: int) -> float:
        """Return the number of values that an argument can take, at least 1."""
        return self._values(self._key(predicate, argument))

    def rows(self, predicate: Predicate) -> float:
        """Return the number of rows that a relation can have, at least 1."""
        rows = self._rows.get(predicate)
        if rows is None:
            if self.careful and predicate.recursive and predicate in self.clauses:
                self._grow([p for p in self.clauses if p.recursive and p.component == predicate.component])
                return self._rows[predicate]
            estimated = self.careful and predicate in self.clauses
            rows = self._estimated(predicate) if estimated else self._product(predicate)
            self._rows[predicate] = rows
        return rows

    def _estimated(self, predicate: Predicate) -> float:
        if predicate.kind == "facts":
            return max(1.0, float(len(predicate.rows)))
        parts = sum(self.join(clause.body) for clause in self.clauses[predicate])
        return min(len(predicate.rows) + parts, self._product(predicate))

    def answers(self, call: Call, bound: set[str]) -> float:
        """Return the expected number of answers of a call when some variables are bound."""
        answers = self.rows(call.predicate)
        bound_here = set(bound)
        for i, arg in enumerate(call.args):
            if not isinstance(arg, str) or arg in bound_here:
                answers *= self._matching(self._key(call.predicate, i), arg, bound_here)
                answers /= self.values(call.predicate, i)
            else:
                bound_here.add(arg)
        return max(answers, 0.05)

    def of_variable(self, variable: str, goals: Iterable[Goal]) -> float:
        """Return the number of values that the goals leave for a variable; 1 if none of them binds it."""
        sizes = [
            self._values(key)
            for goal in positive(goals)
            for i, arg in enumerate(goal.args)
            for key in self._keys_of(variable, arg, self._key(goal.predicate, i))
        ]
        return min(sizes, default=1.0)

    def projected(self, call: Call, names: Iterable[str]) -> float:
        """Return the expected number of rows of a call projected to some of its variables."""
        values = math.prod(self.of_variable(name, (call,)) for name in names)
        return min(values, self.answers(call, set()))

    def join(self, goals: Iterable[Goal], bound: Iterable[str] = ()) -> float:
        """Return the expected number of answers of the conjunction of goals, joined in a greedy order."""
        bound_now = set(bound)
        values: dict[str, float] = {}
        rows = 1.0
        rest = positive(goals)
        while rest:
            best = min(range(len(rest)), key=lambda i: self.answers(rest[i], bound_now))
            call = rest.pop(best)
            rows *= self.answers(call, bound_now) / self._outside(call, values)
            bound_now |= goal_variables(call)
        return max(rows, 1.0)

    def _outside(self, call: Call, values: dict[str, float]) -> float:
        """Return the factor by which `answers` overestimates a call because it lacks values of its variables.

        `values`, the number of values of each variable so far, is updated with the call.
        """
        factor = 1.0
        if self.careful:
            for i, arg in enumerate(call.args):
                if isinstance(arg, str):
                    values_of_call = self.values(call.predicate, i)
                    before = values.get(arg, values_of_call)
                    factor *= max(1.0, before / values_of_call)
                    values[arg] = min(before, values_of_call)
        return factor

    def define(self, clause: Clause) -> None:
        """Add the places and the size of a helper from the one clause that defines it."""
        self._flow(clause)
        self._rows[clause.predicate] = min(self.join(clause.body), self._product(clause.predicate))

    def among(self, pattern: int | str, goals: Iterable[Goal], allowed: AbstractSet[int]) -> bool:
        """Whether a constant, or every value that the goals leave for a variable, is in `allowed`."""
        if isinstance(pattern, int):
            return pattern in allowed
        bindings: dict[str, _Place] = {}
        for goal in positive(goals):
            for i, arg in enumerate(goal.args):
                self._take(self._key(goal.predicate, i), arg, bindings)
        place = bindings.get(pattern)
        return place is not None and not place.functors and place.constants <= allowed

    def _grow(self, component: Sequence[Predicate]) -> None:
        """Estimate mutually recursive relations by iterating from empty ones.

        The number of iterations is limited to the largest number of values of an argument: few paths are
        longer.
        """
        self._rows.update((p, NOTHING) for p in component)
        deepest = max((self.values(p, i) for p in component for i in range(p.arity)), default=1.0)
        for _ in range(min(self.rounds, int(deepest))):
            before = [self._rows[p] for p in component]
            for predicate in component:
                parts = sum(
                    self.join(clause.body)
                    for clause in self.clauses[predicate]
                    if all(self._rows.get(g.predicate) != NOTHING for g in clause.body if isinstance(g, Call))
                )
                self._rows[predicate] = min(len(predicate.rows) + parts, self._product(predicate)) or NOTHING
            if all(self._rows[p] <= 1.01 * rows for p, rows in zip(component, before, strict=True)):
                return

    def _values(self, key: tuple[str, int, int]) -> float:
        size = self._sizes.get(key)
        if size is None:
            size = self._sizes[key] = max(1.0, self._size(key, ()))
        return size

    def _keys_of(
        self, variable: str, pattern: Pattern, key: tuple[str, int, int]
    ) -> Iterator[tuple[str, int, int]]:
        """Yield the places of a variable in a pattern at a place."""
        if pattern == variable:
            yield key
        elif isinstance(pattern, tuple):
            functor, args = self._parts(pattern)
            for i, arg in enumerate(args):
                yield from self._keys_of(variable, arg, ("f", functor, i))

    def _matching(self, key: tuple[str, int, int], pattern: Pattern, bound: set[str]) -> float:
        """Return the number of values of a place that match a pattern; binds the variables of the pattern."""
        if isinstance(pattern, str) and pattern not in bound:
            bound.add(pattern)
            return self._values(key)
        if not isinstance(pattern, tuple):
            return 1.0
        functor, args = self._parts(pattern)
        return math.prod(self._matching(("f", functor, i), arg, bound) for i, arg in enumerate(args))

    # -- the fixpoint ---------------------------------------------------------------------

    def _key(self, predicate: Predicate, argument: int) -> tuple[str, int, int]:
        if predicate.kind == "fluent":
            return "f", predicate.functor, argument
        return "p", predicate.number, argument

    def _fixpoint(self) -> None:
        for predicate in self.clauses:
            for row in predicate.rows:
                self._give(predicate, row, {})
        for _ in range(_ROUNDS):
            changed = False
            for clauses in self.clauses.values():
                for clause in clauses:
                    changed |= self._flow(clause)
            if not changed:
                break

    def _flow(self, clause: Clause) -> bool:
        """Add the values that the body allows to the places of the head; return whether these changed."""
        bindings: dict[str, _Place] = {}
        for goal in positive(clause.body):
            for i, arg in enumerate(goal.args):
                if not self._take(self._key(goal.predicate, i), arg, bindings):
                    return False
        return self._give(clause.predicate, clause.head, bindings)

    def _take(self, key: tuple[str, int, int], pattern: Pattern, bindings: dict[str, _Place]) -> bool:
        """Restrict the variables of a pattern to the values of a place; return whether any are left."""
        place = self._places.get(key)
        if place is None:
            return False
        if isinstance(pattern, str):
            earlier = bindings.get(pattern)
            place = bindings[pattern] = place if earlier is None else earlier & place
            return bool(place.constants or place.functors)
        functor, args = self._parts(pattern)
        if not args:
            return pattern in place.constants
        return functor in place.functors and all(
            self._take(("f", functor, i), arg, bindings) for i, arg in enumerate(args)
        )

    def _give(self, predicate: Predicate, head: Sequence[Pattern], bindings: Mapping[str, _Place]) -> bool:
        changed = False
        for i, arg in enumerate(head):
            changed |= self._put(("p", predicate.number, i), arg, bindings)
        if predicate in self._state:
            changed |= self._put(("p", self.program.any_fluent.number, 0), head[0], bindings)
        elif predicate is self._legal:
            for i, arg in enumerate(head):
                changed |= self._put(("p", self.program.does.number, i), arg, bindings)
        return changed

    def _put(self, key: tuple[str, int, int], pattern: Pattern, bindings: Mapping[str, _Place]) -> bool:
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place()
        before = len(place.constants) + len(place.functors)
        changed = False
        if isinstance(pattern, str):
            place.constants |= bindings[pattern].constants
            place.functors |= bindings[pattern].functors
        else:
            functor, args = self._parts(pattern)
            if args:
                place.functors.add(functor)
                for i, arg in enumerate(args):
                    changed |= self._put(("f", functor, i), arg, bindings)
            elif isinstance(pattern, int):
                place.constants.add(pattern)
        return changed or len(place.constants) + len(place.functors) > before

    def _parts(self, pattern: int | tuple[int | Pattern, ...]) -> tuple[int, tuple[Pattern, ...]]:
        """Return the functor and the arguments of a pattern that is not a variable."""
        if isinstance(pattern, int):
            terms = self.program.terms
            return terms.functor[pattern], terms.args[pattern]
        functor = pattern[0]
        assert isinstance(functor, int)
        return functor, pattern[1:]

    def _product(self, predicate: Predicate) -> float:
        return math.prod(self.values(predicate, i) for i in range(predicate.arity))

    def _size(self, key: tuple[str, int, int], inside: tuple[int, ...]) -> float:
        place = self._places.get(key)
        if place is None:
            return 0.0
        total = float(len(place.constants))
        for functor in place.functors:
            if functor in inside:
                return ENDLESS
            arity = self.program.terms.functors[functor][1]
            total += math.prod(self._size(("f", functor, i), (*inside, functor)) for i in range(arity))
        return min(total, ENDLESS)

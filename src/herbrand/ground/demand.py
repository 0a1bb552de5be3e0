"""Which instances of a relation are asked for: magic sets, evaluated before the real grounding.

A relation such as `(sum ?x ?y ?z)` may have instances for all pairs of numbers, though a game
only ever asks for few.  `Demand` writes a program without negation over fluents and moves
that *may* be true, in which every large relation has a second one, its magic set, with the
arguments it is called with (Bancilhon, Maier, Sagiv and Ullman 1986; with supplementary
relations as in Beeri and Ramakrishnan 1991).  All its atoms are facts to the grounder, so
that it leaves nothing behind but tables: of the fluents and moves that are possible, and of
the instances worth grounding, which guard the real rules.

| of relation p               | here                                                         |
|-----------------------------|--------------------------------------------------------------|
| called with arguments given | a key: p and the places of those arguments                   |
| magic set                   | what the places are given, a relation for each key           |
| extension                   | a table of the rows that may hold and were asked for         |

What depends on no state (level 0) has its meaning already in its table and needs no rules.
Negation is kept on such relations alone; elsewhere leaving it out gives more than there is,
never less.  A program of which nothing is asked in particular (`asking=False`) says what may hold of
each relation.  Terms that a recursive call builds are never passed on, so that evaluation ends
wherever it ended without magic sets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.rules.clauses import STATIC, Call, Clause, Differ, Predicate, goal_variables, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.ground.sizes import Sizes
    from herbrand.rules.clauses import Goal, Pattern, Program

__all__ = ["Demand", "is_large", "pays"]

HUGE: Final = 500_000
"""Without a relation that may have more rows than this, asking costs more than it saves."""
LARGE: Final = 1000
"""Relations that may have more rows than this are evaluated on demand."""
WHOLE: Final = 5e6
"""Tables that may have more rows than this are not evaluated whole for tests of single rows."""
NEGATED: Final = 1e6
"""Relations that may have more rows than this are not evaluated to be negated."""
WORTH: Final = 4
"""How much less must be asked for to evaluate goals in another order than the one written."""
MODES: Final = 6
"""A relation called in more ways than this is evaluated whole."""

_Key: TypeAlias = tuple[Predicate, "tuple[int, ...] | None"]
"""A relation and the places of its arguments that are given; None: whole, and all below it whole."""


def is_large(predicate: Predicate, sizes: Sizes) -> bool:
    """Whether it pays to ask for single instances of a relation."""
    return predicate.kind == "rules" and predicate.arity > 0 and sizes.rows(predicate) > LARGE


def pays(predicates: Iterable[Predicate], roots: Iterable[Predicate], sizes: Sizes) -> bool:
    """Whether any relation but the `roots`, which are asked for whole, is so large that demand pays."""
    whole = set(roots)
    return any(p not in whole and is_large(p, sizes) and sizes.rows(p) > HUGE for p in predicates)


class Demand:
    """The program of magic sets and what it says about each relation.

    `clauses` define the relations (with those of kind "facts" given); `possible` is the
    relation of fluents that may be true, `playable` that of roles and moves.
    """

    def __init__(
        self,
        program: Program,
        clauses: Mapping[Predicate, Sequence[Clause]],
        sizes: Sizes,
        roots: Iterable[Predicate],
        make: Callable[[int], Predicate],
        helpers: AbstractSet[Predicate] = frozenset(),
        *,
        asking: bool = True,
    ) -> None:
        self.program = program
        self.asking = asking
        """Whether large relations are evaluated on demand; else all are evaluated whole."""
        self.helpers = helpers
        """Relations made for a part of a rule, by one rule each that has no other head variables."""
        self._calls: dict[Predicate, list[Predicate]] = {}
        self.given = clauses
        self.sizes = sizes
        self.make = make
        self.clauses: list[Clause] = []
        """The program."""
        self.possible = make(1)
        self.playable = make(2)
        self._fluents: dict[Predicate, Predicate] = {}
        self._extensions: dict[_Key, Predicate] = {}
        self._magic: dict[_Key, Predicate] = {}
        self._stored: dict[Predicate, Predicate] = {}
        self._modes: dict[Predicate, list[tuple[int, ...]]] = {}
        self._loose: set[Predicate] = set()
        """Relations of level 0 of which a negation was left out."""
        self._todo: list[_Key] = []
        relation = program.relation
        for name, arity in (("init", 1), ("next", 1), ("legal", 2)):
            root = relation(name, arity)
            if root in clauses:
                args = tuple(f"A{i}" for i in range(arity))
                target = self.possible if arity == 1 else self.playable
                self._add(target, args, [Call(self._extension((root, ())), args)])
        for root in roots:
            self._extension((root, ()))
        while self._todo:
            self._define(self._todo.pop())
        self.exact = self._exact()
        """The relations of level 0 whose tables are their meaning."""
        self.tables = {p: self._table(p, modes) for p, modes in self._modes.items()}
        for helper, calls in self._calls.items():
            self.tables[helper] = self._union(helper, calls)
        """A relation that holds for all instances that may hold and are asked for."""

    def guard(self, predicate: Predicate) -> Predicate | None:
        """The table that the rules of a relation are restricted to; None if it is asked for whole."""
        if predicate in self._calls:
            return self.tables[predicate] if self._is_large(predicate) else None
        return None if () in self._modes.get(predicate, [()]) else self.tables[predicate]

    def stored(self) -> Iterator[tuple[Predicate, Predicate]]:
        """Yield relations that hold for the facts of relations that have rules too, with those."""
        yield from ((mine, of) for of, mine in self._stored.items())

    def _is_large(self, predicate: Predicate) -> bool:
        return self.asking and is_large(predicate, self.sizes)

    # -- what there is --------------------------------------------------------------------

    def _add(self, predicate: Predicate, head: tuple[Pattern, ...], body: Sequence[Goal]) -> None:
        self.clauses.append(Clause(predicate, head, tuple(body), ""))

    def _extension(self, key: _Key) -> Predicate:
        found = self._extensions.get(key)
        if found is None:
            found = self._extensions[key] = self.make(key[0].arity)
            self._todo.append(key)
            if key[1] is not None:
                self._modes.setdefault(key[0], []).append(key[1])
        return found

    def _magic_set(self, key: _Key) -> Predicate:
        found = self._magic.get(key)
        if found is None:
            assert key[1] is not None
            found = self._magic[key] = self.make(len(key[1]))
        return found

    def _fluent(self, predicate: Predicate) -> Predicate:
        found = self._fluents.get(predicate)
        if found is None:
            found = self._fluents[predicate] = self.make(predicate.arity)
            args = tuple(f"A{i}" for i in range(predicate.arity))
            functor = predicate.functor
            term: Pattern = (functor, *args) if args else self.program.terms.cons[(functor,)]
            self._add(found, args, [Call(self.possible, (term,))])
        return found

    def _table(self, predicate: Predicate, modes: Sequence[tuple[int, ...]]) -> Predicate:
        if () in modes:
            return self._extensions[predicate, ()]
        whole = self._extensions.get((predicate, None))
        if whole is not None:  # negated somewhere, where any row may be meant
            return whole
        return self._union(predicate, [self._extensions[predicate, mode] for mode in modes])

    def _union(self, predicate: Predicate, parts: Sequence[Predicate]) -> Predicate:
        if len(parts) == 1:
            return parts[0]
        table = self.make(predicate.arity)
        args = tuple(f"A{i}" for i in range(predicate.arity))
        for part in parts:
            self._add(table, args, [Call(part, args)])
        return table

    def _exact(self) -> set[Predicate]:
        known = {*self._modes, *self._calls}
        exact = {p for p in known if p.kind == "rules" and p.level == STATIC and p not in self._loose}
        while True:
            wrong = {
                p
                for p in exact
                for clause in self.given[p]
                for goal in clause.body
                if isinstance(goal, Call)
                and goal.predicate.kind == "rules"
                and not goal.negated
                and goal.predicate not in exact
            }
            if not wrong:
                return exact
            exact -= wrong

    # -- the program ----------------------------------------------------------------------

    def _define(self, key: _Key) -> None:
        predicate, places = key
        extension = self._extensions[key]
        given: tuple[int, ...] = places or ()
        if predicate.rows:
            stored = self._stored.get(predicate)
            if stored is None:
                stored = self._stored[predicate] = self.make(predicate.arity)
            args = tuple(f"A{i}" for i in range(predicate.arity))
            body = [Call(self._magic_set(key), tuple(args[i] for i in given))] if given else []
            self._add(extension, args, [*body, Call(stored, args)])
        for clause in self.given[predicate]:
            start: list[Goal] = []
            if given:
                start.append(Call(self._magic_set(key), tuple(clause.head[i] for i in given)))
            self._write(extension, clause, start, whole=places is None)

    def _write(self, extension: Predicate, clause: Clause, start: list[Goal], *, whole: bool) -> None:
        done = start
        known = set().union(*map(goal_variables, start)) if start else set()
        body = _Body(clause, known, self.sizes, asking=self.asking)
        kept = {v for arg in clause.head for v in variables(arg)}
        while body.rest:
            goal = body.take()
            if isinstance(goal, Differ):
                done.append(goal)
                continue
            assert isinstance(goal, Call)
            if goal.negated:
                test = self._negated(goal, clause.predicate)
                if test is not None:
                    done.append(test)
                    continue
            if goal.predicate in self.helpers:
                mapped = Call(self._helper(goal, done, body, whole=whole), goal.args)
            elif goal.predicate.kind == "rules":
                key = self._key(goal, body, clause.predicate, whole=whole)
                if key[1]:
                    later = kept.union(goal_variables(goal), *map(goal_variables, body.rest))
                    done = self._supplements(done, later)
                    asked = tuple(goal.args[i] for i in key[1])
                    needed = {v for arg in asked for v in variables(arg)}
                    self._add(self._magic_set(key), asked, _reaching(done, needed))
                mapped = Call(self._extension(key), goal.args)
            else:
                mapped = self._mapped(goal)
            if not goal.negated:
                body.sources.append(goal)
                body.known |= goal_variables(goal)
                done.append(mapped)
        self._add(extension, clause.head, done)

    def _helper(self, call: Call, done: Sequence[Goal], body: _Body, *, whole: bool) -> Predicate:
        """Define a helper for this one call, where what is known of its arguments holds; return it."""
        (clause,) = self.given[call.predicate]
        inside = goal_variables(call)
        found = self.make(call.predicate.arity)
        self._calls.setdefault(call.predicate, []).append(found)
        context: list[Goal] = []
        if not whole and self._is_large(call.predicate):
            for goal in done:
                shared = goal_variables(goal) & inside
                if shared and isinstance(goal, Call) and not goal.negated:
                    context.append(self._projected(goal, shared))
            context += [
                self._mapped(goal)
                for goal in body.rest
                if isinstance(goal, Call)
                and not goal.negated
                and goal.predicate.kind != "rules"
                and goal_variables(goal) <= inside
            ]
        self._write(found, clause, context, whole=whole)
        return found

    def _projected(self, goal: Call, variables: set[str]) -> Goal:
        if goal_variables(goal) == variables:
            return goal
        args = tuple(sorted(variables))
        projected = self.make(len(args))
        self._add(projected, args, [goal])
        return Call(projected, args)

    def _supplements(self, done: list[Goal], later: set[str]) -> list[Goal]:
        """Return the goals so far with those that share variables made one, with what is still needed.

        Goals that have nothing to do with each other stay apart: their product may be large.
        """
        found: list[Goal] = []
        for part in _connected(done):
            if len(part) == 1:
                found += part
                continue
            seen = set().union(*(goal_variables(g) for g in part))
            args = tuple(sorted(seen & later))
            supplement = self.make(len(args))
            self._add(supplement, args, part)
            found.append(Call(supplement, args))
        return found

    def _key(self, call: Call, body: _Body, inside: Predicate, *, whole: bool) -> _Key:
        called = call.predicate
        if whole:
            return called, None
        if not self._is_large(called):
            return called, ()
        recursive = called.component == inside.component
        places = tuple(
            i for i in _places(call, body.known) if not (recursive and isinstance(call.args[i], tuple))
        )
        if called.level == STATIC and len(places) == called.arity and self.sizes.rows(called) <= WHOLE:
            return called, ()  # tests for single rows are often more than there are rows
        if 2 * body.asked(call) > self.sizes.rows(called):
            return called, ()  # nearly all of it would be asked for, at the cost of listing the questions
        modes = self._modes.get(called, ())
        if () in modes or (places not in modes and len(modes) >= MODES):
            return called, ()
        return called, places

    def _mapped(self, call: Call) -> Call:
        predicate = call.predicate
        if predicate.kind == "fluent":
            return Call(self._fluent(predicate), call.args)
        if predicate.kind == "fluents":
            return Call(self.possible, call.args)
        if predicate.kind == "does":
            return Call(self.playable, call.args)
        return Call(predicate, call.args)

    def _negated(self, call: Call, inside: Predicate) -> Call | None:
        """Return the test for a negated call; None if it is left out."""
        predicate = call.predicate
        if predicate.kind == "facts":
            return Call(predicate, call.args, negated=True)
        if predicate.level == STATIC and self.sizes.rows(predicate) <= NEGATED:
            return Call(self._extension((predicate, None)), call.args, negated=True)
        if inside.level == STATIC:
            self._loose.add(inside)
        return None


class _Body:
    """The goals of a rule, given in the order in which they pass values on.

    Large relations are called in the order written, which is the author's idea of what is
    known when.  The others come before if they were written before, or if what they give
    narrows down a large call by far more than what comes before it.
    """

    def __init__(self, clause: Clause, known: set[str], sizes: Sizes, *, asking: bool) -> None:
        self.sizes = sizes
        self.asking = asking
        self.rest = list(clause.body)
        self.first = frozenset(known)
        """Given by the call of the rule: taken for one row."""
        self.known = set(known)
        self.sources: list[Goal] = []
        """The calls taken so far that bind something."""

    def take(self) -> Goal:
        """Remove and return the next goal: tests at once, negated calls of relations with rules last."""
        small: list[int] = []
        large = -1
        for i, goal in enumerate(self.rest):
            if isinstance(goal, Differ):
                if goal_variables(goal) <= self.known:
                    return self.rest.pop(i)
            elif isinstance(goal, Call) and goal.negated:
                if goal.predicate.kind == "facts" and goal_variables(goal) <= self.known:
                    return self.rest.pop(i)
            elif isinstance(goal, Call) and self.asking and is_large(goal.predicate, self.sizes):
                large = i if large < 0 else large
            else:
                small.append(i)
        before = [i for i in small if i < large or large < 0]
        if before:
            return self.rest.pop(min(before, key=self._score))
        if large < 0:
            return self.rest.pop(0)
        call = self.rest[large]
        assert isinstance(call, Call)
        if small and self._narrow(call, [self.rest[i] for i in small]):
            return self.rest.pop(min(small, key=self._score))
        return self.rest.pop(large)

    def _narrow(self, call: Call, later: Sequence[Goal]) -> bool:
        """Whether a large call is asked for far less when it waits for other goals."""
        known = self.known.union(*map(goal_variables, later))
        after = self._asked(call, known, [*self.sources, *later])
        if _places(call, self.known):
            return WORTH * after < self.asked(call)
        return WORTH * after * self.sizes.answers(call, known) < self.sizes.rows(call.predicate)

    def asked(self, call: Call) -> float:
        """How many calls there are expected to be if it is called now."""
        return self._asked(call, self.known, self.sources)

    def _asked(self, call: Call, known: set[str], sources: Sequence[Goal]) -> float:
        """How many calls there are expected to be."""
        given = {v for i in _places(call, known) for v in variables(call.args[i])} - self.first
        return min(
            self.sizes.join(sources, self.first),
            math.prod(self.sizes.of_variable(v, sources) for v in given),
        )

    def _score(self, index: int) -> float:
        call = self.rest[index]
        assert isinstance(call, Call)
        score = self.sizes.answers(call, self.known)
        inside = goal_variables(call)
        return score * 10 if self.known and inside and not inside & self.known else score


def _connected(goals: Iterable[Goal]) -> list[list[Goal]]:
    """Put goals that share variables, directly or through others, together."""
    parts: list[tuple[set[str], list[Goal]]] = []
    for goal in goals:
        inside, together = set(goal_variables(goal)), [goal]
        apart = []
        for names, part in parts:
            if names & inside:
                inside |= names
                together = part + together
            else:
                apart.append((names, part))
        parts = [*apart, (inside, together)]
    return [part for _, part in parts]


def _reaching(goals: Iterable[Goal], needed: set[str]) -> list[Goal]:
    """Return the goals that mention needed variables, or none at all."""
    return [goal for goal in goals if not goal_variables(goal) or goal_variables(goal) & needed]


def _places(call: Call, known: set[str]) -> tuple[int, ...]:
    return tuple(i for i, arg in enumerate(call.args) if all(v in known for v in variables(arg)))

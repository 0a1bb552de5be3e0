"""Magic sets: which instances of large relations the rules call, evaluated before the real grounding.

A relation such as `(sum ?x ?y ?z)` may have instances for all pairs of numbers although a game calls it with
few.  `Demand` writes a program without negation over fluents and moves that *may* be true, in which every
large relation has a second one, its magic set, of the arguments it is called with (Bancilhon, Maier, Sagiv
and Ullman 1986; with supplementary relations as in Beeri and Ramakrishnan 1991).  The grounder evaluates all
of it to facts, so that only tables remain: the possible fluents and moves, and the instances worth
grounding, which guard the real rules.

| for relation p              | in this program                                              |
|-----------------------------|--------------------------------------------------------------|
| call with bound arguments   | a key: p and the positions of those arguments                |
| magic set                   | the values at these positions, a relation for each key       |
| extension                   | a table of the rows that may hold and are called             |

The table of a static relation (level 0) is its exact extension, so that it needs no rules.  Negation is kept
for static relations only; dropping it elsewhere can only enlarge a relation.  With `asking=False` all
relations are evaluated whole, and the tables say what may hold.  Terms that a recursive call builds are not
passed to magic sets, so that evaluation terminates whenever it does without them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.rules.clauses import STATIC, Call, Clause, Differ, goal_variables, positive, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.ground.sizes import Sizes
    from herbrand.rules.clauses import Goal, Pattern, Predicate, Program

__all__ = ["Demand", "is_large", "pays"]

HUGE: Final = 500_000
"""Unless some relation may have more rows than this, magic sets cost more than they save."""
LARGE: Final = 1000
"""Relations that may have more rows than this are evaluated on demand."""
WHOLE: Final = 5e6
"""Relations up to this size are evaluated whole where only single rows are tested."""
NEGATED: Final = 1e6
"""Negations of relations that may have more rows than this are dropped."""
WORTH: Final = 4
"""Factor by which another order than the one written must reduce the calls to be used."""
MAX_MODES: Final = 6
"""Relations called with more binding patterns than this are evaluated whole."""

_Key: TypeAlias = "tuple[Predicate, tuple[int, ...] | None]"
"""A relation and its bound argument positions; None: whole, and all that it depends on whole."""


def is_large(predicate: Predicate, sizes: Sizes) -> bool:
    """Whether evaluating only the called instances of a relation can pay."""
    return predicate.kind == "rules" and predicate.arity > 0 and sizes.rows(predicate) > LARGE


def pays(predicates: Iterable[Predicate], roots: Iterable[Predicate], sizes: Sizes) -> bool:
    """Whether magic sets pay: some relation other than the `roots`, which are needed whole, is huge."""
    whole = set(roots)
    return any(p not in whole and is_large(p, sizes) and sizes.rows(p) > HUGE for p in predicates)


@dataclass(eq=False)
class Demand:
    """The program of magic sets, and the table of each relation in it."""

    program: Program
    source_clauses: Mapping[Predicate, Sequence[Clause]]
    """They define the relations; those of kind "facts" have rows."""
    sizes: Sizes
    roots: Iterable[Predicate]
    """Relations that are needed whole."""
    make_predicate: Callable[[int], Predicate]
    helpers: AbstractSet[Predicate] = frozenset()
    """Relations made by decomposition, each defined by one rule whose head has only variables."""
    asking: bool = field(default=True, kw_only=True)
    """Whether large relations are restricted to the called instances; else all are evaluated whole."""
    clauses: list[Clause] = field(default_factory=list, init=False)
    """The program."""
    _calls: dict[Predicate, list[Predicate]] = field(default_factory=dict, init=False)
    _fluents: dict[Predicate, Predicate] = field(default_factory=dict, init=False)
    _extensions: dict[_Key, Predicate] = field(default_factory=dict, init=False)
    _magic: dict[_Key, Predicate] = field(default_factory=dict, init=False)
    _fact_tables: dict[Predicate, Predicate] = field(default_factory=dict, init=False)
    _modes: dict[Predicate, list[tuple[int, ...]]] = field(default_factory=dict, init=False)
    _approximate: set[Predicate] = field(default_factory=set, init=False)
    """Static relations from whose rules a negation was dropped."""
    _worklist: list[_Key] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.possible = self.make_predicate(1)
        """The relation of the fluents that may be true."""
        self.playable = self.make_predicate(2)
        """The relation of roles and the moves that may be legal."""
        for name, arity in (("init", 1), ("next", 1), ("legal", 2)):
            root = self.program.relation(name, arity)
            if root in self.source_clauses:
                args = tuple(f"A{i}" for i in range(arity))
                target = self.possible if arity == 1 else self.playable
                self._add(target, args, [Call(self._extension((root, ())), args)])
        for root in self.roots:
            self._extension((root, ()))
        while self._worklist:
            self._define(self._worklist.pop())
        self.exact = self._exact()
        """The static relations whose tables are exact."""
        self.tables = {p: self._table(p, modes) for p, modes in self._modes.items()}
        for helper, calls in self._calls.items():
            self.tables[helper] = self._union(helper, calls)
        """For each relation the table of the instances that may hold and are called."""

    def guard(self, predicate: Predicate) -> Predicate | None:
        """Return the table that the rules of a relation are restricted to; None if it is needed whole."""
        if predicate in self._calls:
            return self.tables[predicate] if self._is_large(predicate) else None
        return None if () in self._modes.get(predicate, [()]) else self.tables[predicate]

    def fact_tables(self) -> Iterator[tuple[Predicate, Predicate]]:
        """Yield pairs: a relation for the facts of a relation that also has rules, and the latter."""
        yield from ((facts, source) for source, facts in self._fact_tables.items())

    def _is_large(self, predicate: Predicate) -> bool:
        return self.asking and is_large(predicate, self.sizes)

    # -- relations of the program ---------------------------------------------------------

    def _add(self, predicate: Predicate, head: tuple[Pattern, ...], body: Sequence[Goal]) -> None:
        self.clauses.append(Clause(predicate, head, tuple(body), ""))

    def _extension(self, key: _Key) -> Predicate:
        extension = self._extensions.get(key)
        if extension is None:
            extension = self._extensions[key] = self.make_predicate(key[0].arity)
            self._worklist.append(key)
            if key[1] is not None:
                self._modes.setdefault(key[0], []).append(key[1])
        return extension

    def _magic_set(self, key: _Key) -> Predicate:
        magic = self._magic.get(key)
        if magic is None:
            assert key[1] is not None
            magic = self._magic[key] = self.make_predicate(len(key[1]))
        return magic

    def _fluent(self, predicate: Predicate) -> Predicate:
        relation = self._fluents.get(predicate)
        if relation is None:
            relation = self._fluents[predicate] = self.make_predicate(predicate.arity)
            args = tuple(f"A{i}" for i in range(predicate.arity))
            self._add(relation, args, [Call(self.possible, (self.program.term_of(predicate, args),))])
        return relation

    def _table(self, predicate: Predicate, modes: Sequence[tuple[int, ...]]) -> Predicate:
        if () in modes:
            return self._extensions[predicate, ()]
        whole = self._extensions.get((predicate, None))
        if whole is not None:  # negated somewhere, which may test any row
            return whole
        return self._union(predicate, [self._extensions[predicate, mode] for mode in modes])

    def _union(self, predicate: Predicate, parts: Sequence[Predicate]) -> Predicate:
        if len(parts) == 1:
            return parts[0]
        table = self.make_predicate(predicate.arity)
        args = tuple(f"A{i}" for i in range(predicate.arity))
        for part in parts:
            self._add(table, args, [Call(part, args)])
        return table

    def _exact(self) -> set[Predicate]:
        evaluated = {*self._modes, *self._calls}
        exact = {
            p for p in evaluated if p.kind == "rules" and p.level == STATIC and p not in self._approximate
        }
        while True:
            wrong = {
                p
                for p in exact
                for clause in self.source_clauses[p]
                for goal in positive(clause.body)
                if goal.predicate.kind == "rules" and goal.predicate not in exact
            }
            if not wrong:
                return exact
            exact -= wrong

    # -- the program ----------------------------------------------------------------------

    def _define(self, key: _Key) -> None:
        predicate, places = key
        extension = self._extensions[key]
        bound_places: tuple[int, ...] = places or ()
        if predicate.rows:
            stored = self._fact_tables.get(predicate)
            if stored is None:
                stored = self._fact_tables[predicate] = self.make_predicate(predicate.arity)
            args = tuple(f"A{i}" for i in range(predicate.arity))
            body = [Call(self._magic_set(key), tuple(args[i] for i in bound_places))] if bound_places else []
            self._add(extension, args, [*body, Call(stored, args)])
        for clause in self.source_clauses[predicate]:
            start: list[Goal] = []
            if bound_places:
                start.append(Call(self._magic_set(key), tuple(clause.head[i] for i in bound_places)))
            self._write(extension, clause, start, whole=places is None)

    def _write(self, extension: Predicate, clause: Clause, start: list[Goal], *, whole: bool) -> None:
        done = start
        bound = set().union(*map(goal_variables, start))
        body = _Body(clause, bound, self.sizes, asking=self.asking)
        head_variables = {v for arg in clause.head for v in variables(arg)}
        while body.rest:
            goal = body.pop_next()
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
                    later = head_variables.union(goal_variables(goal), *map(goal_variables, body.rest))
                    done = self._supplements(done, later)
                    bound_arguments = tuple(goal.args[i] for i in key[1])
                    needed = {v for arg in bound_arguments for v in variables(arg)}
                    self._add(self._magic_set(key), bound_arguments, _mentioning(done, needed))
                mapped = Call(self._extension(key), goal.args)
            else:
                mapped = self._translate(goal)
            if not goal.negated:
                body.sources.append(goal)
                body.bound |= goal_variables(goal)
                done.append(mapped)
        self._add(extension, clause.head, done)

    def _helper(self, call: Call, done: Sequence[Goal], body: _Body, *, whole: bool) -> Predicate:
        """Define a helper for this call alone, restricted by the goals that bind its arguments; return it."""
        (clause,) = self.source_clauses[call.predicate]
        call_variables = goal_variables(call)
        helper = self.make_predicate(call.predicate.arity)
        self._calls.setdefault(call.predicate, []).append(helper)
        context: list[Goal] = []
        if not whole and self._is_large(call.predicate):
            for part in _connected(positive(done)):
                joined = [part] if len(part) == 2 else [[goal] for goal in part]
                for goals in joined:  # two goals together tell which values belong to each other
                    shared = set().union(*map(goal_variables, goals)) & call_variables
                    if shared:
                        context.append(self._projected(goals, shared))
            context += [
                self._translate(goal)
                for goal in positive(body.rest)
                if goal.predicate.kind != "rules" and goal_variables(goal) <= call_variables
            ]
        self._write(helper, clause, context, whole=whole)
        return helper

    def _projected(self, goals: Sequence[Goal], variables: set[str]) -> Goal:
        is_whole = len(goals) == 1 and goal_variables(goals[0]) == variables
        return goals[0] if is_whole else self._joined(goals, variables)

    def _joined(self, goals: Sequence[Goal], variables: set[str]) -> Goal:
        """Return the call of a new relation, the join of goals projected to some of their variables."""
        args = tuple(sorted(variables))
        joined = self.make_predicate(len(args))
        self._add(joined, args, goals)
        return Call(joined, args)

    def _supplements(self, done: list[Goal], later: set[str]) -> list[Goal]:
        """Replace goals that share variables by a supplementary relation of the variables needed later.

        Goals that share no variables stay separate: their product may be large.
        """
        supplements: list[Goal] = []
        for part in _connected(done):
            if len(part) == 1:
                supplements += part
                continue
            supplements.append(self._joined(part, later & set().union(*map(goal_variables, part))))
        return supplements

    def _key(self, call: Call, body: _Body, inside: Predicate, *, whole: bool) -> _Key:
        called = call.predicate
        if whole:
            return called, None
        if not self._is_large(called):
            return called, ()
        recursive = called.component == inside.component
        places = tuple(
            i for i in _places(call, body.bound) if not (recursive and isinstance(call.args[i], tuple))
        )
        if called.level == STATIC and len(places) == called.arity and self.sizes.rows(called) <= WHOLE:
            return called, ()  # there are often more tests of single rows than rows
        if 2 * body.expected_calls(call) > self.sizes.rows(called):
            return called, ()  # most of it would be called, and the magic set costs as much again
        modes = self._modes.get(called, ())
        if () in modes or (places not in modes and len(modes) >= MAX_MODES):
            return called, ()
        return called, places

    def _translate(self, call: Call) -> Call:
        predicate = call.predicate
        if predicate.kind == "fluent":
            predicate = self._fluent(predicate)
        else:
            predicate = {"fluents": self.possible, "does": self.playable}.get(predicate.kind, predicate)
        return Call(predicate, call.args)

    def _negated(self, call: Call, inside: Predicate) -> Call | None:
        """Return the test for a negated call; None if it is dropped."""
        predicate = call.predicate
        if predicate.kind == "facts":
            return Call(predicate, call.args, negated=True)
        if predicate.level == STATIC and self.sizes.rows(predicate) <= NEGATED:
            return Call(self._extension((predicate, None)), call.args, negated=True)
        if inside.level == STATIC:
            self._approximate.add(inside)
        return None


class _Body:
    """The goals of a rule in the order in which they pass bindings on.

    Large relations are called in the order written, which reflects which arguments the author expected to be
    bound.  The others come before a large call if they were written before it, or if their bindings reduce
    its instances by a factor of `WORTH`.
    """

    def __init__(self, clause: Clause, bound: set[str], sizes: Sizes, *, asking: bool) -> None:
        self.sizes = sizes
        self.asking = asking
        self.rest = list(clause.body)
        self.first = frozenset(bound)
        """Variables bound by the call of the rule, counted as one row."""
        self.bound = set(bound)
        self.sources: list[Goal] = []
        """The positive calls so far."""

    def pop_next(self) -> Goal:
        """Remove and return the next goal: tests as soon as possible, negated calls last."""
        small: list[int] = []
        large = -1
        for i, goal in enumerate(self.rest):
            if isinstance(goal, Differ):
                if goal_variables(goal) <= self.bound:
                    return self.rest.pop(i)
            elif isinstance(goal, Call) and goal.negated:
                if goal.predicate.kind == "facts" and goal_variables(goal) <= self.bound:
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
        """Whether a large call has far fewer instances after some other goals."""
        bound = self.bound.union(*map(goal_variables, later))
        after = self._expected_calls(call, bound, [*self.sources, *later])
        if _places(call, self.bound):
            return WORTH * after < self.expected_calls(call)
        return WORTH * after * self.sizes.answers(call, bound) < self.sizes.rows(call.predicate)

    def expected_calls(self, call: Call) -> float:
        """Return the expected number of distinct calls if it is called next."""
        return self._expected_calls(call, self.bound, self.sources)

    def _expected_calls(self, call: Call, bound: set[str], sources: Sequence[Goal]) -> float:
        """Return the expected number of distinct calls after the goals `sources`."""
        call_variables = {v for i in _places(call, bound) for v in variables(call.args[i])} - self.first
        return min(
            self.sizes.join(sources, self.first),
            math.prod(self.sizes.of_variable(v, sources) for v in call_variables),
        )

    def _score(self, index: int) -> float:
        call = self.rest[index]
        assert isinstance(call, Call)
        score = self.sizes.answers(call, self.bound)
        call_variables = goal_variables(call)
        return score * 10 if self.bound and call_variables and not call_variables & self.bound else score


def _connected(goals: Iterable[Goal]) -> list[list[Goal]]:
    """Return the connected components of goals, which share variables directly or through others."""
    parts: list[tuple[set[str], list[Goal]]] = []
    for goal in goals:
        merged_names, together = set(goal_variables(goal)), [goal]
        apart = []
        for names, part in parts:
            if names & merged_names:
                merged_names |= names
                together = part + together
            else:
                apart.append((names, part))
        parts = [*apart, (merged_names, together)]
    return [part for _, part in parts]


def _mentioning(goals: Iterable[Goal], needed: set[str]) -> list[Goal]:
    """Return the goals that mention needed variables, or no variables."""
    return [goal for goal in goals if not goal_variables(goal) or goal_variables(goal) & needed]


def _places(call: Call, bound: set[str]) -> tuple[int, ...]:
    return tuple(i for i, arg in enumerate(call.args) if bound.issuperset(variables(arg)))

"""`Program`: the rules of a game as predicates and clauses over numbered terms.

| in the rules             | here                                                        |
|--------------------------|-------------------------------------------------------------|
| relation `p` of arity n  | `Predicate`, which has its ground facts and its clauses     |
| `(true (f ...))`         | a `Predicate` of kind "fluent": the arguments of f, flat    |
| `(true ?p)`              | the predicate of kind "fluents": whole fluents              |
| `(does r m)`             | the predicate of kind "does"                                |
| `(or ...)` in a body     | `DisjunctionCall`, with a predicate of its own where it binds |
| ground term              | its number in the `TermTable`                               |
| variable                 | its name                                                    |
| compound with variables  | a tuple: functor number, then arguments                     |

The *level* of a predicate is what its extension depends on: 0 nothing (static), 1 the
state, 2 also the joint move.  A predicate is *recursive* if it depends on itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, Union

from herbrand.check.relations import strongly_connected
from herbrand.syntax.nodes import And, Atom, Distinct, Not, Or, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.rules.terms import TermTable
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = [
    "Call",
    "Clause",
    "Differ",
    "DisjunctionCall",
    "Goal",
    "Pattern",
    "Predicate",
    "Program",
    "variables",
]

Pattern: TypeAlias = Union[int, str, tuple["int | Pattern", ...]]  # noqa: UP007  # forward reference
"""A term: its number if ground, the name of a variable, or (functor, pattern, ...)."""

STATIC, STATE, MOVE = 0, 1, 2


@dataclass(eq=False, slots=True)
class Predicate:
    """A relation of one arity; `true` and `does` have special kinds."""

    name: str
    arity: int
    kind: str = "rules"
    """"rules" (clauses and facts), "facts" (rows only), "fluent", "fluents" or "does"."""
    functor: int = -1
    """For kind "fluent": the functor of the fluent."""
    number: int = 0
    rows: dict[tuple[int, ...], None] = field(default_factory=dict)
    """Ground facts."""
    clauses: list[Clause] = field(default_factory=list)
    level: int = STATIC
    recursive: bool = False
    component: int = -1

    def __repr__(self) -> str:
        return f"{self.name}/{self.arity}"


@dataclass(eq=False, slots=True)
class Call:
    """A positive or negated atom."""

    predicate: Predicate
    args: tuple[Pattern, ...]
    negated: bool = False


@dataclass(eq=False, slots=True)
class Differ:
    """`(distinct left right)`."""

    left: Pattern
    right: Pattern


@dataclass(eq=False, slots=True)
class DisjunctionCall:
    """A disjunction; `predicate` has one clause for each disjunct."""

    predicate: Predicate
    args: tuple[str, ...]
    disjuncts: tuple[tuple[Goal, ...], ...]
    binds: frozenset[str]
    """The variables that every disjunct binds; other goals must bind the rest first."""


Goal: TypeAlias = Call | Differ | DisjunctionCall


@dataclass(eq=False, slots=True)
class Clause:
    """A rule: head arguments and body."""

    predicate: Predicate
    head: tuple[Pattern, ...]
    body: tuple[Goal, ...]
    text: str
    """The rule as KIF, for comments in generated code and messages."""


def variables(pattern: Pattern) -> Iterator[str]:
    """Yield the variables of a pattern, from left to right, with repetitions."""
    if isinstance(pattern, str):
        yield pattern
    elif isinstance(pattern, tuple):
        for part in pattern[1:]:
            yield from variables(part)


def positive(goals: Iterable[Goal]) -> list[Call]:
    """Return the calls among goals that are not negated."""
    return [goal for goal in goals if isinstance(goal, Call) and not goal.negated]


def goal_variables(goal: Goal) -> set[str]:
    """Return the variables of a body goal that are visible to the rest of the body."""
    if isinstance(goal, Call):
        return {v for arg in goal.args for v in variables(arg)}
    if isinstance(goal, Differ):
        return {*variables(goal.left), *variables(goal.right)}
    return set(goal.args)


class Program:
    """The predicates of rules in normal form, by (name, arity)."""

    def __init__(self, rules: Sequence[Rule], terms: TermTable) -> None:
        self.terms = terms
        self.predicates: list[Predicate] = []
        self.relations: dict[tuple[str, int], Predicate] = {}
        self._fluents: dict[int, Predicate] = {}
        self.any_fluent = self._add(Predicate("true", 1, "fluents", level=STATE))
        self.does = self._add(Predicate("does", 2, "does", level=MOVE))
        for rule in rules:
            self._define(rule)
        self.classify()

    def relation(self, name: str, arity: int) -> Predicate:
        """Return the predicate of a relation, an empty one if the rules do not define it."""
        predicate = self.relations.get((name, arity))
        if predicate is None:
            predicate = self.relations[name, arity] = self._add(Predicate(name, arity))
        return predicate

    def fluent(self, functor: int) -> Predicate:
        """Return the predicate of the fluents with a functor."""
        predicate = self._fluents.get(functor)
        if predicate is None:
            name, arity = self.terms.functors[functor]
            predicate = Predicate(f"true {name}", arity, "fluent", functor, level=STATE)
            self._fluents[functor] = self._add(predicate)
        return predicate

    def term_of(self, predicate: Predicate, args: tuple[Pattern, ...]) -> Pattern:
        """Return the fluent of a predicate of kind "fluent" with these arguments."""
        return (predicate.functor, *args) if args else self.terms.cons[(predicate.functor,)]

    def goal(self, literal: Literal) -> Goal:
        """Translate a single literal, for queries."""
        return self._goal(literal, set())

    def pattern(self, term: Term) -> Pattern:
        """Translate a term."""
        if isinstance(term, Variable):
            return term.name
        args = tuple(map(self.pattern, term.args))
        functor = self.terms.functor_number(term.name, len(args))
        ground = [arg for arg in args if isinstance(arg, int)]
        return self.terms.cons[(functor, *ground)] if len(ground) == len(args) else (functor, *args)

    def _add(self, predicate: Predicate) -> Predicate:
        predicate.number = len(self.predicates)
        self.predicates.append(predicate)
        return predicate

    def _define(self, rule: Rule) -> None:
        predicate = self.relation(rule.head.name, len(rule.head.args))
        head = tuple(map(self.pattern, rule.head.args))
        if rule.is_fact and all(isinstance(arg, int) for arg in head):
            predicate.rows.setdefault(head)  # type: ignore[arg-type]
            return
        variables_in = [{v.name for v in variables_of(literal)} for literal in rule.body]
        places = Counter(chain({v for arg in head for v in variables(arg)}, *variables_in))
        body = []
        for literal, own in zip(rule.body, variables_in, strict=True):
            others = set[str]()
            if isinstance(literal, Or):
                others = {v for v, number in places.items() if number > (v in own)}
            body.append(self._goal(literal, others))
        predicate.clauses.append(Clause(predicate, head, tuple(body), str(rule)))

    def _goal(self, literal: Literal, others: set[str]) -> Goal:
        if isinstance(literal, Not):
            assert isinstance(literal.literal, Atom)
            call = self._call(literal.literal)
            call.negated = True
            return call
        if isinstance(literal, Distinct):
            return Differ(self.pattern(literal.left), self.pattern(literal.right))
        if isinstance(literal, Or):
            return self._choice(literal, others)
        assert isinstance(literal, Atom)
        return self._call(literal)

    def _call(self, atom: Atom) -> Call:
        if atom.key == ("true", 1):
            (term,) = atom.args
            if isinstance(term, Variable):
                return Call(self.any_fluent, (term.name,))
            functor = self.terms.functor_number(*term.key)
            return Call(self.fluent(functor), tuple(map(self.pattern, term.args)))
        predicate = self.does if atom.key == ("does", 2) else self.relation(*atom.key)
        return Call(predicate, tuple(map(self.pattern, atom.args)))

    def _choice(self, literal: Or, others: set[str]) -> DisjunctionCall:
        names = list(dict.fromkeys(v.name for v in variables_of(literal)))
        args = tuple(v for v in names if v in others)
        predicate = self._add(Predicate(f"or {len(self.predicates)}", len(args)))
        disjuncts = []
        binds = set(args)
        for part in literal.literals:
            parts = part.literals if isinstance(part, And) else (part,)
            variables_in = [{v.name for v in variables_of(p)} for p in parts]
            goals = []
            for i, p in enumerate(parts):
                outside = others.union(*variables_in[:i], *variables_in[i + 1 :])
                goals.append(self._goal(p, outside))
            disjuncts.append(tuple(goals))
            predicate.clauses.append(Clause(predicate, args, tuple(goals), str(part)))
            binds &= set().union(*map(_bound_by, goals))
        return DisjunctionCall(predicate, args, tuple(disjuncts), frozenset(binds))

    def table(self, name: str, arity: int) -> Predicate:
        """Return a new predicate of kind "facts" whose name no rule can use."""
        return self._add(Predicate(name, arity, "facts"))

    def classify(self) -> None:
        """Compute components, recursion and levels; call it again after changing clauses."""
        for p in self.predicates:
            if p.kind in ("rules", "facts"):
                p.level = STATIC
        order = strongly_connected(self.predicates, _called)
        for number, component in enumerate(order):
            members = set(component)
            level = max(p.level for p in component)
            for p in component:
                p.component = number
                p.recursive = len(component) > 1 or p in set(_called(p))
                level = max(level, max((q.level for q in _called(p) if q not in members), default=0))
            for p in component:
                p.level = level
        for p in self.predicates:
            if p.kind == "rules" and not p.clauses:
                p.kind = "facts"


def _bound_by(goal: Goal) -> set[str]:
    if isinstance(goal, Call):
        return set() if goal.negated else goal_variables(goal)
    return set(goal.binds) if isinstance(goal, DisjunctionCall) else set()


def _called(predicate: Predicate) -> Iterator[Predicate]:
    stack: list[Goal] = [goal for clause in predicate.clauses for goal in clause.body]
    while stack:
        goal = stack.pop()
        if isinstance(goal, Call | DisjunctionCall):
            yield goal.predicate

"""Relations taken apart by which of their arguments a derivation looks at.

A square to be ignored is handed through all rules for sliding pieces, and most derivations never
look at it:

    (<= (clear ?a ?c ?ignored) (next ?a ?c) (square ?ignored))
    (<= (clear ?a ?c ?ignored) (next ?a ?ignored) (clear ?ignored ?c ?ignored))
    (<= (clear ?a ?c ?ignored) (next ?a ?b) (true (cell ?b blank)) (clear ?b ?c ?ignored))

As written there is an instance for each path and each square.  Here the relation becomes several,
its *versions*, each with the arguments that some derivations look at: `clear` of two cells
for paths that are clear whatever is ignored, and `clear` of all three for those on which the
square lies.  What holds is what one of the versions says, so that a rule that asks for `clear` becomes
a rule for each, one that asks for its negation asks that none of them holds, and what they
hand on is taken apart in the same way.

A derivation does not look at an argument when all it does is to test it for a domain, a relation
of one argument given by facts.  Such tests go with the version and are made where it is called,
unless all that can be there passes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, product
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.rules.clauses import Call, Clause, Predicate, goal_variables, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.ground.sizes import Sizes
    from herbrand.rules.clauses import Goal, Pattern

__all__ = ["narrowed", "untested"]

BROAD: Final = 10_000
"""Relations that may have more rows than this are taken apart."""
MOST_VERSIONS: Final = 6
"""A relation with more versions than this stays as it is."""
MOST_WAYS: Final = 12
"""A rule that would become more rules than this asks for relations as they were."""

_Clauses: TypeAlias = "dict[Predicate, list[Clause]]"


@dataclass(frozen=True, slots=True)
class _Version:
    """What some derivations of a relation look at: places, and domains that other places are in."""

    places: tuple[int, ...]
    domains: frozenset[tuple[int, Predicate]] = frozenset()


@dataclass(slots=True)
class _Way:
    """A rule with its calls of relations taken apart replaced, and the version that it is a rule of."""

    version: _Version
    body: tuple[Goal, ...]


def narrowed(
    clauses: Mapping[Predicate, Sequence[Clause]],
    sizes: Sizes,
    make: Callable[[int], Predicate],
    kept: Iterable[Predicate],
) -> _Clauses | None:
    """Return clauses without disjunctions that mean the same for the relations `kept`.

    None if none can be taken apart.  `make` makes relations with so many arguments.
    """
    apart = _Apart(clauses, sizes, make, set(kept))
    return apart.rules() if apart.taken else None


def untested(clauses: Mapping[Predicate, Sequence[Clause]], sizes: Sizes) -> _Clauses:
    """Return clauses without tests for domains that all that the rest of their bodies leaves passes."""
    return {p: [_untested(clause, sizes) for clause in parts] for p, parts in clauses.items()}


def _untested(clause: Clause, sizes: Sizes) -> Clause:
    body = list(clause.body)
    for test in clause.body:
        domain = _tested(test)
        if domain is None:
            continue
        rest = [goal for goal in body if goal is not test]
        (name,) = goal_variables(test)
        if sizes.among(name, rest, {row[0] for row in domain.rows}):
            body = rest
    return Clause(clause.predicate, clause.head, tuple(body), clause.text)


class _Apart:
    def __init__(
        self,
        clauses: Mapping[Predicate, Sequence[Clause]],
        sizes: Sizes,
        make: Callable[[int], Predicate],
        kept: AbstractSet[Predicate],
    ) -> None:
        self.clauses = clauses
        self.sizes = sizes
        self.make = make
        self.kept = kept
        self.taken: dict[Predicate, dict[_Version, Predicate]] = {}
        """The relations that are taken apart, each with a relation for each version."""
        self.unions: _Clauses = {}
        """Relations taken apart that some rules ask for as they were."""
        self._guarded: dict[tuple[Predicate, _Version], Predicate] = {}
        ordered = sorted(clauses, key=lambda p: p.component)  # what is called comes first
        for _, group in groupby(ordered, key=lambda p: p.component):
            self._take_apart(list(group))

    def rules(self) -> _Clauses:
        """Return the rules of all relations that are left."""
        found: _Clauses = {}
        for predicate, parts in self.clauses.items():
            taken = self.taken.get(predicate)
            for clause in parts:
                for way in self._ways(clause, limited=True):
                    if taken is None:
                        mine, head = predicate, clause.head
                    else:
                        mine = taken[way.version]
                        head = tuple(clause.head[i] for i in way.version.places)
                    found.setdefault(mine, []).append(Clause(mine, head, way.body, clause.text))
            if taken is None:
                found.setdefault(predicate, [])
        return {**found, **self.unions}

    # -- which versions there are -----------------------------------------------------------

    def _take_apart(self, group: Sequence[Predicate]) -> None:
        """Find the versions of relations that may depend on each other."""
        tried = [p for p in group if self._is_broad(p)]
        while tried:
            for predicate in tried:
                self.taken[predicate] = {}
            spoilt = self._grow(tried)
            if spoilt is None:
                whole = [p for p in tried if all(len(v.places) == p.arity for v in self.taken[p])]
                if not whole:
                    return
                spoilt = whole[0]
            for predicate in tried:
                del self.taken[predicate]
            tried.remove(spoilt)

    def _grow(self, tried: Sequence[Predicate]) -> Predicate | None:
        """Add versions until there are no more; return a relation that has too many."""
        news = True
        while news:
            news = False
            for predicate in tried:
                relations = self.taken[predicate]
                for clause in self.clauses[predicate]:
                    for way in self._ways(clause):
                        if way.version not in relations:
                            news = True
                            relations[way.version] = self._made(predicate, len(way.version.places))
                if len(relations) > MOST_VERSIONS:
                    return predicate
        return None

    def _is_broad(self, predicate: Predicate) -> bool:
        return (
            predicate.kind == "rules"
            and predicate not in self.kept
            and not predicate.rows
            and predicate.arity > 1
            and self.sizes.rows(predicate) > BROAD
        )

    # -- what a rule becomes ----------------------------------------------------------------

    def _ways(self, clause: Clause, *, limited: bool = False) -> Iterator[_Way]:
        """Yield what a rule becomes for each choice of versions of what it calls."""
        choices = [self._choices(goal, clause) for goal in clause.body]
        ways = 1
        for i, (goal, parts) in enumerate(zip(clause.body, choices, strict=True)):
            ways *= len(parts)
            if limited and ways > MOST_WAYS and isinstance(goal, Call) and clause.predicate not in self.taken:
                ways //= len(parts)
                choices[i] = [[self._union(goal)]]
        for chosen in product(*choices):
            body = [goal for part in chosen for goal in part]
            version = self._version(clause.head, body)
            if clause.predicate in self.taken:  # tests of what is not looked at are left to who asks
                free = {clause.head[i] for i, _ in version.domains}
                body = [goal for goal in body if _tested(goal) is None or not goal_variables(goal) <= free]
            yield _Way(version, tuple(body))

    def _choices(self, goal: Goal, clause: Clause) -> list[list[Goal]]:
        """Return what can be asked instead of a goal, each some goals together."""
        taken = self.taken.get(goal.predicate) if isinstance(goal, Call) else None
        if taken is None:
            return [[goal]]
        assert isinstance(goal, Call)
        if goal.negated:
            return [[Call(*self._with_tests(version, goal, clause.body), negated=True) for version in taken]]
        found: list[list[Goal]] = []
        for version, relation in taken.items():
            tests = self._tests(version, goal, clause)
            if tests is not None:
                found.append([Call(relation, tuple(goal.args[i] for i in version.places)), *tests])
        return found

    def _tests(self, version: _Version, call: Call, clause: Clause) -> list[Goal] | None:
        """Return the tests that go with a version; None if one fails."""
        found: list[Goal] = []
        for i, domain in sorted(version.domains, key=lambda pair: (pair[0], pair[1].number)):
            arg = call.args[i]
            if isinstance(arg, int):
                if (arg,) not in domain.rows:
                    return None
            elif not self._passes(arg, domain, clause.body):
                found.append(Call(domain, (arg,)))
        return found

    def _with_tests(
        self, version: _Version, call: Call, goals: Sequence[Goal]
    ) -> tuple[Predicate, tuple[Pattern, ...]]:
        """Return a relation that is a version and its tests together, and the arguments to call it with."""
        tested = {i for i, domain in version.domains if not self._passes(call.args[i], domain, goals)}
        relation = self.taken[call.predicate][version]
        if not tested:
            return relation, tuple(call.args[i] for i in version.places)
        key = call.predicate, version
        found = self._guarded.get(key)
        places = sorted({*version.places, *(i for i, _ in version.domains)})
        if found is None:
            found = self._guarded[key] = self._made(call.predicate, len(places))
            names = {i: f"A{i}" for i in places}
            body: list[Goal] = [Call(relation, tuple(names[i] for i in version.places))]
            body += [Call(domain, (names[i],)) for i, domain in version.domains]
            self.unions[found] = [Clause(found, tuple(names.values()), tuple(body), "")]
        return found, tuple(call.args[i] for i in places)

    def _made(self, like: Predicate, arity: int) -> Predicate:
        made = self.make(arity)
        made.level, made.component, made.recursive = like.level, like.component, like.recursive
        return made

    def _union(self, call: Call) -> Goal:
        """Return a call of a relation as it was, made of its versions."""
        predicate = call.predicate
        if predicate not in self.unions:
            names = tuple(f"A{i}" for i in range(predicate.arity))
            self.unions[predicate] = [
                Clause(
                    predicate,
                    names,
                    (
                        Call(relation, tuple(names[i] for i in version.places)),
                        *(Call(domain, (names[i],)) for i, domain in version.domains),
                    ),
                    "",
                )
                for version, relation in self.taken[predicate].items()
            ]
        return call

    def _passes(self, pattern: Pattern, domain: Predicate, goals: Iterable[Goal]) -> bool:
        """Whether all that goals leave for a variable, those not taken apart, is in a domain."""
        allowed: AbstractSet[int] = {row[0] for row in domain.rows}
        left = [goal for goal in goals if isinstance(goal, Call) and goal.predicate not in self.taken]
        return isinstance(pattern, int | str) and self.sizes.among(pattern, left, allowed)

    def _version(self, head: tuple[Pattern, ...], body: Iterable[Goal]) -> _Version:
        """Return the places of a head that a body looks at, and the domains of the others."""
        heads = [v for arg in head for v in variables(arg)]
        tests: dict[str, list[Predicate]] = {}
        seen: set[str] = set()
        for goal in body:
            domain = _tested(goal)
            if domain is None:
                seen |= goal_variables(goal)
            else:
                name = next(iter(goal_variables(goal)))
                tests.setdefault(name, []).append(domain)
        free = {
            i: arg
            for i, arg in enumerate(head)
            if isinstance(arg, str) and heads.count(arg) == 1 and arg not in seen
        }
        return _Version(
            tuple(i for i in range(len(head)) if i not in free),
            frozenset((i, domain) for i, name in free.items() for domain in tests.get(name, ())),
        )


def _tested(goal: Goal) -> Predicate | None:
    """The domain that a goal tests a variable for; None if it does something else."""
    if (
        isinstance(goal, Call)
        and not goal.negated
        and goal.predicate.kind == "facts"
        and goal.predicate.arity == 1
        and isinstance(goal.args[0], str)
    ):
        return goal.predicate
    return None

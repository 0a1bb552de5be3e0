"""Splits relations by the arguments that their derivations use.

Rules for sliding pieces may pass a square to be ignored through all calls although most derivations do not
use it:

    (<= (clear ?a ?c ?ignored) (next ?a ?c) (square ?ignored))
    (<= (clear ?a ?c ?ignored) (next ?a ?ignored) (clear ?ignored ?c ?ignored))
    (<= (clear ?a ?c ?ignored) (next ?a ?b) (true (cell ?b blank)) (clear ?b ?c ?ignored))

These rules have an instance for each path and each square.  Splitting replaces the relation by several
*versions*, each with the arguments that some derivations use: `clear` of two cells for paths that are clear
whatever is ignored, and `clear` of all three for paths through the ignored square.  The relation is the
union of its versions: a rule that calls `clear` becomes a rule for each version, a negated call becomes a
conjunction of negated calls, and the relations of these rules are split in the same way.

Testing an argument for a domain (a unary relation given by facts) does not count as use.  Such tests belong
to the version and are added where it is called, unless all possible values pass them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
"""Relations that may have more rows than this are split."""
MAX_VERSIONS: Final = 6
"""Relations that would have more versions than this are not split."""
MAX_RULES: Final = 12
"""A rule that would become more rules than this calls unions of versions instead."""

_Clauses: TypeAlias = "dict[Predicate, list[Clause]]"


@dataclass(frozen=True, slots=True)
class _Version:
    """The argument positions that some derivations use, and the domains of other positions."""

    places: tuple[int, ...]
    domains: frozenset[tuple[int, Predicate]] = frozenset()


@dataclass(slots=True)
class _VersionRule:
    """The body of a rule in which calls of split relations are replaced, and the version that it defines."""

    version: _Version
    body: tuple[Goal, ...]


def narrowed(
    clauses: Mapping[Predicate, Sequence[Clause]],
    sizes: Sizes,
    make_predicate: Callable[[int], Predicate],
    fixed: Iterable[Predicate],
) -> _Clauses | None:
    """Split broad relations in clauses without disjunctions; the relations in `fixed` stay the same.

    Returns None if no relation can be split.  `make_predicate(arity)` creates relations.
    """
    splitter = _Splitter(clauses, sizes, make_predicate, set(fixed))
    return splitter.rules() if splitter.versions else None


def untested(clauses: Mapping[Predicate, Sequence[Clause]], sizes: Sizes) -> _Clauses:
    """Return clauses without redundant tests for domains."""
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


@dataclass(eq=False)
class _Splitter:
    clauses: Mapping[Predicate, Sequence[Clause]]
    sizes: Sizes
    make_predicate: Callable[[int], Predicate]
    fixed: AbstractSet[Predicate]
    versions: dict[Predicate, dict[_Version, Predicate]] = field(default_factory=dict)
    """The split relations, each with the relation of each of its versions."""
    unions: _Clauses = field(default_factory=dict)
    """Rules of split relations that some rules still call, as unions of their versions."""
    guarded: dict[tuple[Predicate, _Version], Predicate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = sorted(self.clauses, key=lambda p: p.component)  # callees first
        for _, group in groupby(ordered, key=lambda p: p.component):
            self._split(list(group))

    def rules(self) -> _Clauses:
        """Return the rules of all remaining relations."""
        clauses: _Clauses = {}
        for predicate, parts in self.clauses.items():
            versions = self.versions.get(predicate)
            for clause in parts:
                for way in self._version_rules(clause, limited=True):
                    if versions is None:
                        relation, head = predicate, clause.head
                    else:
                        relation = versions[way.version]
                        head = tuple(clause.head[i] for i in way.version.places)
                    clauses.setdefault(relation, []).append(Clause(relation, head, way.body, clause.text))
            if versions is None:
                clauses.setdefault(predicate, [])
        return {**clauses, **self.unions}

    # -- finding versions --------------------------------------------------------------------

    def _split(self, group: Sequence[Predicate]) -> None:
        """Find the versions of the relations of one component."""
        candidates = [p for p in group if self._is_broad(p)]
        while candidates:
            for predicate in candidates:
                self.versions[predicate] = {}
            rejected = self._grow(candidates)
            if rejected is None:
                whole = [p for p in candidates if all(len(v.places) == p.arity for v in self.versions[p])]
                if not whole:
                    return
                rejected = whole[0]
            for predicate in candidates:
                del self.versions[predicate]
            candidates.remove(rejected)

    def _grow(self, candidates: Sequence[Predicate]) -> Predicate | None:
        """Add versions up to a fixpoint; return a relation that has too many, or None."""
        changed = True
        while changed:
            changed = False
            for predicate in candidates:
                relations = self.versions[predicate]
                for clause in self.clauses[predicate]:
                    for way in self._version_rules(clause):
                        if way.version not in relations:
                            changed = True
                            relations[way.version] = self._new_relation(predicate, len(way.version.places))
                if len(relations) > MAX_VERSIONS:
                    return predicate
        return None

    def _is_broad(self, predicate: Predicate) -> bool:
        return (
            predicate.kind == "rules"
            and predicate not in self.fixed
            and not predicate.rows
            and predicate.arity > 1
            and self.sizes.rows(predicate) > BROAD
        )

    # -- rewriting rules ---------------------------------------------------------------------

    def _version_rules(self, clause: Clause, *, limited: bool = False) -> Iterator[_VersionRule]:
        """Yield the rules that a rule becomes, one for each combination of versions of its calls."""
        choices = [self._choices(goal, clause) for goal in clause.body]
        count = 1
        for i, (goal, parts) in enumerate(zip(clause.body, choices, strict=True)):
            count *= len(parts)
            if (
                limited
                and count > MAX_RULES
                and isinstance(goal, Call)
                and clause.predicate not in self.versions
            ):
                count //= len(parts)
                choices[i] = [[self._union(goal)]]
        for chosen in product(*choices):
            body = [goal for part in chosen for goal in part]
            version = self._version(clause.head, body)
            if clause.predicate in self.versions:  # callers test the domains of unused arguments
                free = {clause.head[i] for i, _ in version.domains}
                body = [goal for goal in body if _tested(goal) is None or not goal_variables(goal) <= free]
            yield _VersionRule(version, tuple(body))

    def _choices(self, goal: Goal, clause: Clause) -> list[list[Goal]]:
        """Return the conjunctions that replace a goal, one for each version."""
        versions = self.versions.get(goal.predicate) if isinstance(goal, Call) else None
        if versions is None:
            return [[goal]]
        assert isinstance(goal, Call)
        if goal.negated:
            return [
                [Call(*self._with_domains(version, goal, clause.body), negated=True) for version in versions]
            ]
        choices: list[list[Goal]] = []
        for version, relation in versions.items():
            tests = self._tests(version, goal, clause)
            if tests is not None:
                choices.append([Call(relation, tuple(goal.args[i] for i in version.places)), *tests])
        return choices

    def _tests(self, version: _Version, call: Call, clause: Clause) -> list[Goal] | None:
        """Return the tests of a version's domains for a call; None if one always fails."""
        tests: list[Goal] = []
        for i, domain in sorted(version.domains, key=lambda pair: (pair[0], pair[1].number)):
            arg = call.args[i]
            if isinstance(arg, int):
                if (arg,) not in domain.rows:
                    return None
            elif not self._passes(arg, domain, clause.body):
                tests.append(Call(domain, (arg,)))
        return tests

    def _with_domains(
        self, version: _Version, call: Call, goals: Sequence[Goal]
    ) -> tuple[Predicate, tuple[Pattern, ...]]:
        """Return a relation that combines a version with its tests, and the arguments to call it with."""
        tested = {i for i, domain in version.domains if not self._passes(call.args[i], domain, goals)}
        relation = self.versions[call.predicate][version]
        if not tested:
            return relation, tuple(call.args[i] for i in version.places)
        key = call.predicate, version
        tested_relation = self.guarded.get(key)
        places = sorted({*version.places, *(i for i, _ in version.domains)})
        if tested_relation is None:
            tested_relation = self.guarded[key] = self._new_relation(call.predicate, len(places))
            self.unions[tested_relation] = [_tested_version(tested_relation, places, version, relation)]
        return tested_relation, tuple(call.args[i] for i in places)

    def _new_relation(self, like: Predicate, arity: int) -> Predicate:
        predicate = self.make_predicate(arity)
        predicate.level, predicate.component, predicate.recursive = like.level, like.component, like.recursive
        return predicate

    def _union(self, call: Call) -> Goal:
        """Return the call unchanged, and define its relation as the union of its versions."""
        predicate = call.predicate
        if predicate not in self.unions:
            self.unions[predicate] = [
                _tested_version(predicate, range(predicate.arity), version, relation)
                for version, relation in self.versions[predicate].items()
            ]
        return call

    def _passes(self, pattern: Pattern, domain: Predicate, goals: Iterable[Goal]) -> bool:
        """Whether all values that goals (those not split) leave for a variable are in a domain."""
        allowed: AbstractSet[int] = {row[0] for row in domain.rows}
        left = [goal for goal in goals if isinstance(goal, Call) and goal.predicate not in self.versions]
        return isinstance(pattern, int | str) and self.sizes.among(pattern, left, allowed)

    def _version(self, head: tuple[Pattern, ...], body: Iterable[Goal]) -> _Version:
        """Return the positions of a head that a body uses, and the domains of the others."""
        heads = [v for arg in head for v in variables(arg)]
        tests: dict[str, list[Predicate]] = {}
        used: set[str] = set()
        for goal in body:
            domain = _tested(goal)
            if domain is None:
                used |= goal_variables(goal)
            else:
                name = next(iter(goal_variables(goal)))
                tests.setdefault(name, []).append(domain)
        free = {
            i: arg
            for i, arg in enumerate(head)
            if isinstance(arg, str) and heads.count(arg) == 1 and arg not in used
        }
        return _Version(
            tuple(i for i in range(len(head)) if i not in free),
            frozenset((i, domain) for i, name in free.items() for domain in tests.get(name, ())),
        )


def _tested_version(
    predicate: Predicate, places: Iterable[int], version: _Version, relation: Predicate
) -> Clause:
    """Return the rule that a relation of some arguments holds where a version and its tests do."""
    names = {i: f"A{i}" for i in places}
    body = [Call(relation, tuple(names[i] for i in version.places))]
    body += [Call(domain, (names[i],)) for i, domain in version.domains]
    return Clause(predicate, tuple(names.values()), tuple(body), "")


def _tested(goal: Goal) -> Predicate | None:
    """Return the domain that a goal tests a variable for; None if it is another kind of goal."""
    if (
        isinstance(goal, Call)
        and not goal.negated
        and goal.predicate.kind == "facts"
        and goal.predicate.arity == 1
        and isinstance(goal.args[0], str)
    ):
        return goal.predicate
    return None

"""Writes clauses as text for the grounder.

| in the program          | in the text                                          |
|-------------------------|------------------------------------------------------|
| constant number 12      | `12`                                                 |
| functor 7 applied       | `f7(...)`                                            |
| variable                | `V0`, `V1`, ... within a rule                        |
| predicate number 5      | `p5(...)`                                            |
| true, does              | `true(F)`, `does(R,M)`: choices over what init, next and legal derive |

The grounding of this program has every instance that can matter in a state that is reachable if any
possibly legal move may be made and negated conditions may hold: an over-approximation.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from herbrand.ground.constants import guarded, guards
from herbrand.ground.decompose import SPLIT_LIMIT, decompose, without_disjunctions
from herbrand.ground.demand import Demand, pays
from herbrand.ground.narrow import narrowed, untested
from herbrand.ground.sizes import Sizes
from herbrand.ground.unfold import unfolded
from herbrand.rules.clauses import STATIC, Call, Clause, Differ, Predicate, goal_variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.rules.clauses import Goal, Pattern, Program

__all__ = ["INTERFACE", "encode", "labels"]

INTERFACE = (("role", 1), ("init", 1), ("legal", 2), ("next", 1), ("goal", 2), ("terminal", 0), ("sees", 2))
"""The relations whose instances are named in the ground program."""


ORDERS = 16
"""Elimination orders tried for each rule."""
SMALL = 1000
"""Rules expected to cost less are not worth trying other orders."""
FACT = 0.1
"""Cost of an instance that becomes a fact: time to ground, but no gates."""
RECURSION = 100
"""Iterations when the sizes of recursive relations are estimated."""
DOUBT = 1.3
"""Factor on the expected size for each variable of a rule: errors in estimates of joins accumulate."""
STATE_RELATIONS = (("init", 1), ("next", 1), ("legal", 2))
"""The relations that define the possible fluents and moves."""


def labels(wanted: Sequence[tuple[str, int]]) -> list[str]:
    """Return the names under which the grounder lists the instances of relations.

    Those of the language have their own names; others might have one that the grounder cannot read.

    >>> labels([("legal", 2), ("row-2", 3), ("row-2", 4)])
    ['legal', 'wb', 'wc']
    """
    own = {*INTERFACE, ("base", 1), ("input", 2)}
    return [
        key[0] if key in own else "w" + "".join(chr(ord("a") + int(digit)) for digit in str(number))
        for number, key in enumerate(wanted)
    ]


def encode(program: Program, wanted: Iterable[tuple[str, int]] = INTERFACE, *, shrink: bool = True) -> str:
    """Return the text of all clauses that the `wanted` relations depend on.

    `shrink` guards and decomposes rules first; otherwise the text has one rule for each clause.
    """
    return "\n".join(_Encoder(program, shrink=shrink).lines(list(wanted))) + "\n"


class _Encoder:
    def __init__(self, program: Program, *, shrink: bool) -> None:
        self.program = program
        self.shrink = shrink
        self.helpers = 0
        self.parts: set[Predicate] = set()
        """The relations created by decomposition."""
        self.cheapest: dict[Clause, list[Clause]] = {}
        """Cache of decompositions."""
        self.loose: set[Predicate] | None = None
        """Projections that may be over-approximated (see `decompose`); None if these are not used."""

    def lines(self, wanted: Sequence[tuple[str, int]]) -> Iterator[str]:
        relation = self.program.relation
        roots = [relation(*key) for key in wanted]
        state_roots = [relation(*key) for key in STATE_RELATIONS]
        clauses = self._reachable([*roots, *state_roots])
        demand, exact = None, dict[Predicate, Predicate]()
        if self.shrink:
            sizes = Sizes(self.program, clauses)
            undecomposed = clauses
            clauses = self._decomposed(clauses, sizes)
            if pays(clauses, [*roots, *state_roots], sizes):
                narrow = self._narrowed([*roots, *state_roots])
                if narrow is not None:
                    undecomposed, sizes = narrow
                    self.loose, self.cheapest = set(), {}
                    clauses = self._decomposed(undecomposed, sizes)
                asking = narrow is None
                demand = Demand(self.program, clauses, sizes, roots, self._helper, self.parts, asking=asking)
            else:
                guard_of = guards(self.program, [*roots, *state_roots])
                for number, (_, guard) in enumerate(guard_of.values()):
                    guard.number = -1_000_000 - number
                    yield from self._rows(guard, guard)
                clauses = self._decomposed(
                    {
                        p: [guarded(clause, *guard_of[p]) if p in guard_of else clause for clause in parts]
                        for p, parts in undecomposed.items()
                    },
                    sizes,
                )
        if demand is None:
            yield "{true(F)} :- init(F)."
            yield "{true(F)} :- next(F)."
            yield "{does(R,M)} :- legal(R,M)."
        else:
            yield f"{{true(F)}} :- {self._name(demand.possible)}(F)."
            yield f"{{does(R,M)}} :- {self._name(demand.playable)}(R,M)."
            yield from self._demand(demand)
            tables = demand.tables
            exact = {p: tables[p] for p in (*demand.exact, *(self.loose or ())) if p in tables}
        shown = [(name, arity) for name, (_, arity) in zip(labels(wanted), wanted, strict=True)]
        for root, (name, arity) in zip([*state_roots, *roots], [*STATE_RELATIONS, *shown], strict=True):
            arguments = ",".join(f"A{i}" for i in range(arity))
            right = self._name(exact.get(root, root))
            yield f"{name}({arguments}) :- {right}({arguments})." if arity else f"{name} :- {right}."
        for name, arity in dict.fromkeys([*shown, ("true", 1), ("does", 2)]):
            yield f"#show {name}/{arity}."
        for predicate, parts in clauses.items():
            yield f"#defined {self._name(predicate)}/{predicate.arity}."
            if predicate in exact:
                continue
            yield from self._rows(predicate, predicate)
            table = demand.guard(predicate) if demand is not None else None
            for clause in parts:
                start = [Call(table, clause.head)] if table is not None else []
                body = (*start, *(_with_table(goal, exact) for goal in clause.body))
                yield self._rule(Clause(predicate, clause.head, body, clause.text))

    def _demand(self, demand: Demand) -> Iterator[str]:
        for clause in demand.clauses:
            yield self._rule(clause)
        for facts, source in demand.fact_tables():
            yield from self._rows(facts, source)
        for predicate in {p: None for clause in demand.clauses for p in _called(clause)}:
            yield f"#defined {self._name(predicate)}/{predicate.arity}."

    def _rows(self, predicate: Predicate, of: Predicate) -> Iterator[str]:
        for row in of.rows:
            yield self._atom(predicate, row, {}) + "."

    def _reachable(
        self, roots: Iterable[Predicate], max_rules: int = SPLIT_LIMIT
    ) -> dict[Predicate, list[Clause]]:
        """Return all clauses that the roots depend on, without disjunctions.

        If a clause would become more than `max_rules` rules, its disjunctions become relations.
        """
        clauses: dict[Predicate, list[Clause]] = {}
        stack = list(dict.fromkeys(roots))
        while stack:
            predicate = stack.pop()
            if predicate in clauses:
                continue
            clauses[predicate] = []
            for clause in predicate.clauses:
                for part in without_disjunctions(clause, self._helper, max_rules):
                    if part.predicate is not predicate:
                        part.predicate.level = max(predicate.level, part.predicate.level)
                        part.predicate.component = predicate.component
                        part.predicate.recursive |= predicate.recursive
                    clauses.setdefault(part.predicate, []).append(part)
                    stack.extend(p for p in _called(part) if p.kind in ("rules", "facts") and p.number >= 0)
        return clauses

    def _narrowed(self, roots: Sequence[Predicate]) -> tuple[dict[Predicate, list[Clause]], Sizes] | None:
        """Return rules with huge relations split, and their sizes; None if huge ones remain."""
        whole = self._reachable(roots, 1)
        sizes = Sizes(self.program, whole, rounds=RECURSION)
        narrow = narrowed(whole, sizes, self._helper, roots) if pays(whole, roots, sizes) else None
        if narrow is None:
            return None
        narrow = untested(narrow, Sizes(self.program, narrow))
        sizes = Sizes(self.program, narrow, rounds=RECURSION)
        return None if pays(narrow, roots, sizes) else (narrow, sizes)

    def _decomposed(
        self, clauses: Mapping[Predicate, Sequence[Clause]], sizes: Sizes
    ) -> dict[Predicate, list[Clause]]:
        decomposed: dict[Predicate, list[Clause]] = {}
        for predicate, parts in clauses.items():
            decomposed.setdefault(predicate, [])
            for clause in parts:
                for part in self._cheapest(clause, sizes):
                    if part.predicate is not predicate:
                        self.parts.add(part.predicate)
                        part.predicate.level = max((p.level for p in _called(part)), default=STATIC)
                        part.predicate.component = predicate.component
                    decomposed.setdefault(part.predicate, []).append(part)
        return decomposed

    def _cheapest(self, clause: Clause, sizes: Sizes) -> list[Clause]:
        """Return the cheapest decomposition of a clause among several elimination orders."""
        if clause in self.cheapest:
            return self.cheapest[clause]
        written = unfolded(clause)
        forms = [[clause]]
        if written is not clause:
            forms.append(list(without_disjunctions(written, self._helper)))
        best: list[Clause] = []
        least = math.inf
        random = Random(0)
        units = (False,) if self.loose is None else (False, True)
        for form, together in product(forms, units):
            for attempt in range(ORDERS):
                noise = random if attempt else None
                decomposed = partial(decompose, noise=noise, loose=self.loose, together=together)
                parts = [part for rule in form for part in decomposed(rule, self._helper, sizes)]
                cost = _cost(parts, sizes, self.loose)
                if cost < least:
                    best, least = parts, cost
                if len(parts) <= 2 * len(form) or least < SMALL:
                    break
        self.cheapest[clause] = best
        return best

    def _helper(self, arity: int) -> Predicate:
        self.helpers += 1
        return Predicate(f"helper {self.helpers}", arity, number=-self.helpers)

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
            return f"{sign}true({self._term(self.program.term_of(predicate, goal.args), names)})"
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


def _cost(parts: Iterable[Clause], sizes: Sizes, loose: AbstractSet[Predicate] | None) -> float:
    """Return the expected number of conditions, other than facts, in all instances of the rules.

    A rule must come after the rules that define the relations it calls.
    """
    uncertain: set[Predicate] = set()
    cost = 0.0
    for part in parts:
        conditions = 0
        if not loose or part.predicate not in loose:
            called = (p for p in _called(part) if not loose or p not in loose)
            conditions = sum(p.level > STATIC or p in uncertain for p in called)
        if conditions:
            uncertain.add(part.predicate)
        size = sizes.join(part.body)
        if loose is not None:
            size *= DOUBT ** len(set().union(*map(goal_variables, part.body)))
        cost += size * (conditions or FACT)
    return cost


def _called(clause: Clause) -> Iterator[Predicate]:
    for goal in clause.body:
        if isinstance(goal, Call):
            yield goal.predicate


def _with_table(goal: Goal, tables: Mapping[Predicate, Predicate]) -> Goal:
    if isinstance(goal, Call) and goal.predicate in tables:
        return Call(tables[goal.predicate], goal.args, goal.negated)
    return goal

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

import math
from itertools import product
from random import Random
from typing import TYPE_CHECKING

from herbrand.ground.constants import guarded, guards
from herbrand.ground.decompose import SPLIT_LIMIT, decompose, without_choices
from herbrand.ground.demand import Demand, pays
from herbrand.ground.narrow import narrowed, untested
from herbrand.ground.sizes import Sizes
from herbrand.ground.unfold import unfolded
from herbrand.rules.clauses import STATIC, Call, Clause, Differ, Predicate, goal_variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.rules.clauses import Goal, Pattern, Program

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


ORDERS = 16
"""How many orders of eliminating variables are tried for a rule."""
SMALL = 1000
"""A rule that is expected to have fewer instances is not worth trying other orders."""
FACT = 0.1
"""What an instance costs that becomes a fact: time to ground, but no gates."""
RECURSION = 100
"""Rounds in which recursive relations grow when their sizes are estimated."""
DOUBT = 1.3
"""How much more is expected for each variable of a rule: what is not known of joins adds up."""
MAKERS = (("init", 1), ("next", 1), ("legal", 2))
"""The relations that give states and moves."""


def encode(program: Program, wanted: Iterable[tuple[str, int]] = INTERFACE, *, shrink: bool = True) -> str:
    """Return the text of all clauses that the wanted relations depend on.

    `shrink` guards and decomposes rules first; without it the text has one rule for each clause.
    """
    return "\n".join(_Encoder(program, shrink=shrink).lines(list(wanted))) + "\n"


class _Encoder:
    def __init__(self, program: Program, *, shrink: bool) -> None:
        self.program = program
        self.shrink = shrink
        self.made = 0
        self.parts: set[Predicate] = set()
        """The relations made by decomposing rules."""
        self.smallest: dict[Clause, list[Clause]] = {}
        """What clauses became, so that none is decomposed twice."""
        self.loose: set[Predicate] | None = None
        """Relations that may as well hold for too much; None while none are to be made."""

    def lines(self, wanted: Sequence[tuple[str, int]]) -> Iterator[str]:
        relation = self.program.relation
        roots = [relation(*key) for key in wanted]
        makers = [relation(*key) for key in MAKERS]
        clauses = self._reachable([*roots, *makers])
        demand = None
        if self.shrink:
            sizes = Sizes(self.program, clauses)
            whole = clauses
            clauses = self._decomposed(clauses, sizes)
            if pays(clauses, [*roots, *makers], sizes):
                fewer = self._narrowed([*roots, *makers])
                if fewer is not None:
                    whole, sizes = fewer
                    self.loose, self.smallest = set(), {}
                    clauses = self._decomposed(whole, sizes)
                demand = Demand(
                    self.program, clauses, sizes, roots, self._helper, self.parts, asking=fewer is None
                )
            else:
                asked = guards(self.program, [*roots, *makers])
                for number, (_, guard) in enumerate(asked.values()):
                    guard.number = -1_000_000 - number
                    yield from self._rows(guard, guard)
                clauses = self._decomposed(
                    {
                        p: [guarded(clause, *asked[p]) if p in asked else clause for clause in parts]
                        for p, parts in whole.items()
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
        exact = {}
        if demand is not None:
            exact = {p: demand.tables[p] for p in (*demand.exact, *(self.loose or ())) if p in demand.tables}
        for root, (name, arity) in zip([*makers, *roots], [*MAKERS, *wanted], strict=True):
            arguments = ",".join(f"A{i}" for i in range(arity))
            right = self._name(exact.get(root, root))
            yield f"{name}({arguments}) :- {right}({arguments})." if arity else f"{name} :- {right}."
        for name, arity in dict.fromkeys([*wanted, ("true", 1), ("does", 2)]):
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
        for mine, of in demand.stored():
            yield from self._rows(mine, of)
        for predicate in {p: None for clause in demand.clauses for p in _called(clause)}:
            yield f"#defined {self._name(predicate)}/{predicate.arity}."

    def _rows(self, predicate: Predicate, of: Predicate) -> Iterator[str]:
        for row in of.rows:
            yield self._atom(predicate, row, {}) + "."

    def _reachable(
        self, roots: Iterable[Predicate], most: int = SPLIT_LIMIT
    ) -> dict[Predicate, list[Clause]]:
        """Return all clauses that the roots depend on, without disjunctions.

        One that would become more than `most` rules keeps its disjunctions as relations.
        """
        found: dict[Predicate, list[Clause]] = {}
        stack = list(dict.fromkeys(roots))
        while stack:
            predicate = stack.pop()
            if predicate in found:
                continue
            found[predicate] = []
            for clause in predicate.clauses:
                for part in without_choices(clause, self._helper, most):
                    if part.predicate is not predicate:
                        part.predicate.level = max(predicate.level, part.predicate.level)
                        part.predicate.component = predicate.component
                        part.predicate.recursive |= predicate.recursive
                    found.setdefault(part.predicate, []).append(part)
                    stack.extend(p for p in _called(part) if p.kind in ("rules", "facts") and p.number >= 0)
        return found

    def _narrowed(self, roots: Sequence[Predicate]) -> tuple[dict[Predicate, list[Clause]], Sizes] | None:
        """Return rules with huge relations taken apart, and their sizes; None if huge ones are left."""
        whole = self._reachable(roots, 1)
        sizes = Sizes(self.program, whole, rounds=RECURSION)
        fewer = narrowed(whole, sizes, self._helper, roots) if pays(whole, roots, sizes) else None
        if fewer is None:
            return None
        fewer = untested(fewer, Sizes(self.program, fewer))
        sizes = Sizes(self.program, fewer, rounds=RECURSION)
        return None if pays(fewer, roots, sizes) else (fewer, sizes)

    def _decomposed(
        self, clauses: Mapping[Predicate, Sequence[Clause]], sizes: Sizes
    ) -> dict[Predicate, list[Clause]]:
        found: dict[Predicate, list[Clause]] = {}
        for predicate, parts in clauses.items():
            found.setdefault(predicate, [])
            for clause in parts:
                for part in self._small(clause, sizes):
                    if part.predicate is not predicate:
                        self.parts.add(part.predicate)
                        part.predicate.level = max((p.level for p in _called(part)), default=STATIC)
                        part.predicate.component = predicate.component
                    found.setdefault(part.predicate, []).append(part)
        return found

    def _small(self, clause: Clause, sizes: Sizes) -> list[Clause]:
        """Return rules for a clause that are expected to have the fewest instances."""
        if clause in self.smallest:
            return self.smallest[clause]
        written = unfolded(clause)
        forms = [[clause]]
        if written is not clause:
            forms.append(list(without_choices(written, self._helper)))
        best: list[Clause] = []
        least = math.inf
        chance = Random(0)
        units = (False,) if self.loose is None else (False, True)
        for form, together in product(forms, units):
            for attempt in range(ORDERS):
                spoiling = chance if attempt else None
                parts = [
                    p
                    for c in form
                    for p in decompose(c, self._helper, sizes, spoiling, self.loose, together=together)
                ]
                cost = _cost(parts, sizes, self.loose)
                if cost < least:
                    best, least = parts, cost
                if len(parts) <= 2 * len(form) or least < SMALL:
                    break
        self.smallest[clause] = best
        return best

    def _helper(self, arity: int) -> Predicate:
        self.made += 1
        return Predicate(f"helper {self.made}", arity, number=-self.made)

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


def _cost(parts: Iterable[Clause], sizes: Sizes, loose: AbstractSet[Predicate] | None) -> float:
    """Return how many conditions all instances of rules are expected to have that are more than facts.

    The rules come in the order in which one uses what another defines.
    """
    uncertain: set[Predicate] = set()
    cost = 0.0
    for part in parts:
        conditions = sum(
            p.level > STATIC or p in uncertain for p in _called(part) if not (loose and p in loose)
        )
        if loose and part.predicate in loose:
            conditions = 0
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

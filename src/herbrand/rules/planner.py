"""Chooses the order in which the goals of a rule body are proved.

Greedy: next is the goal with the fewest expected answers; tests come as soon as their variables are bound.
The order never changes an answer, only the work.  Estimates come from the sizes of the static relations and
of the fluents in the initial state.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final

from herbrand.errors import GameError
from herbrand.rules.clauses import Call, Differ, DisjunctionCall, goal_variables, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from herbrand.rules.clauses import Clause, Goal, Pattern, Predicate

__all__ = ["Planner", "Statistics"]


_FREQUENT: Final = 3.0
"""A value is frequent if it occurs this many times as often as the mean of its column."""


class Statistics:
    """Sizes of relations: the number of rows, and the distinct and the frequent values of each column."""

    def __init__(self) -> None:
        self._sizes: dict[int, tuple[float, tuple[float, ...]]] = {}
        self._shares: dict[tuple[int, int, int], float] = {}
        """Predicate, column and frequent value -> share of the rows."""

    def observe(self, predicate: Predicate, rows: Iterable[tuple[int, ...]]) -> None:
        """Record the size of an extension; of several, the largest counts."""
        rows = list(rows)
        counts = [Counter(column) for column in zip(*rows, strict=True)]
        distinct = tuple(map(len, counts))
        for column, count in enumerate(counts):
            for value, times in count.items():
                if times * len(count) > _FREQUENT * len(rows):
                    place = predicate.number, column, value
                    self._shares[place] = max(times / len(rows), self._shares.get(place, 0.0))
        size = self._sizes.get(predicate.number)
        if size is None:
            self._sizes[predicate.number] = float(len(rows)), distinct or (1,) * predicate.arity
        else:
            merged = tuple(map(max, size[1], distinct)) if distinct else size[1]
            self._sizes[predicate.number] = max(size[0], float(len(rows))), merged

    def guess(self, predicate: Predicate, size: float, distinct: Sequence[float]) -> None:
        """Record an estimated size."""
        self._sizes[predicate.number] = size, tuple(distinct)

    def values(self, predicate: Predicate, column: int) -> float | None:
        """Return the expected number of distinct values in a column; None if unknown."""
        size = self._sizes.get(predicate.number)
        return size[1][column] if size is not None else None

    def rows(self, predicate: Predicate, bound: Sequence[bool], args: Sequence[Pattern] = ()) -> float | None:
        """Return the expected number of answers when some arguments are bound; None if unknown.

        Numbers in `args`, the arguments, are constants, whose frequencies may be known.
        """
        size = self._sizes.get(predicate.number)
        if size is None:
            return None
        expected, distinct = size
        for column, (is_bound, values) in enumerate(zip(bound, distinct, strict=True)):
            if is_bound:
                value = args[column] if args else None
                share = (
                    self._shares.get((predicate.number, column, value)) if isinstance(value, int) else None
                )
                expected *= share or 1 / max(values, 1)
        return max(expected, 0.05)


class Planner:
    """Chooses the next goal of a body."""

    UNKNOWN: Final = 12.0
    """Default for the number of values of an argument."""

    ENDLESS: Final = 1e9
    """Stands for the number of terms that recursion can build."""

    MANY: Final = 300
    """Sizes of clauses with more goals are estimated in the order written."""

    def __init__(self, statistics: Statistics, roles: int, tick: Callable[[int], None]) -> None:
        self.statistics = statistics
        self.roles = max(roles, 1)
        self.tick = tick
        """Counts work against the budget of the engine."""

    def choose(self, goals: Sequence[Goal], bound: set[str], clause: Clause) -> int:
        """Return the index of the goal to prove next.

        Raises `GameError` if no goal is ready, which the safety checks rule out.
        """
        self.tick(1 + len(goals) // 16)
        best, best_score = -1, float("inf")
        for i, goal in enumerate(goals):
            score = self._score(goal, bound, clause.predicate)
            if score is not None and score < best_score:
                best, best_score = i, score
        if best < 0:
            raise GameError(f"unsafe rule: some variable of `{clause.text}` is never bound")
        return best

    def tests(self, goals: Sequence[Goal], bound: set[str], clause: Clause) -> list[Goal] | None:
        """Return goals that bind no variables in the order of `choose`; None if some goal may bind one."""
        for goal in goals:
            recursive = isinstance(goal, Call) and goal.predicate.component == clause.predicate.component
            if recursive or not goal_variables(goal) <= bound:
                return None
        scores = {id(goal): self._score(goal, bound, clause.predicate) or 0.0 for goal in goals}
        return sorted(goals, key=lambda goal: scores[id(goal)])

    def estimate(self, predicates: Iterable[Predicate]) -> None:
        """Estimate the sizes of derived relations, callees first.

        The size of a clause is the product of the expected answers of its goals in the chosen order;
        recursive calls count as one.
        """
        for predicate in predicates:
            if predicate.kind != "rules":
                continue
            size = float(len(predicate.rows))
            distinct = [float(len({row[i] for row in predicate.rows})) for i in range(predicate.arity)]
            endless = set()
            for clause in predicate.clauses:
                rows, columns = self._clause_size(clause)
                endless |= {i for i, c in enumerate(columns) if c >= self.ENDLESS}
                size += rows
                if predicate.recursive:
                    distinct = [max(d, c) for d, c in zip(distinct, columns, strict=True)]
                else:
                    distinct = [d + min(c, rows) for d, c in zip(distinct, columns, strict=True)]
            if predicate.recursive:
                # a term that a recursive clause builds may have any size
                for clause in predicate.clauses:
                    endless |= {i for i, arg in enumerate(clause.head) if isinstance(arg, tuple)}
                for i in endless:
                    distinct[i] = self.ENDLESS
                if endless:
                    size = min(math.prod(distinct), 1e18)
            self.statistics.guess(predicate, max(size, 0.1), [max(d, 1.0) for d in distinct])

    def _clause_size(self, clause: Clause) -> tuple[float, list[float]]:
        bound: set[str] = set()
        goals = list(clause.body)
        if clause.predicate.name.startswith("or "):
            # the caller binds the variables that no disjunct binds
            bound = bound.union(*map(goal_variables, goals))
            bound = bound.difference(*(goal_variables(g) for g in goals if isinstance(g, Call)))
        rows = 1.0
        values: dict[str, float] = {}
        while goals:
            try:
                goal = goals.pop(self.choose(goals, bound, clause) if len(goals) <= self.MANY else 0)
            except GameError:
                break
            if isinstance(goal, Call) and not goal.negated:
                rows *= min(self._adds(goal, bound, clause), 1e6)
                for i, arg in enumerate(goal.args):
                    known_values = self.statistics.values(goal.predicate, i)
                    if isinstance(arg, str) and known_values is not None:
                        values[arg] = min(values.get(arg, known_values), known_values)
            elif isinstance(goal, DisjunctionCall) and not set(goal.args) <= bound:
                expected = self.statistics.rows(goal.predicate, [v in bound for v in goal.args])
                rows *= self.UNKNOWN if expected is None else expected
            else:
                rows *= 0.7
            bound |= goal_variables(goal)
        columns = [
            math.prod(values.get(variable, self.UNKNOWN) for variable in set(variables(arg)))
            for arg in clause.head
        ]
        return min(rows, 1e9), columns

    def _adds(self, goal: Call, bound: set[str], clause: Clause) -> float:
        """Return the expected answers of a call."""
        is_bound = [is_bound_pattern(arg, bound) for arg in goal.args]
        if goal.predicate.kind == "does":
            return 1.0 if is_bound[0] else float(self.roles)
        if all(is_bound):
            return 0.5
        if goal.predicate.component == clause.predicate.component:
            return 1.0
        expected = self.statistics.rows(goal.predicate, is_bound, goal.args)
        return self.UNKNOWN ** sum(not b for b in is_bound) if expected is None else expected

    def _score(self, goal: Goal, bound: set[str], inside: Predicate) -> float | None:
        """Return the expected answers plus the cost of the call; None while the goal is not ready."""
        if isinstance(goal, Differ):
            return -1.0 if goal_variables(goal) <= bound else None
        if isinstance(goal, DisjunctionCall):
            free = set(goal.args) - bound
            if not free <= goal.binds:
                return None
            return 0.9 if not free else self.UNKNOWN * len(free) * len(goal.disjuncts)
        is_bound = [is_bound_pattern(arg, bound) for arg in goal.args]
        if goal.negated:
            if not all(is_bound):
                return None
            return 0.6 if goal.predicate.kind != "rules" else 1.5
        return self._rows(goal, is_bound, inside)

    def _rows(self, goal: Call, bound: Sequence[bool], inside: Predicate) -> float:
        predicate = goal.predicate
        if predicate.kind == "does":
            return 0.5 if all(bound) else 0.9 if bound[0] else float(self.roles)
        if all(bound):
            if predicate.kind != "rules":
                return 0.3
            return 1.5 if predicate.component != inside.component else 3.0
        expected = self.statistics.rows(predicate, bound, goal.args)
        if expected is None:
            expected = self.UNKNOWN ** sum(not b for b in bound)
        if predicate.kind == "rules":
            # entering a recursion costs more than one call; continuing it does not
            entering = predicate.recursive and predicate.component != inside.component
            expected = expected * 2 + (10 if entering else 2)
        return expected


def is_bound_pattern(pattern: Pattern, bound: set[str]) -> bool:
    """Whether all variables of a pattern are bound."""
    return all(v in bound for v in variables(pattern))

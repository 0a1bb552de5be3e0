"""Smaller rules: variables that the head does not need are eliminated one at a time.

A rule with n variables may have as many instances as its body has answers, over all n
variables at once.  The literals that mention one variable, which the head does not have,
become a rule of their own whose head keeps only their other variables; joins over many
variables become several joins over few (variable elimination as in bucket elimination,
Dechter 1999; for logic programs Bichler, Morak and Woltran, "lpopt", 2016).

Works on clauses whose body holds `Call`s and `Differ`s only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.program.clauses import Call, Clause, Differ, Predicate, goal_variables, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.ground.sizes import Sizes
    from herbrand.program.clauses import Goal

__all__ = ["decompose", "without_choices"]

SPLIT_LIMIT: Final = 64
"""Rules that one rule may become when its disjunctions are split; beyond, helpers are made."""


def without_choices(clause: Clause, make: Callable[[Sequence[str]], Predicate]) -> Iterator[Clause]:
    """Yield clauses without disjunctions that together mean the same.

    Few disjuncts are multiplied out.  Where that would give more than `SPLIT_LIMIT` rules, a
    disjunction that binds all its variables becomes a predicate made by `make`.
    """
    count = 1
    body: list[Goal] = []
    for goal in clause.body:
        if isinstance(goal, Call | Differ):
            body.append(goal)
            continue
        count *= len(goal.disjuncts)
        if count > SPLIT_LIMIT and set(goal.args) <= goal.binds:
            helper = make(goal.args)
            for disjunct in goal.disjuncts:
                part = Clause(helper, goal.args, disjunct, clause.text)
                yield from without_choices(part, make)
            body.append(Call(helper, goal.args))
            count //= len(goal.disjuncts)
        else:
            body.append(goal)
    yield from (Clause(clause.predicate, clause.head, parts, clause.text) for parts in _multiply(body))


def _multiply(body: Sequence[Goal]) -> Iterator[tuple[Goal, ...]]:
    for i, goal in enumerate(body):
        if not isinstance(goal, Call | Differ):
            for disjunct in goal.disjuncts:
                yield from _multiply([*body[:i], *disjunct, *body[i + 1 :]])
            return
    yield tuple(body)


def decompose(clause: Clause, make: Callable[[Sequence[str]], Predicate], sizes: Sizes) -> Iterator[Clause]:
    """Yield clauses that together mean the same, none with more variables than needed.

    Of the variables that can go, the one whose literals have the fewest answers together goes
    first.  `make` makes the predicate of a helper from the variables that are its arguments.
    """
    body = list(clause.body)
    kept = {v for arg in clause.head for v in variables(arg)}
    while True:
        everything = kept.union(*map(goal_variables, body)) if body else kept
        best: tuple[tuple[float, int], list[int], set[str]] | None = None
        for variable in sorted(everything - kept):
            group = [i for i, goal in enumerate(body) if variable in goal_variables(goal)]
            group = _made_safe(group, body)
            inside = set().union(*(goal_variables(body[i]) for i in group))
            outside = kept.union(*(goal_variables(g) for i, g in enumerate(body) if i not in group))
            shared = inside & outside
            if (len(group) < 2 and len(shared) == len(inside)) or len(inside) >= len(everything):
                continue
            cost = sizes.join(body[i] for i in group), len(inside)
            if best is None or cost < best[0]:
                best = cost, group, shared
        if best is None:
            break
        _, group, shared = best
        args = tuple(sorted(shared))
        helper = Clause(make(args), args, tuple(body[i] for i in group), clause.text)
        sizes.define(helper)
        yield helper
        body[group[-1]] = Call(helper.predicate, args)
        body = [goal for i, goal in enumerate(body) if i not in group[:-1]]
    yield Clause(clause.predicate, clause.head, tuple(body), clause.text)


def _made_safe(group: list[int], body: Sequence[Goal]) -> list[int]:
    """Add the calls that bind what the tests of the group mention."""
    chosen = list(group)
    while True:
        bound: set[str] = set()
        needed: set[str] = set()
        for i in chosen:
            goal = body[i]
            if isinstance(goal, Call) and not goal.negated:
                bound |= goal_variables(goal)
            else:
                needed |= goal_variables(goal)
        missing = needed - bound
        if not missing:
            return sorted(chosen)
        options = [
            i
            for i, goal in enumerate(body)
            if i not in chosen
            and isinstance(goal, Call)
            and not goal.negated
            and goal_variables(goal) & missing
        ]
        if not options:
            return sorted(chosen)
        chosen.append(
            min(
                options,
                key=lambda i: (len(goal_variables(body[i]) - bound), -len(goal_variables(body[i]) & missing)),
            )
        )

"""Smaller rules: variables that the head does not need are eliminated one at a time.

A rule with n variables may have as many instances as its body has answers, over all n
variables at once.  The literals that mention one variable, which the head does not have,
become a rule of their own whose head keeps only their other variables; joins over many
variables become several joins over few (variable elimination as in bucket elimination,
Dechter 1999; for logic programs Bichler, Morak and Woltran, "lpopt", 2016).

Works on clauses whose body holds `Call`s and `Differ`s only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.rules.clauses import Call, Clause, Differ, DisjunctionCall, Predicate, goal_variables, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from random import Random

    from herbrand.ground.sizes import Sizes
    from herbrand.rules.clauses import Goal, Pattern

    _Binder: TypeAlias = tuple[Call, tuple[str, ...]]
    """A call that binds variables of tests, and which ones these are."""

__all__ = ["decompose", "without_choices"]

SPLIT_LIMIT: Final = 64
"""Rules that one rule may become when its disjunctions are split; beyond, helpers are made."""
SPOILT: Final = 1.5
"""Standard deviation of the logarithm of what costs are multiplied with to spoil an order."""


def without_choices(
    clause: Clause, make: Callable[[int], Predicate], most: int = SPLIT_LIMIT
) -> Iterator[Clause]:
    """Yield clauses without disjunctions that together mean the same.

    Few disjuncts are multiplied out.  Where that would give more than `most` rules, a
    disjunction that binds all its variables becomes a predicate made by `make`.
    """
    count = 1
    body: list[Goal] = []
    for goal in clause.body:
        if isinstance(goal, Call | Differ):
            body.append(goal)
            continue
        count *= len(goal.disjuncts)
        if count > most and set(goal.args) <= goal.binds:
            helper = make(len(goal.args))
            for disjunct in goal.disjuncts:
                part = Clause(helper, goal.args, disjunct, clause.text)
                yield from without_choices(part, make, most)
            body.append(Call(helper, goal.args))
            count //= len(goal.disjuncts)
        else:
            body.append(goal)
    for head, parts in _multiply(clause.head, body):
        yield Clause(clause.predicate, head, parts, clause.text)


def _multiply(
    head: tuple[Pattern, ...], body: Sequence[Goal]
) -> Iterator[tuple[tuple[Pattern, ...], tuple[Goal, ...]]]:
    """Yield heads and bodies without disjunctions.

    Where a disjunct only says that a variable differs from something, those after it are for
    when it does not: `(or (distinct ?x ?y) p)` gives instances with p for equal ?x and ?y alone.
    """
    for i, goal in enumerate(body):
        if isinstance(goal, Call | Differ):
            continue
        before, after, disjuncts = body[:i], body[i + 1 :], goal.disjuncts
        while disjuncts:
            yield from _multiply(head, [*before, *disjuncts[0], *after])
            binding = _when_false(disjuncts[0])
            disjuncts = disjuncts[1:]
            if binding is not None:
                head = tuple(_put(arg, *binding) for arg in head)
                before = [_put_in(g, *binding) for g in before]
                after = [_put_in(g, *binding) for g in after]
                disjuncts = tuple(tuple(_put_in(g, *binding) for g in d) for d in disjuncts)
        return
    yield head, tuple(body)


def _when_false(disjunct: Sequence[Goal]) -> tuple[str, Pattern] | None:
    """Return the variable and what it is where a disjunct that only tests for a difference fails."""
    if len(disjunct) != 1 or not isinstance(disjunct[0], Differ):
        return None
    left, right = disjunct[0].left, disjunct[0].right
    if not isinstance(left, str):
        left, right = right, left
    return (left, right) if isinstance(left, str) and not isinstance(right, tuple) else None


def _put(pattern: Pattern, name: str, value: Pattern) -> Pattern:
    if isinstance(pattern, tuple):
        return (pattern[0], *(_put(part, name, value) for part in pattern[1:]))
    return value if pattern == name else pattern


def _put_in(goal: Goal, name: str, value: Pattern) -> Goal:
    if isinstance(goal, Call):
        return Call(goal.predicate, tuple(_put(arg, name, value) for arg in goal.args), goal.negated)
    if isinstance(goal, Differ):
        return Differ(_put(goal.left, name, value), _put(goal.right, name, value))
    disjuncts = tuple(tuple(_put_in(g, name, value) for g in disjunct) for disjunct in goal.disjuncts)
    put = tuple(dict.fromkeys(_put(arg, name, value) for arg in goal.args))
    args = tuple(arg for arg in put if isinstance(arg, str))
    return DisjunctionCall(goal.predicate, args, disjuncts, goal.binds & {*args})


def decompose(
    clause: Clause,
    make: Callable[[int], Predicate],
    sizes: Sizes,
    chance: Random | None = None,
    loose: set[Predicate] | None = None,
    *,
    together: bool = False,
) -> Iterator[Clause]:
    """Yield clauses that together mean the same, none with more variables than needed.

    Of the variables that can go, the one whose literals have the fewest answers together goes
    first; `chance` spoils this order, to find better ones by trying.  `make` makes the predicate
    of a helper with so many arguments.

    Tests need their variables bound.  With `loose`, a call that would bring more variables with it
    may be replaced for that by its projection to those needed, a relation that is added to `loose`:
    the rule asks the call itself as well, so that the projection may as well hold for too much.
    """
    body = list(clause.body)
    kept = {v for arg in clause.head for v in variables(arg)}
    while True:
        everything = kept.union(*map(goal_variables, body)) if body else kept
        best: tuple[tuple[float, int], list[int], set[str], list[_Binder]] | None = None
        for unit in _units(body, everything - kept, together=together):
            asking = [i for i, goal in enumerate(body) if unit & goal_variables(goal)]
            for projecting in (False, True) if loose is not None else (False,):
                if projecting:
                    group, binders = asking, _binders(asking, body)
                    if not binders:
                        continue
                else:
                    group, binders = _made_safe(asking, body), []
                inside = set().union(*(goal_variables(body[i]) for i in group))
                outside = kept.union(*(goal_variables(g) for i, g in enumerate(body) if i not in group))
                shared = inside & outside
                if (len(group) < 2 and len(shared) == len(inside)) or len(inside) >= len(everything):
                    continue
                answers = sizes.join(body[i] for i in group)
                bound = _bound_and_needed(group, body)[0]
                for call, names in binders:
                    answers *= sizes.projected(call, {*names} - bound)
                cost = answers * chance.lognormvariate(0, SPOILT) if chance else answers, len(inside)
                if best is None or cost < best[0]:
                    best = cost, group, shared, binders
        if best is None:
            break
        _, group, shared, binders = best
        args = tuple(sorted(shared))
        goals = [body[i] for i in group]
        for call, names in binders:
            assert loose is not None
            projection = Clause(make(len(names)), names, (call,), clause.text)
            sizes.define(projection)
            loose.add(projection.predicate)
            yield projection
            goals.append(Call(projection.predicate, names))
        helper = Clause(make(len(args)), args, tuple(goals), clause.text)
        sizes.define(helper)
        yield helper
        body[group[-1]] = Call(helper.predicate, args)
        body = [goal for i, goal in enumerate(body) if i not in group[:-1]]
    yield Clause(clause.predicate, clause.head, tuple(body), clause.text)


def _units(body: Sequence[Goal], free: set[str], *, together: bool) -> list[set[str]]:
    """Return what may go in one step: single variables, or all that a goal has `together`."""
    if not together:
        return [{variable} for variable in sorted(free)]
    found = {tuple(sorted(goal_variables(goal) & free)) for goal in body}
    return [set(names) for names in sorted(found) if names]


def _binders(group: Sequence[int], body: Sequence[Goal]) -> list[_Binder]:
    """Return calls outside of a group that bind what its tests mention, and what they are needed for."""
    bound, needed = _bound_and_needed(group, body)
    found: list[_Binder] = []
    while missing := needed - bound:
        options = _binding(missing, group, body).values()
        if not options:
            return []
        call = max(options, key=lambda goal: len(goal_variables(goal) & missing))
        inside = goal_variables(call) & (needed | bound)
        found.append((call, tuple(sorted(inside))))
        bound |= inside
    return found


def _bound_and_needed(group: Iterable[int], body: Sequence[Goal]) -> tuple[set[str], set[str]]:
    """Return the variables that calls of a group bind, and those that its tests mention."""
    bound: set[str] = set()
    needed: set[str] = set()
    for i in group:
        goal = body[i]
        if isinstance(goal, Call) and not goal.negated:
            bound |= goal_variables(goal)
        else:
            needed |= goal_variables(goal)
    return bound, needed


def _binding(missing: set[str], group: Sequence[int], body: Sequence[Goal]) -> dict[int, Call]:
    """Return by place the calls outside of a group that bind some of the variables that are missing."""
    return {
        i: goal
        for i, goal in enumerate(body)
        if i not in group and isinstance(goal, Call) and not goal.negated and goal_variables(goal) & missing
    }


def _made_safe(group: list[int], body: Sequence[Goal]) -> list[int]:
    """Add the calls that bind what the tests of the group mention."""
    chosen = list(group)
    while True:
        bound, needed = _bound_and_needed(chosen, body)
        missing = needed - bound
        if not missing:
            return sorted(chosen)
        options = _binding(missing, chosen, body)
        if not options:
            return sorted(chosen)
        chosen.append(
            min(
                options,
                key=lambda i: (len(goal_variables(body[i]) - bound), -len(goal_variables(body[i]) & missing)),
            )
        )

"""Decomposes rules: eliminates the variables that are not in the head, one at a time.

A rule has an instance for each answer of its body over all its variables.  To eliminate a variable that
does not occur in the head, the literals that mention it become a rule of their own, whose head has their
other variables; a join over many variables becomes several joins over few (bucket elimination, Dechter
1999; for logic programs Bichler, Morak and Woltran, "lpopt", 2016).

Bodies must consist of `Call`s and `Differ`s; `without_disjunctions` removes everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.rules.clauses import Call, Clause, Differ, DisjunctionCall, Predicate, goal_variables, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from random import Random

    from herbrand.ground.sizes import Sizes
    from herbrand.rules.clauses import Goal, Pattern

    _Binder: TypeAlias = tuple[Call, tuple[str, ...]]
    """A call that binds variables of tests, and these variables."""

__all__ = ["decompose", "substituted", "without_disjunctions"]

SPLIT_LIMIT: Final = 64
"""Maximum number of rules that one rule may become by splitting its disjunctions."""
NOISE: Final = 1.5
"""Standard deviation of the logarithm of the factor that randomises costs."""


def without_disjunctions(
    clause: Clause, make_predicate: Callable[[int], Predicate], max_rules: int = SPLIT_LIMIT
) -> Iterator[Clause]:
    """Yield equivalent clauses without disjunctions.

    Disjunctions are multiplied out as long as that gives at most `max_rules` rules; beyond that, a
    disjunction that binds all its variables becomes a predicate created by `make_predicate(arity)`.
    """
    count = 1
    body: list[Goal] = []
    for goal in clause.body:
        if isinstance(goal, Call | Differ):
            body.append(goal)
            continue
        count *= len(goal.disjuncts)
        if count > max_rules and set(goal.args) <= goal.binds:
            helper = make_predicate(len(goal.args))
            for disjunct in goal.disjuncts:
                part = Clause(helper, goal.args, disjunct, clause.text)
                yield from without_disjunctions(part, make_predicate, max_rules)
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

    After a disjunct that only compares a variable with a term, the other disjuncts assume that the two are
    equal: `(or (distinct ?x ?y) p)` gives instances with p for equal ?x and ?y only.
    """
    for i, goal in enumerate(body):
        if isinstance(goal, Call | Differ):
            continue
        before, after, disjuncts = body[:i], body[i + 1 :], goal.disjuncts
        while disjuncts:
            yield from _multiply(head, [*before, *disjuncts[0], *after])
            binding = _equality_if_false(disjuncts[0])
            disjuncts = disjuncts[1:]
            if binding:
                head = tuple(_substitute(arg, binding) for arg in head)
                before = [substituted(g, binding) for g in before]
                after = [substituted(g, binding) for g in after]
                disjuncts = tuple(tuple(substituted(g, binding) for g in d) for d in disjuncts)
        return
    yield head, tuple(body)


def _equality_if_false(disjunct: Sequence[Goal]) -> dict[str, Pattern]:
    """Return the variable and its value if the disjunct is false, for a disjunct that is one comparison."""
    if len(disjunct) != 1 or not isinstance(disjunct[0], Differ):
        return {}
    left, right = disjunct[0].left, disjunct[0].right
    if not isinstance(left, str):
        left, right = right, left
    return {left: right} if isinstance(left, str) and not isinstance(right, tuple) else {}


def _substitute(pattern: Pattern, binding: Mapping[str, Pattern]) -> Pattern:
    if isinstance(pattern, tuple):
        return (pattern[0], *(_substitute(part, binding) for part in pattern[1:]))
    return binding.get(pattern, pattern) if isinstance(pattern, str) else pattern


def substituted(goal: Goal, binding: Mapping[str, Pattern]) -> Goal:
    """Return a goal with the values of some variables put in."""
    if isinstance(goal, Call):
        return Call(goal.predicate, tuple(_substitute(arg, binding) for arg in goal.args), goal.negated)
    if isinstance(goal, Differ):
        return Differ(_substitute(goal.left, binding), _substitute(goal.right, binding))
    disjuncts = tuple(tuple(substituted(g, binding) for g in disjunct) for disjunct in goal.disjuncts)
    values = dict.fromkeys(_substitute(arg, binding) for arg in goal.args)
    args = tuple(arg for arg in values if isinstance(arg, str))
    return DisjunctionCall(goal.predicate, args, disjuncts, goal.binds & {*args})


def decompose(
    clause: Clause,
    make_predicate: Callable[[int], Predicate],
    sizes: Sizes,
    noise: Random | None = None,
    loose: set[Predicate] | None = None,
    *,
    together: bool = False,
) -> Iterator[Clause]:
    """Yield equivalent clauses with fewer variables each.

    Variables are eliminated greedily: next is the one whose literals have the fewest answers as a join;
    `noise` randomises this order, so that callers can try several.  `make_predicate(arity)` creates the
    predicates of the new rules.  `together` eliminates all such variables of a literal in one step.

    The variables of tests must be bound.  With `loose`, a call needed for this alone may be replaced by its
    projection to the variables needed, a new relation that is added to `loose`.  The call itself remains in
    another rule, so that an over-approximation of the projection is sound.
    """
    body = list(clause.body)
    head_variables = {v for arg in clause.head for v in variables(arg)}
    while True:
        all_variables = head_variables.union(*map(goal_variables, body))
        best: tuple[tuple[float, int], list[int], set[str], list[_Binder]] | None = None
        for unit in _units(body, all_variables - head_variables, together=together):
            mentioning = [i for i, goal in enumerate(body) if unit & goal_variables(goal)]
            for projecting in (False, True) if loose is not None else (False,):
                if projecting:
                    group, binders = mentioning, _binders(mentioning, body)
                    if not binders:
                        continue
                else:
                    group, binders = _with_binders(mentioning, body), []
                inner = set().union(*(goal_variables(body[i]) for i in group))
                outside = head_variables.union(
                    *(goal_variables(g) for i, g in enumerate(body) if i not in group)
                )
                shared = inner & outside
                if (len(group) < 2 and len(shared) == len(inner)) or len(inner) >= len(all_variables):
                    continue
                answers = sizes.join(body[i] for i in group)
                bound = _bound_and_needed(group, body)[0]
                for call, names in binders:
                    answers *= sizes.projected(call, {*names} - bound)
                cost = answers * noise.lognormvariate(0, NOISE) if noise else answers, len(inner)
                if best is None or cost < best[0]:
                    best = cost, group, shared, binders
        if best is None:
            break
        _, group, shared, binders = best
        args = tuple(sorted(shared))
        goals = [body[i] for i in group]
        for call, names in binders:
            assert loose is not None
            projection = Clause(make_predicate(len(names)), names, (call,), clause.text)
            sizes.define(projection)
            loose.add(projection.predicate)
            yield projection
            goals.append(Call(projection.predicate, names))
        helper = Clause(make_predicate(len(args)), args, tuple(goals), clause.text)
        sizes.define(helper)
        yield helper
        body[group[-1]] = Call(helper.predicate, args)
        body = [goal for i, goal in enumerate(body) if i not in group[:-1]]
    yield Clause(clause.predicate, clause.head, tuple(body), clause.text)


def _units(body: Sequence[Goal], free: set[str], *, together: bool) -> list[set[str]]:
    """Return the sets of variables to eliminate in one step: single ones, or those of a goal `together`."""
    if not together:
        return [{variable} for variable in sorted(free)]
    units = {tuple(sorted(goal_variables(goal) & free)) for goal in body}
    return [set(names) for names in sorted(units) if names]


def _binders(group: Sequence[int], body: Sequence[Goal]) -> list[_Binder]:
    """Return calls outside a group that bind the variables of its tests, each with the variables it binds."""
    bound, needed = _bound_and_needed(group, body)
    binders: list[_Binder] = []
    while missing := needed - bound:
        options = _binding(missing, group, body).values()
        if not options:
            return []
        call = max(options, key=lambda goal: len(goal_variables(goal) & missing))
        call_variables = goal_variables(call) & (needed | bound)
        binders.append((call, tuple(sorted(call_variables))))
        bound |= call_variables
    return binders


def _bound_and_needed(group: Iterable[int], body: Sequence[Goal]) -> tuple[set[str], set[str]]:
    """Return the variables that the calls of a group bind, and those that its tests mention."""
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
    """Return by index the calls outside a group that bind some of the missing variables."""
    return {
        i: goal
        for i, goal in enumerate(body if missing else ())
        if i not in group and isinstance(goal, Call) and not goal.negated and goal_variables(goal) & missing
    }


def _with_binders(group: list[int], body: Sequence[Goal]) -> list[int]:
    """Return the group with calls added that bind the variables of its tests."""
    chosen = list(group)
    while True:
        bound, needed = _bound_and_needed(chosen, body)
        missing = needed - bound
        costs = {
            i: (len(goal_variables(call) - bound), -len(goal_variables(call) & missing))
            for i, call in _binding(missing, chosen, body).items()
        }
        if not costs:
            return sorted(chosen)
        chosen.append(min(costs, key=costs.__getitem__))

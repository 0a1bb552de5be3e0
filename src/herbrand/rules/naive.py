"""The reference evaluator: the perfect model of the rules, computed naively from its definition.

Simple and slow; tests compare `from_rules` with it.  Rules are sorted topologically by their dependencies,
mutually dependent rules in one group; each group is applied to all known facts up to its fixpoint.  If
the rules are stratified (no group negates what it derives), the result is the unique stable model of the
rules and the given facts (Apt, Blair and Walker 1988; Przymusinski 1988 for the perfect model).

Terms are folded names or nested tuples, such as `"noop"` and `("cell", "1", "1", "b")`; an atom is a tuple
of its relation and its arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand.check.normal import renamed_apart, unifier
from herbrand.errors import GameError
from herbrand.rules.interface import FluentKeys
from herbrand.rules.terms import TermTable
from herbrand.runtime.limits import DEFAULT, Limits
from herbrand.syntax.ground import Ground, instance, match
from herbrand.syntax.nodes import And, Atom, Distinct, Not, Or, atoms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.check.rules import Rules
    from herbrand.runtime.limits import Clock
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["NaiveEngine", "perfect_model", "rule_groups"]

_Binding = dict[str, Ground]


def perfect_model(
    groups: Sequence[Sequence[Rule]], facts: Iterable[tuple[Ground, ...]], clock: Clock
) -> dict[str, set[tuple[Ground, ...]]]:
    """Return all atoms of the perfect model of the rules and `facts`, by relation name.

    `groups` are the rules in normal form, ordered by `rule_groups`.  Raises `BudgetExceeded` at the limits
    of the clock.
    """
    model: dict[str, set[tuple[Ground, ...]]] = {}
    for fact in facts:
        model.setdefault(str(fact[0]), set()).add(fact)
    for group in groups:
        grew = True
        while grew:
            grew = False
            for rule in group:
                proofs = _proofs(list(rule.body), {}, model, clock)
                heads = {_instance(rule.head, binding) for binding in proofs}
                extension = model.setdefault(rule.head.name, set())
                clock.spend(len(heads))
                if not heads <= extension:
                    extension |= heads
                    grew = True
    return model


def rule_groups(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Order the rules by their dependencies; mutually dependent rules form one group.

    Raises `GameError` if a group negates what it derives: the rules are not stratified.
    """
    by_relation: dict[tuple[str, int], list[int]] = {}
    for i, rule in enumerate(rules):
        by_relation.setdefault(rule.head.key, []).append(i)
    uses: list[set[int]] = []
    negates: list[set[int]] = []
    for rule in rules:
        edges = [
            (i, negated)
            for atom, negated in atoms_of(And(rule.body))
            for i in by_relation.get(atom.key, ())
            if _may_match(atom, rules[i].head)
        ]
        uses.append({i for i, _ in edges})
        negates.append({i for i, negated in edges if negated})
    reach = [_reachable(i, uses) for i in range(len(rules))]
    done: set[int] = set()
    groups: list[list[Rule]] = []
    # a rule reaches everything that its dependencies reach: ascending numbers are a topological order
    for i in sorted(range(len(rules)), key=lambda i: len(reach[i] | {i})):
        if i in done:
            continue
        members = [i] + [j for j in sorted(reach[i]) if j != i and i in reach[j]]
        for j in members:
            if negates[j] & set(members) and (j != i or i in reach[i]):
                raise GameError(f"not stratified: `{rules[j]}` depends on its own negation")
        done.update(members)
        groups.append([rules[j] for j in members])
    return groups


def _reachable(start: int, uses: list[set[int]]) -> set[int]:
    visited: set[int] = set()
    stack = [start]
    while stack:
        for j in uses[stack.pop()]:
            if j not in visited:
                visited.add(j)
                stack.append(j)
    return visited


def _may_match(atom: Atom, head: Atom) -> bool:
    """Whether two atoms have a common instance; their variables are renamed apart."""
    return unifier(zip(atom.args, renamed_apart(head).args, strict=True)) is not None


def _proofs(
    goals: list[Literal], binding: _Binding, model: dict[str, set[tuple[Ground, ...]]], clock: Clock
) -> Iterator[_Binding]:
    """Yield the bindings under which all goals hold: atoms first, then the tests."""
    if not goals:
        yield binding
        return
    for i, goal in enumerate(goals):
        rest = goals[:i] + goals[i + 1 :]
        if isinstance(goal, Atom):
            clock.spend(0)
            for fact in list(model.get(goal.name, ())):
                if len(fact) == len(goal.args) + 1:
                    extended = match(goal.args, fact[1:], binding)
                    if extended is not None:
                        yield from _proofs(rest, extended, model, clock)
            return
        if isinstance(goal, And):
            yield from _proofs([*goal.literals, *rest], binding, model, clock)
            return
    for i, goal in enumerate(goals):
        if isinstance(goal, Or):
            for part in goal.literals:
                # the tests of the other goals wait until this disjunct has bound its variables
                yield from _proofs([part, *goals[:i], *goals[i + 1 :]], binding, model, clock)
            return
    goal, rest = goals[0], goals[1:]
    if isinstance(goal, Distinct):
        if _ground(goal.left, binding) != _ground(goal.right, binding):
            yield from _proofs(rest, binding, model, clock)
    else:
        assert isinstance(goal, Not)
        assert isinstance(goal.literal, Atom)
        if _instance(goal.literal, binding) not in model.get(goal.literal.name, ()):
            yield from _proofs(rest, binding, model, clock)


def _ground(term: Term, binding: _Binding) -> Ground:
    try:
        return instance(term, binding)
    except KeyError as error:
        raise GameError(f"unsafe rule: `?{error.args[0]}` is never bound") from None


def _instance(atom: Atom, binding: _Binding) -> tuple[Ground, ...]:
    return (atom.name, *(_ground(arg, binding) for arg in atom.args))


class NaiveEngine(FluentKeys):
    """An engine (`interface.Engine`) that computes the perfect model for every answer."""

    name = "naive"
    in_order = False

    def __init__(self, rules: Rules, *, limits: Limits = DEFAULT) -> None:
        self.rules = rules.normal.rules
        self.limits = limits
        self.terms = TermTable(rules.spelling, folds_case=rules.tree.folds_case)
        self.roles = tuple(map(self.terms.intern, rules.roles))
        self._role_names = tuple(_ground(role, {}) for role in rules.roles)
        self._groups = rule_groups(self.rules)
        self._last: tuple[Any, dict[str, set[tuple[Ground, ...]]]] | None = None

    def initial(self) -> frozenset[int]:
        """Return all p with init(p) in the model without `true` and `does`."""
        return frozenset(self.terms.number_of(fact[1]) for fact in self._model((), ()).get("init", ()))

    def legal(self, key: frozenset[int], role: int) -> list[int]:
        """Return all m such that `legal` holds of the role and m."""
        return self._values(self._model(key, ()), "legal", role)

    def successor(self, key: frozenset[int], moves: Sequence[int]) -> frozenset[int]:
        """Return all p with next(p) in the model of the state and the joint move."""
        return frozenset(self.terms.number_of(fact[1]) for fact in self._model(key, moves).get("next", ()))

    def terminal(self, key: frozenset[int]) -> bool:
        """Return whether `terminal` is in the model of the state."""
        return bool(self._model(key, ()).get("terminal"))

    def goals(self, key: frozenset[int], role: int) -> list[int]:
        """Return all n such that `goal` holds of the role and n."""
        return self._values(self._model(key, ()), "goal", role)

    def percepts(self, key: frozenset[int], moves: Sequence[int], role: int) -> list[int]:
        """Return all p such that `sees` holds of the role and p in the model with the move."""
        return self._values(self._model(key, moves), "sees", role)

    def _values(self, model: dict[str, set[tuple[Ground, ...]]], relation: str, role: int) -> list[int]:
        name = self._role_names[role]
        facts = model.get(relation, ())
        return [self.terms.number_of(fact[2]) for fact in facts if len(fact) == 3 and fact[1] == name]

    def _model(self, key: Iterable[int], moves: Sequence[int]) -> dict[str, set[tuple[Ground, ...]]]:
        question = frozenset(key), tuple(moves)
        if self._last is None or self._last[0] != question:
            facts: list[tuple[Ground, ...]] = [("true", self.terms.value_of(fluent)) for fluent in key]
            pairs = zip(self._role_names, moves, strict=True) if moves else ()
            facts += [("does", role, self.terms.value_of(move)) for role, move in pairs]
            self._last = question, perfect_model(self._groups, facts, self.limits.start())
        return self._last[1]

"""Translate conditions to rules of GDL: equalities are solved, negated conjunctions become views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.syntax.ggdl.literals import Equal, NegatedConjunction, apply, apply_atom, names_in
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Atom, Constant, Distinct, Function, Not, Rule, Variable
from herbrand.syntax.unification import unify_in_place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from herbrand.syntax.ggdl.literals import Alternative, Literal
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.ggdl.scope import Scope
    from herbrand.syntax.unification import Substitution

__all__ = ["RuleEmitter"]

MANY: Final = 128
"""Maximum number of alternatives that are checked for subsumption."""


class RuleEmitter:
    """Writes the rules of a program, and shares the views introduced for negations."""

    def __init__(self, program: GgdlProgram) -> None:
        self.program = program
        self.generated: dict[str, str] = {}
        """Name of the view for each negated conjunction."""

    def write(self, head: Atom, alternatives: Iterable[Alternative], scope: Scope) -> None:
        """Write one rule for each alternative of a condition."""
        start, end = scope.span(scope.sentence)
        solved = filter(None, (self._solve_rule(head, alternative, scope) for alternative in alternatives))
        rules = [Rule(new_head, tuple(dict.fromkeys(body)), start, end) for new_head, body in solved]
        self.program.rules += [(scope.work.number, rule) for rule in _not_implied(rules)]

    def _solve_rule(
        self, head: Atom, alternative: Alternative, scope: Scope, typed: Collection[str] = ()
    ) -> tuple[Atom, list[Atom | Not | Distinct]] | None:
        """Solve equalities and replace negated conjunctions; None if the body is unsatisfiable.

        The types of the variables `typed` are enforced elsewhere.
        """
        literals = list(alternative)
        while True:
            solved = _solve(literals, head, scope)
            if solved is None:
                return None
            head, literals = solved
            literals = self._with_types(head, literals, scope, typed)
            outer = names_in([x for x in literals if isinstance(x, Atom)]) | names_in([head])
            result: list[Literal] = []
            again = False
            for literal in literals:
                if not isinstance(literal, NegatedConjunction):
                    result.append(literal)
                    continue
                replacement = self._negation(literal, outer, literals, scope)
                if replacement is None:
                    return None
                result += replacement
                again = again or any(isinstance(x, Equal | NegatedConjunction) for x in replacement)
            if not again:
                return head, [x for x in result if isinstance(x, Atom | Not | Distinct)]
            literals = result

    def _with_types(
        self, head: Atom, literals: list[Literal], scope: Scope, typed: Collection[str]
    ) -> list[Literal]:
        """Prepend the type conditions of variables."""
        positive = [x for x in literals if isinstance(x, Atom | Distinct)]
        shared = names_in(positive) | names_in([head])
        conditions: list[Literal] = []
        for name, atoms in scope.typed.items():
            if name in shared and name not in typed:
                conditions += [atom for atom in atoms if atom not in literals]
        return [*conditions, *literals]

    def _negation(
        self, negation: NegatedConjunction, outer: dict[str, None], beside: list[Literal], scope: Scope
    ) -> list[Literal] | None:
        """Return literals equivalent to a negated conjunction; None if it is false."""
        literals = negation.literals
        local = [name for name in names_in(literals) if name not in outer]
        typed = [atom for name in local for atom in scope.typed.get(name, ()) if atom not in literals]
        inner = _solve_local([*typed, *literals], local)
        if inner is None:
            return []
        if not inner:
            return None
        if len(inner) == 1:
            only = inner[0]
            names = names_in([only])
            if isinstance(only, NegatedConjunction):
                return list(only.literals)
            if all(name in outer for name in names):
                if isinstance(only, Atom):
                    return [Not(only, only.start, only.end)]
                if isinstance(only, Distinct):
                    return [Equal(only.left, only.right)]
                if isinstance(only, Equal):
                    return [Distinct(only.left, only.right, *scope.span(scope.sentence))]
                assert isinstance(only.literal, Atom)
                return [only.literal]
        return self._view(inner, outer, beside, scope)

    def _view(
        self, inner: list[Literal], outer: dict[str, None], beside: list[Literal], scope: Scope
    ) -> list[Literal]:
        """Define a view equivalent to a conjunction, and return its negation; nothing if it is never true."""
        start, end = scope.span(scope.sentence)
        shared = tuple(Variable(name, None, start, end) for name in names_in(inner) if name in outer)
        trial = Atom("", shared, None, start, end)
        solved = self._solve_rule(trial, inner, scope, outer)
        if solved is None:
            return []
        head, body = solved
        bound = names_in([x for x in body if isinstance(x, Atom)])
        loose = [
            name
            for name in names_in([head, *(x for x in body if not isinstance(x, Atom))])
            if name not in bound
        ]
        if loose:
            copies = [x for x in beside if isinstance(x, Atom) and any(v in names_in([x]) for v in loose)]
            again = self._solve_rule(trial, [*copies, *inner], scope, outer)
            if again is not None:
                head, body = again
        key = _canonical(head, body)
        name = self.generated.get(key)
        if name is None:
            name = self.generated[key] = fresh(self._name(body), self.program.used_names)
            view = Atom(name, head.args, None, start, end)
            self.program.add_rule(scope.work.number, view, dict.fromkeys(body))
        return [Not(Atom(name, shared, None, start, end), start, end)]

    def _name(self, body: list[Atom | Not | Distinct]) -> str:
        """Name a view after the only relation or fluent in its body, else by number."""
        names = {
            x.args[0].name if x.name == "true" and isinstance(x.args[0], Function | Constant) else x.name
            for x in body
            if isinstance(x, Atom) and x.name not in {"role", *self.program.types}
        }
        if len(names) == 1:
            return f"ggdl_some_{names.pop().removeprefix('ggdl_')}"
        return f"ggdl_some_{len(self.generated) + 1}"


def _not_implied(rules: list[Rule]) -> list[Rule]:
    """Drop rules that are subsumed by another with the same head."""
    if not 1 < len(rules) <= MANY:
        return rules
    sets = [frozenset(rule.body) for rule in rules]
    return [
        rule
        for i, rule in enumerate(rules)
        if not any(
            rules[j].head == rule.head and (sets[j] < sets[i] or (sets[j] == sets[i] and j < i))
            for j in range(len(rules))
        )
    ]


def _canonical(head: Atom, body: list[Atom | Not | Distinct]) -> str:
    """Return a text that is equal for rules that differ only in variable names."""
    names: Substitution = {}
    for name in names_in([head, *body]):
        names[name] = Constant(f"?{len(names)}")
    parts = [str(apply(x, names)) for x in (head, *body)]
    return " ".join(parts)


def _solve(literals: list[Literal], head: Atom, scope: Scope) -> tuple[Atom, list[Literal]] | None:
    """Solve the equalities of a conjunction and merge reads of one value; None if unsatisfiable."""
    generated = scope.generated
    while True:
        binding: Substitution = {}
        others: list[Literal] = []
        for literal in literals:
            if isinstance(literal, Equal):
                if not unify_in_place(literal.right, literal.left, binding, generated):
                    return None
            else:
                others.append(literal)
        if binding:
            others = [apply(literal, binding) for literal in others]
            head = apply_atom(head, binding)
            _move_types(binding, scope, others)
        merged = _merged(others, generated)
        if merged is None:
            break
        literals = merged
    simplified = _without_certain(others)
    if simplified is None:
        return None
    unique: list[Literal] = []
    for literal in simplified:
        if literal not in unique:
            unique.append(literal)
    return head, unique


def _without_certain(literals: list[Literal]) -> list[Literal] | None:
    """Drop comparisons that are always true; None if one never is."""
    kept: list[Literal] = []
    for literal in literals:
        if isinstance(literal, Distinct):
            if literal.left == literal.right:
                return None
            if not unify_in_place(literal.right, literal.left, {}):
                continue
        kept.append(literal)
    return kept


def _move_types(binding: Substitution, scope: Scope, literals: list[Literal]) -> None:
    """Impose the type of each replaced variable on its replacement."""
    for name in binding:
        for atom in scope.typed.get(name, ()):
            moved = apply_atom(atom, binding)
            if moved not in literals:
                literals.insert(0, moved)


def _merged(literals: list[Literal], generated: set[str]) -> list[Literal] | None:
    """Equate the values where one place is read twice; None if there is no such pair."""
    reads: dict[tuple[object, ...], Variable] = {}
    for literal in literals:
        if not (isinstance(literal, Atom) and literal.key == ("true", 1)):
            continue
        (fluent,) = literal.args
        if not isinstance(fluent, Function):
            continue
        value = fluent.args[-1]
        if not isinstance(value, Variable) or value.name not in generated:
            continue
        first = reads.setdefault((fluent.name, fluent.args[:-1]), value)
        # variables that read the value of an expression are named after the fluent
        if first.name != value.name and value.name.startswith(fluent.name):
            return [Equal(first, value), *literals]
    return None


def _solve_local(literals: list[Literal], local: list[str]) -> list[Literal] | None:
    """Solve the equalities on local variables of a negation; None if it is unsatisfiable."""
    names = set(local)
    while True:
        for i, literal in enumerate(literals):
            if not isinstance(literal, Equal):
                continue
            binding: Substitution = {}
            left, right = literal.left, literal.right
            inside = names_in([literal])
            if not all(name in names for name in inside) and not any(
                isinstance(side, Variable) and side.name in names for side in (left, right)
            ):
                if not inside and left != right:
                    return None
                if left == right:
                    return _solve_local([*literals[:i], *literals[i + 1 :]], local)
                continue
            if not unify_in_place(right, left, binding, names):
                return None
            literals = [apply(x, binding) for j, x in enumerate(literals) if j != i]
            break
        else:
            return _without_certain(literals)

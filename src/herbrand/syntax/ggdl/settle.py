"""From conditions to rules of GDL: equalities are solved, negated conjunctions become views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.syntax.ggdl.literals import (
    Equal,
    Nope,
    Substitution,
    apply,
    apply_atom,
    names_in,
    unify,
)
from herbrand.syntax.nodes import Atom, Constant, Distinct, Function, Not, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from herbrand.syntax.ggdl.literals import Alternative, Literal
    from herbrand.syntax.ggdl.program import GgdlProgram
    from herbrand.syntax.ggdl.scope import Scope

__all__ = ["Settler"]

MANY: Final = 128
"""So many alternatives are compared with each other; more are all written down."""


class Settler:
    """Writes the rules of a program; knows the views that were made for negations."""

    def __init__(self, program: GgdlProgram) -> None:
        self.program = program
        self.generated: dict[str, str] = {}
        """Name of the view for each negated conjunction."""

    def write(self, head: Atom, alternatives: Iterable[Alternative], scope: Scope) -> None:
        """Write one rule for each alternative of a condition."""
        start, end = scope.span(scope.sentence)
        rules: list[Rule] = []
        for alternative in alternatives:
            settled = self._settle(head, alternative, scope)
            if settled is not None:
                new_head, body = settled
                rules.append(Rule(new_head, tuple(dict.fromkeys(body)), start, end))
        self.program.rules += [(scope.work.number, rule) for rule in _not_implied(rules)]

    def _settle(
        self, head: Atom, alternative: Alternative, scope: Scope, typed: Collection[str] = ()
    ) -> tuple[Atom, list[Atom | Not | Distinct]] | None:
        """Solve equalities and replace negated conjunctions; None if it never holds.

        The variables `typed` have their types elsewhere.
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
                if not isinstance(literal, Nope):
                    result.append(literal)
                    continue
                replacement = self._nope(literal, outer, literals, scope)
                if replacement is None:
                    return None
                result += replacement
                again = again or any(isinstance(x, Equal | Nope) for x in replacement)
            if not again:
                return head, [x for x in result if isinstance(x, Atom | Not | Distinct)]
            literals = result

    def _with_types(
        self, head: Atom, literals: list[Literal], scope: Scope, typed: Collection[str]
    ) -> list[Literal]:
        """Put the conditions that the types of variables say in front."""
        positive = [x for x in literals if isinstance(x, Atom | Distinct)]
        shared = names_in(positive) | names_in([head])
        conditions: list[Literal] = []
        for name, atoms in scope.typed.items():
            if name in shared and name not in typed:
                conditions += [atom for atom in atoms if atom not in literals]
        return [*conditions, *literals]

    def _nope(
        self, nope: Nope, outer: dict[str, None], beside: list[Literal], scope: Scope
    ) -> list[Literal] | None:
        """Return literals that say the same as a negated conjunction; None for "never"."""
        inner = list(nope.literals)
        local = [name for name in names_in(inner) if name not in outer]
        typed = [atom for name in local for atom in scope.typed.get(name, ()) if atom not in inner]
        inner = [*typed, *inner]
        solved = _solve_local(inner, local)
        if solved is None:
            return []
        inner = solved
        if not inner:
            return None
        if len(inner) == 1:
            only = inner[0]
            names = names_in([only])
            if isinstance(only, Nope):
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
        return [self._view(inner, outer, beside, scope)]

    def _view(self, inner: list[Literal], outer: dict[str, None], beside: list[Literal], scope: Scope) -> Not:
        """Make a view that holds when a conjunction does, and negate it."""
        start, end = scope.span(scope.sentence)
        shared = tuple(Variable(name, None, start, end) for name in names_in(inner) if name in outer)
        trial = Atom("", shared, None, start, end)
        settled = self._settle(trial, inner, scope, outer)
        if settled is None:
            key, head = "false", trial
            body: list[Atom | Not | Distinct] = []
        else:
            head, body = settled
            bound = names_in([x for x in body if isinstance(x, Atom)])
            loose = [
                name
                for name in names_in([head, *(x for x in body if not isinstance(x, Atom))])
                if name not in bound
            ]
            if loose:
                copies = [x for x in beside if isinstance(x, Atom) and any(v in names_in([x]) for v in loose)]
                again = self._settle(trial, [*copies, *inner], scope, outer)
                if again is not None:
                    head, body = again
            key = _canonical(head, body)
        name = self.generated.get(key)
        if name is None:
            name = self.program.fresh(self._name(body))
            self.program.taken.add(name)
            self.generated[key] = name
            if settled is not None:
                rule = Rule(Atom(name, head.args, None, start, end), tuple(dict.fromkeys(body)), start, end)
                self.program.rules.append((scope.work.number, rule))
        atom = Atom(name, shared, None, start, end)
        return Not(atom, start, end)

    def _name(self, body: list[Atom | Not | Distinct]) -> str:
        """Name a view after what it is about, where that is one thing."""
        names = {
            x.args[0].name if x.name == "true" and isinstance(x.args[0], Function | Constant) else x.name
            for x in body
            if isinstance(x, Atom) and x.name not in {"role", *self.program.types}
        }
        if len(names) == 1:
            return f"ggdl_some_{names.pop().removeprefix('ggdl_')}"
        return f"ggdl_some_{len(self.generated) + 1}"


def _not_implied(rules: list[Rule]) -> list[Rule]:
    """Leave out rules that have all conditions of another with the same head, and more."""
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
    """Return a text that is the same for rules that differ in the names of variables only."""
    names: Substitution = {}
    for name in names_in([head, *body]):
        names[name] = Constant(f"?{len(names)}")
    parts = [str(apply(x, names)) for x in (head, *body)]
    return " ".join(parts)


def _solve(literals: list[Literal], head: Atom, scope: Scope) -> tuple[Atom, list[Literal]] | None:
    """Solve the equalities of a conjunction, merge reads of one value; None if it never holds."""
    generated = scope.generated
    while True:
        binding: Substitution = {}
        others: list[Literal] = []
        for literal in literals:
            if isinstance(literal, Equal):
                if not unify(literal.left, literal.right, binding, generated):
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
    simplified: list[Literal] = []
    for literal in others:
        if isinstance(literal, Distinct):
            if literal.left == literal.right:
                return None
            if not unify(literal.left, literal.right, {}):
                continue
        if literal not in simplified:
            simplified.append(literal)
    return head, simplified


def _move_types(binding: Substitution, scope: Scope, literals: list[Literal]) -> None:
    """The type of a variable that was replaced is a condition on what replaced it."""
    for name in binding:
        for atom in scope.typed.get(name, ()):
            moved = apply_atom(atom, binding)
            if moved not in literals:
                literals.insert(0, moved)


def _merged(literals: list[Literal], generated: set[str]) -> list[Literal] | None:
    """Where one place is read twice, say that both values are one; None if none is."""
    reads: dict[tuple[object, ...], Variable] = {}
    for literal in literals:
        if not (isinstance(literal, Atom) and literal.name == "true"):
            continue
        fluent = literal.args[0]
        if not isinstance(fluent, Function):
            continue
        value = fluent.args[-1]
        if not isinstance(value, Variable) or value.name not in generated:
            continue
        first = reads.setdefault((fluent.name, fluent.args[:-1]), value)
        if first.name != value.name and _is_read(fluent, literal):
            return [Equal(first, value), *literals]
    return None


def _is_read(fluent: Function, literal: Atom) -> bool:
    """Whether an atom was made for the value of an expression: its value is named after it."""
    value = fluent.args[-1]
    del literal
    return isinstance(value, Variable) and value.name.startswith(fluent.name)


def _solve_local(literals: list[Literal], local: list[str]) -> list[Literal] | None:
    """Solve the equalities that are about local variables of a negation; None if it never holds."""
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
            if not unify(left, right, binding, names):
                return None
            others = [apply(x, binding) for j, x in enumerate(literals) if j != i]
            literals = others
            break
        else:
            simplified: list[Literal] = []
            for literal in literals:
                if isinstance(literal, Distinct):
                    if literal.left == literal.right:
                        return None
                    if not unify(literal.left, literal.right, {}):
                        continue
                simplified.append(literal)
            return simplified

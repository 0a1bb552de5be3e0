"""Inlining: the conditions of a relation stand in the place of its atoms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks import safety
from herbrand.check.checks.base import KEYWORDS
from herbrand.check.checks.compounds import without_compounds
from herbrand.check.normal import substituted
from herbrand.errors import GameError
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import And, Atom, Distinct, Not, Or, Rule, Variable, atoms_of, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.check.relations import Relation
    from herbrand.syntax.nodes import Literal, Term

__all__ = ["Inlining", "plain"]

UNFOLDED: Final = 2000
"""Most literals that unfolding one relation may add."""


def plain(rules: list[Rule]) -> list[Rule]:
    """Return rules without negated conjunctions and the like, which came from unfolding."""
    try:
        return [one for rule in rules for one in without_compounds(rule)]
    except GameError:  # too many
        return rules


class Inlining:
    """Puts the conditions of a relation in the place of its atoms."""

    def __init__(self, relation: Relation, rules: list[Rule], fresh_name: Callable[[str], str]) -> None:
        self.relation = relation
        self.rules = rules
        self.fresh_name = fresh_name
        self.added = 0

    def rule(self, user: Rule) -> list[Rule] | None:
        """Return a rule without atoms of the relation, and helpers that it needs.

        None if that is too long, or if something stays unbound that the relation should have bound.
        """
        used = {v.name for v in variables_of(user)}
        atoms = [atom for literal in user.body for atom, _ in atoms_of(literal) if atom.key == self.relation]
        arguments = {v.name for atom in atoms for v in variables_of(atom)}
        arguments -= {v.name for v in variables_of(user.head)}
        helpers: list[Rule] = []

        def unfolded(literal: Literal, *, negated: bool = False) -> Literal:
            if isinstance(literal, Atom):
                return (
                    self._atom(literal, used, helpers if negated else None)
                    if literal.key == self.relation
                    else literal
                )
            if isinstance(literal, Not):
                return Not(unfolded(literal.literal, negated=not negated), literal.start, literal.end)
            if not isinstance(literal, And | Or):
                return literal
            parts = tuple(unfolded(part, negated=negated) for part in literal.literals)
            return type(literal)(parts, literal.start, literal.end)

        body: list[Literal] = []
        for literal in user.body:
            new = unfolded(literal)
            body += new.literals if isinstance(new, And) else (new,)
        rule = Rule(user.head, tuple(body), user.start, user.end)
        is_bound = arguments <= safety.binds(body) and all(map(safety.is_safe, helpers))
        if (
            self.added > UNFOLDED
            or not is_bound
            or not (safety.is_safe(rule) or user.head.name not in KEYWORDS)
        ):
            return None
        return [rule, *helpers]

    def _atom(self, atom: Atom, used: set[str], helpers: list[Rule] | None) -> Literal:
        """Return the conditions of an atom; below `not`, variables of their own need a helper relation."""
        place = atom.start, atom.end
        alternatives: list[And] = []
        for rule in self.rules:
            used.update(v.name for v in variables_of(rule))  # so that no new name is one of its own
            names = dict.fromkeys(v.name for v in variables_of(rule))
            apart: dict[str, Term] = {name: Variable(fresh(name, used)) for name in names}
            parts: list[Literal] = []
            binding: dict[str, Term] = {}
            for parameter, argument in zip(substituted(rule.head, apart).args, atom.args, strict=True):
                if isinstance(parameter, Variable) and parameter.name not in binding:
                    binding[parameter.name] = argument
                else:
                    parts.append(Not(Distinct(parameter, argument, *place), *place))
            parts += [substituted(literal, apart) for literal in rule.body]
            alternatives.append(And(tuple(substituted(part, binding) for part in parts), *place))
            self.added += len(parts)
        atom_variables = {v.name for v in variables_of(atom)}
        if helpers is not None and any(
            {v.name for v in variables_of(one)} - atom_variables for one in alternatives
        ):
            head = Atom(self.fresh_name(atom.name), tuple(dict.fromkeys(variables_of(atom))), None, *place)
            helpers += [Rule(head, one.literals, *place) for one in alternatives]
            return head
        return alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives), *place)

"""Inlining: the conditions of a relation stand in the place of its atoms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from herbrand.check.checks import safety
from herbrand.check.checks.base import KEYWORDS
from herbrand.check.checks.compounds import without_compounds
from herbrand.check.normal import substituted
from herbrand.errors import GameError
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import And, Atom, Distinct, Not, Or, Rule, Variable, rebuilt, variables_of, walk

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
        atoms = (node for node in walk(*user.body) if isinstance(node, Atom))
        arguments = {v.name for atom in atoms if atom.key == self.relation for v in variables_of(atom)}
        arguments -= {v.name for v in variables_of(user.head)}
        helpers: list[Rule] = []

        def unfolded(literal: Literal, *, negated: bool = False) -> Literal:
            if isinstance(literal, Atom) and literal.key == self.relation:
                return self._atom(literal, used, helpers if negated else None)
            if not isinstance(literal, Not | And | Or):
                return literal
            below = isinstance(literal, Not) != negated
            return rebuilt(literal, partial(unfolded, negated=below))

        body: list[Literal] = []
        for literal in user.body:
            new = unfolded(literal)
            body += new.literals if isinstance(new, And) else (new,)
        rule = Rule(user.head, tuple(body), user.start, user.end)
        is_bound = arguments <= safety.binds(body) and all(map(safety.is_safe, helpers))
        is_safe = user.head.name not in KEYWORDS or safety.is_safe(rule)
        return [rule, *helpers] if self.added <= UNFOLDED and is_bound and is_safe else None

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
        inside = {v.name for one in alternatives for v in variables_of(one)}
        if helpers is not None and not inside <= {v.name for v in variables_of(atom)}:
            head = Atom(self.fresh_name(atom.name), tuple(dict.fromkeys(variables_of(atom))), None, *place)
            helpers += [Rule(head, one.literals, *place) for one in alternatives]
            return head
        return alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives), *place)

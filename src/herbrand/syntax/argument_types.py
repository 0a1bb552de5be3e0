"""Type inference for the arguments of relations and functions.

GDL has no types, but two arguments have the same type if a variable of some rule occurs in both.  The
arguments of `true`, `next`, `init` and `base` are identified, as are those of `legal`, `does` and `input`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.syntax.nodes import Constant, Function, Variable, atoms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.syntax.nodes import Atom, Rule, Term

__all__ = ["Place", "Types"]

Place: TypeAlias = tuple[str, int, int]
"""Name of a relation or function, its arity, index of the argument."""

_SAME: Final = {"next": "true", "init": "true", "base": "true", "does": "legal", "input": "legal"}


@dataclass
class Types:
    """The argument types of a rulesheet, as a union-find structure over places."""

    parent: dict[Place, Place] = field(default_factory=dict)
    constants: dict[Place, dict[str, Constant]] = field(default_factory=dict)
    """Constants at each place by name."""

    @classmethod
    def of(cls, rules: Iterable[Rule]) -> Types:
        """Infer the types from rules."""
        types = cls()
        for rule in rules:
            at: dict[str, Place] = {}
            atoms = [rule.head, *(atom for literal in rule.body for atom, _ in atoms_of(literal))]
            for atom in atoms:
                for place, term in places(atom):
                    types.parent.setdefault(place, place)
                    if isinstance(term, Variable):
                        types._join(place, at.setdefault(term.name, place))
                    elif isinstance(term, Constant):
                        types.constants.setdefault(place, {})[term.name] = term
        return types

    def type_of(self, place: Place) -> Place:
        """Return the representative of a place's type."""
        while (above := self.parent.get(place, place)) != place:
            place = above
        return place

    def domain(self, place: Place) -> list[Constant]:
        """Return the constants of the type of a place, sorted."""
        type_ = self.type_of(place)
        by_name: dict[str, Constant] = {}
        for other, constants in self.constants.items():
            if self.type_of(other) == type_:
                by_name |= constants
        return [by_name[name] for name in sorted(by_name)]

    def signature(self, atom: Atom) -> tuple[Place, ...]:
        """Return the types of the arguments of a relation."""
        relation = _SAME.get(atom.name, atom.name)
        return tuple(self.type_of((relation, atom.arity, n)) for n in range(atom.arity))

    def _join(self, one: Place, other: Place) -> None:
        one, other = self.type_of(one), self.type_of(other)
        if one != other:
            self.parent[max(one, other)] = min(one, other)


def places(atom: Atom) -> Iterator[tuple[Place, Term]]:
    """Yield every place of an atom with its term, including those within functions."""
    yield from _within(_SAME.get(atom.name, atom.name), atom.args)


def _within(name: str, args: tuple[Term, ...]) -> Iterator[tuple[Place, Term]]:
    for number, term in enumerate(args):
        yield (name, len(args), number), term
        if isinstance(term, Function):
            yield from _within(term.name, term.args)

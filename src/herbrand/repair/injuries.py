"""Mistakes as an author makes them: one statement of a game is changed, or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.repair.edits import FIXED, is_frame, replaced, with_paths
from herbrand.syntax.argument_types import Types, places
from herbrand.syntax.nodes import Atom, Constant, Rule, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["INJURIES", "injuries"]

INJURIES = {
    "condition": "a condition dropped",
    "constant": "a constant swapped",
    "frame": "a frame rule lost",
    "role": "a role replaced",
}
"""The kinds of injuries, in words."""


def injuries(
    statements: Sequence[Rule], kind: str, roles: Sequence[str]
) -> Iterator[tuple[int, Rule | None]]:
    """Yield all injuries of a kind: the number of a statement and its replacement, None if it is removed.

    Constants are swapped for others of their type, as far as the rules show it.  Statements about `role`,
    `base`, `input` and `sees` stay as they are.
    """
    types = Types.of(statements)
    names = {role.lower() for role in roles}
    for number, rule in enumerate(statements):
        if rule.head.name in FIXED:
            continue
        if kind == "condition":
            for n in range(len(rule.body)):
                yield number, Rule(rule.head, (*rule.body[:n], *rule.body[n + 1 :]))
        elif kind == "frame":
            if is_frame(rule):
                yield number, None
        else:
            for n, part in enumerate((rule.head, *rule.body)):
                for atom in (node for node in walk(part) if isinstance(node, Atom)):
                    for place, term in places(atom):
                        if not isinstance(term, Constant) or (term.name in names) != (kind == "role"):
                            continue
                        first = next(path for path, node in with_paths(part) if node == term)
                        domain = sorted(names) if kind == "role" else [c.name for c in types.domain(place)]
                        for other in domain:
                            if other != term.name:
                                yield number, replaced(rule, (n, *first), Constant(other))

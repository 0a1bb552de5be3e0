"""Restrict a game: some roles prefer some of their moves to all others, whenever they are legal.

In every state a role has a part of its legal moves, and some move where it had one before.  So what a role
cannot reach in the restricted game, it cannot force in the game itself: the others may play as they prefer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import GameError
from herbrand.machine.moves import Move
from herbrand.machine.state_machine import StateMachine
from herbrand.syntax import read
from herbrand.syntax.names import KEYWORDS, first_spellings, fresh
from herbrand.syntax.nodes import Atom, Rule, rebuilt
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.syntax.nodes import Node

__all__ = ["Preference", "restrict"]

_RULES: Final = """\
(<= (legal ?role ?move) ({preferred} ?role ?move))
(<= (legal ?role ?move) ({permitted} ?role ?move) (not ({prefers} ?role)))
(<= ({prefers} ?role) ({preferred} ?role ?move))
"""


@dataclass(frozen=True, slots=True)
class Preference:
    """A move, as KIF, that a role makes rather than those it does not prefer."""

    role: str
    move: str


def restrict(game: StateMachine, preferences: Iterable[Preference]) -> StateMachine:
    """Return the game in which roles make preferred moves where these are legal, and any others elsewhere.

    >>> from herbrand.game import loads
    >>> game = loads("(role r) (legal r wait) (legal r (go 1)) (init i) terminal (goal r 0)")
    >>> restricted = restrict(game, [Preference("r", "wait")])
    >>> [str(move) for move in restricted.initial_state().legal_moves("r")]
    ['wait']

    Raises `GameError` for rules whose names differ only in case, and `InvalidMoveError` for a preference
    that is not a ground term.
    """
    if not game.tree.folds_case:
        raise GameError("rules whose names differ only in case cannot be restricted")
    statements = game.tree.statements
    used = {*KEYWORDS, *first_spellings(statements)}
    names = {name: fresh(name, used) for name in ("permitted", "preferred", "prefers")}

    def renamed(node: Node) -> Any:
        if isinstance(node, Atom) and node.key == ("legal", 2):
            return Atom(names["permitted"], node.args)
        return rebuilt(node, renamed)

    preferring = []
    for one in preferences:
        terms = (Move(one.role).term, Move(one.move).term)
        preferring.append(Rule(Atom(names["preferred"], terms), (Atom(names["permitted"], terms),)))
    rules = print_tree([*map(renamed, statements), *preferring], spelling=True)
    text = rules.text + _RULES.format(**names)
    title = f"{game.name} (restricted)"
    return StateMachine(read(text, "prefix", title), name=title, limits=game.limits)

"""Restrict a game: some roles prefer some of their moves to all others, whenever they are legal.

A preference may depend on the state, as a reply to a move of another role does.  In every state a role has a
part of its legal moves, and some move where it had one before.  So what a role cannot reach in the restricted
game, it cannot force in the game itself: the others may play as they prefer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.convert.redefine import redefine
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.machine.state_machine import StateMachine

__all__ = ["Preference", "restrict"]


@dataclass(frozen=True, slots=True)
class Preference:
    """A move, as KIF, that a role makes rather than those it does not prefer."""

    role: str
    move: str
    when: str = ""
    """The fluent, as KIF, that has to be true for that; if empty, it is always so."""


def restrict(game: StateMachine, preferences: Iterable[Preference]) -> StateMachine:
    """Return the game in which roles make preferred moves where these are legal, and any others elsewhere.

    >>> from herbrand.game import loads
    >>> game = loads("(role r) (legal r wait) (legal r (go 1)) (init i) terminal (goal r 0)")
    >>> restricted = restrict(game, [Preference("r", "wait")])
    >>> [str(move) for move in restricted.initial_state().legal_moves("r")]
    ['wait']

    Raises `GameError` for rules whose names differ only in case, and `InvalidMoveError` for a preference
    whose role, move or fluent is not a ground term.
    """
    terms = [
        (Move(one.role).term, Move(one.move).term, f" (true {Move(one.when).term})" if one.when else "")
        for one in preferences
    ]

    def rules(permitted: str, preferred: str, prefers: str) -> str:
        own = "".join(
            f"(<= ({preferred} {role} {move}) ({permitted} {role} {move}){condition})\n"
            for role, move, condition in terms
        )
        return own + (
            f"(<= (legal ?role ?move) ({preferred} ?role ?move))\n"
            f"(<= (legal ?role ?move) ({permitted} ?role ?move) (not ({prefers} ?role)))\n"
            f"(<= ({prefers} ?role) ({preferred} ?role ?move))\n"
        )

    return redefine(game, [("legal", 2)], ("permitted", "preferred", "prefers"), rules, "restricted")

"""The game of winning together: all roles have 100 where two of them had it before, and 0 elsewhere.

If nobody wins this game, the two never win at the same time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.convert.redefine import redefine
from herbrand.errors import GameError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["joint_win"]


def joint_win(game: StateMachine, one: str, two: str) -> StateMachine:
    """Return the game in which all roles have 100 where 100 is among the goal values of two, in any order.

    >>> from herbrand.game import loads
    >>> rules = "(role a) (role b) (legal a wait) (legal b wait) terminal (goal a 100) (goal b 100) (init i)"
    >>> joint_win(loads(rules), "a", "b").initial_state().goals
    {'a': 100, 'b': 100}

    Raises `GameError` for what is no role, and for rules whose names differ only in case.
    """
    if not {one, two} <= set(game.roles):
        raise GameError(f"`{game.name}` has no roles {one} and {two}")
    first, second = sorted((one, two))

    def rules(reward: str, together: str) -> str:
        return (
            f"(<= {together} ({reward} {first} 100) ({reward} {second} 100))\n"
            f"(<= (goal ?role 100) (role ?role) {together})\n"
            f"(<= (goal ?role 0) (role ?role) (not {together}))\n"
        )

    return redefine(game, [("goal", 2)], ("reward", "together"), rules, "with joint wins")

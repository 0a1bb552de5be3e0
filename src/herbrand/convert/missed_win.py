"""The game of not winning: a role has 100 where it did not win before, and 0 where it did.

If it never wins this game, it has won at every end of the game itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.convert.redefine import redefine
from herbrand.errors import GameError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["missed_win"]


def missed_win(game: StateMachine, role: str) -> StateMachine:
    """Return the game in which a role has 100 unless 100 was its only goal value; other roles always have 0.

    >>> from herbrand.game import loads
    >>> rules = "(role a) (role b) (legal a wait) (legal b wait) terminal (goal a 100) (goal b 50) (init i)"
    >>> missed_win(loads(rules), "b").initial_state().goals
    {'a': 0, 'b': 100}

    Raises `GameError` for what is no role, and for rules whose names differ only in case.
    """
    if role not in game.roles:
        raise GameError(f"`{game.name}` has no role {role}")
    name = Move(role).term

    def rules(reward: str, contested: str, won: str) -> str:
        return (
            f"(<= {contested} ({reward} {name} ?value) (distinct ?value 100))\n"
            f"(<= {won} ({reward} {name} 100) (not {contested}))\n"
            f"(<= (goal {name} 100) (not {won}))\n"
            f"(<= (goal {name} 0) {won})\n"
            f"(<= (goal ?role 0) (role ?role) (distinct ?role {name}))\n"
        )

    return redefine(game, [("goal", 2)], ("reward", "contested", "won"), rules, "with missed wins")

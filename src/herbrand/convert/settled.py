"""The game in which roles have goal values unless a game for two is not settled: nobody wins, or both choose.

If they always have one at its ends, and every play of the game itself ends, one of the two roles can force a
win there (Zermelo 1913): if the one cannot, the other can prevent it, and has won where the one has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.convert.redefine import redefine
from herbrand.errors import GameError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.machine.state_machine import StateMachine

__all__ = ["settled"]


def settled(game: StateMachine, idle: Mapping[str, str]) -> StateMachine:
    """Return the game in which all roles have 100, but no goal value where the game is not settled.

    That is at ends at which neither role has 100 as its only goal value, and in other states, which are ends
    here, in which both have a move besides their `idle` one, such as `noop`.

    >>> from herbrand.game import loads
    >>> rules = "(role a) (role b) (legal a wait) (legal b wait) terminal (goal a 50) (goal b 50) (init i)"
    >>> settled(loads(rules), {"a": "wait", "b": "wait"}).initial_state().goals
    {'a': None, 'b': None}

    Raises `GameError` unless there are two roles, both players, each with an idle move, and for rules whose
    names differ only in case; `InvalidMoveError` for a move that is not a ground term.
    """
    if len(game.roles) != 2 or set(idle) != set(game.players):
        raise GameError(f"`{game.name}` is not a game of two roles with an idle move each")
    moves = [(Move(role).term, Move(idle[role]).term) for role in game.roles]

    def rules(reward: str, over: str, contested: str, won: str, chooses: str, fault: str) -> str:
        own = "".join(
            f"(<= ({contested} {role}) ({reward} {role} ?value) (distinct ?value 100))\n"
            f"(<= {won} ({reward} {role} 100) (not ({contested} {role})))\n"
            f"(<= ({chooses} {role}) (legal {role} ?move) (distinct ?move {move}))\n"
            for role, move in moves
        )
        both = " ".join(f"({chooses} {role})" for role, _ in moves)
        return own + (
            f"(<= {fault} {over} (not {won}))\n"
            f"(<= {fault} (not {over}) {both})\n"
            f"(<= terminal {over})\n"
            f"(<= terminal {fault})\n"
            f"(<= (goal ?role 100) (role ?role) (not {fault}))\n"
        )

    names = ("reward", "over", "contested", "won", "chooses", "fault")
    return redefine(game, [("goal", 2), ("terminal", 0)], names, rules, "settled")

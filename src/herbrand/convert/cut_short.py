"""The game that also ends where some conditions hold; goals stay what they are.

If a role has not 100 in such a state, and cannot get it any more, it can force 100 in both games or in none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.convert.redefine import redefine
from herbrand.errors import GameError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.machine.state_machine import StateMachine

__all__ = ["cut_short"]


def cut_short(game: StateMachine, conditions: Iterable[Sequence[tuple[str, bool]]]) -> StateMachine:
    """Return the game that is over in more states, those in which fluents of a condition have its values.

    >>> from herbrand.game import loads
    >>> game = loads("(role r) (init (at 1)) (legal r go) (<= (next (at 2)) (true (at 1))) (goal r 0)")
    >>> cut_short(game, [[("(at 2)", True), ("(at 1)", False)]]).initial_state().next(["go"]).is_terminal
    True

    Raises `GameError` for rules whose names differ only in case and for a condition without fluents, and
    `InvalidMoveError` for a fluent that, like a move, has to be a ground term and is not.
    """

    def body(condition: Sequence[tuple[str, bool]]) -> str:
        if not condition:
            raise GameError("a condition without fluents holds always")
        literals = ((f"(true {Move(fluent).term})", value) for fluent, value in condition)
        return " ".join(atom if value else f"(not {atom})" for atom, value in literals)

    bodies = [body(condition) for condition in conditions]

    def rules(over: str) -> str:
        return f"(<= terminal {over})\n" + "".join(f"(<= terminal {body})\n" for body in bodies)

    return redefine(game, [("terminal", 0)], ("over",), rules, "cut short")

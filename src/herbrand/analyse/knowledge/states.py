"""Legal moves and goal values of a state, with errors where a game lacks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand.engine.playouts import goal_value
from herbrand.errors import GameError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.rules.interface import Engine

__all__ = ["legal_moves", "single_goal"]


def legal_moves(game: StateMachine, machine: Engine, key: Any) -> list[tuple[int, ...]]:
    """Return the legal moves of each role, sorted by text; `GameError` if a role has none."""
    legal = [tuple(sorted(machine.legal(key, i), key=machine.terms.text)) for i in range(len(game.roles))]
    if () in legal:
        role = game.roles[legal.index(())]
        raise GameError(f"{role} has no legal move, and the game is not over")
    return legal


def single_goal(game: StateMachine, machine: Engine, key: Any, role: int) -> int:
    """Return the goal value of a role in a state; `GameError` unless there is exactly one."""
    values = [machine.terms.text(value) for value in machine.goals(key, role)]
    value = goal_value(values[0]) if len(values) == 1 else None
    if value is None:
        listed = ", ".join(sorted(values)) or "none"
        raise GameError(
            f"{game.roles[role]} has no single goal value at an end of the game (found: {listed})"
        )
    return value

"""Validate plans for the PDDL of a game by playing them with the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.convert.pddl import moves_of_plan
from herbrand.errors import IllegalMoveError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["PlanReport", "verify_plan"]


@dataclass(frozen=True, slots=True)
class PlanReport:
    """The result of playing a plan."""

    moves: tuple[str, ...]
    """The moves of the plan, as KIF."""
    played: int
    """The number of moves before the first illegal one."""
    goal: int | None
    """The goal value in the last state; None if there is not exactly one."""
    wrong: str | None
    """Why the plan does not win, or None when it does."""

    @property
    def ok(self) -> bool:
        """Whether all moves are legal and end the game with 100."""
        return self.wrong is None


def verify_plan(game: StateMachine, text: str, *, engine: str = "rules") -> PlanReport:
    """Play the moves of a plan; `text` is the output of a planner for the PDDL of the game.

    Raises `GameError` for a game without PDDL and `InvalidMoveError` for a text that is not a plan.
    """
    moves = moves_of_plan(game, text)
    state = game.initial_state(engine)
    (role,) = game.roles
    for number, move in enumerate(moves):
        if state.is_terminal:
            reason = f"the game is over before move {number + 1}, {move}"
            return PlanReport(moves, number, state.goal(role), reason)
        try:
            state = state.next((move,))
        except IllegalMoveError as error:
            return PlanReport(moves, number, state.goal(role), f"move {number + 1}: {error}")
    value = state.goal(role)
    problem = None
    if not state.is_terminal:
        problem = "the game is not over at the end of the plan"
    elif value != 100:
        problem = f"the game ends with {'no goal value' if value is None else value}, not with 100"
    return PlanReport(moves, len(moves), value, problem)

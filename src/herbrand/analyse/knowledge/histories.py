"""Histories: what a role remembers of a play."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from herbrand.machine.moves import Move
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.machine.state import JointMove
    from herbrand.machine.state_machine import StateMachine

__all__ = ["History", "HistoryStep", "history", "history_of"]


class HistoryStep(NamedTuple):
    """One step of a play as one role remembers it."""

    move: str
    """The role's move, as KIF."""
    percepts: frozenset[str]
    """Its percepts after the step, as KIF."""

    def __str__(self) -> str:
        return f"{self.move}; saw {' '.join(sorted(self.percepts)) or 'nothing'}"


History: TypeAlias = tuple[HistoryStep, ...]
"""The steps of a play from its beginning."""


def history(
    game: StateMachine, role: str, joint_moves: Iterable[JointMove], *, engine: str = "auto"
) -> History:
    """Return what a role remembers after these joint moves from the initial state.

        >>> import herbrand
        >>> kuhn = herbrand.load("kuhn")
        >>> play = [("noop", "noop", "(deal jack king)"), ("bet", "noop", "noop")]
        >>> for step in history(kuhn, "second", play):
        ...     print(step)
        noop; saw (dealt king)
        noop; saw (did first bet)

    Raises as `State.next` does for illegal moves.
    """
    return history_of(Trajectory.replay(game, joint_moves, engine=engine), role)


def history_of(play: Trajectory, role: str) -> History:
    """Return what a role remembers of a play."""
    place = play.game.role_index(role)
    return tuple(
        HistoryStep(Move(joint[place]).gdl, frozenset(play.percepts(step, role)))
        for step, joint in enumerate(play.joint_moves)
    )

"""Histories: what a role remembers of a play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.game import Game
    from herbrand.machine.state import JointMove

__all__ = ["History", "Step", "history"]


class Step(NamedTuple):
    """One step of a play as one role remembers it."""

    move: str
    """What the role did, as KIF."""
    percepts: frozenset[str]
    """What it was told afterwards, as KIF."""

    def __str__(self) -> str:
        return f"{self.move}; saw {' '.join(sorted(self.percepts)) or 'nothing'}"


History: TypeAlias = tuple[Step, ...]
"""The steps of a play; before the first there is nothing to see."""


def history(game: Game, role: str, joint_moves: Iterable[JointMove], *, engine: str = "auto") -> History:
    """Return what a role remembers after these joint moves from the initial state.

        >>> import herbrand
        >>> kuhn = herbrand.load("kuhn")
        >>> play = [("noop", "noop", "(deal jack king)"), ("bet", "noop", "noop")]
        >>> for step in history(kuhn, "second", play):
        ...     print(step)
        noop; saw (dealt king)
        noop; saw (did first bet)

    Raises what `State.next` raises for moves that cannot be made.
    """
    place = game.role_index(role)
    state = game.initial_state(engine)
    steps = []
    for joint in joint_moves:
        after = state.next(joint)
        if isinstance(joint, Mapping):
            own = next(move for name, move in joint.items() if game.role_index(name) == place)
        else:
            own = joint[place]
        steps.append(Step(Move(str(own)).gdl, frozenset(state.percepts(joint, role))))
        state = after
    return tuple(steps)

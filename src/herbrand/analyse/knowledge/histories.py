"""Histories: the moves and percepts that a role remembers of a play, and keys for tables of them."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from herbrand.machine.moves import Move
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.machine.state import JointMove
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "FIRST_KEY",
    "KEY_BYTES",
    "History",
    "HistoryStep",
    "extended_key",
    "history",
    "history_key",
    "history_of",
    "state_key",
]

KEY_BYTES: Final = 16
FIRST_KEY: Final = bytes(KEY_BYTES)
"""The key of the empty history."""


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
    """Return the history of a role after these joint moves from the initial state.

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
    """Return the history of a role in a play."""
    place = play.game.role_index(role)
    return tuple(
        HistoryStep(Move(joint[place]).gdl, frozenset(play.percepts(step, role)))
        for step, joint in enumerate(play.joint_moves)
    )


def extended_key(key: bytes, move: str, percepts: Iterable[str]) -> bytes:
    """Return the key of a history, given that of the history before its last step, and this step as KIF."""
    return _digest(key, (move, *sorted({percept.lower() for percept in percepts})))


def history_key(steps: History) -> bytes:
    """Return the key of a history: a digest, in which the case of names does not matter."""
    key = FIRST_KEY
    for step in steps:
        key = extended_key(key, step.move, step.percepts)
    return key


def state_key(facts: Iterable[str]) -> bytes:
    """Return the key of a state, which takes the place of the history where nothing is hidden."""
    return _digest(b"state", sorted(fact.lower() for fact in facts))


def _digest(before: bytes, words: Iterable[str]) -> bytes:
    return blake2b(before + "\n".join(words).lower().encode(), digest_size=KEY_BYTES).digest()

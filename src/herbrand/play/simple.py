"""Players that do not search: the first legal move, and a random one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.play.interface import Player

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["LegalPlayer", "RandomPlayer"]


class LegalPlayer(Player):
    """Plays the first legal move."""

    def select(self, state: State, play_clock: float) -> Move:
        """Return the first of the sorted legal moves."""
        del play_clock
        return self.options(state)[0]


class RandomPlayer(Player):
    """Plays a legal move drawn uniformly."""

    def select(self, state: State, play_clock: float) -> Move:
        """Draw a legal move."""
        del play_clock
        return self.chance.choice(self.options(state))

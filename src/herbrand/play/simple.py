"""Players that look at most one step ahead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from herbrand.play.interface import Player, counted_goals
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["GreedyPlayer", "LegalPlayer", "RandomPlayer"]

_REPLIES = 8
"""Random replies sampled for each own move where other roles have a choice."""
_RESERVE = 1.5
"""Time reserved for a step, as a multiple of the longest step so far."""


class LegalPlayer(Player):
    """Plays the first legal move."""

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the first of the sorted legal moves."""
        del play_clock
        return self.options(state)[0]


class RandomPlayer(Player):
    """Plays a legal move drawn uniformly."""

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Draw a legal move."""
        del play_clock
        return self.chance.choice(self.options(state))


class GreedyPlayer(Player):
    """Plays the move after which its goal value is highest, averaged over random moves of the others.

    A state without exactly one goal value counts as 50, or 0 if it is terminal.  Ties are broken at random.
    """

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the best of the moves tried before the clock runs out."""
        started = time.monotonic()
        deadline = started + play_clock
        moves = self.options(state)
        self.chance.shuffle(moves)
        if len(moves) == 1:
            return moves[0]
        alone = all(len(legal) == 1 for role, legal in state.legal_moves().items() if role != self.role)
        best, highest, own = moves[0], -1.0, self.game.role_index(self.role)
        now = time.monotonic()
        longest = now - started  # bounds the time of one rule evaluation
        for move in moves:
            values = []
            for _ in range(1 if alone else _REPLIES):
                if not self.has_time(deadline - _RESERVE * longest):
                    return best
                after = state.next({**self.random_joint_move(state), self.role: move})
                values.append(counted_goals(after)[own])
                before, now = now, time.monotonic()
                longest = max(longest, now - before)
            value = sum(values) / len(values)
            if value > highest:
                best, highest = move, value
        return best

"""A player that looks one step ahead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from herbrand.play.interface import Player
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["GreedyPlayer"]

_REPLIES = 8
"""How many moves of the others are tried with each move where they have a choice."""


_RESERVE = 1.5
"""How many times as long as the longest before a step may take."""


class GreedyPlayer(Player):
    """Plays the move after which its goal value is highest, on the average over moves of the others.

    A state without exactly one goal value counts as half of the way, 50.  Among equals it draws.
    """

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move found until the time is up."""
        started = time.monotonic()
        deadline = started + play_clock
        moves = self.options(state)
        self.chance.shuffle(moves)
        if len(moves) == 1:
            return moves[0]
        alone = all(len(legal) == 1 for role, legal in state.legal_moves().items() if role != self.role)
        best, highest = moves[0], -1.0
        now = time.monotonic()
        longest = now - started  # what a question to the rules may take
        for move in moves:
            values = []
            for _ in range(1 if alone else _REPLIES):
                if not self.may_go_on(deadline - _RESERVE * longest):
                    return best
                after = state.next({**self.reply(state), self.role: move})
                goal = after.goal(self.role)
                values.append(50 if goal is None else goal)
                before, now = now, time.monotonic()
                longest = max(longest, now - before)
            value = sum(values) / len(values)
            if value > highest:
                best, highest = move, value
        return best

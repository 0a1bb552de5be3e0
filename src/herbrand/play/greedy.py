"""A player that looks one step ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.play.interface import Player

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["GreedyPlayer"]

_REPLIES = 8
"""How many moves of the others are tried with each move where they have a choice."""


class GreedyPlayer(Player):
    """Plays the move after which its goal value is highest, on the average over moves of the others.

    A state without exactly one goal value counts as half of the way, 50.  Among equals it draws.
    """

    def select(self, state: State, play_clock: float) -> Move:
        """Return the best move found until the time is up."""
        deadline = self.until(play_clock)
        moves = self.options(state)
        self.chance.shuffle(moves)
        if len(moves) == 1:
            return moves[0]
        alone = all(len(legal) == 1 for role, legal in state.legal_moves().items() if role != self.role)
        best, highest = moves[0], -1.0
        for move in moves:
            values = []
            for _ in range(1 if alone else _REPLIES):
                if not self.may_go_on(deadline):
                    return best
                after = state.next({**self.reply(state), self.role: move})
                goal = after.goal(self.role)
                values.append(50 if goal is None else goal)
            value = sum(values) / len(values)
            if value > highest:
                best, highest = move, value
        return best

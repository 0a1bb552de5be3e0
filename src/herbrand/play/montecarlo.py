"""Flat Monte Carlo: the move with the best mean over playouts.

On the network, hundreds of playouts run at once from the states after each move (`Expander.rollouts`).  While
the network is not ready, and for games without one, playouts evaluate the rules one at a time.  Both add to
the same means.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from herbrand.core import STUCK, Stop
from herbrand.errors import HerbrandError
from herbrand.play.interface import Player, counted_goals
from herbrand.play.threads import CLOCK_MARGIN, ThreadTeam
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from herbrand.engine.expand import Expander
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["MonteCarloPlayer"]

_FIRST_ROUND = 64
"""Playouts of the first round on the network, one for each bit of a word; later rounds grow."""
_LARGEST_ROUND = 4096
_UNKNOWN_GOAL = 50.0
"""The goal value of a playout that is cut off without exactly one."""


class _MoveMeans:
    """Sums and counts of the goal values of playouts, for each legal move of a state."""

    def __init__(self, state: State, moves: list[Move]) -> None:
        self.state = state
        self.moves = moves
        self.totals = [0.0] * len(moves)
        self.counts = [0] * len(moves)
        self.stop = Stop()
        """Ends the playouts when set."""


class MonteCarloPlayer(Player):
    """Runs equally many playouts after each legal move and plays the one with the best mean.

    `playouts` bounds their number for one move (None: limited by the clock); playouts are cut off after
    `max_steps`.  Ties go to the first move in sorted order.
    """

    def __init__(self, seed: int | None = None, *, playouts: int | None = None, max_steps: int = 500) -> None:
        super().__init__(seed)
        self.playouts = playouts
        self.max_steps = max_steps
        self.played = 0
        """Playouts run for the last move."""
        self._expander: Expander | None = None
        self._team = ThreadTeam()

    def prepare(self, deadline: float) -> None:
        """Build the network in the background; wait for it until the clock runs out."""
        self._expander = None
        self.run_in_background(partial(self._build, self.game), deadline)

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the move with the best mean when time is up."""
        deadline = self.deadline_after(play_clock) - CLOCK_MARGIN
        moves = self.options(state)
        self.played = 0
        if len(moves) == 1:
            return moves[0]
        means = _MoveMeans(state, moves)
        task = partial(self._run_task, means, deadline)
        self._team.run_until(deadline, [task], [means.stop], self)
        self.played = sum(means.counts)
        values = [
            total / count if count else -1.0 for total, count in zip(means.totals, means.counts, strict=True)
        ]
        return moves[max(range(len(moves)), key=values.__getitem__)]

    def stop(self) -> None:
        """End the match and any running playouts."""
        super().stop()
        self._team.request_stop()

    def _run_task(self, means: _MoveMeans, deadline: float) -> bool:
        with suppress(HerbrandError):  # evaluation went over budget: the means so far decide
            self._run_playouts(means, deadline)
        return True

    def _run_playouts(self, means: _MoveMeans, deadline: float) -> None:
        """Run playouts until there are enough, or too little time is left for another round."""
        moves = means.moves
        # with a bound on playouts, the sizes of rounds must not depend on the clock
        bound = self.playouts
        games = (
            min(_LARGEST_ROUND, -(-bound // len(moves))) if bound is not None else _FIRST_ROUND // len(moves)
        )
        games = max(1, games)
        # with thousands of moves, a round takes a few of them, until their cost is known
        first, round_moves = 0, len(moves) if bound is not None else _FIRST_ROUND // games
        while self._is_running(means) and (bound is None or sum(means.counts) < bound):
            expander = self._expander
            started = time.monotonic()
            if expander is None:
                self._playouts_on_rules(means)
            else:
                try:
                    end = min(len(moves), first + round_moves)
                    self._playouts_on_network(expander, means, games, first, end)
                    first = end if end < len(moves) else 0
                except HerbrandError:  # the network cannot represent the state: continue on the rules
                    self._expander = None
                    continue
            spent = time.monotonic() - started
            if bound is None and expander is not None and 4 * spent < min(0.2, deadline - time.monotonic()):
                if round_moves < len(moves):
                    round_moves *= 2
                else:
                    games = min(_LARGEST_ROUND, 2 * games)
            if 1.5 * spent > deadline - time.monotonic():
                break

    def _is_running(self, means: _MoveMeans) -> bool:
        return not means.stop.is_set and not self.stopped

    def _build(self, game: Any) -> None:
        try:
            expander = game.expander
        except (HerbrandError, MemoryError):
            return
        if self._game is game:
            self._expander = expander

    def _playouts_on_rules(self, means: _MoveMeans) -> None:
        """Run one playout after each move by evaluating the rules; raises `HerbrandError` as they do."""
        for k, move in enumerate(means.moves):
            if not self._is_running(means):
                return
            state = means.state.next({**self.random_joint_move(means.state), self.role: move})
            for _ in range(self.max_steps):
                if state.is_terminal:
                    break
                if not self._is_running(means):
                    return
                state = state.next(self.random_joint_move(state))
            means.totals[k] += counted_goals(state)[self.game.role_index(self.role)]
            means.counts[k] += 1

    def _playouts_on_network(
        self, expander: Expander, means: _MoveMeans, games: int, first: int, end: int
    ) -> None:
        """Run `games` playouts on the network after each of the moves `first` to `end` - 1."""
        import numpy as np

        own = self.game.role_index(self.role)
        generator = np.random.default_rng(self.chance.getrandbits(64))
        joint = np.zeros((end - first, games, len(expander.roles)), np.int32)
        for r, legal in enumerate(means.state.legal_moves().values()):
            numbers = np.array([expander.move_numbers[r][str(move).lower()] for move in legal], np.int32)
            if r == own:
                joint[:, :, r] = numbers[first:end, None]
            else:
                joint[:, :, r] = generator.choice(numbers, joint.shape[:2])
        root = expander.pack([means.state.facts])
        parents = np.zeros((end - first) * games, np.int64)
        states = expander.step(root, joint.reshape(len(parents), -1), parents)
        ended = expander.rollouts(
            states, seed=self.chance.getrandbits(32), max_steps=self.max_steps, stop=means.stop
        )
        if not ended.complete:
            return
        values = ended.goals[:, own].astype(float)
        has_no_end = ended.truncated | (ended.goals[:, own] == STUCK)
        values = np.where(values < 0, np.where(has_no_end, _UNKNOWN_GOAL, 0.0), values)
        for k, total in enumerate(values.reshape(end - first, games).sum(axis=1).tolist(), first):
            means.totals[k] += total
            means.counts[k] += games

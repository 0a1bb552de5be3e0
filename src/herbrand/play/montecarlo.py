"""Flat Monte-Carlo: the move after which random games end best.

On the network, hundreds of games are played at once from the states after each move
(`Expander.rollouts`); while the network is not ready, or where there is none, games are played
one by one by evaluating the rules.  Both add to the same averages.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from herbrand.core import Stop
from herbrand.errors import HerbrandError
from herbrand.play.interface import Player
from herbrand.play.team import MARGIN, Team
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from herbrand.engine.expand import Expander
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["MonteCarloPlayer"]

_AT_FIRST = 64
"""Games of the first round on the network, as many as one word has bits; later rounds grow."""
_LARGEST_ROUND = 4096
_UNKNOWN = 50.0
"""What a game counts that ends without exactly one goal value, or is cut off without one."""


class _Averages:
    """What random games after each move of a state gave so far."""

    def __init__(self, state: State, moves: list[Move]) -> None:
        self.state = state
        self.moves = moves
        self.totals = [0.0] * len(moves)
        self.counts = [0] * len(moves)
        self.stop = Stop()
        """Ends the games when it is set."""


class MonteCarloPlayer(Player):
    """Plays every legal move equally often in random games and takes the one with the best mean.

    `playouts` bounds the games of one move (None: as many as there is time for); `max_steps` cuts games
    off that do not end.  A draw of means goes to the first move in the order of the sheet's text.
    """

    def __init__(self, seed: int | None = None, *, playouts: int | None = None, max_steps: int = 500) -> None:
        super().__init__(seed)
        self.playouts = playouts
        self.max_steps = max_steps
        self.played = 0
        """Random games played for the last move."""
        self._expander: Expander | None = None
        self._building: threading.Thread | None = None
        self._team = Team()

    def prepare(self, deadline: float) -> None:
        """Build the network in the background; wait for it until the clock runs out."""
        self._expander = None
        self._building = threading.Thread(target=self._build, args=(self.game,), daemon=True)
        self._building.start()
        while self._building.is_alive() and self.may_go_on(deadline):
            self._building.join(0.02)

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the move with the best mean when time is up."""
        deadline = self.until(play_clock) - MARGIN
        moves = self.options(state)
        self.played = 0
        if len(moves) == 1:
            return moves[0]
        work = _Averages(state, moves)
        self._team.think([partial(self._work, work, deadline)], [work.stop], self.may_go_on, deadline)
        self.played = sum(work.counts)
        means = [
            total / count if count else -1.0 for total, count in zip(work.totals, work.counts, strict=True)
        ]
        return moves[max(range(len(moves)), key=means.__getitem__)]

    def stop(self) -> None:
        """End the match, and the games that are under way."""
        super().stop()
        self._team.halt()

    def _work(self, work: _Averages, deadline: float) -> bool:
        with suppress(HerbrandError):  # the rules take too long: what is known so far decides
            self._play(work, deadline)
        return True

    def _play(self, work: _Averages, deadline: float) -> None:
        """Play games until there are enough, or too little time is left for more."""
        moves = work.moves
        most = self.playouts  # then the same questions have the same answers, whatever the clock says
        games = min(_LARGEST_ROUND, -(-most // len(moves))) if most is not None else _AT_FIRST // len(moves)
        games = max(1, games)
        # of thousands of moves a few at a time, until it is known how long that takes
        first, few = 0, len(moves) if most is not None else _AT_FIRST // games
        while self._goes_on(work) and (most is None or sum(work.counts) < most):
            expander = self._expander
            started = time.monotonic()
            if expander is None:
                self._one_each(work)
            else:
                try:
                    end = min(len(moves), first + few)
                    self._many_each(expander, work, games, first, end)
                    first = end if end < len(moves) else 0
                except HerbrandError:  # a state that the network does not have: the rules go on
                    self._expander = None
                    continue
            spent = time.monotonic() - started
            if most is None and expander is not None and 4 * spent < min(0.2, deadline - time.monotonic()):
                if few < len(moves):
                    few *= 2
                else:
                    games = min(_LARGEST_ROUND, 2 * games)
            if 1.5 * spent > deadline - time.monotonic():
                break

    def _goes_on(self, work: _Averages) -> bool:
        return not work.stop.is_set and not self.stopped

    def _build(self, game: Any) -> None:
        try:
            expander = game.expander
        except (HerbrandError, MemoryError):
            return
        if self._game is game:
            self._expander = expander

    def _one_each(self, work: _Averages) -> None:
        """Play one random game after each move by evaluating the rules; raises as they do."""
        for place, move in enumerate(work.moves):
            if not self._goes_on(work):
                return
            here = work.state.next({**self.reply(work.state), self.role: move})
            for _ in range(self.max_steps):
                if here.is_terminal:
                    break
                if not self._goes_on(work):
                    return
                here = here.next(self.reply(here))
            goal = here.goal(self.role)
            work.totals[place] += _UNKNOWN if goal is None else goal
            work.counts[place] += 1

    def _many_each(self, expander: Expander, work: _Averages, games: int, first: int, end: int) -> None:
        """Play so many random games on the network after each of the moves from number `first` to `end`."""
        import numpy as np

        mine = self.game.role_index(self.role)
        generator = np.random.default_rng(self.chance.getrandbits(64))
        joint = np.zeros((end - first, games, len(expander.roles)), np.int32)
        for place, (role, legal) in enumerate(work.state.legal_moves().items()):
            numbers = np.array([expander.move_numbers[place][str(move).lower()] for move in legal], np.int32)
            if place == mine:
                joint[:, :, place] = numbers[first:end, None]
            else:
                joint[:, :, place] = generator.choice(numbers, joint.shape[:2])
            assert role == self.game.roles[place]
        here = expander.pack([work.state.facts])
        parents = np.zeros((end - first) * games, np.int64)
        after = expander.step(here, joint.reshape(len(parents), -1), parents)
        ended = expander.rollouts(
            after,
            seed=self.chance.getrandbits(32),
            max_steps=self.max_steps,
            stop=work.stop,
        )
        if not ended.complete:
            return
        values = ended.goals[:, mine].astype(float)
        values[values < 0] = _UNKNOWN
        for place, total in enumerate(values.reshape(end - first, games).sum(axis=1).tolist(), first):
            work.totals[place] += total
            work.counts[place] += games

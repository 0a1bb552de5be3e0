"""Flat Monte-Carlo: the move after which random games end best.

On the network, hundreds of games are played at once from the states after each move
(`Expander.rollouts`); while the network is not ready, or where there is none, games are played
one by one by evaluating the rules.  Both add to the same averages.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.interface import Player

if TYPE_CHECKING:
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.simulate.expand import Expander

__all__ = ["MonteCarloPlayer"]

_ROUND = 32
"""Games from each move in the first round on the network; later rounds grow with the time there is."""
_LARGEST_ROUND = 4096
_FEW = 512
"""Games played at once at first, where there are more moves than that leaves games for each."""
_UNKNOWN = 50.0
"""What a game counts that ends without exactly one goal value, or is cut off without one."""


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

    def prepare(self, deadline: float) -> None:
        """Build the network in the background; wait for it until the clock runs out."""
        self._expander = None
        self._building = threading.Thread(target=self._build, args=(self.game,), daemon=True)
        self._building.start()
        while self._building.is_alive() and self.may_go_on(deadline):
            self._building.join(0.02)

    def select(self, state: State, play_clock: float) -> Move:
        """Return the move with the best mean when time is up."""
        deadline = self.until(play_clock)
        moves = self.options(state)
        self.played = 0
        if len(moves) == 1:
            return moves[0]
        totals = [0.0] * len(moves)
        counts = [0] * len(moves)
        most = self.playouts  # then the same questions have the same answers, whatever the clock says
        games = _ROUND if most is None else min(_LARGEST_ROUND, -(-most // len(moves)))
        # of thousands of moves a few at a time, until it is known how long that takes
        first, few = 0, len(moves) if most is not None else max(1, _FEW // games)
        while self.may_go_on(deadline) and (most is None or self.played < most):
            expander = self._expander
            started = time.monotonic()
            if expander is None:
                self._one_each(state, moves, totals, counts, deadline)
            else:
                try:
                    part = moves[first : first + few]
                    self._many_each(expander, state, part, totals, counts, games, first)
                    first = first + len(part) if first + len(part) < len(moves) else 0
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
        means = [total / count if count else -1.0 for total, count in zip(totals, counts, strict=True)]
        return moves[max(range(len(moves)), key=means.__getitem__)]

    def _build(self, game: Any) -> None:
        import numpy as np

        try:
            expander = game.expander
            for few_or_many in (1, 65):  # compiles
                rows = np.zeros(few_or_many, np.int64)
                still = np.full((few_or_many, len(expander.roles)), -1, np.int32)
                expander.step(expander.initial, still, rows)
                expander.rollouts(expander.initial, seed=0, each=few_or_many, max_steps=2)
        except (HerbrandError, MemoryError):
            return
        if self._game is game:
            self._expander = expander

    def _one_each(
        self, state: State, moves: list[Move], totals: list[float], counts: list[int], deadline: float
    ) -> None:
        """Play one random game after each move by evaluating the rules."""
        for place, move in enumerate(moves):
            if not self.may_go_on(deadline):
                return
            here = state.next({**self.reply(state), self.role: move})
            for _ in range(self.max_steps):
                if here.is_terminal:
                    break
                if not self.may_go_on(deadline):
                    return
                here = here.next(self.reply(here))
            goal = here.goal(self.role)
            totals[place] += _UNKNOWN if goal is None else goal
            counts[place] += 1
            self.played += 1

    def _many_each(
        self,
        expander: Expander,
        state: State,
        moves: list[Move],
        totals: list[float],
        counts: list[int],
        games: int,
        first: int,
    ) -> None:
        """Play random games on the network after each of some moves, the first of which is number `first`."""
        import numpy as np

        mine = self.game.role_index(self.role)
        generator = np.random.default_rng(self.chance.getrandbits(64))
        joint = np.zeros((len(moves), games, len(expander.roles)), np.int32)
        for place, (role, legal) in enumerate(state.legal_moves().items()):
            numbers = np.array([expander.move_numbers[place][str(move).lower()] for move in legal], np.int32)
            if place == mine:
                joint[:, :, place] = numbers[first : first + len(moves), None]
            else:
                joint[:, :, place] = generator.choice(numbers, (len(moves), games))
            assert role == self.game.roles[place]
        here = expander.pack([state.facts])
        parents = np.zeros(len(moves) * games, np.int64)
        after = expander.step(here, joint.reshape(len(parents), -1), parents)
        ended = expander.rollouts(after, seed=self.chance.getrandbits(32), max_steps=self.max_steps)
        values = ended.goals[:, mine].astype(float)
        values[values < 0] = _UNKNOWN
        for place, total in enumerate(values.reshape(len(moves), games).sum(axis=1).tolist(), first):
            totals[place] += total
            counts[place] += games
        self.played += len(values)

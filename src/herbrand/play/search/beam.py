"""`Beam`: for one role alone, the best states of each step, judged by random games from them.

Nested Monte-Carlo search of the first level plays the move after which a random game ends best (Cazenave
2009); with the best few states of each step kept instead of one it is Monte-Carlo beam search
(Cazenave 2012).
All successors of all kept states are made in one pass over the network, and the games from all of them are
played in another.  When the last states are over, it begins again with twice as many states.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from herbrand.engine.expand import Expander

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import States
    from herbrand.network.network import Network
    from herbrand.play.search.engine import Search

__all__ = ["Beam"]

_WIDTH = 8
"""States that are kept of each step, the first time."""
_WIDEST = 256
_EACH = 8
"""Random games from a state."""
_SUCCESSORS = 1024
"""States that are judged in a step, at most."""


class Beam:
    """Looks for a way to the highest goal from one state; `seed` is for its random games."""

    def __init__(self, network: Network, *, seed: int = 0, max_steps: int = 1000) -> None:
        self.expander = Expander(network)
        self.max_steps = max_steps
        self.value = -1.0
        """The highest value that was reached, from 0 to 1; -1 before any was."""
        self.moves: list[int] = []
        """The moves to it from the root."""
        self.games = 0
        """Random games played for this root."""
        self._generator = np.random.default_rng(seed)
        self._turn = threading.Lock()
        self._told = -1.0
        self._root = self.expander.initial
        self._width = _WIDTH
        self._begin()

    @property
    def may_go_on(self) -> bool:
        """Whether there can be anything better."""
        return self.value < 1.0

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root."""
        self._root = state.copy()
        self.value, self.moves, self._told, self.games = -1.0, [], -1.0, 0
        self._width = _WIDTH
        self._begin()

    def _begin(self) -> None:
        """Begin at the root."""
        self._states = self._root
        self._ways: NDArray[np.int32] = np.zeros((1, 0), np.int32)
        self._met: set[bytes] = {self._root[0].tobytes()}

    def slice(self) -> None:
        """Take a step with all states that were kept, unless another thread does so."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            if not self._step():
                self._width = min(2 * self._width, _WIDEST)
                self._begin()
        finally:
            self._turn.release()

    def _step(self) -> bool:
        """Make the successors, judge them, keep the best; return whether there are any."""
        expander = self.expander
        mask = expander.legal(self._states).mask(0)
        parents, numbers = np.nonzero(mask)
        if not len(parents) or self._ways.shape[1] >= self.max_steps:
            return False
        if len(parents) > _SUCCESSORS:
            some = np.sort(self._generator.choice(len(parents), _SUCCESSORS, replace=False))
            parents, numbers = parents[some], numbers[some]
        after = expander.step(self._states, numbers[:, None].astype(np.int32), parents)
        new = [k for k in range(len(after)) if self._is_new(after[k].tobytes())]
        parents, numbers, after = parents[new], numbers[new], after[new]
        ways = np.concatenate([self._ways[parents], numbers[:, None].astype(np.int32)], axis=1)
        over = expander.terminal(after)
        if over.any():
            goals = expander.goals(after[over])[:, 0]
            best = int(goals.argmax())
            self._take(float(goals[best]) / 100, ways[over][best].tolist())
        going = ~over
        after, ways = after[going], ways[going]
        if not len(after):
            return False
        values = self._judged(after, ways)
        order = np.argsort(-(values + self._generator.random(len(values)) * 1e-3), kind="stable")
        kept = order[: self._width]
        self._states, self._ways = after[kept], ways[kept]
        return True

    def _is_new(self, state: bytes) -> bool:
        if state in self._met:
            return False
        self._met.add(state)
        return True

    def _judged(self, states: States, ways: NDArray[np.int32]) -> NDArray[np.float64]:
        """Play games from the states; return what they promise: the best game, and a little of the mean."""
        seed = int(self._generator.integers(1 << 62))
        left = self.max_steps - ways.shape[1]
        games = self.expander.rollouts(states, seed=seed, each=_EACH, max_steps=left)
        self.games += len(games.lengths)
        goals = np.where(games.truncated, -1, games.goals[:, 0])
        best = int(goals.argmax())
        if goals[best] / 100 > self.value:
            again = self.expander.rollouts(states, seed=seed, each=_EACH, max_steps=left, watched=best)
            numbers = [self.expander.move_numbers[0][move.lower()] for (move,) in again.line]
            self._take(float(goals[best]) / 100, [*ways[best // _EACH].tolist(), *numbers])
        # games that are cut off say what their last states give, which is better than nothing
        found = np.maximum(games.goals[:, 0], 0).reshape(len(states), _EACH) / 100
        promised: NDArray[np.float64] = found.max(axis=1) + 0.1 * found.mean(axis=1)
        return promised

    def _take(self, value: float, moves: list[int]) -> None:
        if value > self.value:
            self.value, self.moves = value, moves

    def tell(self, search: Search) -> None:
        """Let a search with the same root follow the way that was found, if it knows none that is as good."""
        if self.value <= self._told or not self._turn.acquire(blocking=False):
            return
        try:
            self._told = self.value
            with search.lock:
                if search.plan is None or self.value > search.plan.value:
                    search.follow(self.value, self.moves)
        finally:
            self._turn.release()

"""`Beam`: Monte-Carlo beam search for one-role games (Cazenave 2012).

Each step expands all states of the beam in one pass over the network, runs playouts from the successors in
another, and keeps the best successors.  When all of them are terminal, the search restarts at the root with
twice the width.  With width 1 this is nested Monte-Carlo search of level 1 (Cazenave 2009).
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
    from herbrand.play.search.tree import Search

__all__ = ["Beam"]

_FIRST_WIDTH = 8
_MAX_WIDTH = 256
_PLAYOUTS = 8
"""Playouts from each state."""
_MAX_SUCCESSORS = 1024
"""States that are evaluated in a step, at most."""


class Beam:
    """A beam search for the highest goal value from one state; `seed` is for its playouts."""

    def __init__(self, network: Network, *, seed: int = 0, max_steps: int = 1000) -> None:
        self.expander = Expander(network)
        self.max_steps = max_steps
        self.value = -1.0
        """The highest value reached, from 0 to 1; -1 before a playout has ended."""
        self.moves: list[int] = []
        """The numbers of the moves from the root to that value."""
        self.games = 0
        """Playouts run for this root."""
        self._generator = np.random.default_rng(seed)
        self._lock = threading.Lock()
        self._reported_value = -1.0
        self._root = self.expander.initial
        self._width = _FIRST_WIDTH
        self._restart()

    @property
    def can_improve(self) -> bool:
        """Whether a higher value is possible."""
        return self.value < 1.0

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root."""
        self._root = state.copy()
        self.value, self.moves, self._reported_value, self.games = -1.0, [], -1.0, 0
        self._width = _FIRST_WIDTH
        self._restart()

    def _restart(self) -> None:
        self._states = self._root
        self._paths: NDArray[np.int32] = np.zeros((1, 0), np.int32)
        """[states, steps] the moves from the root to each state of the beam."""
        self._visited: set[bytes] = {self._root[0].tobytes()}

    def run_step(self) -> None:
        """Advance the beam by one step, unless another thread is doing so."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if not self._step():
                self._width = min(2 * self._width, _MAX_WIDTH)
                self._restart()
        finally:
            self._lock.release()

    def _step(self) -> bool:
        """Expand the beam and keep the best successors; return False if there are none."""
        expander = self.expander
        mask = expander.legal(self._states).mask(0)
        parents, numbers = np.nonzero(mask)
        if not len(parents) or self._paths.shape[1] >= self.max_steps:
            return False
        if len(parents) > _MAX_SUCCESSORS:
            sample = np.sort(self._generator.choice(len(parents), _MAX_SUCCESSORS, replace=False))
            parents, numbers = parents[sample], numbers[sample]
        states = expander.step(self._states, numbers[:, None].astype(np.int32), parents)
        new = [k for k in range(len(states)) if self._is_new(states[k].tobytes())]
        parents, numbers, states = parents[new], numbers[new], states[new]
        paths = np.concatenate([self._paths[parents], numbers[:, None].astype(np.int32)], axis=1)
        over = expander.terminal(states)
        if over.any():
            goals = expander.goals(states[over])[:, 0]
            best = int(goals.argmax())
            self._update_best(float(goals[best]) / 100, paths[over][best].tolist())
        states, paths = states[~over], paths[~over]
        if not len(states):
            return False
        values = self._evaluate(states, paths)
        # random noise breaks ties
        order = np.argsort(-(values + self._generator.random(len(values)) * 1e-3), kind="stable")
        self._states, self._paths = states[order[: self._width]], paths[order[: self._width]]
        return True

    def _is_new(self, state: bytes) -> bool:
        if state in self._visited:
            return False
        self._visited.add(state)
        return True

    def _evaluate(self, states: States, paths: NDArray[np.int32]) -> NDArray[np.float64]:
        """Run playouts from the states; return their maximum plus a tenth of the mean, [states]."""
        seed = int(self._generator.integers(1 << 62))
        left = self.max_steps - paths.shape[1]
        games = self.expander.rollouts(states, seed=seed, each=_PLAYOUTS, max_steps=left)
        self.games += len(games.lengths)
        goals = np.where(games.truncated, -1, games.goals[:, 0])
        best = int(goals.argmax())
        if goals[best] / 100 > self.value:
            # the same seed gives the same playouts, now with the moves of the best one
            replay = self.expander.rollouts(states, seed=seed, each=_PLAYOUTS, max_steps=left, watched=best)
            numbers = [self.expander.move_numbers[0][move.lower()] for (move,) in replay.line]
            self._update_best(float(goals[best]) / 100, [*paths[best // _PLAYOUTS].tolist(), *numbers])
        # a truncated playout counts with the goal value of its last state
        values = np.maximum(games.goals[:, 0], 0).reshape(len(states), _PLAYOUTS) / 100
        estimates: NDArray[np.float64] = values.max(axis=1) + 0.1 * values.mean(axis=1)
        return estimates

    def _update_best(self, value: float, moves: list[int]) -> None:
        if value > self.value:
            self.value, self.moves = value, moves

    def report_to(self, search: Search) -> None:
        """Give the best path to a search with the same root, if it is better than the search's plan."""
        if self.value <= self._reported_value or not self._lock.acquire(blocking=False):
            return
        try:
            self._reported_value = self.value
            with search.lock:
                if search.plan is None or self.value > search.plan.value:
                    search.set_plan(self.value, self.moves)
        finally:
            self._lock.release()

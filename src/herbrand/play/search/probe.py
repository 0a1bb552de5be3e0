"""`Probe`: an exact alpha-beta search whose proofs about the moves at the root go into the search tree.

Playouts recognise a long forced win late; alpha-beta finds it as soon as it is within its depth.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from herbrand.analyse.solving.minimax.judge import LOWER, UPPER
from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
from herbrand.play.search.tree import ALONE

if TYPE_CHECKING:
    from herbrand.engine.expand import States
    from herbrand.network.network import Network
    from herbrand.play.search.tree import Search

__all__ = ["Probe"]

_SHARE: Final = 0.2
"""Share of the time for the proof search."""
_LARGE_SHARE: Final = 0.8
"""The share where a proof of the root seems possible in time."""
_GAMES = 64
"""Playouts that estimate the distance to the end of the game."""
_STEPS = 200
"""Their steps, at most."""
_MAX_GATES = 20_000
"""Size of the network above which these playouts take too long."""
_MAX_ITERATIONS = 50
"""Iterations above which a proof is not expected."""
_MIN_GROWTH = 1.3
"""Each iteration is assumed to search at least so many times the positions of the previous one."""
_SLACK = 4.0
"""Estimated cost of a proof, as a multiple of the remaining time, up to which it is attempted."""
_STRIDE = 2
"""Plies by which each iteration is deeper; a proof does not need to be the shortest."""


class Probe:
    """A proof search for the moves of a role, with a transposition table of `memory` bytes."""

    def __init__(self, network: Network, role: int, *, memory: int) -> None:
        self.engine = AlphaBetaSearch(network, role, memory=memory, exact=True)
        self.engine.stride = _STRIDE
        self.role = role
        self.is_applicable = False
        """Whether the role alone has a choice at the root."""
        self.spent = 0.0
        """Seconds of processor time for this root."""
        self._lock = threading.Lock()
        self._reported_depth = 0
        self._gates = network.gates
        self._mean_length = float("inf")
        """Mean steps of playouts from the root."""

    def move_to(self, state: States) -> None:
        """Make a packed state the root."""
        self._reported_depth = 0
        self.spent = 0.0
        if self.engine.is_simultaneous:
            self.is_applicable = False
            return
        self.engine.move_to(state)
        self.is_applicable = self.engine.chooser == self.role
        if self.is_applicable and self._gates <= _MAX_GATES:
            games = self.engine.expander.rollouts(state, seed=0, each=_GAMES, max_steps=_STEPS)
            self._mean_length = float(games.lengths.mean())

    @property
    def can_improve(self) -> bool:
        """Whether the root is unproved and the search applies to it."""
        return self.is_applicable and not self.engine.is_done and not self.engine.is_simultaneous

    def time_share(self, left: float) -> float:
        """Return the share of the remaining time for the proof search, in which it could open `left` states.

        The share is large if the growth of the iterations so far suggests that the root can be proved in it.
        """
        opened = self.engine.opened
        if len(opened) < 2:
            return _SHARE
        growth = max(_MIN_GROWTH, (opened[-1] / max(1, opened[0])) ** (1 / (len(opened) - 1)))
        iterations = (self._mean_length - self.engine.depth) / _STRIDE
        needed = opened[-1] * growth**iterations if iterations < _MAX_ITERATIONS else float("inf")
        return _LARGE_SHARE if needed < _SLACK * left else _SHARE

    @property
    def rate(self) -> float:
        """States opened in a second."""
        return self.engine.nodes / self.spent if self.spent else 0.0

    def run_slice(self) -> None:
        """Search for about a hundredth of a second, unless another thread is doing so."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            began = time.thread_time()
            self.engine.slice()
            self.spent += time.thread_time() - began
        finally:
            self._lock.release()

    def report_to(self, search: Search) -> None:
        """Write the proofs since the last call into the tree, whose root is the same state.

        Upper bounds hold only in constant-sum games: elsewhere the opponent may prefer other moves.
        """
        is_new = self.is_applicable and self.engine.depth != self._reported_depth
        if not is_new or not self._lock.acquire(blocking=False):
            return
        try:
            with search.lock:
                self._write_proofs(search)
        finally:
            self._lock.release()

    def _write_proofs(self, search: Search) -> None:
        engine, tree, root = self.engine, search.tree, search.root
        if tree.kind[root] != ALONE:
            return
        self._reported_depth = engine.depth
        role = self.role
        opposed = tree.sum >= 0
        arms = {int(tree.move[arm]): arm for arm in search.arms(root, role)}
        for move, value, bound, plies in engine.proofs():
            child = int(tree.arm_child[arms[move]]) if move in arms else -1
            if child < 0 or tree.low[child, role] == tree.high[child, role]:
                continue
            low, high = tree.low[child].tolist(), tree.high[child].tolist()
            if bound != UPPER:
                low[role] = min(max(value, low[role]), high[role])
            if bound != LOWER and opposed:
                high[role] = max(min(value, high[role]), low[role])
            if opposed:
                other = next(r for r in search.players if r != role)
                low[other] = min(max(tree.sum - high[role], 0.0), 1.0)
                high[other] = min(max(tree.sum - low[role], low[other]), 1.0)
            tree.prove(child, low, high, max(0, plies - 1))
        tree.tighten(root)

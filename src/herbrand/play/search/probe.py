"""An exact look ahead beside a tree search: what it proves of the moves at the root goes into the tree.

Random games see a long forced win late, alpha-beta sees it as soon as it is near enough.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final

from herbrand.analyse.solving.minimax.judge import LOWER, UPPER
from herbrand.play.minimax.engine import AlphaBetaEngine
from herbrand.play.search.tree import ALONE

if TYPE_CHECKING:
    from herbrand.engine.expand import States
    from herbrand.network.network import Network
    from herbrand.play.search.engine import Search

__all__ = ["Probe"]

SHARE: Final = 0.2
"""The part of the time in which proofs are looked for."""
_LARGE_SHARE: Final = 0.8
"""The same where a proof of the root is in reach."""
_GAMES = 64
"""Random games that tell how far away the end is."""
_STEPS = 200
"""Their steps, at most."""
_LARGE = 20_000
"""Gates above which these games take too long."""
_MANY = 50
"""Iterations after which nothing is in reach."""
_GROWTH = 1.3
"""Each iteration opens at least so many times the positions of the one before."""
_FAR = 4.0
"""How much longer than there is time a proof may seem to take, and still be in reach."""
_STRIDE = 2
"""How much deeper each iteration is: a win that is found late is still a win."""


class Probe:
    """Looks for proofs about the moves of a role, with a table of `memory` bytes."""

    def __init__(self, network: Network, role: int, *, memory: int) -> None:
        self.engine = AlphaBetaEngine(network, role, memory=memory, exact=True)
        self.engine.stride = _STRIDE
        self.role = role
        self.is_able = False
        """Whether the role alone has a choice at the root, and as far as was looked."""
        self.spent = 0.0
        """Seconds of processor time for this root."""
        self._turn = threading.Lock()
        self._told = 0
        self._gates = network.gates
        self._end = float("inf")
        """How many steps random games from the root have, on the average."""

    def move_to(self, state: States) -> None:
        """Make a packed state the root."""
        self._told = 0
        self.spent = 0.0
        if self.engine.is_simultaneous:
            self.is_able = False
            return
        self.engine.move_to(state)
        self.is_able = self.engine.chooser == self.role
        if self.is_able and self._gates <= _LARGE:
            games = self.engine.expander.rollouts(state, seed=0, each=_GAMES, max_steps=_STEPS)
            self._end = float(games.lengths.mean())

    @property
    def may_go_on(self) -> bool:
        """Whether there is anything left to look for."""
        return self.is_able and not self.engine.is_done and not self.engine.is_simultaneous

    def share(self, left: float) -> float:
        """Return which part of the time it should have, if so many states could be opened in all of it.

        More where the iterations so far say that the root may be proved in it.
        """
        opened = self.engine.opened
        if len(opened) < 2:
            return SHARE
        growth = max(_GROWTH, (opened[-1] / max(1, opened[0])) ** (1 / (len(opened) - 1)))
        iterations = (self._end - self.engine.depth) / _STRIDE
        ahead = opened[-1] * growth**iterations if iterations < _MANY else float("inf")
        return _LARGE_SHARE if ahead < _FAR * left else SHARE

    @property
    def rate(self) -> float:
        """How many states are opened in a second."""
        return self.engine.nodes / self.spent if self.spent else 0.0

    def slice(self) -> None:
        """Look on for about a hundredth of a second, unless another thread does so."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            began = time.thread_time()
            self.engine.slice()
            self.spent += time.thread_time() - began
        finally:
            self._turn.release()

    def tell(self, search: Search) -> None:
        """Put what was proved since into the tree, whose root is the same state.

        What the role gets at most is known only where what it gets the other loses.
        """
        if not self.is_able or self.engine.depth == self._told or not self._turn.acquire(blocking=False):
            return
        try:
            with search.lock:
                self._tell(search)
        finally:
            self._turn.release()

    def _tell(self, search: Search) -> None:
        engine, tree, root = self.engine, search.tree, search.root
        if tree.kind[root] != ALONE:
            return
        self._told = engine.depth
        role = self.role
        opposed = tree.sum >= 0
        first = int(tree.first[root] + tree.sizes[root, :role].sum())
        places = {int(tree.move[arm]): arm for arm in range(first, first + int(tree.sizes[root, role]))}
        for move, value, bound, plies in engine.proofs():
            child = int(tree.arm_child[places[move]]) if move in places else -1
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

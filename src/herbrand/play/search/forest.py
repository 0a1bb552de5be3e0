"""`Forest`: a search tree for each of many states at once.

Where many games are played side by side, their trees grow together: every round goes down each of them,
makes the successors of all leaves in one pass over the network, and plays the random games from them in
another.  What a round costs beside the games is paid once for all.  The trees share the arrays of one `Tree`,
in which a state has one more word, the number of its tree, so that nothing is learnt from another tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.core import Round, SearchTree
from herbrand.engine.expand import any_of, new_generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander, States

__all__ = ["EACH", "WIDEST", "Forest"]

EACH: Final = 16
"""Random games after a new position, unless told otherwise."""
_FIRST_SIZE: Final = 1 << 22
"""Bytes that all trees take at first."""
_WAYS: Final = 512
"""Ways down in one round, at most."""
_ROWS: Final = 1 << 15
"""Joint moves made in one round, at most."""
WIDEST: Final = 512
"""Joint moves made from one leaf, at most."""


class Forest:
    """Search trees that grow together.

    `each` is how many random games are played after every new position, on the average, but one from each
    of its successors at least; `exploration` is the constant of UCB1 for values from 0 to 1; `max_steps` cuts
    off games that do not end; `memory` is the size of all trees in bytes at most: they begin small, as what
    fits into the caches is quicker, and where there is no more room the search begins again with more.
    """

    def __init__(
        self,
        expander: Expander,
        *,
        seed: int = 0,
        each: int = EACH,
        exploration: float = 0.5,
        max_steps: int = 1000,
        memory: int = 1 << 28,
    ) -> None:
        self.expander = expander
        roles = expander.roles
        chance = next((r for r, name in enumerate(roles) if name.lower() == "random"), -1)
        self.players = [r for r in range(len(roles)) if r != chance]
        self.each = each
        self.max_steps = max_steps
        self.memory = memory
        self._size = min(_FIRST_SIZE, memory)
        self._seed = seed
        self._exploration = exploration
        self._chance_role = chance
        self._plant()
        self._chance = np.random.default_rng(seed)
        self._generator = new_generator(seed)

    def _plant(self) -> None:
        """Make the tree of all trees."""
        self.tree = SearchTree(
            self.expander.network.circuit,
            memory=self._size,
            seed=self._seed % (1 << 64),
            labelled=True,
            exploration=self._exploration,
            chance=self._chance_role,
        )
        self._work = Round(self.tree, ways=_WAYS, rows=_ROWS)

    def search(self, states: States, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Grow a tree from each state until `budgets[i]` of its positions were opened; return the roots.

        The game must not be over in any of them.  A tree whose value is proved stops before, and all stop
        when there is no more room.  The trees of the search before are forgotten.
        """
        roots = self._grow(states, budgets)
        while self.tree.is_full and self._size < self.memory:
            self._size = min(8 * self._size, self.memory)
            self._plant()
            roots = self._grow(states, budgets)
        return roots

    def _grow(self, states: States, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        tree = self.tree
        tree.clear()
        roots: NDArray[np.int64] = tree.plant(np.ascontiguousarray(states, np.uint64))
        left = budgets.copy()
        while not tree.is_full:
            growing = np.flatnonzero(left > 0)
            growing = growing[tree.unsettled(roots[growing]).view(np.bool_)]
            if not len(growing):
                break
            for begin in range(0, len(growing), _WAYS):
                few = growing[begin : begin + _WAYS]
                self._round(roots[few])
                left[few] -= 1
        return roots

    def best(self, roots: NDArray[np.int64], roles: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the move that looks best for a role at each root, among the role's moves.

        What is proved decides where it can; else the mean less its uncertainty.  -1 where a root was
        not opened.
        """
        found = self.tree.best_moves(_numbers(roots), _numbers(roles))
        return np.where(found < 0, -1, found - self.expander.bounds[roles])

    def best_of_all(
        self,
        roots: NDArray[np.int64],
        groups: NDArray[np.int64],
        roles: NDArray[np.int64],
        allowed: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Return the move of `roles[g]` that is best on the average over the roots of each group g.

        Roots are states that a role cannot tell from each other, `allowed[g, move]` its legal moves in them.
        Each root at which a move was looked at counts the same; the uncertainty, by all random games after
        the move, is subtracted.  -1 for groups of which no root was opened.
        """
        values, roots_with, games = self.tree.add_up(
            _numbers(roots), _numbers(groups), _numbers(roles), allowed.shape[1]
        )
        looked_at = allowed & (roots_with > 0)
        means = np.divide(values, roots_with, out=values, where=looked_at)
        promise = np.where(looked_at, means - self.tree.exploration / np.sqrt(games + 1.0), -np.inf)
        best = promise >= promise.max(axis=1, keepdims=True)
        return np.where(looked_at.any(axis=1), any_of(best, self._chance), -1)

    def _round(self, roots: NDArray[np.int64]) -> None:
        work, expander = self._work, self.expander
        fresh = work.expand(roots, most=len(roots), widest=WIDEST, weight=self.each)
        games = max(self.each * work.asked, fresh) if fresh else 0
        parents = np.arange(games, dtype=np.int64) * fresh // max(1, games)
        ended = expander.core.rollouts(work.starts(), parents, self._generator, self.max_steps)
        work.backpropagate(ended.goals, ended.lengths)


def _numbers(array: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an array as the core takes it."""
    return np.ascontiguousarray(array, np.int64)

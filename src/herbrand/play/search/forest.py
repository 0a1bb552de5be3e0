"""`Forest`: search trees for many states at once.

The trees grow together: every round descends each of them, expands all leaves in one pass over the network,
and runs the playouts from them in another, so that the overhead of a round is shared.  The trees live in one
`SearchTree`, in which a state has one more word, the number of its tree, so that trees share no positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.core import Round, SearchTree
from herbrand.engine.expand import new_generator, sample_true
from herbrand.play.search.tree import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander, States

__all__ = ["EACH", "WIDEST", "Forest"]

EACH: Final = 16
"""Playouts for a new position."""
_EXPLORATION: Final = 0.5
"""The constant of UCB1 for values from 0 to 1."""
_FIRST_SIZE: Final = 1 << 22
"""Initial size of all trees together, in bytes."""
_MAX_DESCENTS: Final = 512
"""Descents in one round, at most."""
_MAX_ROWS: Final = 1 << 15
"""Successors made in one round, at most."""
WIDEST: Final = 512
"""Successors made from one leaf, at most."""


class Forest:
    """Search trees that grow together.

    There are `EACH` playouts for every new position on average, but at least one from each of its successors;
    `max_steps` cuts them off; `memory` bounds the size of all trees in bytes.  They start small, to fit into
    the processor caches; when they are full, the search is repeated with more memory.
    """

    def __init__(
        self, expander: Expander, *, seed: int = 0, max_steps: int = 1000, memory: int = 1 << 28
    ) -> None:
        self.expander = expander
        self.max_steps = max_steps
        self.memory = memory
        self._size = min(_FIRST_SIZE, memory)
        self._seed = seed
        self._allocate()
        self._chance = np.random.default_rng(seed)
        self._generator = new_generator(seed)

    def _allocate(self) -> None:
        """Create the `SearchTree` that has all trees."""
        self.tree = SearchTree(
            self.expander.network.circuit,
            memory=self._size,
            seed=self._seed % (1 << 64),
            labelled=True,
            exploration=_EXPLORATION,
            chance=self.expander.chance,
        )
        self._descent = Round(self.tree, ways=_MAX_DESCENTS, rows=_MAX_ROWS)

    def search(self, states: States, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Grow a tree from each state until `budgets[i]` of its positions are expanded; return the roots.

        No state may be terminal.  A tree stops early when its value is proved, and all stop when memory is
        full.  The trees of the previous search are discarded.
        """
        roots = self._grow(states, budgets)
        while self.tree.is_full and self._size < self.memory:
            self._size = min(8 * self._size, self.memory)
            self._allocate()
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
            for begin in range(0, len(growing), _MAX_DESCENTS):
                batch = growing[begin : begin + _MAX_DESCENTS]
                self._round(roots[batch])
                left[batch] -= 1
        return roots

    def best(self, roots: NDArray[np.int64], roles: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the best move of `roles[i]` at root i, among the moves of that role.

        Proofs decide where they can; else the lower confidence bound of the mean.  -1 where a root was not
        expanded.
        """
        moves = self.tree.best_moves(_as_int64(roots), _as_int64(roles))
        return np.where(moves < 0, -1, moves - self.expander.bounds[roles])

    def best_of_all(
        self,
        roots: NDArray[np.int64],
        groups: NDArray[np.int64],
        roles: NDArray[np.int64],
        allowed: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Return the move of `roles[g]` with the best mean over the roots of each group g.

        The roots of a group are states that the role cannot distinguish, `allowed[g, move]` its legal moves
        in them.  Roots at which a move was visited have equal weight; moves are compared by lower confidence
        bounds.  -1 for groups without an expanded root.
        """
        values, roots_with, games = self.tree.add_up(
            _as_int64(roots), _as_int64(groups), _as_int64(roles), allowed.shape[1]
        )
        visited = allowed & (roots_with > 0)
        means = np.divide(values, roots_with, out=values, where=visited)
        bounds = np.where(visited, means - self.tree.exploration / np.sqrt(games + 1.0), -np.inf)
        best = bounds >= bounds.max(axis=1, keepdims=True)
        return np.where(visited.any(axis=1), sample_true(best, self._chance), -1)

    def _round(self, roots: NDArray[np.int64]) -> None:
        descent, expander = self._descent, self.expander
        new_states = descent.expand(roots, most=len(roots), widest=WIDEST, weight=EACH)
        parents = spread(max(EACH * descent.asked, new_states), new_states)
        ended = expander.core.rollouts(descent.starts(), parents, self._generator, self.max_steps)
        descent.backpropagate(ended.goals, ended.lengths)


def _as_int64(array: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the array with the type and layout that the core requires."""
    return np.ascontiguousarray(array, np.int64)

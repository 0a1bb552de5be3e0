"""`Forest`: a search tree for each of many states at once.

Where many games are played side by side, their trees grow together: every round goes down each of them,
makes the successors of all leaves in one pass over the network, and plays the random games from them in
another.  What a round costs beside the games is paid once for all.  The trees share the arrays of one `Tree`,
in which a state has one more word, the number of its tree, so that nothing is learnt from another tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.play.search.descent import MAKE, OPEN, descend, new_ways
from herbrand.play.search.growth import (
    attach,
    look_at_sums,
    new_rows,
    open_leaves,
    settle,
)
from herbrand.play.search.roots import add_up, best_moves, plant, unsettled
from herbrand.play.search.tree import (
    ARMS,
    CHANCE,
    EDGES,
    EXPLORATION,
    FULL,
    POSITIONS,
    SINGLE,
    SUM,
    WEIGHT,
    new_tree,
)
from herbrand.play.search.worker import NO_PLAYED, NOTHING, UNSEEN
from herbrand.simulate.expand import any_of
from herbrand.simulate.lanes import describe, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.play.search.tree import Tree
    from herbrand.simulate.expand import Expander, States

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
        self._settings = {
            EXPLORATION: exploration,
            CHANCE: chance,
            SINGLE: len(roles) == 1,
            SUM: -2 if len(self.players) == 2 else -1,
            WEIGHT: each,
        }
        self.tree = self._new_tree()
        self._ways = new_ways(_WAYS, len(roles))
        self._rows = new_rows(_ROWS, len(roles))
        self._chance = np.random.default_rng(seed)
        self._generator = np.random.SeedSequence(seed).generate_state(4 * 8, np.uint64)

    def _new_tree(self) -> Tree:
        tree = new_tree(self.expander.words + 1, len(self.expander.roles), memory=self._size, seed=self._seed)
        for place, value in self._settings.items():
            tree.settings[place] = value
        return tree

    def search(self, states: States, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Grow a tree from each state until `budgets[i]` of its positions were opened; return the roots.

        The game must not be over in any of them.  A tree whose value is proved stops before, and all stop
        when there is no more room.  The trees of the search before are forgotten.
        """
        roots = self._grow(states, budgets)
        while self.tree.used[FULL] and self._size < self.memory:
            self._size = min(8 * self._size, self.memory)
            self.tree = self._new_tree()
            roots = self._grow(states, budgets)
        return roots

    def _grow(self, states: States, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        tree = self.tree
        if tree.used[POSITIONS]:
            tree.slots[:] = 0
        if tree.used[EDGES]:
            tree.edge_slots[:] = 0
        tree.used[[POSITIONS, ARMS, FULL, EDGES]] = 0
        numbers = np.arange(len(states), dtype=np.uint64)[:, None]
        roots = np.zeros(len(states), np.int64)
        plant(tree, np.concatenate([states, numbers], axis=1), roots)
        left = budgets.copy()
        while not tree.used[FULL]:
            growing = np.flatnonzero(left > 0)
            growing = growing[unsettled(tree, roots[growing])]
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
        found = np.zeros(len(roots), np.int64)
        best_moves(self.tree, roots, roles, found)
        return np.where(found < 0, -1, found - self.expander._bounds[roles])

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
        values, roots_with, games = (np.zeros(allowed.shape) for _ in range(3))
        base = self.expander._bounds[roles]
        add_up(self.tree, roots, groups, roles, base, values, roots_with, games)
        looked_at = allowed & (roots_with > 0)
        means = np.divide(values, roots_with, out=values, where=looked_at)
        promise = np.where(looked_at, means - self.tree.settings[EXPLORATION] / np.sqrt(games + 1.0), -np.inf)
        best = promise >= promise.max(axis=1, keepdims=True)
        return np.where(looked_at.any(axis=1), any_of(best, self._chance), -1)

    def _round(self, roots: NDArray[np.int64]) -> None:
        tree, ways, rows, expander = self.tree, self._ways, self._rows, self.expander
        network = expander.network
        n = descend(tree, ways, roots, len(roots))
        ends = ways.end[:n]
        leaves = ways.position[ways.first[1 : n + 1] - 1][ends == OPEN]
        legal = np.zeros((len(leaves), int(expander._places[-1])), np.uint64)
        if len(leaves):
            v, width, circuit = expander._machine(len(leaves))
            describe(
                v, width, circuit, tree.state[leaves], network.legal, expander._bounds, expander._places,
                network.terminal, np.zeros(len(leaves), np.bool_), legal,
            )  # fmt: skip
        used = open_leaves(tree, ways, n, legal, expander._bounds, expander._places, WIDEST, rows)
        states = np.zeros((used, expander.words + 1), np.uint64)
        if used:
            v, width, circuit = expander._machine(used)
            before = tree.state[rows.parent[:used]]
            step(
                v, width, circuit, before, NOTHING, rows.joint[:used], network.next, states, UNSEEN,
                np.zeros((used, 0), np.uint64),
            )  # fmt: skip
            states[:, -1] = before[:, -1]
        fresh = attach(tree, rows, used, states)
        opened = int(np.count_nonzero((ends == OPEN) | (ends == MAKE)))
        games = max(self.each * opened, fresh) if fresh else 0
        goals = np.zeros((games, len(expander.roles)), np.int16)
        lengths = np.zeros(games, np.int64)
        if games:
            parents = rows.fresh[:fresh][np.arange(games) * fresh // games]
            expander._play(states, parents, self._generator, self.max_steps, goals, lengths)
            if tree.settings[SUM] != -1:
                look_at_sums(tree, goals[:, self.players])
        settle(tree, ways, n, rows, used, fresh, goals, lengths, True, NO_PLAYED)

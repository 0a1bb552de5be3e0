"""`BeliefSamples`: particle filters for the roles of many games with hidden information.

Each searching role has a sample of states that are consistent with its own moves and percepts (a particle
filter: Gordon, Salmond and Smith 1993).  A step advances each particle by the role's own move and random
moves of the others, and keeps it if the role's percepts match.  To select a move, a tree is grown from each
of a few particles, and the move with the best mean is played (perfect information Monte-Carlo search: Long,
Sturtevant, Buro and Furtak 2010).

Such a player evaluates a state as if all roles saw everything from then on, so that it never plays to gain or
to hide information.  Its gain over weaker players is a lower bound of the gain by skill.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.engine.expand import sample_true

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander, States

__all__ = ["BeliefSamples", "NetworkGame"]

PARTICLES: Final = 64
"""States in a sample."""
TREES: Final = 8
"""Particles from which a tree is grown before a move, at most."""
_TRIES: Final = 4
"""Attempts to fill each slot of a sample."""
_LAST_TRIES: Final = 16
"""Attempts while a sample is empty."""


@dataclass(frozen=True, slots=True)
class NetworkGame:
    """A game on the network, for batches of games."""

    expander: Expander
    players: tuple[int, ...]
    """The numbers of the roles that are not chance."""
    hidden: bool = False
    """Whether the game has hidden information (`sees`)."""

    @property
    def roles(self) -> int:
        """The number of roles, including chance."""
        return len(self.expander.roles)


class BeliefSamples:
    """The samples of all searching roles in a batch of games."""

    def __init__(self, game: NetworkGame, searches: NDArray[np.bool_], random: np.random.Generator) -> None:
        """`searches[game, role]` is true for roles that have a sample."""
        self.expander = game.expander
        self.random = random
        self.games, self.roles = np.nonzero(searches)
        """[samples] the game and the role of each sample."""
        self.number = np.full(searches.shape, -1)
        """[games, roles] the number of the sample, -1 for none."""
        self.number[self.games, self.roles] = np.arange(len(self.games))
        self.states = np.repeat(self.expander.initial, len(self.games) * PARTICLES, axis=0)
        self.states = self.states.reshape(len(self.games), PARTICLES, -1)
        self.depleted = np.zeros(len(self.games), np.bool_)
        """[samples] whether no consistent state was found in some step; such a sample is never refilled."""

    def update(
        self, going: NDArray[np.int64], joint: NDArray[np.int32], percepts: NDArray[np.uint64]
    ) -> None:
        """Advance the samples by a step: the joint move and the percepts of each game `going[i]`."""
        row = np.full(len(self.number), -1)
        row[going] = np.arange(len(going))
        samples = np.flatnonzero((row[self.games] >= 0) & ~self.depleted)
        at, roles = row[self.games[samples]], self.roles[samples]
        own_moves, own_percepts = joint[at, roles], percepts[at] & self.expander.percept_masks[roles]
        after = np.zeros((len(samples), *self.states.shape[1:]), np.uint64)
        full = np.zeros((len(samples), PARTICLES), np.bool_)
        for attempt in range(_LAST_TRIES):
            empty = ~full if attempt < _TRIES else ~full & ~full.any(axis=1, keepdims=True)
            s, k = np.nonzero(empty)
            if not len(s):
                break
            parent = k if attempt == 0 else self.random.integers(PARTICLES, size=len(k))
            fits, states = self._advance(
                self.states[samples[s], parent], roles[s], own_moves[s], own_percepts[s]
            )
            after[s[fits], k[fits]] = states[fits]
            full[s[fits], k[fits]] = True
        alive = full.any(axis=1)
        self.depleted[samples[~alive]] = True
        # empty slots are resampled from the full ones
        order = np.argsort(~full, axis=1, kind="stable")
        copied = (self.random.random(full.shape) * full.sum(axis=1)[:, None]).astype(np.int64)
        source = np.where(full, np.arange(PARTICLES), np.take_along_axis(order, copied, axis=1))
        self.states[samples[alive]] = np.take_along_axis(after, source[:, :, None], axis=1)[alive]

    def _advance(
        self,
        states: States,
        roles: NDArray[np.int64],
        own_moves: NDArray[np.int32],
        own_percepts: NDArray[np.uint64],
    ) -> tuple[NDArray[np.bool_], States]:
        """Make `own_moves[i]` and random moves of the others in each state.

        Returns whether the percepts match, [n], and the successors.
        """
        legal = self.expander.legal(states)
        rows = np.arange(len(states))
        masks = [legal.mask(role) for role in range(len(self.expander.roles))]
        fits = ~legal.over & np.logical_and.reduce([mask.any(axis=1) for mask in masks])
        joint = np.stack([sample_true(mask, self.random) for mask in masks], axis=1).astype(np.int32)
        for role, mask in enumerate(masks):
            of_role = roles == role
            fits[of_role] &= mask[of_role, own_moves[of_role]]
        joint[rows, roles] = own_moves
        joint[~fits] = -1
        after, percepts = self.expander.observed(states, joint)
        fits &= ((percepts & self.expander.percept_masks[roles]) == own_percepts).all(axis=1)
        return fits, after

    def draw(
        self, games: NDArray[np.int64], roles: NDArray[np.int64], budgets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], States, NDArray[np.int64]]:
        """Draw root states for the searches of `roles[i]` in `games[i]`, each with a total of `budgets[i]`.

        Returns, for each state drawn, the index i of its searcher, the state, and its share of the budget.
        Nothing is drawn from depleted samples.
        """
        samples = self.number[games, roles]
        counts = np.where(self.depleted[samples], 0, np.minimum(budgets, TREES))
        searcher = np.repeat(np.arange(len(samples)), counts)
        index = np.arange(len(searcher)) - np.repeat(counts.cumsum() - counts, counts)
        share, remainder = np.divmod(budgets[searcher], counts[searcher])
        # systematic resampling: equidistant particles from a random start
        begin = self.random.integers(PARTICLES, size=len(samples))[searcher]
        states = self.states[samples[searcher], (begin + index * PARTICLES // counts[searcher]) % PARTICLES]
        over = self.expander.terminal(states)
        return searcher[~over], states[~over], (share + (index < remainder))[~over]

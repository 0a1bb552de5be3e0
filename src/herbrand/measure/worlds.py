"""`Worlds`: what the roles of many games can hold possible, where the rules hide something.

Each role that searches has a sample of states in which it may be, given its own moves and percepts alone (a
particle filter: Gordon, Salmond and Smith 1993).  After every step each state of the sample is followed by
the role's own move and any legal moves of the others; what the role would then have seen must be what it
saw.  Before it moves, some states are drawn from its sample, a tree is grown in each, and the move is made
that is best on the average (perfect information Monte-Carlo search: Long, Sturtevant, Buro and Furtak 2010).

Such a player values a state as if everybody would see everything from then on: it never plays to find
something out, nor to hide something.  What it gains over weaker ones is a lower bound of what skill gains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.engine.expand import any_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander, States

__all__ = ["PlayedGame", "Worlds"]

PARTICLES: Final = 64
"""States in a sample."""
TREES: Final = 8
"""States of it in which a tree is grown before a move, at most."""
_TRIES: Final = 4
"""How often a follower is looked for to fill a place in a sample."""
_LAST_TRIES: Final = 16
"""The same, as long as the sample would be empty."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The game to be played and who chooses in it."""

    expander: Expander
    players: tuple[int, ...]
    """The roles that are not chance, by number."""
    hidden: bool = False
    """Whether roles see no more than the rules tell them (`sees`), and not the state."""

    @property
    def roles(self) -> int:
        """How many roles there are, chance counted."""
        return len(self.expander.roles)


class Worlds:
    """The samples of all roles that search, in games that are played side by side."""

    def __init__(self, game: PlayedGame, searches: NDArray[np.bool_], random: np.random.Generator) -> None:
        """`searches[game, role]` tells whose samples are kept."""
        self.expander = game.expander
        self.random = random
        self.games, self.roles = np.nonzero(searches)
        """[k] whose sample each is."""
        self.number = np.full(searches.shape, -1)
        """[games, roles] the number of the sample, -1 for none."""
        self.number[self.games, self.roles] = np.arange(len(self.games))
        self.states = np.repeat(self.expander.initial, len(self.games) * PARTICLES, axis=0)
        self.states = self.states.reshape(len(self.games), PARTICLES, -1)
        self.lost = np.zeros(len(self.games), np.bool_)
        """[k] whether no state was found that fits what was seen; it stays so."""
        network = self.expander.network
        seen = np.zeros((len(self.expander.roles), 64 * -(-len(network.sees) // 64)), np.bool_)
        seen[network.percepts[:, 0], np.arange(len(network.sees))] = True
        packed = np.packbits(seen, axis=1, bitorder="little").view("<u8")
        self._sight = packed.astype(np.uint64, copy=False)
        """[roles, words] the percepts of each role."""

    def follow(self, going: NDArray[np.int64], joint: NDArray[np.int32], seen: NDArray[np.uint64]) -> None:
        """Follow a step: in game `going[i]`, which goes on, `joint[i]` was made and `seen[i]` was seen."""
        place = np.full(len(self.number), -1)
        place[going] = np.arange(len(going))
        samples = np.flatnonzero((place[self.games] >= 0) & ~self.lost)
        at, roles = place[self.games[samples]], self.roles[samples]
        own, saw = joint[at, roles], seen[at] & self._sight[roles]
        after = np.zeros((len(samples), *self.states.shape[1:]), np.uint64)
        full = np.zeros((len(samples), PARTICLES), np.bool_)
        for attempt in range(_LAST_TRIES):
            empty = ~full if attempt < _TRIES else ~full & ~full.any(axis=1, keepdims=True)
            s, k = np.nonzero(empty)
            if not len(s):
                break
            parent = k if attempt == 0 else self.random.integers(PARTICLES, size=len(k))
            fits, states = self._followers(self.states[samples[s], parent], roles[s], own[s], saw[s])
            after[s[fits], k[fits]] = states[fits]
            full[s[fits], k[fits]] = True
        found = full.any(axis=1)
        self.lost[samples[~found]] = True
        # places that are left have copies of any of those that were filled
        order = np.argsort(~full, axis=1, kind="stable")
        copied = (self.random.random(full.shape) * full.sum(axis=1)[:, None]).astype(np.int64)
        source = np.where(full, np.arange(PARTICLES), np.take_along_axis(order, copied, axis=1))
        self.states[samples[found]] = np.take_along_axis(after, source[:, :, None], axis=1)[found]

    def _followers(
        self,
        states: States,
        roles: NDArray[np.int64],
        own: NDArray[np.int32],
        saw: NDArray[np.uint64],
    ) -> tuple[NDArray[np.bool_], States]:
        """Make `own[i]` and any moves of the others in each state; say where that fits what was seen."""
        legal = self.expander.legal(states)
        rows = np.arange(len(states))
        masks = [legal.mask(role) for role in range(len(self.expander.roles))]
        fits = ~legal.over & np.logical_and.reduce([mask.any(axis=1) for mask in masks])
        joint = np.stack([any_of(mask, self.random) for mask in masks], axis=1).astype(np.int32)
        for role, mask in enumerate(masks):
            mine = roles == role
            fits[mine] &= mask[mine, own[mine]]
        joint[rows, roles] = own
        joint[~fits] = -1
        after, seen = self.expander.observed(states, joint)
        fits &= ((seen & self._sight[roles]) == saw).all(axis=1)
        return fits, after

    def draw(
        self, games: NDArray[np.int64], roles: NDArray[np.int64], budgets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], States, NDArray[np.int64]]:
        """Draw states to be searched for who is to move: whose each is, the states, and their budgets.

        Nothing is drawn for who has lost track.
        """
        samples = self.number[games, roles]
        wanted = np.where(self.lost[samples], 0, np.minimum(budgets, TREES))
        whose = np.repeat(np.arange(len(samples)), wanted)
        turn = np.arange(len(whose)) - np.repeat(wanted.cumsum() - wanted, wanted)
        each, more = np.divmod(budgets[whose], wanted[whose])
        begin = self.random.integers(PARTICLES, size=len(samples))[whose]
        states = self.states[samples[whose], (begin + turn * PARTICLES // wanted[whose]) % PARTICLES]
        over = self.expander.terminal(states)
        return whose[~over], states[~over], (each + (turn < more))[~over]

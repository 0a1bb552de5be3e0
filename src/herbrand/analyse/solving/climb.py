"""Search for a line of play by many games side by side, each of which takes the step that it likes best.

Every game has a taste of its own: how much it is drawn to what is looked for (`distance`), to states with
few moves or with many (with the fewest, Warnsdorff's knights of 1823 toured the board), and to chance.  A
state that was met before is not entered again; a game that has nowhere to go goes on from a state it came
through, or from any other.
Where a beam keeps what seems best everywhere, these games stay apart.  That nothing is found proves nothing.
"""

from __future__ import annotations

import time
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.solving.guided import keys_of, sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander, States

__all__ = ["climb"]

_GAMES = 128
_STEPS = 30_000
"""Successors looked at after each step, at most."""
_NODES = 100_000
"""States kept, after which everything begins anew with other tastes."""
_WORDS = 1 << 23
"""Words of states kept, likewise."""


def climb(
    expander: Expander,
    distances: Sequence[Callable[[States], NDArray[np.float32]]],
    deadline: float,
    *,
    seeds: Iterator[int] | None = None,
) -> Moves | None:
    """Return a line of play to a state with distance 0; None when none was found by the deadline.

    `distances`, one or more, are followed in turns; all are 0 in the same states.  `deadline` is a time of
    `time.monotonic`; `seeds` gives numbers to begin anew with, to go on with them another time.
    """
    for seed in seeds or count():
        if time.monotonic() > deadline:
            break
        games = _Games(expander, distances[seed % len(distances)], np.random.default_rng(seed))
        line = games.run(deadline)
        if line is not None or games.exhausted:
            return line
    return None


class _Games:
    def __init__(
        self,
        expander: Expander,
        distance: Callable[[States], NDArray[np.float32]],
        rng: np.random.Generator,
    ) -> None:
        self.expander = expander
        self.distance = distance
        self.rng = rng
        self.room = min(_NODES, _WORDS // expander.words) + _GAMES
        self.states = np.zeros((self.room, expander.words), np.uint64)
        """The states met, in order."""
        self.states[0] = expander.initial[0]
        self.before = np.full(self.room, -1, np.int64)
        """The number of the state that each comes from."""
        self.moves = np.zeros((self.room, len(expander.roles)), np.int32)
        self.nodes = 1
        self.met = set(keys_of(expander.initial))
        self.left = np.ones(self.room, np.bool_)
        """Whether a state may have successors that were not met."""
        self.exhausted = False
        """Every state was met."""
        self.near = (rng.random(_GAMES) < 0.8).astype(np.float32)
        self.few = rng.choice(np.array([0, 0, 0.3, 1, 3, -0.3, -1], np.float32), _GAMES)
        self.chance = (10 ** rng.uniform(-2, 0.5, _GAMES)).astype(np.float32)

    def run(self, deadline: float) -> Moves | None:
        """Play until a line is found, as many states were met as there is room for, or the time is up."""
        at = np.zeros(_GAMES, np.int64)
        while time.monotonic() < deadline and self.nodes + _GAMES <= self.room:
            states = self.states[at]
            legal = self.expander.legal(states)
            every = int(legal.joint_counts().sum()) <= _STEPS
            games, moves, after = sampled(self.expander, states, legal, self.rng, _STEPS)
            fresh = np.fromiter((key not in self.met for key in keys_of(after)), np.bool_, len(after))
            games, moves, after = games[fresh], moves[fresh], after[fresh]
            nowhere = np.setdiff1d(np.arange(_GAMES), games)
            self.left[at[nowhere]] &= not every
            far = self.distance(after)
            found = np.flatnonzero(far == 0)[:1]
            liked = found if len(found) else self._liked(games, after, far)
            first, self.nodes = self.nodes, self.nodes + len(liked)
            new = slice(first, self.nodes)
            self.states[new], self.moves[new], self.before[new] = after[liked], moves[liked], at[games[liked]]
            if len(found):
                return self._line(first)
            self.met.update(keys_of(after[liked]))
            lost = np.setdiff1d(np.arange(_GAMES), games[liked])
            at[games[liked]] = np.arange(first, self.nodes)
            if len(lost) and not self._back(at, lost):
                return None
        return None

    def _liked(self, games: NDArray[np.int64], after: States, far: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return for each game the place of the successor that it likes best."""
        counts = np.log2(1 + np.minimum(self.expander.legal(after).joint_counts(), 1 << 20))
        rank = self.near[games] * far + self.few[games] * counts.astype(np.float32)
        rank += self.chance[games] * self.rng.random(len(games), np.float32)
        rank[counts == 0] += _NOWHERE
        self.met.update(keys_of(after[counts == 0]))
        order = np.lexsort((rank, games))
        first = np.ones(len(order), np.bool_)
        first[1:] = games[order][1:] != games[order][:-1]
        best = order[first]
        liked: NDArray[np.int64] = best[rank[best] < _NOWHERE]
        return liked

    def _back(self, at: NDArray[np.int64], lost: NDArray[np.int64]) -> bool:
        """Send games back to states they came through, sooner to one shortly before, or to any other one.

        Return false when no state leads to new ones.
        """
        others = np.flatnonzero(self.left[: self.nodes])
        if not len(others):
            self.exhausted = True
            return False
        for game in lost.tolist():
            node = int(at[game])
            for _ in range(int(self.rng.geometric(10 ** -self.rng.uniform(0, 1.7)))):
                node = max(0, int(self.before[node]))
            at[game] = node if self.left[node] else self.rng.choice(others)
        return True

    def _line(self, node: int) -> Moves:
        """Return the joint moves to a state."""
        found = []
        while node:
            found.append(self.expander.joint_move(self.moves[node]))
            node = int(self.before[node])
        return tuple(reversed(found))


_NOWHERE = np.float32(1e30)

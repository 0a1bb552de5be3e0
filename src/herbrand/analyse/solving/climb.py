"""Search for a line of play by many parallel games, each of which greedily takes its best step.

Every game has its own weights: for the distance to the target (`distance`), for the number of legal moves
(preferring few is the rule by which Warnsdorff's knights of 1823 toured the board), and for chance.  No
state is entered twice; a game without a new successor backtracks to one of its earlier states, or restarts
from any other.
Unlike the states of a beam, these games stay diverse.  Failure proves nothing.
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
"""The most successors that are evaluated in each step."""
_NODES = 100_000
"""The most stored states, after which all games restart with other weights."""
_WORDS = 1 << 23
"""The most words of stored states, likewise."""


def climb(
    expander: Expander,
    distances: Sequence[Callable[[States], NDArray[np.float32]]],
    deadline: float,
    *,
    seeds: Iterator[int] | None = None,
) -> Moves | None:
    """Return a line of play to a state with distance 0; None when none was found by the deadline.

    `distances`, one or more, are used in turns; all are 0 in the same states.  `deadline` is a time of
    `time.monotonic`; `seeds` gives the seeds of restarts, so that a later call can continue with new ones.
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
    """One batch of parallel games, with the tree of their states."""

    def __init__(
        self, expander: Expander, distance: Callable[[States], NDArray[np.float32]], rng: np.random.Generator
    ) -> None:
        self.expander = expander
        self.distance = distance
        self.rng = rng
        self.room = min(_NODES, _WORDS // expander.words) + _GAMES
        self.states = np.zeros((self.room, expander.words), np.uint64)
        """The states, in the order of discovery."""
        self.states[0] = expander.initial[0]
        self.parents = np.full(self.room, -1, np.int64)
        """The number of the state before each."""
        self.moves = np.zeros((self.room, len(expander.roles)), np.int32)
        self.nodes = 1
        self.visited = set(keys_of(expander.initial))
        self.is_open = np.ones(self.room, np.bool_)
        """Whether a state may have unvisited successors."""
        self.exhausted = False
        """Whether every reachable state was visited."""
        self.distance_weight = (rng.random(_GAMES) < 0.8).astype(np.float32)
        self.mobility_weight = rng.choice(np.array([0, 0, 0.3, 1, 3, -0.3, -1], np.float32), _GAMES)
        self.chance_weight = (10 ** rng.uniform(-2, 0.5, _GAMES)).astype(np.float32)

    def run(self, deadline: float) -> Moves | None:
        """Play until a line is found, the storage is full, or time is up."""
        current = np.zeros(_GAMES, np.int64)
        while time.monotonic() < deadline and self.nodes + _GAMES <= self.room:
            states = self.states[current]
            legal = self.expander.legal(states)
            all_expanded = int(legal.joint_counts().sum()) <= _STEPS
            games, moves, after = sampled(self.expander, states, legal, self.rng, _STEPS)
            fresh = np.fromiter((key not in self.visited for key in keys_of(after)), np.bool_, len(after))
            games, moves, after = games[fresh], moves[fresh], after[fresh]
            blocked = np.setdiff1d(np.arange(_GAMES), games)
            self.is_open[current[blocked]] &= not all_expanded
            distances = self.distance(after)
            goals = np.flatnonzero(distances == 0)[:1]
            preferred = goals if len(goals) else self._best(games, after, distances)
            first, self.nodes = self.nodes, self.nodes + len(preferred)
            rows = slice(first, self.nodes)
            self.states[rows], self.moves[rows] = after[preferred], moves[preferred]
            self.parents[rows] = current[games[preferred]]
            if len(goals):
                return self._line(first)
            self.visited.update(keys_of(after[preferred]))
            stranded = np.setdiff1d(np.arange(_GAMES), games[preferred])
            current[games[preferred]] = np.arange(first, self.nodes)
            if len(stranded) and not self._backtrack(current, stranded):
                return None
        return None

    def _best(
        self, games: NDArray[np.int64], after: States, distances: NDArray[np.float32]
    ) -> NDArray[np.int64]:
        """Return for each game the index of its best successor, if any."""
        counts = np.log2(1 + np.minimum(self.expander.legal(after).joint_counts(), 1 << 20))
        mobility = self.mobility_weight[games] * counts.astype(np.float32)
        rank = self.distance_weight[games] * distances + mobility
        rank += self.chance_weight[games] * self.rng.random(len(games), np.float32)
        rank[counts == 0] += _DEAD_END
        self.visited.update(keys_of(after[counts == 0]))
        order = np.lexsort((rank, games))
        first = np.ones(len(order), np.bool_)
        first[1:] = games[order][1:] != games[order][:-1]
        best = order[first]
        preferred: NDArray[np.int64] = best[rank[best] < _DEAD_END]
        return preferred

    def _backtrack(self, current: NDArray[np.int64], stranded: NDArray[np.int64]) -> bool:
        """Send games back to earlier states of theirs, preferably recent ones, or to any other open state.

        Return false when no state is open.
        """
        others = np.flatnonzero(self.is_open[: self.nodes])
        if not len(others):
            self.exhausted = True
            return False
        for game in stranded.tolist():
            node = int(current[game])
            for _ in range(int(self.rng.geometric(10 ** -self.rng.uniform(0, 1.7)))):
                node = max(0, int(self.parents[node]))
            current[game] = node if self.is_open[node] else self.rng.choice(others)
        return True

    def _line(self, node: int) -> Moves:
        """Return the joint moves to a state."""
        joints = []
        while node:
            joints.append(self.expander.joint_move(self.moves[node]))
            node = int(self.parents[node])
        return tuple(reversed(joints))


_DEAD_END = np.float32(1e30)

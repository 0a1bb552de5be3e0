"""`SearchWorker`: what one thread does for a search, round by round.

The tree belongs to the search; everything else that a round needs each worker has for itself.  Going down
the tree, new positions and adding up (`herbrand.core.Round`) are done by one worker at a time, the random
games by all of them at once (tree parallelisation with one lock and virtual loss: Chaslot, Winands and
van den Herik 2008).  Positions from which games are under way are `BUSY`, and not opened by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE
from herbrand.core import Round
from herbrand.engine.expand import new_generator
from herbrand.play.search.tree import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.core import Ended
    from herbrand.engine.expand import States
    from herbrand.play.search.tree import GameTree

__all__ = ["SearchWorker"]

_WAYS = 512
"""Ways down in one round, at most."""
_ROWS = 8192
"""Joint moves made in one round, at most."""
_MANY = 1 << 30
_LONGEST = 4096
"""Steps of a random game that are remembered, at most."""


class _Games(NamedTuple):
    """The random games of a round."""

    states: States
    """[fresh, words] the states from which games are played."""
    parents: NDArray[np.int64]
    """[games] the number of the state from which each is played."""


class SearchWorker:
    """Does rounds for a search, with rows of its own; `seed` is for its random games."""

    def __init__(self, search: GameTree, seed: int) -> None:
        self._search = ref(search)  # it has its workers: a ring would live on, tree and all
        self._generator = new_generator(seed)
        self._round = Round(search.tree, ways=_WAYS, rows=_ROWS)
        expander = search.expander
        self._copies = np.arange(int(expander.bounds[-1]), dtype=np.int64)
        """The first of the places at which each move stands in `search.player`."""
        weights, judge = search.style.weights, search.style.judge
        self._is_simple = judge is None and search.tree.roles > 1
        """Whether nothing is to be done between two rounds."""
        if weights is not None:
            self._copies = np.cumsum(weights) - weights
        if judge is not None:
            self._valuer = judge.valuer(expander.network, search.style.role)

    @property
    def search(self) -> GameTree:
        """The search that it works for."""
        search = self._search()
        assert search is not None
        return search

    def round(self) -> bool:
        """Go down some ways, play random games at their ends; return False if that was stopped."""
        search, work = self.search, self._round
        tree = search.tree
        most = int(min(_WAYS, max(1, LANES / (search.each * work.per_leaf))))
        root = np.array([search.root], np.int64)
        with search.lock:
            fresh = work.expand(root, most=most, widest=search.widest, weight=LANES / most)
            search.playing += 1
        done = False
        try:
            before = self._generator.copy()
            games = self._games(fresh)
            ended = self._play(games)
            done = ended.complete
        finally:
            with search.lock:
                search.playing -= 1
                if not done:
                    work.abandon()
        if not done:
            return False
        with search.lock:
            search.playouts += len(games.parents)
            played = None
            if len(ended.played):
                played = np.bitwise_or.reduceat(ended.played, self._copies, axis=0)
            work.backpropagate(ended.goals, ended.lengths, played)
            if fresh and tree.roles == 1:
                self._remember(games, ended, before)
        return True

    def rounds(self, seconds: float) -> None:
        """Do a round, and others until so much time has passed, as long as there are games to play."""
        if not self._is_simple:
            self.round()
            return
        search, played = self.search, 0
        with search.lock:
            search.playing += 1
        try:
            played = self._round.run(
                search.root,
                search.player.core,
                self._generator,
                search.stop,
                each=search.each,
                widest=search.widest,
                max_steps=search.max_steps,
                rounds=_MANY if seconds else 1,
                seconds=seconds,
                places=self._copies,
            )
        finally:
            with search.lock:
                search.playing -= 1
                search.playouts += played

    def _games(self, fresh: int) -> _Games:
        """Return the games to play after a descent: as many as there are lanes, or more for many rows."""
        count = max(LANES, fresh) if fresh else 0
        parents = np.arange(count, dtype=np.int64) * fresh // max(1, count)
        return _Games(self._round.starts(), parents)

    def _play(self, games: _Games) -> Ended:
        """Play the games, unless that is stopped."""
        search = self.search
        style, count = search.style, len(games.parents)
        total = search.tree.sum
        cut = style.judge is not None and total >= 0
        ended = search.player.core.rollouts(
            games.states,
            games.parents,
            self._generator,
            style.cutoff if cut else search.max_steps,
            search.stop,
            played=bool(search.tree.amaf) and 0 < count <= LANES,
            last=cut,
        )
        if cut and ended.complete:
            self._judge(ended, round(100 * total))
        return ended

    def _judge(self, ended: Ended, total: int) -> None:
        """Give games that were cut off the learned values of their last states, whose sum is `total`."""
        search = self.search
        some = np.flatnonzero(ended.lengths < 0)
        goals = np.round(self._valuer.values(ended.last[some]) / SCALE).astype(np.int16)
        one, two = search.players
        other = two if search.style.role == one else one
        ended.goals[some, search.style.role] = goals
        ended.goals[some, other] = total - goals

    def _remember(self, games: _Games, ended: Ended, generator: NDArray[np.uint64]) -> None:
        """For one role alone: keep the best game, played once more, if it is better than the plan."""
        search = self.search
        best = int(ended.goals[:, 0].argmax())
        value = float(ended.goals[best, 0]) / 100
        if search.plan is not None and value <= search.plan.value:
            return
        if not 0 <= ended.lengths[best] <= _LONGEST:
            return
        again = search.player.core.rollouts(
            games.states, games.parents, generator, search.max_steps, watched=best
        )
        numbers = np.searchsorted(self._copies, again.line[:, 0], side="right") - 1
        search.follow(value, self._round.line(int(games.parents[best])) + numbers.tolist())

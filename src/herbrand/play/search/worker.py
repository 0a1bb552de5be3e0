"""`Worker`: what one thread does for a search, round by round.

The tree belongs to the search; everything else that a round needs each worker has for itself.  Going down
the tree, new positions and adding up (`herbrand.core.Round`) are done by one worker at a time, the random
games by all of them at once (tree parallelisation with one lock and virtual loss: Chaslot, Winands and
van den Herik 2008).  Positions from which games are under way are `BUSY`, and not opened by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from herbrand.analyse.minimax.nodes import SCALE, judged, rules_of
from herbrand.analyse.minimax.nodes import new_rows as new_stack
from herbrand.core import Round
from herbrand.play.search.style import styled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.play.search.engine import Search
    from herbrand.simulate.expand import Expander, States

__all__ = ["LANES", "Worker"]

LANES = 512
"""Random games played at once."""
_WAYS = 512
"""Ways down in one round, at most."""
_ROWS = 8192
"""Joint moves made in one round, at most."""
_LONGEST = 4096
"""Steps of a random game that are remembered, at most."""

_NEVER = np.zeros(1, np.int64)
_NO_PLAYED = np.zeros((0, LANES // 64), np.uint64)
_NO_RECORD = np.zeros((0, 1), np.int32)
_NO_STATES = np.zeros((0, 1), np.uint64)


class _Games(NamedTuple):
    """The random games of a round."""

    states: States
    """[fresh, words] the states from which games are played."""
    parents: NDArray[np.int64]
    """[games] the number of the state from which each is played."""
    goals: NDArray[np.int16]
    lengths: NDArray[np.int64]
    played: NDArray[np.uint64]
    """[moves, words] the games in which a move was made; no rows where nobody asks."""


class Worker:
    """Does rounds for a search, with rows of its own; `seed` is for its random games."""

    def __init__(self, search: Search, expander: Expander, seed: int) -> None:
        self._search = ref(search)  # it has its workers: a ring would live on, tree and all
        self.expander = expander
        self._generator: NDArray[Any] = np.random.SeedSequence(seed).generate_state(4 * 8, np.uint64)
        self._round = Round(search.tree, ways=_WAYS, rows=_ROWS)
        self._per_leaf = 8.0
        self.player = styled(expander, search.style)
        """Plays the games: a move may stand there several times."""
        self._copies = np.arange(int(expander._bounds[-1]), dtype=np.int64)
        """The first of the places at which each move stands there."""
        weights, judge = search.style.weights, search.style.judge
        if weights is not None:
            self._copies = np.cumsum(weights) - weights
        if judge is not None:
            self._rules = rules_of(expander, search.style.role)
            self._stack = new_stack(expander, len(judge.literals), LANES)

    @property
    def search(self) -> Search:
        """The search that it works for."""
        search = self._search()
        assert search is not None
        return search

    def round(self) -> bool:
        """Go down some ways, play random games at their ends; return False if that was stopped."""
        search, work = self.search, self._round
        tree = search.tree
        most = int(min(_WAYS, max(1, LANES / (search.each * self._per_leaf))))
        root = np.array([search.root], np.int64)
        with search.lock:
            full = tree.is_full
            fresh = work.expand(root, most=most, widest=search.widest, weight=LANES / most)
            search.playing += 1
        if not full and work.asked:
            self._per_leaf += 0.1 * (max(1.0, work.rows / work.asked) - self._per_leaf)
        done = False
        try:
            games = self._games(fresh)
            before = self._generator.copy()
            done = self._play(games, self._generator, _NO_RECORD, -1) if fresh else True
        finally:
            with search.lock:
                search.playing -= 1
                if not done:
                    work.abandon()
        if not done:
            return False
        with search.lock:
            search.playouts += len(games.parents)
            work.backpropagate(games.goals, games.lengths, games.played if len(games.played) else None)
            if fresh and tree.roles == 1:
                self._remember(games, before)
        return True

    def _games(self, fresh: int) -> _Games:
        """Return the games to play after a descent: as many as there are lanes, or more for many rows."""
        expander = self.expander
        count = max(LANES, fresh) if fresh else 0
        parents = np.arange(count, dtype=np.int64) * fresh // max(1, count)
        played = _NO_PLAYED
        if self.search.tree.amaf and 0 < count <= LANES:
            played = np.zeros((int(expander._bounds[-1]), LANES // 64), np.uint64)
        return _Games(
            self._round.starts(), parents, np.zeros((count, len(expander.roles)), np.int16),
            np.zeros(count, np.int64), played,
        )  # fmt: skip

    def _play(self, games: _Games, generator: NDArray[Any], record: NDArray[np.int32], watched: int) -> bool:
        """Play the games; return False if that was stopped, which it is not where one is watched."""
        search, player = self.search, self.player
        style = search.style
        total = search.tree.sum
        cut = style.judge is not None and total >= 0 and watched < 0
        last = np.zeros((len(games.parents), player.words), np.uint64) if cut else _NO_STATES
        played = games.played
        if len(played):
            played = np.zeros((int(player._bounds[-1]), played.shape[1]), np.uint64)
        found = player._play(
            games.states, games.parents, generator, style.cutoff if cut else search.max_steps, games.goals,
            games.lengths, stop=_NEVER if watched >= 0 else search.stop, watched=watched, record=record,
            played=played if watched < 0 else _NO_PLAYED, final=last, lanes=LANES,
        )  # fmt: skip
        if len(played):
            games.played[:] = np.bitwise_or.reduceat(played, self._copies, axis=0)
        if cut and found:
            self._judge(games, last, round(100 * total))
        return found

    def _judge(self, games: _Games, last: States, total: int) -> None:
        """Give games that were cut off the learned values of their last states, whose sum is `total`."""
        style = self.search.style
        assert style.judge is not None
        some = np.flatnonzero(games.lengths < 0)
        values = np.zeros(len(some), np.int64)
        judged(*self.expander._machine(LANES), self._rules, style.judge, self._stack, last, some, values)
        goals = np.round(values / SCALE).astype(np.int16)
        one, two = self.search.players
        other = two if style.role == one else one
        games.goals[some, style.role] = goals
        games.goals[some, other] = total - goals

    def _remember(self, games: _Games, generator: NDArray[Any]) -> None:
        """For one role alone: keep the best game, played once more, if it is better than the plan."""
        search = self.search
        best = int(games.goals[:, 0].argmax())
        value = float(games.goals[best, 0]) / 100
        if search.plan is not None and value <= search.plan.value:
            return
        record = np.full((min(search.max_steps, _LONGEST), 1), -1, np.int32)
        again = games._replace(goals=games.goals.copy(), lengths=games.lengths.copy())
        self._play(again, generator, record, best)
        length = int(games.lengths[best])
        if 0 <= length <= len(record):
            numbers = np.searchsorted(self._copies, record[:length, 0], side="right") - 1
            search.follow(value, self._round.line(int(games.parents[best])) + numbers.tolist())

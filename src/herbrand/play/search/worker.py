"""`SearchWorker`: the rounds of one search thread.

Workers share the tree and have buffers of their own.  Selection, expansion and backpropagation
(`herbrand.core.Round`) run in one worker at a time, playouts in all of them concurrently (tree
parallelisation with a global lock and virtual loss: Chaslot, Winands and van den Herik 2008).  A position
with running playouts is `BUSY`, and not expanded by other workers.
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

_MAX_DESCENTS = 512
"""Descents in one round, at most."""
_MAX_ROWS = 8192
"""Successors made in one round, at most."""
_UNLIMITED = 1 << 30
_MAX_PLAN = 4096
"""Steps of a playout that can become the plan, at most."""


class _Playouts(NamedTuple):
    """The playouts of a round, before they are run."""

    states: States
    """[new states, words]."""
    parents: NDArray[np.int64]
    """[playouts] the index of the state in which each starts."""


class SearchWorker:
    """Runs rounds for a search, with its own buffers; `seed` is for its playouts."""

    def __init__(self, search: GameTree, seed: int) -> None:
        self._search = ref(search)  # weak: a reference cycle would keep the tree alive
        self._generator = new_generator(seed)
        self._round = Round(search.tree, ways=_MAX_DESCENTS, rows=_MAX_ROWS)
        expander = search.expander
        self._first_copies = np.arange(int(expander.bounds[-1]), dtype=np.int64)
        """[moves] the number of the first copy of each move in `search.playout_expander`."""
        weights, judge = search.policy.weights, search.policy.judge
        self._is_compiled = judge is None and search.tree.roles > 1
        """Whether the core can run several rounds in one call."""
        if weights is not None:
            self._first_copies = np.cumsum(weights) - weights
        if judge is not None:
            self._valuer = judge.valuer(expander.network, search.policy.role)

    @property
    def search(self) -> GameTree:
        """The search that the worker belongs to."""
        search = self._search()
        assert search is not None
        return search

    def round(self) -> bool:
        """Select and expand leaves, run playouts, backpropagate; return False if it was stopped."""
        search, work = self.search, self._round
        tree = search.tree
        descents = int(min(_MAX_DESCENTS, max(1, LANES / (search.each * work.per_leaf))))
        root = np.array([search.root], np.int64)
        with search.lock:
            new_states = work.expand(root, most=descents, widest=search.widest, weight=LANES / descents)
            search.playing += 1
        done = False
        try:
            before = self._generator.copy()
            playouts = self._assign_playouts(new_states)
            ended = self._run_playouts(playouts)
            done = ended.complete
        finally:
            with search.lock:
                search.playing -= 1
                if not done:
                    work.abandon()
        if not done:
            return False
        with search.lock:
            search.playouts += len(playouts.parents)
            played = None
            if len(ended.played):
                played = np.bitwise_or.reduceat(ended.played, self._first_copies, axis=0)
            work.backpropagate(ended.goals, ended.lengths, played)
            if new_states and tree.roles == 1:
                self._update_plan(playouts, ended, before)
        return True

    def rounds(self, seconds: float) -> None:
        """Run rounds for about `seconds`, at least one, and no more once a round has no playouts."""
        if not self._is_compiled:
            self.round()
            return
        search, played = self.search, 0
        with search.lock:
            search.playing += 1
        try:
            played = self._round.run(
                search.root,
                search.playout_expander.core,
                self._generator,
                search.stop,
                each=search.each,
                widest=search.widest,
                max_steps=search.max_steps,
                rounds=_UNLIMITED if seconds else 1,
                seconds=seconds,
                places=self._first_copies,
            )
        finally:
            with search.lock:
                search.playing -= 1
                search.playouts += played

    def _assign_playouts(self, new_states: int) -> _Playouts:
        """Distribute the playouts of a round evenly: one for each lane, or more with more new states."""
        count = max(LANES, new_states) if new_states else 0
        parents = np.arange(count, dtype=np.int64) * new_states // max(1, count)
        return _Playouts(self._round.starts(), parents)

    def _run_playouts(self, playouts: _Playouts) -> Ended:
        search = self.search
        policy, count = search.policy, len(playouts.parents)
        total = search.tree.sum
        cut = policy.judge is not None and total >= 0
        ended = search.playout_expander.core.rollouts(
            playouts.states,
            playouts.parents,
            self._generator,
            policy.cutoff if cut else search.max_steps,
            search.stop,
            played=bool(search.tree.amaf) and 0 < count <= LANES,
            last=cut,
        )
        if cut and ended.complete:
            self._evaluate_cut(ended, round(100 * total))
        return ended

    def _evaluate_cut(self, ended: Ended, total: int) -> None:
        """Set the goals of playouts that were cut off to learned values, which add up to `total`."""
        search = self.search
        cut = np.flatnonzero(ended.lengths < 0)
        goals = np.round(self._valuer.values(ended.last[cut]) / SCALE).astype(np.int16)
        one, two = search.players
        other = two if search.policy.role == one else one
        ended.goals[cut, search.policy.role] = goals
        ended.goals[cut, other] = total - goals

    def _update_plan(self, playouts: _Playouts, ended: Ended, generator: NDArray[np.uint64]) -> None:
        """In one-role games, make the best playout the plan if it is better.

        `generator` is the state before the playouts, so that a second run records the moves of the best one.
        """
        search = self.search
        best = int(ended.goals[:, 0].argmax())
        value = float(ended.goals[best, 0]) / 100
        if search.plan is not None and value <= search.plan.value:
            return
        if not 0 <= ended.lengths[best] <= _MAX_PLAN:
            return
        replay = search.playout_expander.core.rollouts(
            playouts.states, playouts.parents, generator, search.max_steps, watched=best
        )
        numbers = np.searchsorted(self._first_copies, replay.line[:, 0], side="right") - 1
        search.set_plan(value, self._round.line(int(playouts.parents[best])) + numbers.tolist())

"""`Search`: the search tree of one game, grown in rounds by one or several workers.

Workers share the tree and have buffers of their own.  Selection, expansion and backpropagation
(`herbrand.core.Round`) run in one worker at a time, playouts in all of them concurrently (tree
parallelisation with a global lock and virtual loss: Chaslot, Winands and van den Herik 2008).  A position
with running playouts is `BUSY`, and not expanded by other workers.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from weakref import ref

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE
from herbrand.core import Round, SearchTree, Stop
from herbrand.engine.expand import Expander, new_generator
from herbrand.play.search.policy import UNIFORM, playout_expander

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from herbrand.core import Ended
    from herbrand.engine.expand import States
    from herbrand.network.network import Network
    from herbrand.play.search.policy import PlayoutPolicy

__all__ = ["ALONE", "BUSY", "JOINT", "LANES", "LEAF", "OVER", "Search", "SearchWorker", "SolutionLine"]

LANES: Final = 512
"""Playouts run at once."""

LEAF: Final = 0
"""In `SearchTree.kind`: a position that was evaluated but not expanded."""
ALONE: Final = 1
"""At most one role has a choice."""
JOINT: Final = 2
"""Several roles have a choice."""
OVER: Final = 3
"""Terminal, or a role has no legal move."""

BUSY: Final = 1 << 62
"""In `SearchTree.seen`: a worker runs playouts from this position; others must not expand it."""

_MAX_DESCENTS = 512
"""Descents in one round, at most."""
_MAX_ROWS = 8192
"""Successors made in one round, at most."""
_UNLIMITED = 1 << 30
_MAX_PLAN = 4096
"""Steps of a playout that can become the plan, at most."""
_BUSY_WAIT = 0.0005
"""Seconds to sleep while all leaves are busy with playouts of other workers."""
_MAX_IDLE_ROUNDS = 100
"""Rounds without a playout after which a search ends, since the whole tree is proved or full."""


@dataclass(frozen=True, slots=True)
class SolutionLine:
    """A sequence of moves to a value in a one-role game."""

    value: float
    """From 0 to 1."""
    moves: dict[bytes, int]
    """The number of the move in each state of the line, by the state's bytes."""


class Search:
    """A search tree that grows in rounds.

    `memory` is the size of the tree in bytes.  `each` is the mean number of playouts for every new position;
    fewer mean a deeper tree.  `exploration` is the constant of UCB1 for values from 0 to 1.  `widest` is the
    most moves of a new position that are tried at once.  `amaf` and `reference` are those of
    `core.SearchTree`.  `max_steps` cuts off playouts.  There are `threads` workers; each may be used by one
    thread, concurrently with the others.
    Everything else is not thread-safe, except `stop`, which ends running rounds within a step of the
    playouts.
    """

    def __init__(
        self,
        network: Network,
        *,
        memory: int = 1 << 29,
        seed: int = 0,
        exploration: float = 0.5,
        each: float = 1.0,
        max_steps: int = 1000,
        regret: bool = False,
        amaf: float = 0.0,
        reference: float = 0.0,
        widest: int = LANES,
        threads: int = 1,
        policy: PlayoutPolicy = UNIFORM,
    ) -> None:
        self.expander = Expander(network)
        self.chance = self.expander.chance
        self.players = [r for r in range(len(self.expander.roles)) if r != self.chance]
        self.tree = SearchTree(
            network.circuit,
            memory=memory,
            seed=seed % (1 << 64),
            exploration=exploration,
            chance=self.chance,
            regret=regret,
            amaf=amaf,
            reference=reference,
        )
        self.each = each
        self.widest = widest
        self.max_steps = max_steps
        self.policy = policy
        self.playout_expander = playout_expander(self.expander, policy)
        """Runs the playouts; in it, a move may occur several times."""
        self.stop = Stop()
        """Ends a round early when set."""
        self.root = -1
        self.playouts = 0
        """Playouts run so far."""
        self.plan: SolutionLine | None = None
        """In one-role games, the best line so far."""
        self.playing = 0
        """Number of workers with running playouts."""
        self.lock = threading.Lock()
        """Held to change the tree or the fields above while several workers run."""
        self.workers = [SearchWorker(self, seed + k) for k in range(threads)]

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root; keeps the subtree below it.

        Rounds discard unreachable positions; those that they cannot are discarded when the tree is full.
        """
        tree = self.tree
        at = tree.find(state)
        if at < 0:
            tree.clear()
            at = tree.add(state)
        elif tree.is_full:
            at = tree.forget(at)
        self.root = at
        tree.is_full = False

    def move_text(self, number: int) -> str:
        """Return the move with a number, counted over all roles, as KIF."""
        bounds = self.expander.bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - int(bounds[role])]

    def arms(self, at: int, role: int) -> range:
        """Return the arms of a role in an expanded position."""
        begin = int(self.tree.first[at] + self.tree.sizes[at, :role].sum())
        return range(begin, begin + int(self.tree.sizes[at, role]))

    @property
    def is_solved(self) -> bool:
        """Whether the value of the root is proved for every role."""
        return self.tree.is_exact(self.root) or bool(self.tree.kind[self.root] == OVER)

    @property
    def is_open(self) -> bool:
        """Whether the root is expanded."""
        return bool(self.tree.kind[self.root] in (ALONE, JOINT))

    @property
    def positions(self) -> int:
        """The number of positions in the tree."""
        return int(self.tree.positions)

    def is_decided(self, role: int) -> bool:
        """Whether more rounds cannot change the choice of a role at the root."""
        tree, at = self.tree, self.root
        if self.plan is not None and self.plan.value >= 1.0 and self.planned_move() is not None:
            return True
        return self.is_solved or bool(
            self.is_open and tree.low[at, role] == tree.high[at, role] and not tree.regret
        )

    def planned_move(self) -> str | None:
        """Return the move of the plan at the root; None if there is none."""
        number = None if self.plan is None else self.plan.moves.get(self.tree.state[self.root].tobytes())
        return None if number is None else self.move_text(number)

    def set_plan(self, value: float, moves: list[int]) -> None:
        """Replay moves from the root; make them the plan if they end the game with this value."""
        expander = self.expander
        state = self.tree.state[self.root : self.root + 1].copy()
        by_state: dict[bytes, int] = {}
        for move in moves:
            by_state[state.tobytes()] = move
            state = expander.step(state, np.array([[move]], np.int32))
        if expander.terminal(state)[0] and int(expander.goals(state)[0, 0]) == round(100 * value):
            self.plan = SolutionLine(value, by_state)

    def round(self) -> bool:
        """Run one round of the first worker; return False if it was stopped."""
        return self.workers[0].round()

    def run(self, keep_going: Callable[[], bool], worker: int = 0, *, seconds: float = 0.0) -> None:
        """Let a worker grow the tree until `keep_going()` is false, `stop` is set, or it cannot grow.

        `keep_going` is called before the first round and then about every `seconds`; after every round for 0.
        """
        idle_rounds = 0
        while not self.stop.is_set and not self.is_solved and keep_going() and idle_rounds < _MAX_IDLE_ROUNDS:
            before = self.playouts
            self.workers[worker].rounds(seconds)
            if self.playouts > before:
                idle_rounds = 0
            elif self.playing:  # all leaves are busy
                time.sleep(_BUSY_WAIT)
            else:
                idle_rounds += 1


def spread(playouts: int, states: int) -> NDArray[np.int64]:
    """Return the index of the state in which each playout starts, all equally often; none without a state."""
    return np.arange(playouts if states else 0, dtype=np.int64) * states // playouts


class SearchWorker:
    """Runs rounds for a search, with its own buffers; `seed` is for its playouts."""

    def __init__(self, search: Search, seed: int) -> None:
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
    def search(self) -> Search:
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
        is_complete = False
        try:
            before = self._generator.copy()
            states, parents = self._round.starts(), spread(max(LANES, new_states), new_states)
            ended = self._run_playouts(states, parents)
            is_complete = ended.complete
        finally:
            with search.lock:
                search.playing -= 1
                if not is_complete:
                    work.abandon()
        if not is_complete:
            return False
        with search.lock:
            search.playouts += len(parents)
            played = None
            if len(ended.played):
                played = np.bitwise_or.reduceat(ended.played, self._first_copies, axis=0)
            work.backpropagate(ended.goals, ended.lengths, played)
            if new_states and tree.roles == 1:
                self._update_plan(states, parents, ended, before)
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

    def _run_playouts(self, states: States, parents: NDArray[np.int64]) -> Ended:
        """Run the playouts of a round; `parents` has the index of the state in which each starts."""
        search = self.search
        policy, total = search.policy, search.tree.sum
        cut = policy.judge is not None and total >= 0
        ended = search.playout_expander.core.rollouts(
            states,
            parents,
            self._generator,
            policy.cutoff if cut else search.max_steps,
            search.stop,
            played=bool(search.tree.amaf) and 0 < len(parents) <= LANES,
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

    def _update_plan(
        self, states: States, parents: NDArray[np.int64], ended: Ended, generator: NDArray[np.uint64]
    ) -> None:
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
            states, parents, generator, search.max_steps, watched=best
        )
        numbers = np.searchsorted(self._first_copies, replay.line[:, 0], side="right") - 1
        search.set_plan(value, self._round.line(int(parents[best])) + numbers.tolist())

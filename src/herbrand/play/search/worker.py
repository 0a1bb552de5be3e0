"""`Worker`: what one thread does for a search, round by round.

The tree belongs to the search; everything else that a round needs each worker has for itself.  Going down
the tree, new positions and adding up are done by one worker at a time, the random games, which take most of
the time, by all of them at once (tree parallelisation with one lock and virtual loss: Chaslot, Winands and
van den Herik 2008).  Positions from which games are under way are `BUSY`, and not opened by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from herbrand.analyse.minimax.judge import SCALE
from herbrand.play.search.descent import KNOWN, MAKE, OPEN, descend, new_ways
from herbrand.play.search.growth import attach, look_at_sums, new_rows, open_leaves, play_leaves, settle
from herbrand.play.search.style import styled
from herbrand.play.search.tree import AMAF, BUSY, FULL, OVER, SINGLE, SUM, WEIGHT
from herbrand.simulate.lanes import describe, goals, step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.play.search.engine import Search
    from herbrand.simulate.expand import Expander, States

__all__ = ["LANES", "NEVER", "NOTHING", "NO_PLAYED", "NO_RECORD", "NO_STATES", "UNSEEN", "Worker"]

LANES = 512
"""Random games played at once."""
_WAYS = 512
"""Ways down in one round, at most."""
_ROWS = 8192
"""Joint moves made in one round, at most."""
_LONGEST = 4096
"""Steps of a random game that are remembered, at most."""

NOTHING = np.zeros(0, np.int64)
UNSEEN = np.zeros(0, np.int32)
NEVER = np.zeros(1, np.int64)
NO_PLAYED = np.zeros((0, 8), np.uint64)
NO_RECORD = np.zeros((0, 1), np.int32)
NO_STATES = np.zeros((0, 1), np.uint64)


class _Games(NamedTuple):
    """The random games of a round."""

    states: States
    """[rows, words] what the rows lead to."""
    fresh: int
    """From how many rows games are played."""
    parents: NDArray[np.int64]
    """[games] the row from which each is played."""
    goals: NDArray[np.int16]
    lengths: NDArray[np.int64]
    played: NDArray[np.uint64]


class Worker:
    """Does rounds for a search, with rows of its own; `seed` is for its random games."""

    def __init__(self, search: Search, expander: Expander, seed: int) -> None:
        self._search = ref(search)  # it has its workers: a ring would live on, tree and all
        self.expander = expander
        roles = len(expander.roles)
        self._generator: NDArray[Any] = np.random.SeedSequence(seed).generate_state(4 * 8, np.uint64)
        self._ways = new_ways(_WAYS, roles)
        self._rows = new_rows(_ROWS, roles)
        self._per_leaf = 8.0
        self._machine = expander._machine(LANES)
        self.player = styled(expander, search.style)
        """Plays the games: a move may stand there several times."""
        self._copies = np.arange(int(expander._bounds[-1]), dtype=np.int64)
        """The first of the places at which each move stands there."""
        weights, judge = search.style.weights, search.style.judge
        if weights is not None:
            self._copies = np.cumsum(weights) - weights
        if judge is not None:
            self._valuer = judge.valuer(expander.network, search.style.role)

    @property
    def search(self) -> Search:
        """The search that it works for."""
        search = self._search()
        assert search is not None
        return search

    def round(self) -> bool:
        """Go down some ways, play random games at their ends; return False if that was stopped."""
        search = self.search
        tree, ways, rows = search.tree, self._ways, self._rows
        with search.lock:
            n, used, states = self._descend()
            full = search.is_full
            fresh = used if full else attach(tree, rows, used, states)
            if tree.used[FULL]:
                search.is_full = True
            busy = rows.child[rows.fresh[:fresh]].copy()
            if not full:
                tree.seen[busy] = BUSY
            search.playing += 1
        games = self._games(states, fresh)
        before = self._generator.copy()
        done = self._play(games, self._generator, NO_RECORD, -1) if len(games.parents) else True
        with search.lock:
            search.playing -= 1
            if not full:
                tree.seen[busy] = 0
            if not done:
                settle(tree, ways, n, rows, 0, 0, games.goals, games.lengths, not full, NO_PLAYED)
                return False
            search.playouts += len(games.parents)
            if len(games.parents) and tree.settings[SUM] != -1:
                look_at_sums(tree, games.goals[:, search.players])
            settle(tree, ways, n, rows, used, fresh, games.goals, games.lengths, not full, games.played)
            if len(games.parents) and tree.settings[SINGLE]:
                self._remember(games, before, grew=not full)
        return True

    def warm(self) -> None:
        """Load what is needed only in some rounds."""
        play_leaves(self._ways, 0, self._rows)
        self._close(UNSEEN)

    def _descend(self) -> tuple[int, int, States]:
        """Go down, open leaves and make moves; return how many ways and rows, and what the rows lead to."""
        search, expander = self.search, self.expander
        tree, ways, rows, network = search.tree, self._ways, self._rows, expander.network
        most = int(min(_WAYS, max(1, LANES / (search.each * self._per_leaf))))
        tree.settings[WEIGHT] = LANES / most
        n = descend(tree, ways, np.array([search.root], np.int64), most)
        opened = np.flatnonzero(ways.end[:n] == OPEN)
        leaves = ways.position[ways.first[1 + opened] - 1]
        if search.is_full:
            used = play_leaves(ways, n, rows)
            return n, used, tree.state[rows.child[:used]]
        legal = np.zeros((len(leaves), int(expander._places[-1])), np.uint64)
        if len(leaves):
            over = np.zeros(len(leaves), np.bool_)
            describe(
                *self._machine, tree.state[leaves], network.legal, expander._bounds, expander._places,
                network.terminal, over, legal,
            )  # fmt: skip
            if over.any():
                self._close(leaves[over])
                ways.end[opened[over]] = KNOWN
                legal = legal[~over]
        used = open_leaves(
            tree, ways, n, legal, expander._bounds, expander._places, search.widest, rows
        )  # fmt: skip
        states = np.zeros((used, expander.words), np.uint64)
        if used:
            step(
                *self._machine, tree.state[rows.parent[:used]], NOTHING, rows.joint[:used], network.next,
                states, UNSEEN, np.zeros((used, 0), np.uint64),
            )  # fmt: skip
        count = len(legal) + int((ways.end[:n] == MAKE).sum())
        if count:
            self._per_leaf += 0.1 * (max(1.0, used / count) - self._per_leaf)
        return n, used, states

    def _close(self, leaves: NDArray[np.int32]) -> None:
        """Give leaves in which the game is over, which no game has told so far, their values."""
        tree, expander = self.search.tree, self.expander
        values = np.zeros((len(leaves), len(expander.roles)), np.int16)
        goals(
            *self._machine, tree.state[leaves], expander.network.goal, expander._goal_role,
            expander._goal_value, values,
        )  # fmt: skip
        tree.kind[leaves] = OVER
        tree.low[leaves] = np.where(values >= 0, values / 100, 0.5)
        tree.high[leaves] = tree.low[leaves]

    def _games(self, states: States, fresh: int) -> _Games:
        """Return the games to play after a descent: as many as there are lanes, or more for many rows."""
        expander = self.expander
        count = max(LANES, fresh) if fresh else 0
        parents = self._rows.fresh[np.arange(count) * fresh // count] if count else NOTHING
        played = NO_PLAYED
        if self.search.tree.settings[AMAF] and 0 < count <= LANES:
            played = np.zeros((int(expander._bounds[-1]), len(self._machine[1])), np.uint64)
        return _Games(
            states, fresh, parents, np.zeros((count, len(expander.roles)), np.int16),
            np.zeros(count, np.int64), played,
        )  # fmt: skip

    def _play(self, games: _Games, generator: NDArray[Any], record: NDArray[np.int32], watched: int) -> bool:
        """Play the games; return False if that was stopped, which it is not where one is watched."""
        search, player = self.search, self.player
        style = search.style
        total = search.tree.settings[SUM]
        cut = style.judge is not None and total >= 0 and watched < 0
        last = np.zeros((len(games.parents), player.words), np.uint64) if cut else NO_STATES
        played = games.played
        if len(played):
            played = np.zeros((int(player._bounds[-1]), played.shape[1]), np.uint64)
        found = player._play(
            games.states, games.parents, generator, style.cutoff if cut else search.max_steps, games.goals,
            games.lengths, stop=NEVER if watched >= 0 else search.stop, watched=watched, record=record,
            played=played if watched < 0 else NO_PLAYED, final=last, lanes=LANES,
        )  # fmt: skip
        if len(played):
            games.played[:] = np.bitwise_or.reduceat(played, self._copies, axis=0)
        if cut and found:
            self._judge(games, last, round(100 * float(total)))
        return found

    def _judge(self, games: _Games, last: States, total: int) -> None:
        """Give games that were cut off the learned values of their last states, whose sum is `total`."""
        style = self.search.style
        assert style.judge is not None
        some = np.flatnonzero(games.lengths < 0)
        goals = np.round(self._valuer.values(last[some]) / SCALE).astype(np.int16)
        one, two = self.search.players
        other = two if style.role == one else one
        games.goals[some, style.role] = goals
        games.goals[some, other] = total - goals

    def _remember(self, games: _Games, generator: NDArray[Any], *, grew: bool) -> None:
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
            row = int(self._rows.fresh[best * games.fresh // len(games.parents)])
            numbers = np.searchsorted(self._copies, record[:length, 0], side="right") - 1
            search.follow(value, self._way_to(row, grew=grew) + numbers.tolist())

    def _way_to(self, row: int, *, grew: bool) -> list[int]:
        """Return the moves of role 0 from the root to where a row leads."""
        ways, rows, tree = self._ways, self._rows, self.search.tree
        way = int(rows.way[row])
        last = int(ways.first[way + 1]) - 1
        arms = ways.arm[int(ways.first[way]) : last, 0]
        moves: list[int] = tree.move[arms].tolist()
        if grew:
            moves.append(int(rows.joint[row, 0]))
        return moves

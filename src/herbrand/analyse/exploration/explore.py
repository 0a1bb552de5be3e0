"""Explicit exploration: every reachable state of a game, level by level.

`explore` searches packed states (`engine.expand`) breadth first, with a hash set of visited states.  The
result is the graph on which all exact answers are computed: the states in the order of discovery, the
number of the successor for every joint move, the terminal states and their goal values.  Breadth-first
order makes the first line of play to a state a shortest one.

Terminal states are not expanded: the game is over there.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.core import NO_VALUE, StateGraph, StateTable, Survey

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander, States

__all__ = ["Explorer", "StateSpace", "explore"]

_CHUNK = 1 << 14
"""The most states that are expanded at once."""
_MOST_STEPS = 1 << 20
"""About the most joint moves of the states that are expanded at once."""
_PACE = 0.2
"""Seconds that one chunk of states should take; the budget is checked between chunks."""
_ADDED = 1 << 16
"""States for which room is made at once."""
_LARGE = 1 << 20
_JOINTS = 1 << 18
"""Successors that are added at once."""


@dataclass(frozen=True)
class StateSpace:
    """The reachable states; where `complete` is false, only those found first."""

    expander: Expander
    states: States
    """[n, words] the states in the order of discovery."""
    over: NDArray[np.bool_]
    """[n] whether the state is terminal; meaningless beyond `expanded`."""
    counts: NDArray[np.int32]
    """[expanded, roles] numbers of legal moves; the edges of a state are the product of its roles' moves."""
    goals: NDArray[np.int16]
    """[n, roles] goal values of terminal states, `core.NO_VALUE` elsewhere."""
    stuck: NDArray[np.int64]
    """The states that are not terminal and have a role without a legal move, ascending."""
    starts: NDArray[np.int64]
    """[expanded + 1] offsets of the edges of each state in `children`."""
    children: NDArray[np.int32]
    """[transitions] the successors in the order of the joint moves; empty when edges are not stored."""
    parents: NDArray[np.int32]
    """[n] the state from which each was discovered; -1 for the first."""
    levels: tuple[int, ...]
    """Offsets of the levels: level d, at distance d, has the states `levels[d] .. levels[d + 1]`."""
    expanded: int
    """The number of expanded states: all of them when complete."""
    transitions: int
    """Joint moves in the expanded states."""
    stopped: str | None
    """Why the exploration is not complete, or None."""
    branching: NDArray[np.int64]
    """[roles, 2] over non-terminal states: the sum of legal moves, and the number of states with a choice."""
    ever_true: NDArray[np.uint64]
    """Packed: the fluents that are true in some state."""
    always_true: NDArray[np.uint64]
    """Packed: the fluents that are true in every state."""
    ever_legal: tuple[NDArray[np.bool_], ...]
    """For each role, the moves that are legal in some non-terminal state."""
    choosers: NDArray[np.int64]
    """[roles + 1] the number of non-terminal states by the number of roles that have a choice."""
    seconds: float
    folder: Any = field(default=None, repr=False)
    """The temporary folder with the states on disk, if any; removed with this object."""

    @property
    def complete(self) -> bool:
        """Whether these are all reachable states."""
        return self.stopped is None

    @property
    def megabytes(self) -> float:
        """The memory that its arrays take, in units of 10**6 bytes; those on disk are not counted."""
        arrays = (self.states, self.over, self.counts, self.goals, self.starts, self.children, self.parents)
        return sum(0 if isinstance(array, np.memmap) else array.nbytes for array in arrays) / 1e6

    @property
    def terminal_states(self) -> int:
        """The number of terminal states."""
        return int(self.over.sum())

    @property
    def depth(self) -> int:
        """The number of the last level."""
        return len(self.levels) - 2

    @property
    def finished_depth(self) -> int:
        """The greatest distance at which every state was expanded; -1 for none."""
        return int(np.searchsorted(self.levels, self.expanded, side="right")) - 2

    @property
    def profile(self) -> list[int]:
        """The numbers of states at distance 0, 1, 2, ..."""
        return np.diff(self.levels).tolist()

    # -- lines of play --------------------------------------------------------------------

    def joint_move(self, state: int, edge: int) -> tuple[str, ...]:
        """Return the `edge`-th joint move in a state as KIF."""
        return self.expander.expand(self.states[state : state + 1]).joint_move(edge)

    def line_to(self, state: int) -> tuple[tuple[str, ...], ...]:
        """Return a shortest line of play from the first state to this one."""
        path = [state]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return self.line_along(path[::-1])

    def line_along(self, path: list[int]) -> tuple[tuple[str, ...], ...]:
        """Return the joint moves along a path of states."""
        line = []
        for before, after in pairwise(path):
            for expansion in self.expander.expansions(self.states[before : before + 1]):
                edges = np.flatnonzero((expansion.states == self.states[after]).all(axis=1))
                if len(edges):
                    line.append(expansion.joint_move(int(edges[0])))
                    break
        return tuple(line)

    # -- counting -------------------------------------------------------------------------

    @cached_property
    def graph(self) -> StateGraph:
        """The edges, for graph algorithms in the core."""
        return StateGraph(self.starts, self.children, self.counts, len(self.states))

    @cached_property
    def _ordered(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self.graph.order()

    @property
    def acyclic(self) -> bool:
        """Whether the graph has no cycle, so that every line of play is finite."""
        return len(self._ordered[0]) == len(self.states)

    @property
    def sequence(self) -> NDArray[np.int32]:
        """The states in topological order; only when acyclic."""
        assert self.acyclic
        return self._ordered[0]

    @property
    def longest(self) -> NDArray[np.int32]:
        """[n] the length of the longest line to each state; only when acyclic."""
        assert self.acyclic
        return self._ordered[1]

    @property
    def unsorted(self) -> NDArray[np.int64]:
        """The states on a cycle or reachable from one, ascending."""
        mask = np.ones(len(self.states), np.bool_)
        mask[self._ordered[0]] = False
        return np.flatnonzero(mask)

    @property
    def longest_play(self) -> int:
        """The length of the longest play; only when acyclic."""
        return int(self.longest.max())

    def plays(self) -> int | None:
        """Return the number of complete plays: the leaves of the game tree.

        None for 2**128 and more.  Only when complete and acyclic.
        """
        counts = self.graph.count_plays(self.sequence)
        return None if counts is None else int(counts[0][0]) | int(counts[1][0]) << 64

    def perft(self, depth: int) -> list[int]:
        """Return the numbers of lines of play of length 0, 1, ..., `depth`, up to the last that is not 0.

        Stops before the first number of 2**128 or more.
        """
        low, high = np.zeros((2, len(self.states)), np.uint64)
        low[0] = 1
        counts = [1]
        for _ in range(depth):
            after = self.graph.spread(low, high)
            if after is None:
                break
            low, high = after
            some = np.flatnonzero(low | high)
            if not len(some):
                break
            counts.append(sum(map(int, low[some])) + (sum(map(int, high[some])) << 64))
        return counts


def explore(
    expander: Expander,
    *,
    start: States | None = None,
    budget: Budget | None = None,
    edges: bool = True,
    stop: Callable[[Explorer], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
    spill: Path | str | None = None,
) -> StateSpace:
    """Find all states that are reachable from the initial state, or from `start`, [1, words].

    Stops at the limits of `budget`, or when `stop`, called after every chunk of states, returns true;
    `StateSpace.stopped` is the reason.  Without `edges` the graph is not stored, which saves four bytes a
    transition.  `progress(states found, states expanded)` is called after every chunk.  With `spill`
    the states are stored in a file in that folder instead of in memory.
    """
    explorer = Explorer(expander, start, budget or Budget(), edges=edges, spill=spill)
    explorer.run(stop, progress)
    return explorer.finish()


class Explorer:
    """A breadth-first search under way."""

    def __init__(
        self,
        expander: Expander,
        start: States | None,
        budget: Budget,
        *,
        edges: bool,
        spill: Path | str | None,
    ) -> None:
        self.expander = expander
        self.budget = budget
        self.store_edges = edges
        roles = len(expander.roles)
        self.folder: Any = None
        if spill is not None:
            self.folder = tempfile.TemporaryDirectory(dir=spill, prefix="herbrand-states-")
        self.states = self._room(1 << 10)
        self.table = StateTable(expander.words)
        self.over = np.zeros(1 << 10, np.bool_)
        self.goals = np.full((1 << 10, roles), NO_VALUE, np.int16)
        self.counts = np.zeros((1 << 10, roles), np.int32)
        self.parents = np.full(1 << 10, -1, np.int32)
        self.starts = np.zeros((1 << 10) + 1, np.int64)
        self.children: list[NDArray[np.int32]] = []
        self.stuck: list[NDArray[np.int64]] = []
        self.levels = [0]
        self.expanded = 0
        self.transitions = 0
        self.stopped: str | None = None
        self.survey = Survey(expander.network.circuit)
        self.add(expander.initial if start is None else start, np.zeros(1, np.int64), -1)

    @property
    def count(self) -> int:
        """The number of states found."""
        return self.table.count

    # -- memory ---------------------------------------------------------------------------

    def _room(self, size: int) -> States:
        """Return storage for `size` states that starts with the present ones."""
        words = self.expander.words
        if self.folder is None:
            states = np.empty((size, words), np.uint64)
            if hasattr(self, "states"):
                states[: self.count] = self.states[: self.count]
            return states
        path = Path(self.folder.name) / "states"
        with path.open("ab") as file:
            file.truncate(8 * size * words)
        return np.memmap(path, np.uint64, "r+", shape=(size, words))

    def _grow(self, more: int) -> None:
        """Make room for `more` additional states."""
        needed = self.count + more
        if needed > len(self.states):
            size = max(needed, _larger(len(self.states)))
            self.states = self._room(size)
            self.parents = _longer(self.parents, size, -1)

    @property
    def megabytes(self) -> float:
        """Memory in use, in units of 10**6 bytes."""
        arrays = [self.over, self.goals, self.counts, self.parents, self.starts, *self.children]
        if self.folder is None:
            arrays.append(self.states)
        return (self.table.bytes + sum(array.nbytes for array in arrays)) / 1e6

    @property
    def growth(self) -> float:
        """Further memory that the next chunk, or `finish`, may take while it copies arrays."""
        states: list[NDArray[Any]] = [self.parents]
        if self.folder is None:
            states.append(self.states)
        expanded = [self.over, self.goals, self.counts, self.starts]
        size = max(self.count + _ADDED, _larger(len(self.states)))
        growth = 0
        if self.count + _ADDED > len(self.states):
            growth += size * sum(array.nbytes // len(array) for array in states)
        if 5 * (self.count + _ADDED) > 3 * (self.table.bytes // 8):
            growth += self.table.bytes
        if self.expanded + _CHUNK > len(self.over):
            growth += sum(_larger(array.nbytes) for array in expanded)
        return max(growth, sum(array.nbytes for array in self.children)) / 1e6

    # -- work -----------------------------------------------------------------------------

    def add(self, rows: States, origins: NDArray[np.int64], first_origin: int) -> NDArray[np.int32]:
        """Add states that come from `first_origin + origins`; return their numbers."""
        numbers = np.empty(len(rows), np.int32)
        for begin in range(0, len(rows), _ADDED):
            end = min(begin + _ADDED, len(rows))
            self._grow(end - begin)
            numbers[begin:end] = self.table.insert(
                self.states, self.parents, rows[begin:end], origins[begin:end], first_origin
            )
        return numbers

    def run(
        self, stop: Callable[[Explorer], bool] | None, progress: Callable[[int, int], None] | None
    ) -> None:
        """Explore level after level, until there are no new states or a limit is reached."""
        chunk = _CHUNK // 16
        while self.expanded < self.count:
            self.levels.append(self.count)
            while self.expanded < self.levels[-1]:
                reason = self.limit()
                if reason is None and stop is not None and stop(self):
                    reason = "stopped"
                if reason is not None:
                    self.stopped = reason
                    return
                began = time.monotonic()
                chunk = min(chunk, max(1, _MOST_STEPS * self.expanded // max(1, self.transitions)))
                self._chunk(self.expanded, min(self.expanded + chunk, self.levels[-1]))
                elapsed = time.monotonic() - began
                chunk = max(64, chunk // 2) if elapsed > 2 * _PACE else chunk
                chunk = min(_CHUNK, 2 * chunk) if elapsed < _PACE else chunk
                if progress is not None:
                    progress(self.count, self.expanded)

    def limit(self) -> str | None:
        """Return the limit that is reached, or None."""
        budget = self.budget
        if self.budget.left <= 0:
            return f"{budget.seconds:.3g} seconds"
        if self.count > budget.states or self.count >= (1 << 31) - (1 << 24):
            return f"{budget.states} states"
        if self.megabytes + self.growth > budget.megabytes:
            return f"{budget.megabytes:g} megabytes"
        return None

    def _chunk(self, begin: int, end: int) -> None:
        """Expand the states `begin .. end`; when a limit is reached meanwhile, nothing is recorded."""
        expander = self.expander
        if end > len(self.over):
            size = max(end, _larger(len(self.over)))
            self.over = _longer(self.over, size, 0)
            self.goals = _longer(self.goals, size, NO_VALUE)
            self.counts = _longer(self.counts, size, 0)
            self.starts = _longer(self.starts, size + 1, 0)
        states = np.array(self.states[begin:end])
        legal = expander.legal(states)
        over = legal.over
        self.over[begin:end] = over
        if over.any():
            self.goals[begin:end][over] = expander.goals(states[over])
        stuck = begin + self.survey.add(
            states, over, legal.bits, self.counts[begin:end], self.starts[begin : end + 1]
        )
        children: list[NDArray[np.int32]] = []
        starts = self.starts[begin : end + 1] - self.starts[begin]
        for expansion in expander.expansions(states, legal, joints=_JOINTS, starts=starts):
            numbers = self.add(expansion.states, expansion.parents, begin)
            if self.store_edges:
                children.append(numbers)
            if int(starts[-1]) > _JOINTS and self.limit() is not None:
                return
        self.stuck.append(stuck)
        self.children += children
        self.transitions += int(starts[-1])
        self.expanded = end

    def finish(self) -> StateSpace:
        """Return the state space explored so far."""
        n, expanded = self.count, self.expanded
        first = self.expander.legal(self.states[:1])
        ever = type(first)(first.over, self.survey.ever_legal[None, :], first.places, first.sizes)
        legal = tuple(ever.mask(role)[0] for role in range(len(self.expander.roles)))
        levels = self.levels if self.levels[-1] == n else [*self.levels, n]
        return StateSpace(
            expander=self.expander,
            states=self.states[:n],
            over=_longer(self.over[:expanded], n, 0),
            counts=self.counts[:expanded],
            goals=_longer(self.goals[:expanded], n, NO_VALUE),
            stuck=np.concatenate([*self.stuck, np.zeros(0, np.int64)]),
            starts=self.starts[: expanded + 1],
            children=_joined(self.children),
            parents=self.parents[:n],
            levels=tuple(levels),
            expanded=expanded,
            transitions=self.transitions,
            stopped=self.stopped,
            branching=self.survey.branching,
            ever_true=self.survey.ever_true,
            always_true=self.survey.always_true,
            ever_legal=legal,
            choosers=self.survey.choosers,
            seconds=self.budget.elapsed,
            folder=self.folder,
        )


def _larger(size: int) -> int:
    """Return the size to which an array grows: fast while it is small, slowly later, to save memory."""
    return 2 * size if size < _LARGE else size + size // 4


def _joined(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return parts as one array; each is removed when it was copied, so that they do not exist twice."""
    concatenated = np.empty(sum(map(len, parts)), np.int32)
    end = len(concatenated)
    while parts:
        part = parts.pop()
        concatenated[end - len(part) : end] = part
        end -= len(part)
    return concatenated


def _longer(array: NDArray[Any], size: int, fill: int) -> NDArray[Any]:
    """Return the array with `size` rows, new ones filled with `fill`."""
    if len(array) >= size:
        return array[:size]
    longer = np.empty((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    longer[len(array) :] = fill
    return longer

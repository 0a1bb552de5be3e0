"""Random play, many games at once, which finds frequent kinds of states cheaply."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import STUCK
from herbrand.engine.expand import Legal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander, Rollouts

__all__ = [
    "RandomPlay",
    "find_cycle",
    "gets",
    "has_no_goal",
    "is_stuck",
    "play",
    "random_states",
    "sample_lines",
]

_GAMES = 2048
"""Parallel games in the search for lines."""
_ROUNDS = 128
"""How often so many games are played, at most; what a quarter of a million do not show is rare."""
_LIMITS = (300, 3000)
"""Steps after which games are cut off: the smaller limit in three of four rounds."""
_LANES = 64
"""Parallel games of `play` and `find_cycle`."""
_TIMES = 16
_LONGEST = 300
_MOST_CHANGES = 6000
"""Distinct changes that are recorded."""
_MOST_STATES = 6000
_STATES_PER_STEP = 16
"""States that are recorded after each step."""


def gets(role: int, value: int) -> Callable[[Rollouts], NDArray[np.bool_]]:
    """Return a predicate for the games in which a role gets a goal value."""
    return lambda rollouts: ~rollouts.truncated & (rollouts.goals[:, role] == value)


def is_stuck(rollouts: Rollouts) -> NDArray[np.bool_]:
    """Return which games reach a state in which a role cannot move."""
    stuck: NDArray[np.bool_] = (rollouts.goals == STUCK).any(axis=1)
    return stuck


def has_no_goal(roles: list[int]) -> Callable[[Rollouts], NDArray[np.bool_]]:
    """Return a predicate for the games that end without exactly one goal value for each of the roles."""
    return lambda rollouts: (
        ~rollouts.truncated & ~is_stuck(rollouts) & (rollouts.goals[:, roles] < 0).any(axis=1)
    )


def sample_lines(
    expander: Expander, wanted: Mapping[str, Callable[[Rollouts], NDArray[np.bool_]]], deadline: float
) -> dict[str, Moves]:
    """Play many games at random, until the deadline at most; return lines of play by name.

    `wanted` has, by name, the predicate on games that a line must satisfy; the line is the shortest
    of its batch.
    """
    lines: dict[str, Moves] = {}
    states = np.repeat(expander.initial, _GAMES, axis=0)
    seed = 0
    while len(lines) < len(wanted) and seed < _ROUNDS and time.monotonic() < deadline:
        limit = _LIMITS[min(seed % 4, 3) // 3]
        rollouts = expander.rollouts(states, seed=seed, max_steps=limit)
        for name, predicate in wanted.items():
            games = np.flatnonzero(predicate(rollouts))
            if name not in lines and len(games):
                first = int(games[rollouts.lengths[games].argmin()])
                lines[name] = expander.rollouts(states, seed=seed, max_steps=limit, watched=first).line
        seed += 1
    return lines


@dataclass(frozen=True, slots=True)
class RandomPlay:
    """A sample of states and steps of random games."""

    changes: NDArray[np.int8]
    """[n, fluents] distinct changes of the fluents in one step: -1, 0 or 1."""
    states: NDArray[np.bool_]
    """[n, fluents] states of the games."""
    cycle: Moves | None
    """A line of play whose last state occurred before."""
    loop: int = 0
    """The number of steps after which that state occurred first."""
    depths: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """[n] the numbers of steps after which the states were reached."""

    def select(self, mask: NDArray[np.bool_]) -> RandomPlay:
        """Return the sample restricted to some of the fluents."""
        changes = np.unique(self.changes[:, mask], axis=0)
        return replace(self, changes=changes, states=self.states[:, mask])


def random_states(
    expander: Expander, games: int, deadline: float, preferred: NDArray[np.uint64] | None = None
) -> Iterator[NDArray[np.bool_]]:
    """Yield the states of random games after 1, 2, ... steps, [at most `games`, fluents].

    Roles make `preferred` moves where they can (`Legal.preferring`).
    """
    rng = np.random.default_rng(2)
    states = np.repeat(expander.initial, games, axis=0)
    for _ in range(_LONGEST):
        legal = expander.legal(states)
        if preferred is not None:
            legal = legal.preferring(preferred)
        going = legal.going
        if not going.any() or time.monotonic() > deadline:
            return
        states = expander.step(states[going], legal.sample_joint(rng)[going])
        yield expander.bits(states)


class _Games:
    """Games under way, watched for states that recur."""

    def __init__(self, expander: Expander) -> None:
        self.expander = expander
        self.states = np.repeat(expander.initial, _LANES, axis=0)
        self.numbers = np.arange(_LANES)
        """[n] the numbers of the games that go on, in the order of `states`."""
        self.visited: list[dict[bytes, int]] = [{self.states[0].tobytes(): 0} for _ in range(_LANES)]
        self.history: list[NDArray[np.int32]] = []

    def legal(self) -> Legal | None:
        """Return the legal moves of the games that go on; None if none does."""
        legal = self.expander.legal(self.states)
        going = legal.going
        if not going.any():
            return None
        self.states, self.numbers = self.states[going], self.numbers[going]
        return Legal(legal.over[going], legal.bits[going], legal.places, legal.sizes)

    def step(self, moves: NDArray[np.int32]) -> tuple[Moves, int] | None:
        """Make joint moves; return a line to a state that recurs, and the steps before it occurred first."""
        joint = np.zeros((_LANES, len(self.expander.roles)), np.int32)
        joint[self.numbers] = moves
        self.history.append(joint)
        self.states = self.expander.step(self.states, moves)
        steps = len(self.history)
        for game, row in zip(self.numbers.tolist(), self.states, strict=True):
            first = self.visited[game].setdefault(row.tobytes(), steps)
            if first < steps:
                return tuple(self.expander.joint_move(joint[game]) for joint in self.history), first
        return None


def find_cycle(expander: Expander, deadline: float) -> tuple[Moves, int] | None:
    """Play games in which each role has an order of its moves, and always makes the first that is legal.

    So a state recurs soon in games where random moves hardly ever undo each other.  Returns a line to a state
    that occurred before, and after how many steps it did.
    """
    rng = np.random.default_rng(3)
    for _ in range(_TIMES):
        ranks = [1 + rng.random((_LANES, len(moves)), np.float32) for moves in expander.moves]
        games = _Games(expander)
        while len(games.history) < _LONGEST and time.monotonic() < deadline:
            legal = games.legal()
            if legal is None:
                break
            columns = [
                (legal.mask(role) * rank[games.numbers]).argmax(axis=1) for role, rank in enumerate(ranks)
            ]
            cycle = games.step(np.stack(columns, axis=1).astype(np.int32))
            if cycle is not None:
                return cycle
    return None


def play(expander: Expander, deadline: float) -> RandomPlay:
    """Play at random until a state recurs, enough distinct changes are recorded or the deadline passes."""
    rng = np.random.default_rng(1)
    changes_seen: dict[bytes, None] = {}
    states_seen, steps_made = [expander.bits(expander.initial)], [0]

    def result(cycle: Moves | None = None, loop: int = 0) -> RandomPlay:
        steps = np.frombuffer(b"".join(list(changes_seen)[:_MOST_CHANGES]), np.int8).reshape(
            -1, expander.fluents
        )
        states = np.concatenate(states_seen)[:_MOST_STATES]
        depths = np.repeat(steps_made, [len(some) for some in states_seen])[:_MOST_STATES]
        return RandomPlay(steps, states, cycle, loop, depths)

    for _ in range(_TIMES):
        games = _Games(expander)
        while len(games.history) < _LONGEST:
            legal = games.legal()
            if legal is None or len(changes_seen) >= _MOST_CHANGES or time.monotonic() > deadline:
                break
            before = expander.bits(games.states)
            cycle = games.step(legal.sample_joint(rng))
            bits = expander.bits(games.states)
            states_seen.append(bits[:_STATES_PER_STEP])
            steps_made.append(len(games.history))
            changes = bits.astype(np.int8) - before
            changes_seen.update(dict.fromkeys(row.tobytes() for row in changes))
            if cycle is not None:
                return result(*cycle)
    return result()

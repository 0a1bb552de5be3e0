"""Compare the plays of two games, and find the first joint moves after which they differ.

Both games are played in lockstep, with the moves of the first translated into those of the second.
The comparison covers what players observe: legal moves, the end, goals at the end, percepts.  States are
visited breadth first, so that the first difference has a shortest line of play; when the budget of states or
most of the time is spent, random games reach greater depths.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.machine.trajectory import Trajectory
from herbrand.rules.terms import read_term
from herbrand.verify.diff.renaming import translate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine
    from herbrand.verify.diff.renaming import Symbol

__all__ = ["Behaviour", "PlayDifference", "agreement", "compare_play"]

_RANDOM_STEPS = 300
_JOINT_MOVES = 200
"""The most joint moves of one state; with more, the search is incomplete."""


@dataclass(frozen=True, slots=True)
class PlayDifference:
    """The first difference in play."""

    what: str
    """"roles", "legal ROLE", "terminal", "goal ROLE" or "percepts ROLE"."""
    moves: tuple[str, ...]
    """Joint moves of the first game from its initial state, as for `herbrand show --moves`."""
    first: tuple[str, ...]
    """The surplus of the first game, in its own names."""
    second: tuple[str, ...]
    """The surplus of the second game, in its own names."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The result of playing two games side by side."""

    states: int
    """The number of pairs of states that were compared."""
    is_complete: bool
    """Whether these were all pairs."""
    difference: PlayDifference | None = None


def _translation(names: Mapping[Symbol, Symbol]) -> Callable[[str], str]:
    """Return a function that translates terms of one game to the names of the other, as folded KIF."""
    return cache(lambda text: str(translate(read_term(text), names)))


def compare_play(
    first: StateMachine,
    second: StateMachine,
    names: Mapping[Symbol, Symbol],
    *,
    states: int = 10_000,
    seconds: float = 20.0,
    seed: int = 0,
) -> Behaviour:
    """Play two games side by side until they differ; see the module.

    The clock for `seconds` starts when both engines are ready.
    """
    return _Search(first, second, names, states, seconds).run(random.Random(seed))


def agreement(
    first: StateMachine, second: StateMachine, *, plays: int = 20, seconds: float = 10.0, seed: int = 0
) -> float:
    """Return how much of the random plays of the first game the second plays alike, from 0 to 1.

    A play counts up to the first state in which players would observe a difference, as a share of its states;
    a difference in the initial state leaves nothing.  Names have to be the same.
    """
    search = _Search(first, second, {}, plays * _RANDOM_STEPS, seconds)
    if search.roles_differ() is not None:
        return 0.0
    return search.agreement(plays, random.Random(seed))


class _Search:
    """One comparison."""

    def __init__(
        self,
        first: StateMachine,
        second: StateMachine,
        names: Mapping[Symbol, Symbol],
        limit: int,
        seconds: float,
    ) -> None:
        self.games = first, second
        self.has_percepts = first.has_percepts or second.has_percepts
        self.to_second = _translation(names)
        self.to_first = _translation({new: old for old, new in names.items()})
        self.limit = limit
        self.seconds = seconds
        self.breadth_until = self.deadline = 0.0
        self.states = 0
        self.complete = True

    def roles_differ(self) -> PlayDifference | None:
        """Return the difference of the roles, if there is one."""
        first, second = self.games
        roles = [self.to_second(role.lower()) for role in first.roles]
        if roles == [role.lower() for role in second.roles]:
            return None
        return PlayDifference("roles", (), first.roles, second.roles)

    def run(self, chance: random.Random) -> Behaviour:
        first, second = self.games
        if (roles := self.roles_differ()) is not None:
            return Behaviour(0, True, roles)
        pair = first.initial_state(), second.initial_state()
        started = time.monotonic()  # starting engines has its own budget
        self.breadth_until, self.deadline = started + 0.7 * self.seconds, started + self.seconds
        difference = self._breadth_first(pair)
        if difference is None and not self.complete:
            difference = self._random(pair, chance)
        return Behaviour(self.states, self.complete and difference is None, difference)

    def _breadth_first(self, pair: tuple[State, State]) -> PlayDifference | None:
        visited = {pair}
        level: list[tuple[State, State, tuple[str, ...]]] = [(*pair, ())]
        while level:
            following = []
            for left, right, path in level:
                if self.states >= self.limit or time.monotonic() > self.breadth_until:
                    self.complete = False
                    return None
                difference = self._compare(left, right, path)
                if difference is not None:
                    return difference
                for joint in self._joint_moves(left):
                    try:
                        step = self._step(left, right, joint, path)
                    except BudgetExceeded:
                        self.complete = False
                        continue
                    if isinstance(step, PlayDifference):
                        return step
                    if step not in visited:
                        visited.add(step)
                        following.append((*step, (*path, _shown(joint))))
            level = following
        return None

    def _random(self, pair: tuple[State, State], chance: random.Random) -> PlayDifference | None:
        while time.monotonic() < self.deadline:
            (left, right), path = pair, tuple[str, ...]()
            for _ in range(_RANDOM_STEPS):
                difference = self._compare(left, right, path)
                if difference is not None:
                    return difference
                legal = left.legal_moves()
                if left.is_terminal or not all(legal.values()) or time.monotonic() > self.deadline:
                    break
                joint = [str(chance.choice(moves)) for moves in legal.values()]
                step = self._step(left, right, joint, path)
                if isinstance(step, PlayDifference):
                    return step
                (left, right), path = step, (*path, _shown(joint))
        return None

    def agreement(self, plays: int, chance: random.Random) -> float:
        """Return the mean share of the states of random plays before a difference; see the function."""
        first, second = self.games
        start, right_start = first.initial_state(), second.initial_state()
        deadline = time.monotonic() + self.seconds
        shares: list[float] = []
        while len(shares) < plays and (not shares or time.monotonic() < deadline):
            play = Trajectory(start)
            play.finish(chance, max_steps=_RANDOM_STEPS)
            right, alike = right_start, 0
            for number, left in enumerate(play.states):
                if self._compare(left, right, ()) is not None:
                    break
                alike += 1
                if number < len(play):
                    step = self._step(left, right, play.joint_moves[number], ())
                    if isinstance(step, PlayDifference):
                        break
                    right = step[1]
            shares.append(alike / len(play.states))
        return sum(shares) / len(shares)

    def _joint_moves(self, state: State) -> Iterator[tuple[str, ...]]:
        if state.is_terminal:
            return
        legal = [list(map(str, moves)) for moves in state.legal_moves().values()]
        for number, joint in enumerate(product(*legal)):
            if number >= _JOINT_MOVES:
                self.complete = False
                return
            yield joint

    def _step(
        self, left: State, right: State, joint: Sequence[str], path: tuple[str, ...]
    ) -> tuple[State, State] | PlayDifference:
        renamed_moves = [self.to_second(move.lower()) for move in joint]
        for role in left.roles if self.has_percepts else ():
            first = {percept.lower() for percept in left.percepts(joint, role)}
            second = {
                self.to_first(p.lower()) for p in right.percepts(renamed_moves, self.to_second(role.lower()))
            }
            if first != second:
                return self._difference(f"percepts {role}", (*path, _shown(joint)), first, second)
        return left.next(joint), right.next(renamed_moves)

    def _compare(self, left: State, right: State, path: tuple[str, ...]) -> PlayDifference | None:
        self.states += 1
        if left.is_terminal != right.is_terminal:
            sides = [("terminal",) if state.is_terminal else () for state in (left, right)]
            return PlayDifference("terminal", path, sides[0], sides[1])
        for role in left.roles:
            other = self.to_second(role.lower())
            if left.is_terminal:
                goals = set(left.goal_values(role)), set(right.goal_values(other))
                if goals[0] != goals[1]:
                    return self._difference(f"goal {role}", path, *goals)
            else:
                first = {str(move).lower() for move in left.legal_moves(role)}
                second = {self.to_first(str(move).lower()) for move in right.legal_moves(other)}
                if first != second:
                    return self._difference(f"legal {role}", path, first, second)
        return None

    def _difference(
        self, what: str, path: tuple[str, ...], first: Iterable[str], second: Iterable[str]
    ) -> PlayDifference:
        left, right = set(first), set(second)
        differing = tuple(sorted(left - right)), tuple(sorted(map(self.to_second, right - left)))
        return PlayDifference(what, path, *differing)


def _shown(joint: Sequence[str]) -> str:
    return f"({' '.join(joint)})"

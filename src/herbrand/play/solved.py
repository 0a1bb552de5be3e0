"""A player for small games: knows the value of every position before it moves."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import GameError, HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.relay import RelayPlayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.relay import Choice

__all__ = ["SolvedPlayer", "solve_quickly"]


_FAR = 1 << 30
_EVEN = 50.0
"""Less than this is delayed as long as possible."""


class OptimalPolicy:
    """What to do in every state of a solved game, for one role."""

    def __init__(
        self, space: StateSpace, role: int, values: NDArray[np.float64], steps: NDArray[np.integer]
    ) -> None:
        self.space = space
        self.role = role
        self.values = values
        """[states] what the role gets under best play."""
        self.steps = steps
        """[states] how many steps best play takes; -1 where the value is not forced by anybody."""
        rows = np.ascontiguousarray(space.states).view(np.dtype((np.void, 8 * space.states.shape[1]))).ravel()
        self._order = np.argsort(rows)
        self._rows = rows[self._order]

    def place(self, packed: NDArray[np.uint64]) -> int | None:
        """Return the number of a packed state."""
        row = np.ascontiguousarray(packed).view(self._rows.dtype).ravel()
        k = int(np.searchsorted(self._rows, row)[0])
        return int(self._order[k]) if k < len(self._rows) and self._rows[k] == row[0] else None

    def options(self, at: int) -> list[tuple[str, float, int]]:
        """Return the moves of the role in a state with their values and lengths, best first.

        The value of a move is the worst over moves of others at the same time, and the mean over those of
        chance; the length is the number of steps that best play takes from there.
        """
        space, role, expander = self.space, self.role, self.space.expander
        chance = next((r for r, name in enumerate(expander.roles) if name.lower() == "random"), -1)
        counts = space.counts[at].astype(np.int64)
        children = space.children[space.starts[at] : space.starts[at + 1]].reshape(counts)
        children = np.moveaxis(children, role, 0).reshape(counts[role], -1)
        after = self.values[children]
        drawn = chance >= 0 and counts[chance] > 1
        values = after.mean(axis=1) if drawn else after.min(axis=1)
        steps = self.steps[children]
        lengths = np.where((steps >= 0).all(axis=1), steps.max(axis=1) + 1, _FAR)
        numbers = np.flatnonzero(expander.legal(space.states[at : at + 1]).mask(role)[0]).tolist()
        moves = [expander.moves[role][number] for number in numbers]
        found = zip(moves, values.tolist(), lengths.tolist(), strict=True)
        return sorted(found, key=lambda one: (-one[1], one[2] if one[1] >= _EVEN else -one[2]))


def solve_quickly(game: Any, role: int, seconds: float, *, states: int, megabytes: float) -> OptimalPolicy:
    """Solve a game for one role; `HerbrandError` when that cannot be done within the budget, or not so."""
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import explore
    from herbrand.analyse.solving.solve import GraphSolver
    from herbrand.errors import BudgetExceeded

    budget = Budget(seconds=seconds, states=states, megabytes=megabytes)
    space = explore(game.expander, budget=budget)
    if not space.complete:
        raise BudgetExceeded(space.stopped or "", f"{len(space.states)} states found")
    work = GraphSolver(space, budget)
    if not work.turns:
        raise GameError("several roles choose at once")
    if space.acyclic:
        values, best = work.leaves(), np.full(len(space.states), -1, np.int32)
        work.induce(values, best, -1)
        return OptimalPolicy(space, role, values[:, role], work.length)
    return _forced(space, work, role)


def _forced(space: StateSpace, work: Any, role: int) -> OptimalPolicy:
    """Plays can go on for ever: what the role can force, and where others can force it below that."""
    from herbrand.analyse.exploration.by_states import strong

    if work.chance >= 0:
        raise GameError("plays can go on for ever, with chance in them")
    goals = sorted({int(v) for v in space.goals[space.over, role]}, reverse=True)
    others = [r for r in work.players if r != role]
    opposed = work.sum is not None and len(others) == 1
    undecided = work.sum / 2 if opposed else float(np.mean(goals))  # what a play without end is taken to give
    values = np.full(len(space.states), undecided)
    steps = np.full(len(space.states), -1, np.int64)
    for goal in goals:
        if goal > undecided:
            rank, _ = strong(space, role, space.over & (space.goals[:, role] >= goal))
            fresh = (rank >= 0) & (steps < 0)
            values[fresh] = goal
            steps[fresh] = rank[fresh]
    for other in others if opposed else ():
        for goal in sorted({int(v) for v in space.goals[space.over, other]}, reverse=True):
            if work.sum - goal < undecided:
                rank, _ = strong(space, other, space.over & (space.goals[:, other] >= goal))
                lost = (rank >= 0) & (steps < 0)
                values[lost] = work.sum - goal
                steps[lost] = rank[lost]
    over = space.over & (steps < 0)
    values[over] = np.maximum(space.goals[over, role], 0)
    steps[over] = 0
    return OptimalPolicy(space, role, values, steps)


class SolvedPlayer(RelayPlayer):
    """Solves small games before the first move and plays perfectly; else `mcts` chooses.

    `states` bounds how many states a game may have.  Games with moves at once are not solved.
    """

    name = "solved"

    def __init__(self, seed: int | None = None, *, memory: float = 512.0, states: int = 1_000_000) -> None:
        super().__init__(seed, memory=memory)
        self.states = states
        self.policy: OptimalPolicy | None = None
        self._why = ""
        self._seconds = 0.0

    def forget(self) -> None:
        """Let go of the states."""
        super().forget()
        self.policy = None
        self._why = "the game is not solved yet"

    def study(self, game: Game, role: int, seconds: float) -> Iterator[Callable[[], None]]:
        """Find all states and their values."""
        started = time.monotonic()
        try:
            policy = solve_quickly(game, role, seconds, states=self.states, megabytes=self.memory)
        except (HerbrandError, MemoryError) as error:
            yield partial(setattr, self, "_why", f"the game is not solved: {error}")
        else:
            yield partial(self._keep, policy, time.monotonic() - started)

    def _keep(self, policy: OptimalPolicy, seconds: float) -> None:
        self._seconds = seconds
        self.policy = policy

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Return a best move."""
        policy = self.policy
        if policy is None:
            return None
        try:
            at = policy.place(self.game.expander.pack([state.facts]))
        except HerbrandError:
            return None
        if at is None:
            return None
        by_text = {str(move).lower(): move for move in moves}
        options = policy.options(at)
        best = by_text.get(options[0][0].lower())
        if best is None:
            return None
        note = f"all {len(policy.space.states)} states are solved, in {self._seconds:.2f} s"

        def explain() -> PlayerReport:
            reports = tuple(
                MoveReport(
                    move,
                    0,
                    None,
                    proved=value,
                    at_least=value,
                    at_most=value,
                    plies=length if length < _FAR else None,
                )
                for move, value, length in options
            )
            return PlayerReport(self.name, self.role, reports, self._seconds, notes=(note,))

        return best, explain

    def note(self) -> str:
        """Say why the game is not solved."""
        return self._why

"""`SolvedPlayer`: solves small games before the first move, or follows the strategies in a file."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.knowledge.unfolding import MOST_NODES
from herbrand.errors import GameError, HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.fallback import FallbackPlayer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.solving.strategy import Strategy
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.fallback import Choice
    from herbrand.play.policy import MixedPolicy

__all__ = ["SolvedPlayer", "solve_for_role"]


_UNBOUNDED = 1 << 30
"""Length of best play where the value is not forced."""
_EVEN = 50.0
"""Values below this are delayed as long as possible."""


class OptimalPolicy:
    """Optimal play of one role in every state of a solved game."""

    def __init__(
        self, space: StateSpace, role: int, values: NDArray[np.float64], steps: NDArray[np.integer]
    ) -> None:
        self.space = space
        self.role = role
        self.values = values
        """[states] the goal value of the role under best play."""
        self.steps = steps
        """[states] the number of steps of best play; -1 where no role can force the value."""
        rows = np.ascontiguousarray(space.states).view(np.dtype((np.void, 8 * space.states.shape[1]))).ravel()
        self._order = np.argsort(rows)
        self._rows = rows[self._order]

    def find(self, packed: NDArray[np.uint64]) -> int | None:
        """Return the number of a packed state; None if it is not reachable."""
        row = np.ascontiguousarray(packed).view(self._rows.dtype).ravel()
        k = int(np.searchsorted(self._rows, row)[0])
        return int(self._order[k]) if k < len(self._rows) and self._rows[k] == row[0] else None

    def options(self, at: int) -> list[tuple[str, float, int]]:
        """Return (move, value, length) for each legal move of the role in state number `at`, best first.

        The value is the minimum over simultaneous moves of the others and the mean over those of chance; the
        length is the number of steps of best play, this move included.
        """
        space, role, expander = self.space, self.role, self.space.expander
        chance = expander.chance
        counts = space.counts[at].astype(np.int64)
        children = space.children[space.starts[at] : space.starts[at + 1]].reshape(counts)
        children = np.moveaxis(children, role, 0).reshape(counts[role], -1)
        after = self.values[children]
        drawn = chance >= 0 and counts[chance] > 1
        values = after.mean(axis=1) if drawn else after.min(axis=1)
        steps = self.steps[children]
        lengths = np.where((steps >= 0).all(axis=1), steps.max(axis=1) + 1, _UNBOUNDED)
        numbers = np.flatnonzero(expander.legal(space.states[at : at + 1]).mask(role)[0]).tolist()
        moves = [expander.moves[role][number] for number in numbers]
        options = zip(moves, values.tolist(), lengths.tolist(), strict=True)
        return sorted(
            options, key=lambda option: (-option[1], option[2] if option[1] >= _EVEN else -option[2])
        )


def solve_for_role(game: Any, role: int, seconds: float, *, states: int, megabytes: float) -> OptimalPolicy:
    """Solve a game for one role.

    Raises `BudgetExceeded`, and `GameError` for games with simultaneous moves and cyclic ones with chance.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import explore
    from herbrand.analyse.solving.solve import GraphSolver
    from herbrand.errors import BudgetExceeded

    budget = Budget(seconds=seconds, states=states, megabytes=megabytes)
    space = explore(game.expander, budget=budget)
    if not space.complete:
        raise BudgetExceeded(space.stopped or "", f"{len(space.states)} states found")
    # a role without exactly one goal value at an end gets nothing, as match managers count
    space = replace(space, goals=np.where(space.over[:, None], np.maximum(space.goals, 0), space.goals))
    solving = GraphSolver(space, budget)
    if not solving.turns:
        raise GameError("several roles choose at the same time")
    if space.acyclic:
        values, best = solving.leaves(), np.full(len(space.states), -1, np.int32)
        solving.induce(values, best, -1)
        return OptimalPolicy(space, role, values[:, role], solving.length)
    return _solve_cyclic(space, solving, role)


def _solve_cyclic(space: StateSpace, solving: Any, role: int) -> OptimalPolicy:
    """Solve a game with cycles, by the goal values that each side can force."""
    from herbrand.analyse.exploration.by_states import strong

    if solving.chance >= 0:
        raise GameError("the game has cycles and chance moves")
    goals = sorted({int(v) for v in space.goals[space.over, role]}, reverse=True)
    others = [r for r in solving.players if r != role]
    opposed = solving.sum is not None and len(others) == 1
    undecided = solving.sum / 2 if opposed else float(np.mean(goals))  # assumed value of infinite play
    values = np.full(len(space.states), undecided)
    steps = np.full(len(space.states), -1, np.int64)
    wanted = [(role, goal, goal) for goal in goals if goal > undecided]
    for other in others if opposed else ():
        theirs = sorted({int(v) for v in space.goals[space.over, other]}, reverse=True)
        wanted += [(other, goal, solving.sum - goal) for goal in theirs if solving.sum - goal < undecided]
    for side, goal, value in wanted:
        rank, _ = strong(space, side, space.over & (space.goals[:, side] >= goal))
        fresh = (rank >= 0) & (steps < 0)
        values[fresh] = value
        steps[fresh] = rank[fresh]
    over = space.over & (steps < 0)
    values[over] = np.maximum(space.goals[over, role], 0)
    steps[over] = 0
    return OptimalPolicy(space, role, values, steps)


def _strategy_for(game: Game, file: str) -> Strategy:
    """Read the strategies of a file; `HerbrandError` if they are for another game."""
    from herbrand.analyse.solving.strategy import digest_of, read_strategy

    try:
        strategy = read_strategy(file)
    except OSError as error:
        raise HerbrandError(f"cannot read `{file}`: {(error.strerror or str(error)).lower()}") from error
    if strategy.digest != digest_of(game):
        raise HerbrandError(f"the strategies of `{file}` are for other rules")
    return strategy


class SolvedPlayer(FallbackPlayer):
    """Solves small games before the first move and plays perfectly; else `mcts` chooses.

    `states` bounds the number of reachable states, or of histories with hidden information, where strategies
    close to an equilibrium are computed by regret minimisation, and `ismcts` chooses if that fails.  Games
    with simultaneous moves, but nothing hidden, are not solved.  With `file`, it plays by the strategies that
    `herbrand solve -o FILE` wrote, in the states that they are for.
    """

    name = "solved"

    def __init__(
        self,
        seed: int | None = None,
        *,
        memory: float = 512.0,
        states: int = 1_000_000,
        file: str | None = None,
        ponder: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, ponder=ponder)
        self.states = states
        self.file = file
        self.strategy: Strategy | None = None
        self.policy: OptimalPolicy | None = None
        self.hidden_policy: MixedPolicy | None = None
        """Strategies for a game of hidden information, if it was solved."""
        self._seconds = 0.0

    def forget(self) -> None:
        """Release the solved states."""
        super().forget()
        self.policy = self.hidden_policy = None
        self.strategy = None
        self._reason = "the game is not solved yet"

    def study(self, game: Game, role: int, seconds: float) -> Iterator[dict[str, Any]]:
        """Explore the state space and solve it, or read the strategies of a file."""
        started = time.monotonic()
        try:
            if self.file is not None:
                yield {"strategy": _strategy_for(game, self.file)}
                return
            if game.has_percepts:
                from herbrand.play.policy import solve_in_time

                nodes = min(self.states, MOST_NODES)
                yield {"hidden_policy": solve_in_time(game, seconds, nodes=nodes)}
                return
            policy = solve_for_role(game, role, seconds, states=self.states, megabytes=self.memory)
        except (HerbrandError, MemoryError) as error:
            yield {"_reason": f"the game is not solved: {error}"}
        else:
            yield {"policy": policy, "_seconds": time.monotonic() - started}

    @property
    def has_solution(self) -> bool:
        """Whether the game was solved."""
        return self.policy is not None or self.hidden_policy is not None

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Return an optimal move."""
        if self.strategy is not None:
            return self._by_strategy(self.strategy, state, moves)
        if self.hidden_policy is not None:
            return self.hidden_policy.choose(self, self.name, self._history, state, moves)
        policy = self.policy
        if policy is None:
            return None
        try:
            at = policy.find(self.game.expander.pack([state.facts]))
        except HerbrandError:
            return None
        if at is None:
            return None
        by_text = {str(move).lower(): move for move in moves}
        options = policy.options(at)
        best = by_text.get(options[0][0].lower())
        if best is None:
            return None
        note = f"all {len(policy.space.states)} states solved in {self._seconds:.2f} s"

        def make_report() -> PlayerReport:
            reports = tuple(
                MoveReport(move, 0, None, value, value, value, length if length < _UNBOUNDED else None)
                for move, value, length in options
            )
            return PlayerReport(self.name, self.role, reports, self._seconds, notes=(note,))

        return best, make_report

    def _by_strategy(self, strategy: Strategy, state: State, moves: list[Move]) -> Choice | None:
        """Return the move of a strategy that is for this state."""
        advice = strategy.advice(self.role, state.facts)
        name = Path(self.file or "").name
        by_text = {str(move).lower(): move for move in moves}
        move = None if advice is None else by_text.get(advice[0].lower())
        if advice is None or move is None:
            self._reason = f"the strategies of {name} do not lead to this state"
            return None
        claim = advice[1]
        note = f"by a strategy of {name}: {claim}"
        at_least = float(claim.goal) if claim.holds else 0.0
        report = MoveReport(str(move), 0, None, at_least=at_least)
        return move, lambda: PlayerReport(self.name, self.role, (report,), 0.0, notes=(note,))

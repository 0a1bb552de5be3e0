"""Values of games on decision diagrams: all states are counted, and then values go back from the ends.

No state is visited by itself, so there may be many billions of them; what counts is how regular the sets
are.  `counting.backwards` says to which games it applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.analyse.budget import Budget
from herbrand.analyse.counting.count import StepCount, with_parts
from herbrand.analyse.solving.forcing import GoalInterval, goal_values
from herbrand.analyse.solving.solved_value import SolvedValue
from herbrand.errors import BudgetExceeded, GameError, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.analyse.counting.backwards import StepAnswer
    from herbrand.analyse.counting.worker import CounterProcess
    from herbrand.machine.state_machine import StateMachine

__all__ = ["METHOD", "solve_by_diagrams"]

METHOD: Final = "backward induction on decision diagrams"


def solve_by_diagrams(
    game: StateMachine,
    *,
    budget: Budget | None = None,
    moves: bool = False,
    progress: Callable[[StepCount], None] | None = None,
    solved: Callable[[str, StepAnswer], None] | None = None,
) -> SolvedValue:
    """Return the value of a game, and of every first move if `moves` asks for it, within a budget.

    `progress` gets each step that is counted, then `solved` each question with the states of a step in which
    the answer is yes.  Where time or memory ends, bounds are what was proved up to then.

    Raises `GameError` for a game to which this does not apply: with chance, hidden information, states that
    are reached after different numbers of steps, or steps after which several roles choose; `MissingExtra`
    without the library `oxidd`; `BudgetExceeded` for a game without a network within its limits.
    """
    with optional_import("solving by decision diagrams", "analyse"):
        from herbrand.analyse.counting.checkpoint import Setup
        from herbrand.analyse.counting.worker import CounterProcess
    from herbrand.network.unroll import unrolled

    budget = budget or Budget()
    game.require_complete_information()
    if game.chance_role is not None:
        raise GameError("games with chance are not solved by decision diagrams")
    process = CounterProcess()
    solver = _Solver(game, process, budget, solved)
    try:
        setup = with_parts(Setup(unrolled(game.network)), process, budget)
        if setup.weights is None:
            raise GameError(_NO_MEASURE)
        process.open(setup, None, budget.megabytes, budget.left, keep=True)
        while (step := process.advance(budget.left)).states:
            if not step.is_layered:
                raise GameError(_NO_MEASURE)
            solver.states += step.states
            solver.steps += 1
            if progress is not None:
                progress(StepCount(solver.steps - 1, step.states, step.nodes, budget.elapsed))
        solver.solve(moves=moves)
    except MemoryError:
        solver.stopped = "out of memory"
    except BudgetExceeded:
        solver.stopped = "out of time"
    except KeyboardInterrupt:
        solver.stopped = "interrupted"
    finally:
        process.close()
    return solver.value()


_NO_MEASURE: Final = (
    "states may be reached after different numbers of steps: such games are not solved by decision diagrams"
)


class _Solver:
    """Asks one question after the other."""

    def __init__(
        self,
        game: StateMachine,
        process: CounterProcess,
        budget: Budget,
        solved: Callable[[str, StepAnswer], None] | None,
    ) -> None:
        self._expander = game.expander
        self._process, self._budget, self._solved = process, budget, solved
        self._roles = self._expander.roles
        self._goals = goal_values(self._expander.network)
        self._bounds = [GoalInterval(goals[0], goals[-1]) for goals in self._goals]
        self._ends: list[Sequence[int]] = [()] * len(self._roles)
        """For each role, its goal values at ends; empty before the first question."""
        self._total: int | None = None
        self._chooser = -1
        self._moves: dict[str, GoalInterval] = {}
        """The first moves of the role that chooses, with the goal values that it can force after each."""
        self.states = self.steps = 0
        self.stopped = ""

    def solve(self, *, moves: bool) -> None:
        """Find what each role can force; that of the second of two that are asked follows from a sum."""
        legal = self._expander.legal(self._expander.initial)
        if legal.over[0]:
            raise GameError("the game is over in its initial state")
        counts = legal.counts()[0]
        if counts.max() > 1:
            self._chooser = int(counts.argmax())
        first = max(self._chooser, 0)
        self._ask(first, every=moves)
        for role in range(len(self._roles)):
            if role == first:
                continue
            if len(self._roles) == 2 and self._total is not None:
                self._bounds[role] = self._bounds[first].opposed(self._total)
            else:
                self._ask(role)

    def _ask(self, role: int, *, every: bool = False) -> None:
        """Determine the goal values that a role can force, and with `every` also after each first move."""
        answers: dict[int, bool] = {}

        def can_force(goal: int) -> bool:
            wanted = self._at_an_end(role, goal)
            if wanted not in answers:
                answer = self._can_force(role, goal)
                answers[self._at_an_end(role, goal)] = answer
                return answer
            return answers[wanted]

        self._bounds[role].narrow(self._goals[role], can_force)
        for goal in self._goals[role][1:] if every else ():
            can_force(goal)
        for interval in (self._bounds[role], *(self._moves.values() if role == self._chooser else ())):
            interval.low = self._at_an_end(role, interval.low)
            below = [value for value in self._ends[role] if value <= interval.high]
            interval.high = max(below, default=interval.low)

    def _at_an_end(self, role: int, goal: int) -> int:
        """Return the least goal value of a role at an end that is at least `goal`, if that is known."""
        return min([value for value in self._ends[role] if value >= goal], default=goal)

    def _can_force(self, role: int, goal: int) -> bool:
        self._process.ask(role, goal, self._budget.left)
        for _ in range(self.steps):
            step = self._process.retreat(self._budget.left)
            self._total = step.total
            if self._solved is not None:
                self._solved(f"{self._roles[role]} {goal}", step)
        self._ends[role] = step.values  # there is one step at least, with the initial state
        if role == self._chooser:
            self._note_moves(role, goal)
        return bool(step.states)

    def _note_moves(self, role: int, goal: int) -> None:
        """Note after which first moves the role that chooses can force the goal value."""
        expansion = self._expander.expand(self._expander.initial)
        goals, names = self._goals[role], self._expander.moves[role]
        for move, state in zip(expansion.moves[:, role], self._expander.bits(expansion.states), strict=True):
            interval = self._moves.setdefault(names[move], GoalInterval(goals[0], goals[-1]))
            if self._process.holds(state.nonzero()[0].tolist(), self._budget.left):
                interval.low = max(interval.low, goal)
            else:
                interval.high = min(interval.high, goals[goals.index(goal) - 1])

    def value(self) -> SolvedValue:
        """Return the values that are known so far."""
        bounds = {role: _pair(interval) for role, interval in zip(self._roles, self._bounds, strict=True)}
        is_known = self._total is not None and all(interval.is_exact for interval in self._bounds)
        most = self._bounds[self._chooser].low  # there are no moves without a role that chooses
        return SolvedValue(
            METHOD,
            bounds,
            {role: low for role, (low, _) in bounds.items()} if is_known else None,
            self._roles[self._chooser] if self._chooser >= 0 else None,
            tuple(move for move, interval in self._moves.items() if interval.low >= most),
            {move: _pair(interval) for move, interval in self._moves.items()},
            states=self.states,
            seconds=self._budget.elapsed,
            stopped=self.stopped,
        )


def _pair(interval: GoalInterval) -> tuple[float, float]:
    return float(interval.low), float(interval.high)

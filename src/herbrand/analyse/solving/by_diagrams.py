"""Values of games on decision diagrams: all states are counted, and then values go back from the ends.

No state is looked at by itself, so there may be many billions of them; what counts is how regular the sets
are.  `counting.backwards` says to which games it applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.analyse.budget import Budget
from herbrand.analyse.counting.count import StepCount, with_parts
from herbrand.analyse.solving.value import SolvedValue
from herbrand.engine.playouts import goal_value
from herbrand.errors import BudgetExceeded, GameError, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable

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
    game.require_playable()
    if game.has_percepts:
        raise GameError("roles do not see everything: `herbrand analyse` has values of such games")
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
        network = self._expander.network
        goals: list[set[int]] = [set() for _ in self._roles]
        for role, term in network.goals.tolist():
            value = goal_value(network.terms.text(term))
            if value is not None and 0 <= value <= 100:
                goals[role].add(value)
        if not all(goals):
            raise GameError("a role has no goal value")
        self._goals = [sorted(some) for some in goals]
        self._bounds = [(float(some[0]), float(some[-1])) for some in self._goals]
        self._total: int | None = None
        self._chooser = -1
        self._moves: dict[str, tuple[float, float]] = {}
        self.states = self.steps = 0
        self.stopped = ""

    def solve(self, *, moves: bool) -> None:
        """Find what each role can force; that of the second of two follows from a constant sum."""
        first = self._expander.initial
        legal = self._expander.legal(first)
        if legal.over[0]:
            raise GameError("the game is over in its initial state")
        counts = legal.counts()[0]
        if counts.max() > 1:
            self._chooser = int(counts.argmax())
        for role in range(len(self._roles)):
            if role == 1 and len(self._roles) == 2 and self._total is not None:
                low, high = self._bounds[0]
                self._bounds[1] = (self._total - high, self._total - low)
                continue
            self._narrow(role, moves=moves and role == self._first_asked)
        if self._chooser == 1 and self._first_asked == 0:
            assert self._total is not None
            self._moves = {
                m: (self._total - high, self._total - low) for m, (low, high) in self._moves.items()
            }

    @property
    def _first_asked(self) -> int:
        """The role whose questions say what the first moves are worth."""
        is_second = self._chooser == 1 and len(self._roles) == 2 and self._total is not None
        return 0 if is_second else max(self._chooser, 0)

    def _narrow(self, role: int, *, moves: bool) -> None:
        goals = self._goals[role]
        low, high = 0, len(goals) - 1
        asked: set[int] = set()
        while low < high:
            middle = (low + high + 1) // 2
            if self._can_force(role, goals[middle]):
                low = middle
            else:
                high = middle - 1
            asked.add(middle)
            self._bounds[role] = (float(goals[low]), float(goals[high]))
        if moves or self._chooser in (role, -1):
            for other in sorted(set(range(1, len(goals))) - asked) if moves else ():
                self._can_force(role, goals[other])

    def _can_force(self, role: int, goal: int) -> bool:
        question = f"{self._roles[role]} {goal}"
        self._process.ask(role, goal, self._budget.left)
        answer = False
        for _ in range(self.steps):
            step = self._process.retreat(self._budget.left)
            self._total = step.total
            answer = bool(step.states)
            if self._solved is not None:
                self._solved(question, step)
        if self._chooser >= 0:
            self._note_moves(role, goal)
        return answer

    def _note_moves(self, role: int, goal: int) -> None:
        """Note after which first moves the role can force the goal value."""
        expansion = self._expander.expand(self._expander.initial)
        goals = self._goals[role]
        bits = self._expander.bits(expansion.states)
        for number, state in enumerate(bits):
            move = self._expander.moves[self._chooser][int(expansion.moves[number, self._chooser])]
            low, high = self._moves.get(move, (float(goals[0]), float(goals[-1])))
            if self._process.holds(state.nonzero()[0].tolist(), self._budget.left):
                low = max(low, float(goal))
            else:
                high = min(high, float(max(value for value in goals if value < goal)))
            self._moves[move] = (low, high)

    def value(self) -> SolvedValue:
        """Return what is known."""
        bounds = dict(zip(self._roles, self._bounds, strict=True))
        is_exact = all(low == high for low, high in self._bounds)
        best: tuple[str, ...] = ()
        chooser = self._roles[self._chooser] if self._chooser >= 0 else None
        if chooser is not None and self._moves:
            most = bounds[chooser][0]
            best = tuple(move for move, (low, _) in self._moves.items() if low >= most)
        return SolvedValue(
            METHOD,
            bounds,
            {role: low for role, (low, _) in bounds.items()}
            if is_exact and self._total is not None
            else None,
            chooser,
            best,
            self._moves,
            states=self.states,
            seconds=self._budget.elapsed,
            stopped=self.stopped,
        )

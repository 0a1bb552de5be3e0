"""A player for games of one role, which finds a plan before it moves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from herbrand.engine.playouts import goal_value
from herbrand.errors import HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.fallback import FallbackPlayer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.analyse.solving.plan import Plan
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.fallback import Choice

__all__ = ["PuzzlePlayer"]


class PuzzlePlayer(FallbackPlayer):
    """Finds a shortest plan to the highest goal value of a one-role game and follows it; else `mcts` chooses.

    A lower goal value is tried once it is proved that no plan reaches the higher ones.
    """

    name = "puzzle"

    def __init__(self, seed: int | None = None, *, memory: float = 512.0, ponder: bool = False) -> None:
        super().__init__(seed, memory=memory, ponder=ponder)
        self.plan: Plan | None = None
        self._plan_moves: dict[frozenset[str], tuple[int, Move]] = {}

    def forget(self) -> None:
        """Release the plan."""
        super().forget()
        self.plan = None
        self._plan_moves = {}

    def study(self, game: Game, role: int, seconds: float) -> Iterator[Callable[[], None]]:
        """Search for plans, the highest goal value first."""
        del role
        from herbrand.analyse.budget import Budget
        from herbrand.analyse.solving.plan import find_plan

        if len(game.roles) != 1:
            return
        budget = Budget(seconds=seconds, megabytes=self.memory)
        try:
            network = game.network
            texts = [network.terms.text(term) for term in network.goals[:, 1].tolist()]
            values = sorted(
                {value for text in texts if (value := goal_value(text)) is not None}, reverse=True
            )
            for value in values:
                plan = find_plan(game, value, budget=budget)
                if plan.moves is not None:
                    yield partial(self._store, plan, _moves_by_state(game, plan.moves))
                if plan.exists is not False:
                    return
        except (HerbrandError, MemoryError):
            return

    def _store(self, plan: Plan, moves: dict[frozenset[str], tuple[int, Move]]) -> None:
        self.plan = plan
        self._plan_moves = moves

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Return the next move of the plan."""
        plan, planned = self.plan, self._plan_moves.get(state.facts)
        if plan is None or plan.moves is None or planned is None or planned[1] not in moves:
            return None
        step, move = planned
        rest = plan.moves[step:]
        shortest = "a shortest plan" if plan.shortest else "a plan"
        report = MoveReport(
            str(move), 0, None, proved=plan.value, at_least=plan.value, plies=len(rest), line=rest
        )
        note = f"{shortest} of {len(plan.moves)} steps, by {plan.method} in {plan.seconds:.2f} s"
        explanation = PlayerReport(self.name, self.role, (report,), plan.seconds, notes=(note,))
        return move, lambda: explanation

    def note(self) -> str:
        """Return why there is no plan to follow."""
        if len(self.game.roles) != 1:
            return f"plans are for one role; {self.game.name} has {len(self.game.roles)}"
        if not self.finished.is_set():
            return "no plan yet; the search continues"
        return "no plan found in time" if self.plan is None else "this position is not on the plan"


def _moves_by_state(game: Game, moves: Sequence[Sequence[str]]) -> dict[frozenset[str], tuple[int, Move]]:
    """Return the step number and move of a plan in each state that it visits, by the state's facts."""
    state = game.initial_state()
    by_state = {}
    for step, (move,) in enumerate(moves):
        legal = next(m for m in state.legal_moves(game.roles[0]) if str(m).lower() == move.lower())
        by_state[state.facts] = step, legal
        state = state.next([legal])
    return by_state

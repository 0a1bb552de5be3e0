"""A player for games of one role, which finds a plan before it moves."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from herbrand.engine.playouts import goal_value
from herbrand.errors import HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.fallback import FallbackPlayer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.analyse.solving.plan import Plan
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.fallback import Choice

__all__ = ["PuzzlePlayer"]

_FIRST: Final = 2.0
"""Seconds for a shortest plan in the first round; each later round has `_LONGER` times as many."""
_LONGER: Final = 4.0
_ANY: Final = 8.0
"""Seconds for any plan in a round, at least: less is not enough for beams that are wide."""


class PuzzlePlayer(FallbackPlayer):
    """Finds a plan to the highest goal value of a one-role game and follows it; else `mcts` chooses.

    In rounds that grow, a shortest plan is looked for, then any plan, so that a game whose shortest plans
    are hard to find is solved in seconds all the same.  A lower goal value is tried once it is proved that no
    plan reaches the higher ones.
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

    def study(self, game: Game, role: int, seconds: float) -> Iterator[dict[str, Any]]:
        """Search for plans, the highest goal value first."""
        del role
        if len(game.roles) != 1:
            return
        deadline = time.monotonic() + seconds
        try:
            network = game.network
            texts = [network.terms.text(term) for term in network.goals[:, 1].tolist()]
            values = sorted({value for value in map(goal_value, texts) if value is not None}, reverse=True)
            for value in values:
                plan = self._find(game, value, deadline)
                if plan.moves is not None:
                    yield {"plan": plan, "_plan_moves": _moves_by_state(game, plan.moves)}
                if plan.exists is not False:
                    return
        except (HerbrandError, MemoryError):
            return

    def _find(self, game: Game, value: int, deadline: float) -> Plan:
        """Search for a plan in rounds until time is up."""
        from herbrand.analyse.budget import Budget
        from herbrand.analyse.solving.plan import any_plans, find_plan

        any_plan = any_plans(game, value)
        length = _FIRST
        while True:
            left = deadline - time.monotonic()
            plan = find_plan(game, value, budget=Budget(min(length, 0.5 * left), megabytes=self.memory))
            left = deadline - time.monotonic()
            if plan.exists is None and left > 0:
                plan = any_plan(min(max(length, _ANY), left)) or plan
            if plan.exists is not None or time.monotonic() >= deadline:
                return plan
            length *= _LONGER

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

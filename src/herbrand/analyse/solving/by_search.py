"""Solve games in which one role at a time has a choice, where there are too many states to list.

Each value is what a role can force against all others (`forcing`).  Where goal values add up to the same
number in all terminal states that the proofs rest on, one role's values are the other's as well.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.solving.forcing import METHOD, ForcedGoals, GoalInterval
from herbrand.analyse.solving.solve import Solution
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expansion, States
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["SearchedValue", "solve_by_search", "value_by_search"]

_LONGEST_LINE = 2000


@dataclass
class SearchedValue:
    """The values of a state that a search proved; `stopped` says why the search is incomplete."""

    bounds: dict[str, GoalInterval]
    """For each role, the goal values that it can force."""
    chooser: str | None = None
    """The role that chooses first, if one does."""
    best: tuple[str, ...] = ()
    """Its moves that are known to keep its value."""
    moves: dict[str, GoalInterval] = field(default_factory=dict)
    """Its moves with the values that it can force after them, if they were asked for."""
    sum: int | None = None
    """The sum of goal values, where it is constant."""
    line: Moves = ()
    """Best play to the end, of games of two roles with a constant sum."""
    expanded: int = 0
    generated: int = 0
    symmetries: int = 1
    seconds: float = 0.0
    stopped: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the value of every role is known."""
        return all(interval.is_exact for interval in self.bounds.values())


def value_by_search(forced: ForcedGoals, *, start: State | None = None, moves: bool = False) -> SearchedValue:
    """Prove the values of the initial state, or of another one, within the budget of `forced`.

    `moves` asks for the value of every first move.  Raises `GameError` for a terminal state and where the
    search does not apply.
    """
    expander = forced.expander
    first = expander.initial if start is None else expander.pack([start.facts])
    if expander.terminal(first)[0]:
        raise GameError("the state is terminal")
    roles = forced.roles
    goals = zip(roles, forced.goals, strict=True)
    result = SearchedValue({role: GoalInterval(some[0], some[-1]) for role, some in goals})
    result.symmetries = forced.symmetries
    began = time.monotonic()
    try:
        _values(forced, first, result)
        legal = expander.legal(first)
        chooser = forced.chooser(legal)
        if chooser >= 0:
            result.chooser = roles[chooser]
            after = expander.expand(first)
            _best(forced, after, chooser, result)
            if moves:
                _moves(forced, after, chooser, result)
        if result.sum is not None:
            result.line = _line(forced, first, result)
    except BudgetExceeded as error:
        result.stopped = error.spent
    except KeyboardInterrupt:
        result.stopped = "interrupted"
    result.expanded, result.generated = forced.core.expanded, forced.core.generated
    result.seconds = time.monotonic() - began
    return result


def _values(forced: ForcedGoals, first: States, result: SearchedValue) -> None:
    """Prove the value of each role; that of the second of two follows from a constant sum."""
    roles = forced.roles
    forced.narrow(first, 0, result.bounds[roles[0]])
    if len(roles) == 2 and forced.constant_sum is not None:
        result.bounds[roles[1]] = result.bounds[roles[0]].opposed(forced.constant_sum)
    else:
        for number, role in enumerate(roles[1:], 1):
            forced.narrow(first, number, result.bounds[role])
    if len(roles) == 2:
        result.sum = forced.constant_sum


def _best(forced: ForcedGoals, after: Expansion, chooser: int, result: SearchedValue) -> None:
    """Collect the first moves that are known to keep the value of the role."""
    value = result.bounds[forced.roles[chooser]].low
    states = after.states
    if chooser == 1 and result.sum is not None:  # questions were about the first role
        goals = [goal for goal in forced.goals[0] if goal > result.sum - value]
        verdicts = -forced.known(states, 0, goals[0])[0] if goals else np.ones(len(states), np.int8)
    elif value == forced.goals[chooser][0]:  # the lowest goal value need not be forced
        verdicts = np.ones(len(states), np.int8)
    else:
        verdicts = forced.known(states, chooser, value)[0]
    moves = forced.expander.moves[chooser]
    result.best = tuple(moves[number] for number in after.moves[verdicts == 1, chooser])


def _moves(forced: ForcedGoals, after: Expansion, chooser: int, result: SearchedValue) -> None:
    """Prove the value after each first move for the role that makes it."""
    role = forced.roles[chooser]
    value = result.bounds[role].low
    total = result.sum if chooser == 1 else None
    lowest = forced.goals[chooser][0] if total is None else total - forced.goals[0][-1]
    names = [forced.expander.moves[chooser][number] for number in after.moves[:, chooser]]
    result.moves = {name: GoalInterval(lowest, result.bounds[role].high) for name in names}
    for k, name in enumerate(names):
        asked, interval = chooser, result.moves[name]
        if total is not None:  # questions are about the first role
            asked, interval = 0, interval.opposed(total)
        try:
            forced.narrow(after.states[k : k + 1], asked, interval)
        finally:
            if total is not None:
                interval = result.moves[name] = interval.opposed(total)
            if interval.low >= value and name not in result.best:
                result.best = (*result.best, name)
    result.best = tuple(name for name in names if result.moves[name].low >= value)


def _line(forced: ForcedGoals, state: States, result: SearchedValue) -> Moves:
    """Return best play from a state to the end."""
    expander = forced.expander
    interval = result.bounds[forced.roles[0]]
    if not interval.is_exact:
        return ()
    value = interval.low
    above = next((goal for goal in forced.goals[0] if goal > value), None)
    line: list[tuple[str, ...]] = []
    while not (legal := expander.legal(state)).over[0] and len(line) < _LONGEST_LINE:
        after = expander.expand(state)
        k = 0
        if len(after) > 1:
            k = _choice(forced, after, maximise=forced.chooser(legal) == 0, value=value, above=above)
        line.append(after.joint_move(k))
        state = after.states[k : k + 1]
    return tuple(line)


def _choice(forced: ForcedGoals, after: Expansion, *, maximise: bool, value: int, above: int | None) -> int:
    """Return the successor that keeps the value of the first role, or holds it to that."""
    if maximise and value == forced.goals[0][0]:
        return 0
    if not maximise and above is None:
        return 0
    goal, wanted = (value, 1) if maximise else (above or 0, -1)
    verdicts, work = forced.known(after.states, 0, goal)
    proved = np.flatnonzero(verdicts == wanted)
    if len(proved):
        return int(proved[np.argmin(work[proved])])
    for k in range(len(after)):
        if forced.can_force(after.states[k : k + 1], 0, goal) == (wanted == 1):
            return k
    raise GameError("no move keeps the value")


def solve_by_search(
    game: StateMachine, *, start: State | None = None, budget: Budget | None = None
) -> Solution:
    """Solve a game of two roles that take turns, from the initial state or from another one.

    Raises `GameError` where the search does not apply: other numbers of roles, simultaneous choices, hidden
    information; `BudgetExceeded` when time is up.
    """
    if len(game.roles) != 2 or game.chance_role is not None:
        raise GameError("the search is for two roles without chance")
    forced = ForcedGoals(game, budget=budget)
    searched = value_by_search(forced, start=start, moves=True)
    if searched.stopped:
        raise BudgetExceeded(searched.stopped, f"{searched.expanded} states expanded")
    guaranteed = {role: float(interval.low) for role, interval in searched.bounds.items()}
    root: list[tuple[str, str, dict[str, float]]] = []
    if searched.sum is not None and searched.chooser is not None:
        other = next(role for role in game.roles if role != searched.chooser)
        for move, interval in searched.moves.items():
            low = float(interval.low)
            values = {searched.chooser: low, other: searched.sum - low}
            root.append((searched.chooser, move, {role: values[role] for role in game.roles}))
        root.sort(key=lambda entry: -entry[2][entry[0]])
    note = "only guaranteed values are known, not the result of play"
    return Solution(
        method=METHOD,
        value=dict(guaranteed) if searched.sum is not None else None,
        guaranteed=guaranteed,
        line=searched.line,
        root=tuple(root),
        states=searched.expanded,
        seconds=searched.seconds,
        notes=(note,) if searched.sum is None else (),
    )

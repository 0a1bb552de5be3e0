"""`value_of`: the value of a game and its best moves, by the method that gets farthest within a budget.

| game                                              | method                                            |
|---------------------------------------------------|---------------------------------------------------|
| few states                                        | all of them (`solve`)                             |
| one role at a time chooses, complete information  | proof-number search (`by_search`), and after a    |
|                                                   | while sets of states (`by_diagrams`)              |
| others                                            | backward induction from the states up to a depth, |
|                                                   | of which nothing is known but the least and the   |
|                                                   | greatest goal value: bounds                       |
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.solving.by_search import value_by_search
from herbrand.analyse.solving.forcing import METHOD, ForcedGoals, goal_values
from herbrand.analyse.solving.solved_value import SolvedValue
from herbrand.errors import BudgetExceeded, GameError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.solving.solve import Solution
    from herbrand.machine.state_machine import StateMachine

__all__ = ["value_of"]

_FEW_STATES: Final = 300_000
_FEW_SECONDS: Final = 10.0
"""Limits of the attempt to list all states."""
_SEARCH_SHARE: Final = 0.1
_SEARCH_SECONDS: Final = 20.0
"""Limits of the search before decision diagrams are tried."""
_DIAGRAM_SHARE: Final = 0.45
"""Share of the remaining budget."""
_DIAGRAM_MEMORY: Final = 0.7
"""Share of the memory, since the table of the search stays."""
_BYTES: Final = 200
"""Approximate memory of a listed state with its edges, in games that are only bounded."""


def value_of(
    game: StateMachine,
    *,
    budget: Budget | None = None,
    moves: bool = False,
    search: bool = False,
    progress: Callable[[int], None] | None = None,
) -> SolvedValue:
    """Return the value of a game, or bounds on it, proved within a budget.

    `moves` asks for the value of every first move, `search` for a search even where all states could be
    listed, since strategies are made from searches.  `progress` gets the number of visited states.  Raises
    `GameError` where no method applies, such as for games with hidden information.
    """
    from herbrand.analyse.exploration.explore import explore

    game.require_complete_information()
    budget = budget or Budget()
    began = time.monotonic()
    expander = game.expander
    if expander.terminal(expander.initial)[0]:
        raise GameError("the game is over at the start")
    searchable = game.chance_role is None and len(game.roles) > 1
    why = ""
    many = replace(budget.share(0.8), states=int(budget.megabytes * 1e6 / _BYTES))
    report = None if progress is None else lambda states, _: progress(states)
    if not searchable:
        return _listed(explore(expander, budget=many, progress=report), budget, began, moves=moves)
    if not search:
        share = budget.share(0.2)
        share = replace(share, seconds=min(share.seconds, _FEW_SECONDS), states=_FEW_STATES)
        space = explore(expander, budget=share, progress=report)
        if space.choosers[2:].any() and not space.complete and budget.left > 0:  # the search does not apply
            more = explore(expander, budget=many, progress=report)
            space = more if len(more.states) > len(space.states) else space
        if space.complete or space.choosers[2:].any():
            return _listed(space, budget, began, moves=moves)
        why = f"more than {len(space.states)} states"
        del space
    forced = ForcedGoals(game, budget=budget, progress=progress)
    if not search:
        first = budget.share(_SEARCH_SHARE)
        forced.budget = replace(first, seconds=min(first.seconds, _SEARCH_SECONDS))
    searched = value_by_search(forced, moves=moves)
    if searched.stopped and searched.stopped != "interrupted" and not search:
        value = _by_diagrams(game, budget, moves=moves, progress=progress)
        if value is not None and not value.stopped:
            return replace(value, seconds=time.monotonic() - began, notes=(why,))
        if value is None:
            forced.budget = budget
            searched = value_by_search(forced, moves=moves)
        else:
            searched.stopped = value.stopped
    bounds: dict[str, tuple[float, float]] = {role: (i.low, i.high) for role, i in searched.bounds.items()}
    exact = searched.is_exact and (searched.sum is not None or len(bounds) == 1)
    notes = [why] if why else []
    if searched.is_exact and not exact:
        notes.append("goal values do not add up to a constant: the values are what each role can force")
    return SolvedValue(
        METHOD,
        bounds,
        {role: pair[0] for role, pair in bounds.items()} if exact else None,
        searched.chooser,
        searched.best,
        {move: (i.low, i.high) for move, i in searched.moves.items()},
        searched.line,
        searched.expanded,
        searched.symmetries,
        time.monotonic() - began,
        searched.stopped,
        tuple(notes),
        searched,
        forced,
    )


def _by_diagrams(
    game: StateMachine, budget: Budget, *, moves: bool, progress: Callable[[int], None] | None
) -> SolvedValue | None:
    """Return the value of a game whose sets of states are small diagrams, if a part of the budget is enough.

    None where it is not; an incomplete value if it was interrupted.
    """
    from herbrand.analyse.solving.by_diagrams import solve_by_diagrams

    share = replace(budget.share(_DIAGRAM_SHARE), megabytes=_DIAGRAM_MEMORY * budget.megabytes)
    try:
        value = solve_by_diagrams(
            game,
            budget=share,
            moves=moves,
            progress=None if progress is None else lambda step: progress(step.states),
            solved=None if progress is None else lambda _, step: progress(step.states),
        )
    except (BudgetExceeded, GameError, MissingExtra):
        return None
    return value if value.stopped in {"", "interrupted"} else None


def _listed(space: StateSpace, budget: Budget, began: float, *, moves: bool) -> SolvedValue:
    """Return the value of a game from the states that were listed, or what these show of it."""
    if not space.complete:
        return _bounded(space, budget, began)
    try:
        return _exact(space, budget, moves=moves, began=began)
    except BudgetExceeded as error:
        unsolved = SolvedValue("backward induction", _extremes(space), None, states=len(space.states))
        return replace(unsolved, seconds=time.monotonic() - began, stopped=error.spent)


def _exact(space: StateSpace, budget: Budget, *, moves: bool, began: float) -> SolvedValue:
    """Return the solution of a game whose states are all known."""
    from herbrand.analyse.solving.solve import solve_space

    solution: Solution = solve_space(space, budget)
    root = solution.root
    return SolvedValue(
        solution.method,
        _extremes(space) | {role: (value, value) for role, value in solution.guaranteed.items()},
        solution.value,
        root[0][0] if root else None,
        tuple(move for role, move, value in root if value[role] == root[0][2][role]),
        {move: (value[role], value[role]) for role, move, value in root} if moves else {},
        solution.line,
        len(space.states),
        seconds=time.monotonic() - began,
        notes=solution.notes,
    )


def _extremes(space: StateSpace) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest goal value that the rules have for each role but chance."""
    goals = goal_values(space.expander.network, every=False)
    return {
        role: (float(min(values, default=0)), float(max(values, default=100)))
        for role, values in zip(space.expander.roles, goals, strict=True)
        if role.lower() != "random"
    }


def _bounded(space: StateSpace, budget: Budget, began: float) -> SolvedValue:
    """Return bounds from the states that were listed, by induction from their last ones.

    A state that was not expanded may be worth anything between the least and the greatest goal value.
    """
    from herbrand.analyse.solving.solve import GraphSolver

    if not space.acyclic:
        raise BudgetExceeded(space.stopped or "", "positions repeat, so that a part of them shows nothing")
    extremes = _extremes(space)
    frontier = np.arange(len(space.states)) >= space.expanded
    known_end = space.over & ~frontier
    both: list[dict[str, float]] = []
    for end in (0, 1):
        worth = [extremes.get(role, (0, 0))[end] for role in space.expander.roles]
        goals = np.where(known_end[:, None], space.goals, np.array(worth, np.int16))
        part = replace(space, over=space.over | frontier, goals=goals, stopped=None)
        both.append(GraphSolver(part, budget).guarantees()[0])
    bounds = {role: (float(low), float(both[1][role])) for role, low in both[0].items()}
    partial = SolvedValue("bounds from the first states", bounds, None, states=space.expanded)
    return replace(partial, seconds=time.monotonic() - began, stopped=space.stopped or "")

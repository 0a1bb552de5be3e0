"""Solve games of two roles that take turns by alpha-beta search, where there are too many states to list.

Each role's value is what it can force against the other (`minimax`).  The transposition table identifies
states by hashes of 64 bits; collisions are possible, but so improbable that they are ignored.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.solving.solve import Solution
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander, States
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["solve_by_search"]

METHOD = "alpha-beta"
_GAMES = 2048
"""Random games that are sampled for the sum of goal values."""
_LONGEST = 1000
_MEMORY = 1 << 26
"""The greatest size of a transposition table in bytes."""


def solve_by_search(
    game: StateMachine, *, start: State | None = None, budget: Budget | None = None
) -> Solution:
    """Solve a game of two roles that take turns, from the initial state or from another one.

    Raises `GameError` where alpha-beta does not apply: other numbers of roles, simultaneous choices, hidden
    information; `BudgetExceeded` when time is up.
    """
    game.require_playable()
    began = time.monotonic()
    budget = budget or Budget()
    network, expander = game.network, game.expander
    if len(game.roles) != 2 or "random" in map(str.lower, game.roles):
        raise GameError("alpha-beta is for two roles without chance")
    if len(network.sees):
        raise GameError("alpha-beta needs complete information, and roles do not see everything")
    first = expander.initial if start is None else expander.pack([start.facts])
    if expander.terminal(first)[0]:
        raise GameError("the state is terminal")
    searches = [_RoleSearch(_search(game, role, budget), budget) for role in range(2)]
    values = [role_search.value(first) for role_search in searches]
    total = _goal_sum(expander, first)
    adds_up = sum(values) == total
    if adds_up:
        note = f"goal values added up to {total} in {_GAMES} random games, which is not a proof"
    else:
        note = "only guaranteed values are known, not the result of play"
    guaranteed: dict[str, float] = dict(zip(game.roles, values, strict=True))
    return Solution(
        method=METHOD,
        value=dict(guaranteed) if adds_up else None,
        guaranteed=guaranteed,
        line=_line(searches, first),
        root=_root(searches, first) if adds_up else (),
        states=sum(role_search.expanded for role_search in searches),
        seconds=time.monotonic() - began,
        notes=(note,),
    )


def _search(game: StateMachine, role: int, budget: Budget) -> AlphaBetaSearch:
    from herbrand.analyse.solving.minimax.search import AlphaBetaSearch

    memory = int(min(_MEMORY, 0.4e6 * budget.megabytes))
    return AlphaBetaSearch(game.network, role, memory=memory, exact=True)


class _RoleSearch:
    """One role's search, which keeps its transposition table from state to state."""

    def __init__(self, search: AlphaBetaSearch, budget: Budget) -> None:
        self.search = search
        self.budget = budget
        self.expanded = 0
        """The number of expanded states."""

    def value(self, state: States) -> int:
        """Return the goal value that the role can force from a non-terminal state, [1, words]."""
        search = self.search
        search.move_to(state)
        while not search.is_done:
            if self.budget.left <= 0:
                raise BudgetExceeded(
                    f"{self.budget.seconds:.3g} seconds", f"{search.depth} steps looked ahead"
                )
            search.slice()
            if search.is_simultaneous:
                raise GameError("several roles choose at once")
        self.expanded += search.nodes
        if not search.is_solved:
            raise BudgetExceeded(f"{search.depth} steps", "plays may be longer, or roles stuck")
        return round(search.value)


def _line(searches: list[_RoleSearch], state: States) -> Moves:
    """Return best play to its end: each role makes its own best moves."""
    expander, line = searches[0].search.expander, []
    while not (legal := expander.legal(state)).over[0]:
        counts = legal.counts()[0]
        search = searches[int(counts.argmax())]
        search.value(state)
        joint = search.search.joint_move(legal, search.search.choice)
        assert joint is not None
        line.append(expander.joint_move(joint))
        state = expander.step(state, np.array([joint], np.int32))
    return tuple(line)


def _root(searches: list[_RoleSearch], state: States) -> tuple[tuple[str, str, dict[str, float]], ...]:
    """Return the values after each move of the role that chooses first, best first."""
    expander = searches[0].search.expander
    counts = expander.legal(state).counts()[0]
    chooser = int(counts.argmax())
    if counts[chooser] < 2:
        return ()
    roles = expander.roles
    after = expander.expand(state)
    over = expander.terminal(after.states)
    goals = expander.goals(after.states)
    moves = []
    for k, joint in enumerate(after.moves.tolist()):
        if over[k]:
            values = goals[k].tolist()
        else:
            values = [search.value(after.states[k : k + 1]) for search in searches]
        named_values: dict[str, float] = dict(zip(roles, values, strict=True))
        moves.append((roles[chooser], expander.moves[chooser][joint[chooser]], named_values))
    return tuple(sorted(moves, key=lambda entry: -entry[2][roles[chooser]]))


def _goal_sum(expander: Expander, state: States) -> int | None:
    """Return the sum of goal values at the ends of random games; None if it varies."""
    games = expander.rollouts(state, seed=1, each=_GAMES, max_steps=_LONGEST)
    ends = games.goals[~games.truncated].astype(np.int64)
    sums = np.unique(ends.sum(axis=1))
    return int(sums[0]) if len(sums) == 1 and (ends >= 0).all() else None

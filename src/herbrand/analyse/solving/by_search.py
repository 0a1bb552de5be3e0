"""Solve games of two roles that take turns by alpha-beta search, where there are too many states to list.

Each role's value is what it can make sure of against the other (`minimax`).  A state that is met again is
known by a hash of 64 bits in the transposition table: that two different states have the same one is
possible, and so improbable that it is left at that.
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
"""Random games looked at for what goal values add up to."""
_LONGEST = 1000
_MEMORY = 1 << 26
"""Bytes of a transposition table, at most."""


def solve_by_search(
    game: StateMachine, *, start: State | None = None, budget: Budget | None = None
) -> Solution:
    """Solve a game of two roles that take turns, from the initial state or from another one.

    Raises `GameError` where alpha-beta is of no use: other numbers of roles, choices at the same time,
    hidden information; `BudgetExceeded` when the time was not enough.
    """
    game.require_playable()
    began = time.monotonic()
    budget = budget or Budget()
    network, expander = game.network, game.expander
    if len(game.roles) != 2 or "random" in map(str.lower, game.roles):
        raise GameError("alpha-beta is for two roles without chance")
    if len(network.sees):
        raise GameError("roles do not see everything: the state alone does not decide what they do")
    first = expander.initial if start is None else expander.pack([start.facts])
    if expander.terminal(first)[0]:
        raise GameError("the game is over there")
    minds = [_Mind(_search(game, role, budget), budget) for role in range(2)]
    values = [mind.value(first) for mind in minds]
    total = _sum_seen(expander, first)
    adds_up = sum(values) == total
    if adds_up:
        note = f"that goal values add up to {total} was seen in {_GAMES} random games, not proved"
    else:
        note = "what each can make sure of is known, not what will happen"
    guaranteed: dict[str, float] = dict(zip(game.roles, values, strict=True))
    return Solution(
        method=METHOD,
        value=dict(guaranteed) if adds_up else None,
        guaranteed=guaranteed,
        line=_line(minds, first),
        root=_root(minds, first) if adds_up else (),
        states=sum(mind.expanded for mind in minds),
        seconds=time.monotonic() - began,
        notes=(note,),
    )


def _search(game: StateMachine, role: int, budget: Budget) -> AlphaBetaSearch:
    from herbrand.analyse.solving.minimax.search import AlphaBetaSearch

    memory = int(min(_MEMORY, 0.4e6 * budget.megabytes))
    return AlphaBetaSearch(game.network, role, memory=memory, exact=True)


class _Mind:
    """One role's search, asked about one state after another; what was found before helps."""

    def __init__(self, search: AlphaBetaSearch, budget: Budget) -> None:
        self.search = search
        self.budget = budget
        self.expanded = 0
        """States whose successors were made."""

    def value(self, state: States) -> int:
        """Return the goal value that the role can make sure of from a state, [1, words], that is not over."""
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
            raise BudgetExceeded(f"{search.depth} steps", "plays can be longer, or get stuck")
        return round(search.value)


def _line(minds: list[_Mind], state: States) -> Moves:
    """Return best play to its end: each role does what is best for it."""
    expander, line = minds[0].search.expander, []
    while not (legal := expander.legal(state)).over[0]:
        counts = legal.counts()[0]
        mind = minds[int(counts.argmax())]
        mind.value(state)
        joint = mind.search.joint_move(legal, mind.search.choice)
        assert joint is not None
        line.append(expander.joint_move(joint))
        state = expander.step(state, np.array([joint], np.int32))
    return tuple(line)


def _root(minds: list[_Mind], state: States) -> tuple[tuple[str, str, dict[str, float]], ...]:
    """Return the values after each move of the role that chooses first, best first."""
    expander = minds[0].search.expander
    counts = expander.legal(state).counts()[0]
    chooser = int(counts.argmax())
    if counts[chooser] < 2:
        return ()
    roles = expander.roles
    after = expander.expand(state)
    over = expander.terminal(after.states)
    goals = expander.goals(after.states)
    found = []
    for k, joint in enumerate(after.moves.tolist()):
        if over[k]:
            values = goals[k].tolist()
        else:
            values = [mind.value(after.states[k : k + 1]) for mind in minds]
        named: dict[str, float] = dict(zip(roles, values, strict=True))
        found.append((roles[chooser], expander.moves[chooser][joint[chooser]], named))
    return tuple(sorted(found, key=lambda entry: -entry[2][roles[chooser]]))


def _sum_seen(expander: Expander, state: States) -> int | None:
    """Return what goal values add up to at the ends of random games; None if not always to the same."""
    games = expander.rollouts(state, seed=1, each=_GAMES, max_steps=_LONGEST)
    ends = games.goals[~games.truncated].astype(np.int64)
    sums = np.unique(ends.sum(axis=1))
    return int(sums[0]) if len(sums) == 1 and (ends >= 0).all() else None

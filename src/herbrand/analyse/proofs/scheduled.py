"""Strong winnability refuted by others who follow fixed schedules, a move for each step.

In races each role goes its own way, so that it is enough to be as fast as the others: who does not win while
all others move as on their fastest ways cannot force a win, whatever they might do instead.  A schedule is a
list of preferences (`convert.restrict`), each for the fluent that is true after a number of steps, so the
game needs a step counter.  With all others on their schedules few states are left, and these are listed.
"""

from __future__ import annotations

import time
from itertools import takewhile
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.invariants.groups import depends_on_moves
from herbrand.analyse.proofs.restricted import refute
from herbrand.convert.restrict import Preference, restrict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import Explorer
    from herbrand.analyse.verdict import Verdict
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["refute_by_schedules"]

_GAMES: Final = 64
"""Random games in which a step counter is looked for, and of which the longest is the first schedule."""
_LOOKING: Final = 5.0
"""The most seconds for them."""
_BRIEF: Final = 0.05
"""Likewise, as a share of the time."""
_LEAST: Final = 4
"""The fewest steps that are counted."""
_SHARE: Final = 0.3
"""Share of the time for the fastest ways of all roles."""


def refute_by_schedules(
    game: StateMachine, roles: Sequence[int], budget: Budget
) -> Iterator[tuple[int, Verdict]]:
    """Yield those of some roles, by number, that cannot force 100, with the verdicts that say so.

    Raises `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    expander = game.expander
    clock = _find_clock(expander, min(_LOOKING, _BRIEF * budget.left))
    if len(clock) < _LEAST or game.players != tuple(game.roles):
        return
    schedules = _longest_game(expander, len(clock))
    fastest = {}
    for place, name in enumerate(game.roles):
        share = budget.share(_SHARE / (len(game.roles) - place))
        way = _fastest_way(restrict(game, _preferences(name, schedules, clock)), name, share)
        if way is None:
            return
        fastest[name] = way
    for place, role in enumerate(roles):
        preferences = _preferences(game.roles[role], fastest, clock)
        reason = f"{game.roles[role]} does not win if all others make the moves of their fastest ways"
        verdict = refute(game, role, preferences, reason, budget.share(1 / (len(roles) - place)))
        if verdict is not None:
            yield role, verdict


def _find_clock(expander: Expander, seconds: float) -> list[str]:
    """Return, for 0, 1, 2, ... steps, a fluent that is true after as many and only then, in random games."""
    depths = [expander.bits(expander.initial)]
    depths += random_states(expander, _GAMES, time.monotonic() + seconds)
    ever = np.array([states.any(axis=0) for states in depths])
    alone = np.array([states.all(axis=0) for states in depths]) & (ever.sum(axis=0) == 1)
    alone &= ~depends_on_moves(expander.network)
    return [expander.fluent_names[int(depth.argmax())] for depth in takewhile(np.any, alone)]


def _preferences(role: str, schedules: dict[str, list[str]], clock: Sequence[str]) -> tuple[Preference, ...]:
    """Return the schedules of all roles but one as preferences."""
    return tuple(
        Preference(other, move, when)
        for other, moves in schedules.items()
        if other != role
        for move, when in zip(moves, clock, strict=False)
    )


def _longest_game(expander: Expander, steps: int) -> dict[str, list[str]]:
    """Return the moves of each role in the longest of some random games, up to a number of steps."""
    states = np.repeat(expander.initial, _GAMES, axis=0)
    longest = int(expander.rollouts(states, seed=0, max_steps=steps).lengths.argmax())
    line = expander.rollouts(states, seed=0, max_steps=steps, watched=longest).line
    return {name: [joint[role] for joint in line] for role, name in enumerate(expander.roles)}


def _fastest_way(game: StateMachine, role: str, budget: Budget) -> list[str] | None:
    """Return the moves of a role on a shortest line to 100; None if none is found."""
    game.network_within(budget.left)
    number = game.role_index(role)
    checked = 0

    def has_won(explorer: Explorer) -> bool:
        nonlocal checked
        chunk = slice(checked, explorer.expanded)
        checked = explorer.expanded
        return bool((explorer.over[chunk] & (explorer.goals[chunk, number] == 100)).any())

    space = explore(game.expander, budget=budget, edges=False, stop=has_won)
    won = np.flatnonzero(space.over & (space.goals[:, number] == 100))
    return [joint[number] for joint in space.line_to(int(won[0]))] if len(won) else None

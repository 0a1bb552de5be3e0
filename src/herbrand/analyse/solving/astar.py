"""A*: shortest plans, along states from which the goal may be near (Hart, Nilsson and Raphael 1968).

States are kept in order of the steps to them and the estimate of those still to come (`estimate`).  All
that are equal in both are looked into at once, the ones with more steps behind them first.  No step lowers
the estimate by more than one, so that a state that is looked into has been reached in the fewest steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.explore import Explorer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.invariants.estimate import Estimate
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander

__all__ = ["Found", "shortest_line"]

_CHUNK = 1 << 13
"""States that are looked into at once, at most."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to."""

    line: Moves | None
    """A shortest line of play to the goal; None when there is none or none was found."""
    clean: int
    """No line to the goal has so many steps or fewer."""
    complete: bool
    """Whether every state was looked into from which the goal could be near enough."""
    states: int
    """States that were met."""


def shortest_line(
    expander: Expander,
    value: int,
    estimate: Estimate,
    budget: Budget,
    progress: Callable[[int, int], None] | None = None,
) -> Found:
    """Look for a shortest line of play to an end with a goal value, for a game with one role.

    `progress(states found, steps)` is called now and then: no line has fewer steps than that.
    """
    return _Search(expander, value, estimate, budget).run(progress)


class _Search:
    """States by the steps they are worth."""

    def __init__(self, expander: Expander, value: int, estimate: Estimate, budget: Budget) -> None:
        self.expander = expander
        self.value = value
        self.estimate = estimate
        self.explorer = Explorer(expander, None, budget, edges=False, spill=None)
        self.steps = np.zeros(1 << 10, np.int32)
        """The fewest steps to each state, as far as is known."""
        self.open: dict[int, dict[int, list[NDArray[np.int32]]]] = {}
        """By steps in all and steps behind: numbers of states, some of which were reached sooner since."""
        self._keep(np.zeros(1, np.int32), 0)

    def _keep(self, numbers: NDArray[np.int32], steps: int) -> None:
        """Note that these states are to be looked into."""
        whole = steps + self.estimate(self.explorer.states[numbers])
        for total in np.unique(whole).tolist():
            self.open.setdefault(total, {}).setdefault(steps, []).append(numbers[whole == total])

    def run(self, progress: Callable[[int, int], None] | None) -> Found:
        """Search until a line is found, nothing is left or a limit is reached."""
        while self.open:
            total = min(self.open)
            level = self.open[total]
            steps = max(level)
            numbers = level[steps].pop()
            if not level[steps]:
                del level[steps]
            if not level:
                del self.open[total]
            numbers = numbers[self.steps[numbers] == steps]
            for begin in range(0, len(numbers), _CHUNK):
                if self.explorer.limit() is not None:
                    return Found(None, total - 1, complete=False, states=self.explorer.count)
                won = self._look_into(numbers[begin : begin + _CHUNK], steps)
                if won is not None:
                    line = self.explorer.finish().line_to(won)
                    return Found(line, total - 1, complete=True, states=self.explorer.count)
                if progress is not None:
                    progress(self.explorer.count, total)
        return Found(None, -1, complete=True, states=self.explorer.count)

    def _look_into(self, numbers: NDArray[np.int32], steps: int) -> int | None:
        """Add the successors of some states; return the number of one that is the goal."""
        explorer = self.explorer
        states = explorer.states[numbers]
        legal = self.expander.legal(states)
        over = np.flatnonzero(legal.over)
        won = over[self.expander.goals(states[over])[:, 0] == self.value] if len(over) else over
        if len(won):
            return int(numbers[won[0]])
        for expansion in self.expander.expansions(states, legal):
            origins = numbers[expansion.parents].astype(np.int64)
            known = explorer.count
            found = explorer.add(expansion.states, origins, 0)
            if explorer.count > len(self.steps):
                room = np.zeros(2 * explorer.count, np.int32)
                room[:known] = self.steps[:known]
                self.steps = room
            self.steps[known : explorer.count] = steps + 2  # more than is known now
            sooner = np.flatnonzero(self.steps[found] > steps + 1)
            places, first = np.unique(found[sooner], return_index=True)
            explorer.parents[places] = origins[sooner[first]]
            self.steps[places] = steps + 1
            self._keep(places, steps + 1)
        return None

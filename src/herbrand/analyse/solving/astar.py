"""A*: shortest plans by an admissible estimate (Hart, Nilsson and Raphael 1968).

The open list orders states by the sum of the steps to them and the estimate of those to come (`estimate`).
All that are equal in both are expanded at once, those with more steps behind them first.  No step lowers
the estimate by more than one, so that every expanded state has been reached in the fewest steps.
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

__all__ = ["LineSearchResult", "shortest_line"]

_CHUNK = 1 << 13
"""The most states that are expanded at once."""


@dataclass(frozen=True, slots=True)
class LineSearchResult:
    """The result of `shortest_line`."""

    line: Moves | None
    """A shortest line of play to the goal; None when there is none or none was found."""
    refuted: int
    """A number of steps that every line to the goal exceeds; -1 when unknown."""
    complete: bool
    """Whether the search ended before any limit of the budget."""
    states: int
    """The number of states found."""


def shortest_line(
    expander: Expander,
    value: int,
    estimate: Estimate,
    budget: Budget,
    progress: Callable[[int, int], None] | None = None,
) -> LineSearchResult:
    """Look for a shortest line of play to an end with a goal value, for a game with one role.

    `progress(states found, steps)` is called after every chunk; no line has fewer steps than that.
    """
    return _Search(expander, value, estimate, budget).run(progress)


class _Search:
    """One search, with its open list."""

    def __init__(self, expander: Expander, value: int, estimate: Estimate, budget: Budget) -> None:
        self.expander = expander
        self.value = value
        self.estimate = estimate
        self.explorer = Explorer(expander, None, budget, edges=False, spill=None)
        self.steps = np.zeros(1 << 10, np.int32)
        """The length of the shortest known line to each state."""
        self.open: dict[int, dict[int, list[NDArray[np.int32]]]] = {}
        """Numbers of states by total and past steps; states with a shorter line by now are stale."""
        self._push(np.zeros(1, np.int32), 0)

    def _push(self, numbers: NDArray[np.int32], steps: int) -> None:
        """Add states to the open list."""
        totals = steps + self.estimate(self.explorer.states[numbers])
        for total in np.unique(totals).tolist():
            self.open.setdefault(total, {}).setdefault(steps, []).append(numbers[totals == total])

    def run(self, progress: Callable[[int, int], None] | None) -> LineSearchResult:
        """Search until a line is found, the open list is empty or a limit is reached."""
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
                    return LineSearchResult(None, total - 1, complete=False, states=self.explorer.count)
                won = self._expand(numbers[begin : begin + _CHUNK], steps)
                if won is not None:
                    line = self.explorer.finish().line_to(won)
                    return LineSearchResult(line, total - 1, complete=True, states=self.explorer.count)
                if progress is not None:
                    progress(self.explorer.count, total)
        return LineSearchResult(None, -1, complete=True, states=self.explorer.count)

    def _expand(self, numbers: NDArray[np.int32], steps: int) -> int | None:
        """Expand states; return the number of one that is the goal, or None."""
        explorer = self.explorer
        states = explorer.states[numbers]
        legal = self.expander.legal(states)
        over = np.flatnonzero(legal.over)
        won = over[self.expander.goals(states[over])[:, 0] == self.value] if len(over) else over
        if len(won):
            return int(numbers[won[0]])
        for expansion in self.expander.expansions(states, legal):
            origins = numbers[expansion.parents].astype(np.int64)
            before = explorer.count
            successors = explorer.add(expansion.states, origins, 0)
            if explorer.count > len(self.steps):
                room = np.zeros(2 * explorer.count, np.int32)
                room[:before] = self.steps[:before]
                self.steps = room
            self.steps[before : explorer.count] = steps + 2  # more than the line below
            shorter = np.flatnonzero(self.steps[successors] > steps + 1)
            places, first = np.unique(successors[shorter], return_index=True)
            explorer.parents[places] = origins[shorter[first]]
            self.steps[places] = steps + 1
            self._push(places, steps + 1)
        return None

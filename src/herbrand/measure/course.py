"""Measures of the course of a game: which role leads after each step, and how that changes.

The value of a state for a role is its mean goal in playouts from there.  The *lead* of a role is its value
minus the highest value of the others; it is significant above two standard errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.measure.batch_play import estimate
from herbrand.measure.random_play import mean_measure, scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.measure.batch_play import PlayedGames
    from herbrand.measure.beliefs import NetworkGame
    from herbrand.measure.value import Measure

__all__ = ["measure_course"]


def measure_course(
    game: NetworkGame, played: PlayedGames, estimates: int, *, max_steps: int, random: np.random.Generator
) -> list[Measure]:
    """Measure drama, lead change and uncertainty in games with recorded states."""
    players = list(game.players)
    goals = played.goals[:, players]
    has_goals = played.ended & (goals >= 0).all(axis=1)
    steps = [(numbers, states) for numbers, states in played.states if len(numbers)]
    all_states = np.concatenate([states for _, states in steps])
    values = estimate(game, all_states, estimates, max_steps, random)[:, players]
    drama: list[float] = []
    changes: list[float] = []
    uncertainty: list[float] = []
    rows = np.concatenate([numbers for numbers, _ in steps])
    won = scores(goals)
    for number in np.flatnonzero(has_goals):
        course = values[rows == number]
        best = np.sort(course, axis=1)
        lead = best[:, -1] - best[:, -2]
        noise = 2.0 * _error(course, estimates)
        uncertainty.append(float((1.0 - lead).mean()))
        changes.append(_changes(course, lead > noise) / len(course))
        if won[number].max() == 1.0:
            winner = int(won[number].argmax())
            behind = np.delete(course, winner, axis=1).max(axis=1) - course[:, winner] - noise
            drama.append(float(max(0.0, behind[1:].max(initial=0.0))))
    method = "search play"
    note = "" if drama else "no game was won by one role alone"
    return [
        mean_measure("drama", np.array(drama), method, note=note),
        mean_measure("lead_change", np.array(changes), method),
        mean_measure("uncertainty", np.array(uncertainty), method),
    ]


def _error(course: NDArray[np.float64], estimates: int) -> NDArray[np.float64]:
    """Bound the standard error of the lead in each state, as if the two best values were anticorrelated."""
    best = np.sort(course, axis=1)[:, -2:]
    errors: NDArray[np.float64] = np.sqrt(best * (1 - best) / estimates).sum(axis=1)
    return errors


def _changes(course: NDArray[np.float64], clear: NDArray[np.bool_]) -> int:
    """Count the changes of the leading role among the states with a clear leader."""
    leaders = course.argmax(axis=1)[clear]
    return int((leaders[1:] != leaders[:-1]).sum())

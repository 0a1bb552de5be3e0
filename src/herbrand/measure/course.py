"""How a game goes: who is in the lead after each step, and whether that stays so.

The value of a state for a role is its mean goal in random games from there.  The *lead* of a role is its
value less the highest value of the others; a lead counts when it is more than two standard errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.measure.lines import estimate
from herbrand.measure.random_play import average, scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.measure.lines import PlayedGames
    from herbrand.measure.value import Measure
    from herbrand.measure.worlds import PlayedGame

__all__ = ["course"]


def course(
    table: PlayedGame, lines: PlayedGames, estimates: int, *, max_steps: int, random: np.random.Generator
) -> list[Measure]:
    """Measure drama, lead change and uncertainty in games whose states were kept."""
    players = list(table.players)
    goals = lines.goals[:, players]
    valued = lines.ended & (goals >= 0).all(axis=1)
    steps = [(games, states) for games, states in lines.states if len(games)]
    values = estimate(
        table, np.concatenate([states for _, states in steps]), estimates, max_steps, random
    )[:, players]  # fmt: skip
    drama: list[float] = []
    changes: list[float] = []
    doubt: list[float] = []
    rows = np.concatenate([games for games, _ in steps])
    won = scores(goals)
    for game in np.flatnonzero(valued):
        course = values[rows == game]
        best = np.sort(course, axis=1)
        lead = best[:, -1] - best[:, -2]
        noise = 2.0 * _error(course, estimates)
        doubt.append(float((1.0 - lead).mean()))
        changes.append(_changes(course, lead > noise) / len(course))
        if won[game].max() == 1.0:
            winner = int(won[game].argmax())
            others = np.delete(course, winner, axis=1).max(axis=1)
            behind = others - course[:, winner] - noise
            drama.append(float(max(0.0, behind[1:].max(initial=0.0))))
    how = "search play"
    return [
        average("drama", np.array(drama), how, note="" if drama else "no game was won by one role alone"),
        average("lead_change", np.array(changes), how),
        average("uncertainty", np.array(doubt), how),
    ]


def _error(course: NDArray[np.float64], estimates: int) -> NDArray[np.float64]:
    """Bound the standard error of the lead in each state: what one role wins the other may lose."""
    best = np.sort(course, axis=1)[:, -2:]
    errors: NDArray[np.float64] = np.sqrt(best * (1 - best) / estimates).sum(axis=1)
    return errors


def _changes(course: NDArray[np.float64], clear: NDArray[np.bool_]) -> int:
    """Count how often the lead went to another role, of the states in which one is clear."""
    leaders = course.argmax(axis=1)[clear]
    return int((leaders[1:] != leaders[:-1]).sum())

"""Measures of random play: length, choices and fairness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.measure.value import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from herbrand.measure.batch_play import PlayedGames

__all__ = ["Outcomes", "mean_measure", "measure_choices", "measure_endings", "measure_fairness", "scores"]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Results of games.  Players are the roles that are not chance."""

    goals: NDArray[np.int16]
    """[games, players]; negative without a value."""
    lengths: NDArray[np.int64]
    """[games] steps."""
    ended: NDArray[np.bool_]
    """[games] whether the game reached a terminal state."""
    first: NDArray[np.int64]
    """[games] index of the player with the first choice; -1 for none."""

    @property
    def has_goals(self) -> NDArray[np.bool_]:
        """[games] whether the game ended with a goal value for every player."""
        return self.ended & (self.goals >= 0).all(axis=1)


def mean_measure(
    name: str, values: NDArray[np.float64], method: str, *, unit: str = "", note: str = ""
) -> Measure:
    """Return a mean with its standard error; a measure without a value for no values.

    If all n values of a share are equal, the error is that of one in n + 2 differing by 1 (Laplace's rule of
    succession) instead of 0.
    """
    n = len(values)
    if n == 0:
        return Measure(name, None, method=method, unit=unit, note=note or "no game ended with goals")
    mean = float(values.mean())
    spread = float(values.var(ddof=1)) if n > 1 else 0.0
    if spread == 0.0 and not unit:
        spread = (n + 1) / (n + 2) ** 2
    return Measure(name, mean, math.sqrt(spread / n), method, n, unit, note)


def scores(goals: NDArray[np.int16]) -> NDArray[np.float64]:
    """Return the scores, [games, players]: 1/t for each of t players with the highest goal, else 0."""
    best = goals == goals.max(axis=1, keepdims=True)
    shares: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return shares


def measure_endings(outcomes: Outcomes, max_steps: int, bound: int | None) -> list[Measure]:
    """Measure completion and length; `bound` is a proved bound on the length, or None."""
    method = "random play"
    if bound is not None and bound <= max_steps and outcomes.ended.all():
        completion = Measure(
            "completion", 1.0, 0.0, "proof", note=f"a step counter ends every game after {bound} steps"
        )
    else:
        completion = mean_measure(
            "completion", outcomes.ended.astype(float), method, note=f"within {max_steps} steps"
        )
    lengths = outcomes.lengths[outcomes.ended].astype(float)
    note = f"{lengths.min():g} to {lengths.max():g}" if len(lengths) else "no game ended"
    return [completion, mean_measure("length", lengths, method, unit="steps", note=note)]


def measure_choices(played: PlayedGames) -> list[Measure]:
    """Measure branching and agency from traced games."""
    return [
        _ratio("branching", played.legal, played.choices, "no role ever has a choice", unit="moves"),
        _ratio("agency", played.states_with_choice, played.lengths, "the game is over at once"),
    ]


def _ratio(
    name: str, above: NDArray[np.int64], below: NDArray[np.int64], missing: str, *, unit: str = ""
) -> Measure:
    """Return a ratio of sums, which weights games by their length, with its error (delta method)."""
    method, counted = "random play", below > 0
    n = int(counted.sum())
    if not n:
        return Measure(name, None, method=method, unit=unit, note=missing)
    numerators, denominators = above[counted].astype(float), below[counted].astype(float)
    ratio = float(numerators.sum() / denominators.sum())
    residuals = numerators - ratio * denominators
    error = math.sqrt((residuals**2).sum() / (n * (n - 1))) / denominators.mean() if n > 1 else 0.0
    return Measure(name, ratio, float(error), method, n, unit)


def measure_fairness(
    outcomes: Outcomes, players: Sequence[str], method: str, prefix: str = ""
) -> list[Measure]:
    """Measure balance, draws, and the score of the first mover."""
    has_goals = outcomes.has_goals
    goals = outcomes.goals[has_goals]
    names = [f"{prefix}{name}" for name in ("balance", "draws", "first_mover")]
    if not len(goals):
        return [Measure(name, None, method=method, note="no game ended with goals") for name in names]
    means = goals.mean(axis=0)
    high, low = int(means.argmax()), int(means.argmin())
    lead = (goals[:, high] - goals[:, low]) / 100.0
    note = ""
    if means[high] > means[low]:
        note = f"mean goals: {players[high]} {means[high]:.0f}, {players[low]} {means[low]:.0f}"
    balance = mean_measure(names[0], 1.0 - lead, method, note=note)
    won = scores(goals)
    draws = mean_measure(names[1], (won.max(axis=1) < 1.0).astype(float), method)
    first = outcomes.first[has_goals]
    has_first = first >= 0
    if not has_first.any():
        mover = Measure(names[2], None, method=method, note="no single role has the first choice")
    else:
        first_roles = " or ".join(sorted({players[r] for r in first[has_first]}))
        note = f"fair is {1 / len(players):.2f}; {first_roles} chooses first"
        mover = mean_measure(names[2], won[has_first, first[has_first]], method, note=note)
    return [balance, draws, mover]

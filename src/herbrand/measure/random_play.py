"""What random games tell: whether and when a game ends, what there is to choose, who wins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.measure.value import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from herbrand.measure.lines import PlayedGames

__all__ = ["Outcomes", "average", "choices", "ends", "fairness", "scores"]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How games ended."""

    goals: NDArray[np.int16]
    """[n, players] goals of the roles that choose; negative where there is none."""
    lengths: NDArray[np.int64]
    ended: NDArray[np.bool_]
    first: NDArray[np.int64]
    """[n] which of the players had the first choice, counted among them; -1 for none."""

    @property
    def valued(self) -> NDArray[np.bool_]:
        """[n] whether the game ended with a goal value for everybody."""
        return self.ended & (self.goals >= 0).all(axis=1)


def average(
    name: str, values: NDArray[np.float64], method: str, *, unit: str = "", note: str = ""
) -> Measure:
    """Return a mean with its standard error; without values, a measure without a value.

    A share that is the same in all of n games is given the error as if one in n + 2 differed by 1
    (after Laplace's rule), not none.
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
    """Return the score of each player in each game, [n, players]: 1 by the number of the best, or 0."""
    best = goals == goals.max(axis=1, keepdims=True)
    shares: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return shares


def ends(outcomes: Outcomes, max_steps: int, bound: int | None) -> list[Measure]:
    """Measure completion and length; after `bound` steps every game has ended, if that is known."""
    play = "random play"
    if bound is not None and bound <= max_steps and outcomes.ended.all():
        completion = Measure(
            "completion", 1.0, 0.0, "proof", note=f"a step counter ends every game after {bound} steps"
        )
    else:
        completion = average(
            "completion", outcomes.ended.astype(float), play, note=f"within {max_steps} steps"
        )
    lengths = outcomes.lengths[outcomes.ended].astype(float)
    return [completion, average("length", lengths, play, unit="steps", note=_ended_note(lengths))]


def _ended_note(lengths: NDArray[np.float64]) -> str:
    if not len(lengths):
        return "no game ended"
    return f"{lengths.min():g} to {lengths.max():g}"


def choices(lines: PlayedGames) -> list[Measure]:
    """Measure branching and agency from games that were followed step by step."""
    chose = lines.choices > 0
    if not chose.any():
        branching = Measure(
            "branching", None, method="random play", unit="moves", note="nobody ever has a choice"
        )
    else:
        # a ratio of sums, so that long games count as much as they are long
        legal, times = lines.legal[chose].astype(float), lines.choices[chose].astype(float)
        ratio = float(legal.sum() / times.sum())
        error = _ratio_error(legal, times, ratio)
        branching = Measure("branching", ratio, error, "random play", int(chose.sum()), "moves")
    steps = lines.lengths > 0
    if not steps.any():
        return [branching, Measure("agency", None, method="random play", note="the game is over at once")]
    with_choice, all_states = (
        lines.states_with_choice[steps].astype(float),
        lines.lengths[steps].astype(float),
    )
    share = float(with_choice.sum() / all_states.sum())
    error = _ratio_error(with_choice, all_states, share)
    return [branching, Measure("agency", share, error, "random play", int(steps.sum()))]


def _ratio_error(above: NDArray[np.float64], below: NDArray[np.float64], ratio: float) -> float:
    """Standard error of a ratio of means (linearised)."""
    n = len(above)
    if n < 2:
        return 0.0
    rest = above - ratio * below
    return float(math.sqrt((rest**2).sum() / (n * (n - 1))) / below.mean())


def fairness(outcomes: Outcomes, players: Sequence[str], method: str, prefix: str = "") -> list[Measure]:
    """Measure balance, draws, and what the first choice is worth."""
    valued = outcomes.valued
    goals = outcomes.goals[valued]
    names = [f"{prefix}{name}" for name in ("balance", "draws", "first_mover")]
    if not len(goals):
        return [Measure(name, None, method=method, note="no game ended with goals") for name in names]
    means = goals.mean(axis=0)
    high, low = int(means.argmax()), int(means.argmin())
    lead = (goals[:, high] - goals[:, low]) / 100.0
    balance = average(names[0], 1.0 - lead, method)
    if means[high] > means[low]:
        shown = f"{players[high]} {means[high]:.0f}, {players[low]} {means[low]:.0f}"
        balance = average(names[0], 1.0 - lead, method, note=f"mean goals: {shown}")
    won = scores(goals)
    draws = average(names[1], (won.max(axis=1) < 1.0).astype(float), method)
    first = outcomes.first[valued]
    moved = first >= 0
    if not moved.any():
        mover = Measure(names[2], None, method=method, note="nobody alone has the first choice")
    else:
        fair = f"fair is {1 / len(players):.2f}"
        who = sorted({players[r] for r in first[moved]})
        mover = average(
            names[2], won[moved, first[moved]], method, note=f"{fair}; {' or '.join(who)} is first to choose"
        )
    return [balance, draws, mover]

"""Ratings by the Bradley-Terry model, on the Elo scale.

Player i is expected to score `1 / (1 + exp(b_j - b_i))` against j; a draw is half a win.  The strengths are
maximum-likelihood estimates (R. A. Bradley and M. E. Terry, *Rank analysis of incomplete block designs*,
Biometrika 39, 1952), found by Newton's method; their covariance is the inverse of the information matrix.
400 Elo points are odds of ten to one (`b = rating * ln 10 / 400`).

As a prior, which gives players that won all games finite ratings, each player is assumed to have drawn
`prior` games with a player of average strength.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AVERAGE", "Rating", "rate", "wilson_interval"]

AVERAGE: Final = 1500.0
"""The mean of all ratings."""
_SCALE: Final = 400 / math.log(10)
_NORMAL_975: Final = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Rating:
    """The rating of a player."""

    player: str
    elo: float
    """The players' mean is 1500."""
    margin: float
    """Half the width of the 95 % confidence interval."""
    games: int
    score: float
    """Points: 1 for a win, 0.5 for a draw."""


def rate(
    players: Sequence[str], results: Sequence[tuple[str, str, float]], *, prior: float = 1.0
) -> list[Rating]:
    """Return the ratings, the highest first; a result is (player, opponent, player's score from 0 to 1).

    >>> one, two = rate(["a", "b"], [("a", "b", 1.0)] * 3 + [("a", "b", 0.0)], prior=0)
    >>> round(one.elo - two.elo, 1)  # 400 log10(3)
    190.8
    """
    import numpy as np

    place = {name: at for at, name in enumerate(players)}
    count = len(players)
    games = np.zeros((count, count))
    points = np.zeros(count)
    for one, other, score in results:
        i, j = place[one], place[other]
        games[i, j] += 1
        games[j, i] += 1
        points[i] += score
        points[j] += 1 - score
    strength = np.zeros(count)
    constant = np.full((count, count), 1.0 / count)

    def information() -> tuple[object, object]:
        expected = 1 / (1 + np.exp(np.clip(strength[None, :] - strength[:, None], -50, 50)))
        against_average = 1 / (1 + np.exp(-np.clip(strength, -50, 50)))
        gradient = points - (games * expected).sum(1) + prior * (0.5 - against_average)
        weight = games * expected * (1 - expected)
        matrix = np.diag(weight.sum(1) + prior * against_average * (1 - against_average)) - weight
        return gradient, matrix

    for _ in range(200):
        gradient, matrix = information()
        # without a prior the mean is undetermined; the constant matrix fixes it and changes nothing else
        move = np.linalg.lstsq(np.asarray(matrix) + constant, np.asarray(gradient), rcond=None)[0]
        longest = float(np.abs(move).max(initial=0.0))
        strength += move * min(1.0, 2.0 / longest if longest else 1.0)
        strength -= strength.mean() if not prior else 0.0
        if longest < 1e-10 or np.abs(strength).max(initial=0.0) > 40:
            break
    _, matrix = information()
    covariance = np.linalg.pinv(np.asarray(matrix) + (0 if prior else constant))
    centre = np.eye(count) - 1.0 / count  # a rating is a distance to the mean
    variance = np.diag(centre @ covariance @ centre)
    strength = strength - strength.mean()
    ratings = [
        Rating(
            name,
            AVERAGE + _SCALE * float(strength[at]),
            _NORMAL_975 * _SCALE * math.sqrt(max(0.0, float(variance[at]))),
            int(games[at].sum()),
            float(points[at]),
        )
        for at, name in enumerate(players)
    ]
    return sorted(ratings, key=lambda rating: (-rating.elo, place[rating.player]))


def wilson_interval(score: float, games: int) -> tuple[float, float]:
    """Return the 95 % interval of a mean score from 0 to 1 over at least one game (E. B. Wilson 1927).

    >>> [round(bound, 3) for bound in wilson_interval(0.75, 8)]
    [0.409, 0.929]
    """
    z2 = _NORMAL_975**2 / games
    centre = (score + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * (score * (1 - score) + z2 / 4)) / (1 + z2)
    return max(0.0, centre - half), min(1.0, centre + half)

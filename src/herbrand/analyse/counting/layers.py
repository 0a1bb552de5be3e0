"""Games in which no state is reached after two different numbers of steps.

In such a game nothing has to be remembered of earlier steps.  The evidence is a *measure*: a sum of weights
of the values of parts that is the number of steps, such as the number of discs.  Weights are fitted to states
of random play; then every counted set of states is compared with the set of all states of that sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.counting.encoding import Diagram, Encoding
    from herbrand.analyse.counting.parts import StatePart

__all__ = ["fit_measure", "layers"]

_TOLERANCE = 1e-6
_MOST_SUMS = 2000
"""Different sums of the weights of the last parts."""


def fit_measure(
    parts: Sequence[StatePart], states: NDArray[np.bool_], depths: NDArray[np.int64]
) -> list[list[float]] | None:
    """Return a weight for each value of each part, so that their sums are the depths of sampled states.

    `states`, [n, fluents], are reachable after `depths`, [n], steps.  None where there are no such weights.
    """
    unknowns = np.column_stack((states, np.ones(len(states), np.bool_))).astype(np.float64)
    solution, *_ = np.linalg.lstsq(unknowns, depths.astype(np.float64), rcond=None)
    if np.abs(unknowns @ solution - depths).max() > _TOLERANCE:
        return None
    weights = [[*([] if part.is_exact else [0.0]), *solution[list(part.fluents)].tolist()] for part in parts]
    return [[solution[-1] + weight for weight in weights[0]], *weights[1:]]


def layers(weights: Sequence[Sequence[float]], encoding: Encoding) -> dict[int, Diagram] | None:
    """Return for each whole number the states with that sum of weights; None where there are too many sums.

    Different numbers have disjoint sets: sums that are nearly equal count as equal.
    """
    sums = {0: encoding.true}
    for part in range(len(encoding.parts) - 1, -1, -1):
        longer: dict[int, Diagram] = {}
        for code, weight in enumerate(weights[part]):
            value = encoding.value(part, code)
            for total, states in sums.items():
                key = total + round(weight / _TOLERANCE)
                both = states & value
                longer[key] = longer[key] | both if key in longer else both
        if len(longer) > _MOST_SUMS:
            return None
        sums = longer
    result: dict[int, Diagram] = {}
    for total, states in sums.items():
        units = round(total * _TOLERANCE)
        # the weights of all parts are rounded
        if abs(total - units / _TOLERANCE) <= len(encoding.parts):
            result[units] = result[units] | states if units in result else states
    return result

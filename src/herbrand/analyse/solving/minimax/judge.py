"""`LinearJudge`: the weights of a heuristic value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from herbrand import core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["EXACT", "LOWER", "SCALE", "UPPER", "LinearJudge", "linear_judge", "no_judge", "with_tables"]

SCALE: Final = 1000
"""The value of one goal point."""
EXACT: Final = 0
"""The value is exact, within the depth."""
LOWER: Final = 1
"""The value is a lower bound."""
UPPER: Final = 2
"""The value is an upper bound."""


class LinearJudge(NamedTuple):
    """A heuristic value: a sum over features of a state, from `table`, and over its legal moves."""

    literals: NDArray[np.int32]
    """[features] literals of the network: fluents, or gates that are evaluated with the legal moves."""
    table: NDArray[np.int32]
    """[8 * words, 256] the value of each byte of the features; no rows without features."""
    mobility: NDArray[np.float64]
    """[roles] the value of each legal move of a role."""
    progress: NDArray[np.float64]
    """[2] the value of a goal point in a non-terminal state, and of having no goal value there."""
    bias: float

    def opposed(self) -> LinearJudge:
        """Return the values for the other of two roles whose goals add up to 100."""
        points, none = self.progress
        bias = 100.0 * SCALE - self.bias - 100.0 * points
        return LinearJudge(self.literals, -self.table, -self.mobility, np.array([points, -none]), bias)

    @property
    def compiled(self) -> core.Judge:
        """The weights as an object of the core."""
        return core.Judge(
            np.ascontiguousarray(self.literals, np.int32),
            np.ascontiguousarray(self.table, np.int32),
            np.ascontiguousarray(self.mobility, np.float64),
            np.ascontiguousarray(self.progress, np.float64),
            float(self.bias),
        )

    def valuer(self, network: Network, role: int) -> core.Valuer:
        """Return the evaluator of states of a game for a role."""
        return core.Valuer(network.circuit, role, self.compiled)


def linear_judge(
    literals: NDArray[np.int32], weights: NDArray[np.float64], mobility: NDArray[np.float64], bias: float,
    progress: Any = (0.0, 0.0), *, whole: bool = False,
) -> LinearJudge:  # fmt: skip
    """Return the judge with weights in goal points, one for each literal.

    Literals with weights of about 0 are left out, unless the judge is to be `whole`: evaluators of judges
    with the same literals share their program.
    """
    chosen = np.arange(len(weights)) if whole else np.flatnonzero(np.rint(weights * SCALE))
    words = -(-len(chosen) // 64)
    bit_weights = np.zeros(64 * words)
    bit_weights[: len(chosen)] = weights[chosen] * SCALE
    table = np.zeros((8 * words, 256), np.int32)  # for each byte of the features, the sum for each value
    for j in range(8 * words):
        for b in range(8):
            table[j, (np.arange(256) >> b & 1) == 1] += round(float(bit_weights[8 * j + b]))
    return LinearJudge(
        np.asarray(literals)[chosen].astype(np.int32), table, mobility * SCALE,
        np.asarray(progress, float) * SCALE, bias * SCALE,
    )  # fmt: skip


def with_tables(judge: LinearJudge, literals: NDArray[np.int32], entries: NDArray[np.float64]) -> LinearJudge:
    """Return a judge that adds `entries`, [tables, 256], in goal points, for the values of `literals`.

    `literals`, [tables, 8], are the bits of the number of an entry, the lowest one first.
    """
    count = len(judge.literals)
    padding = np.zeros(-count % 8, np.int32)
    all_literals = np.concatenate([judge.literals, padding, literals.reshape(-1)]).astype(np.int32)
    table = np.zeros((8 * -(-len(all_literals) // 64), 256), np.int32)
    first = -(-count // 8)
    table[:first] = judge.table[:first]
    table[first : first + len(entries)] = np.rint(entries * SCALE)
    return judge._replace(literals=all_literals, table=table)


def no_judge(roles: int, features: Any = ()) -> LinearJudge:
    """Return a heuristic that gives all states the value 50."""
    return LinearJudge(
        np.array(features, np.int32), np.zeros((0, 256), np.int32), np.zeros(roles), np.zeros(2), 50.0 * SCALE
    )

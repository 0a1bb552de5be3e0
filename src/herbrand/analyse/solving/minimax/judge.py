"""`LinearJudge`: the weights of a heuristic value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from herbrand import core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["EXACT", "LOWER", "SCALE", "UPPER", "LinearJudge", "no_judge"]

SCALE: Final = 1000
"""What a goal value of 1 counts."""
EXACT: Final = 0
"""A value is known, within the depth."""
LOWER: Final = 1
"""It is at least that."""
UPPER: Final = 2
"""It is at most that."""


class LinearJudge(NamedTuple):
    """A heuristic value: a sum over features of a state, from `table`, and over its legal moves."""

    literals: NDArray[np.int32]
    """[features] nodes of the network, as literals: fluents, or gates that are known with the legal moves."""
    table: NDArray[np.int32]
    """[8 * words, 256] what each byte of the features counts; no rows without features."""
    mobility: NDArray[np.float64]
    """[roles] what each legal move of a role counts."""
    progress: NDArray[np.float64]
    """[2] what a point of the goal in a state that is not the last counts, and what having none counts."""
    bias: float

    @property
    def compiled(self) -> core.Judge:
        """The same for the core."""
        return core.Judge(
            np.ascontiguousarray(self.literals, np.int32),
            np.ascontiguousarray(self.table, np.int32),
            np.ascontiguousarray(self.mobility, np.float64),
            np.ascontiguousarray(self.progress, np.float64),
            float(self.bias),
        )

    def valuer(self, network: Network, role: int) -> core.Valuer:
        """Return what says what states of a game are worth to a role."""
        return core.Valuer(network.circuit, role, self.compiled)


def no_judge(roles: int, features: Any = ()) -> LinearJudge:
    """Return a heuristic that values everything alike."""
    return LinearJudge(
        np.array(features, np.int32), np.zeros((0, 256), np.int32), np.zeros(roles), np.zeros(2), 50.0 * SCALE
    )

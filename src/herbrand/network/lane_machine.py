"""Run lane programs in the plainest way: operation by operation, on arrays of words of 64 lanes.

The twin of what the core does by walking and by machine code; it shares no code with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.lanes import LaneProgram, Stage

__all__ = ["LaneMachine"]

_WORDS = LANES // 64


class LaneMachine:
    """The rows of a lane program, and what runs it on them."""

    def __init__(self, program: LaneProgram) -> None:
        self.program = program
        self.rows: NDArray[np.uint64] = np.zeros((program.rows, _WORDS), np.uint64)
        """[rows, words] lane i is bit i % 64 of word i // 64."""
        self.rows[1] = ~np.uint64(0)

    @property
    def state(self) -> NDArray[np.uint64]:
        """[states, words] the state, to be read and written."""
        return self.rows[2 : 2 + self.program.states]

    @property
    def after(self) -> NDArray[np.uint64]:
        """[states, words] the state after it."""
        return self.rows[2 + self.program.states : 2 + 2 * self.program.states]

    def exchange(self) -> None:
        """Make the state after the present one."""
        self.state[:] = self.after

    def run(self, stage: Stage) -> None:
        """Run a stage."""
        program, rows = self.program, self.rows
        for unit in range(*program.stages[stage]):
            back = program.back[slice(*program.units[unit, 2:])]
            rows[back[:, 0]] = 0
            while True:
                self.compute(unit)
                found = rows[back[:, 1]]
                if np.array_equal(rows[back[:, 0]], found):
                    break
                rows[back[:, 0]] = found

    def compute(self, unit: int) -> None:
        """Execute the operations of a unit once."""
        rows = self.rows
        for out, a, b, c, table in self.program.ops[slice(*self.program.units[unit, :2])].tolist():
            rows[out] = _looked_up(table, rows[a], rows[b], rows[c])


def _looked_up(table: int, *operands: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the bits of a table at the numbers whose bits the operands are, the first one the highest."""
    if not operands:
        return np.full(_WORDS, ~np.uint64(0) if table else np.uint64(0))
    condition, *others = operands
    half = 1 << len(others)
    one, zero = table >> half, table & ((1 << half) - 1)
    if one == zero:
        return _looked_up(one, *others)
    return condition & _looked_up(one, *others) | ~condition & _looked_up(zero, *others)

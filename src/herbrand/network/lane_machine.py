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
        for begin, end, first, last in program.units[slice(*program.stages[stage])].tolist():
            ops, back = program.ops[begin:end].tolist(), program.back[first:last]
            rows[back[:, 0]] = 0
            while True:
                for out, a, b, c, table in ops:
                    rows[out] = _looked_up(table, rows[a], rows[b], rows[c])
                found = rows[back[:, 1]]
                if np.array_equal(rows[back[:, 0]], found):
                    break
                rows[back[:, 0]] = found


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

"""Reference interpreter of lane programs: one operation at a time, on arrays of words of 64 lanes.

It shares no code with the interpreter and the machine code of the core, which tests compare with it.
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
    """The rows of a lane program and its interpreter."""

    def __init__(self, program: LaneProgram) -> None:
        self.program = program
        self.rows: NDArray[np.uint64] = np.zeros((program.rows, _WORDS), np.uint64)
        """[rows, words] lane i is bit i % 64 of word i // 64."""
        self.rows[1] = ~np.uint64(0)

    @property
    def state(self) -> NDArray[np.uint64]:
        """[states, words] the current state, a view."""
        return self.rows[2 : 2 + self.program.states]

    @property
    def after(self) -> NDArray[np.uint64]:
        """[states, words] the next state, a view."""
        return self.rows[2 + self.program.states : 2 + 2 * self.program.states]

    def exchange(self) -> None:
        """Copy the next state to the current one."""
        self.state[:] = self.after

    def run(self, stage: Stage) -> None:
        """Run a stage."""
        program, rows = self.program, self.rows
        for unit in range(*program.stages[stage]):
            back = program.back[slice(*program.units[unit, 2:])]
            rows[back[:, 0]] = 0
            while True:
                self.compute(unit)
                sources = rows[back[:, 1]]
                if np.array_equal(rows[back[:, 0]], sources):
                    break
                rows[back[:, 0]] = sources

    def compute(self, unit: int) -> None:
        """Execute the operations of a unit once."""
        rows = self.rows
        for out, a, b, c, table in self.program.ops[slice(*self.program.units[unit, :2])].tolist():
            rows[out] = _apply_table(table, rows[a], rows[b], rows[c])


def _apply_table(table: int, *operands: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the values of a truth table; the operands are the bits of its index, the highest first."""
    if not operands:
        return np.full(_WORDS, ~np.uint64(0) if table else np.uint64(0))
    condition, *others = operands
    half = 1 << len(others)
    one, zero = table >> half, table & ((1 << half) - 1)
    if one == zero:
        return _apply_table(one, *others)
    return condition & _apply_table(one, *others) | ~condition & _apply_table(zero, *others)

"""AIGER files: and-inverter graphs with latches, the format of hardware model checkers and optimisers.

`Aiger` is one graph; `to_text` and `to_bytes` write it as `aag` and `aig`.
The format is that of Biere, "The AIGER And-Inverter Graph (AIG) Format" (2007), with reset values
and bad states from AIGER 1.9 (Biere, Heljanko and Wieringa 2011).

A literal is `2 * variable + inverted`; variable 0 is the constant false.  Variables are
numbered inputs first, then latches, then gates, each gate after what it depends on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from herbrand.runtime.numbers import leb128

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Aiger"]


@dataclass(frozen=True, slots=True)
class Aiger:
    """A graph with latches; see the module."""

    inputs: tuple[str, ...]
    """Names of the inputs."""
    latches: tuple[str, ...]
    """Names of the latches."""
    next: NDArray[np.int64]
    """[latches] the literal of the next value of each latch."""
    reset: NDArray[np.bool_]
    """[latches] the initial values."""
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    """[gates] the two literals of each gate, none larger than the gate's own."""
    outputs: tuple[str, ...] = ()
    output: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """[outputs] their literals."""
    bad: tuple[str, ...] = ()
    """Names of the bad-state properties."""
    bad_literal: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """[bad] their literals."""
    comment: str = ""

    @property
    def first(self) -> int:
        """The variable of the first gate."""
        return 1 + len(self.inputs) + len(self.latches)

    def to_text(self) -> str:
        """Return the graph in the ASCII format, `aag`."""
        first = self.first
        lines = [self._header("aag")]
        lines += [str(2 * (1 + i)) for i in range(len(self.inputs))]
        own = 2 * (1 + len(self.inputs))
        lines += [f"{own + 2 * i} {rest}" for i, rest in enumerate(self._latch_lines())]
        lines += map(str, [*self.output.tolist(), *self.bad_literal.tolist()])
        lines += [
            f"{2 * (first + i)} {max(a, b)} {min(a, b)}"
            for i, (a, b) in enumerate(zip(self.left.tolist(), self.right.tolist(), strict=True))
        ]
        return "\n".join(lines + self._symbols()) + "\n"

    def to_bytes(self) -> bytes:
        """Return the graph in the binary format, `aig`."""
        lines = [self._header("aig"), *self._latch_lines()]
        lines += map(str, [*self.output.tolist(), *self.bad_literal.tolist()])
        own = 2 * (self.first + np.arange(len(self.left), dtype=np.int64))
        high, low = np.maximum(self.left, self.right), np.minimum(self.left, self.right)
        numbers = np.stack((own - high, high - low), axis=1).reshape(-1)
        tail = "".join(f"{line}\n" for line in self._symbols())
        gates = b"".join(map(leb128, numbers.tolist()))
        return ("\n".join(lines) + "\n").encode() + gates + tail.encode()

    def _header(self, form: str) -> str:
        gates = len(self.left)
        variables = self.first - 1 + gates
        sizes = [variables, len(self.inputs), len(self.latches), len(self.outputs), gates]
        return " ".join([form, *map(str, sizes), *([str(len(self.bad))] if self.bad else [])])

    def _latch_lines(self) -> list[str]:
        return [
            f"{literal} 1" if one else str(literal)
            for literal, one in zip(self.next.tolist(), self.reset.tolist(), strict=True)
        ]

    def _symbols(self) -> list[str]:
        kinds = {"i": self.inputs, "l": self.latches, "o": self.outputs, "b": self.bad}
        lines = [f"{kind}{i} {name}" for kind, names in kinds.items() for i, name in enumerate(names) if name]
        return [*lines, "c", self.comment] if self.comment else lines

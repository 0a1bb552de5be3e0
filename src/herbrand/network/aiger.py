"""AIGER files: and-inverter graphs with latches, the format of hardware model checkers and optimisers.

`Aiger` is one graph; `to_text` and `to_bytes` write it as `aag` and `aig`, `read` reads both.
The format is that of Biere, "The AIGER And-Inverter Graph (AIG) Format" (2007), with reset values
and bad states from AIGER 1.9 (Biere, Heljanko and Wieringa 2011).

A literal is `2 * variable + inverted`; variable 0 is the constant false.  Variables are
numbered inputs first, then latches, then gates, each gate after what it depends on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Aiger", "read"]

MAX_VARIABLES = 1 << 28
"""Maximum number of variables of a file."""


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
        symbols = self._symbols()
        tail = "\n".join(symbols) + "\n" if symbols else ""
        return ("\n".join(lines) + "\n").encode() + _encode(numbers) + tail.encode()

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
        lines = [
            f"{kind}{i} {name}"
            for kind, names in (
                ("i", self.inputs),
                ("l", self.latches),
                ("o", self.outputs),
                ("b", self.bad),
            )
            for i, name in enumerate(names)
            if name
        ]
        return [*lines, "c", self.comment] if self.comment else lines

    def step(
        self, latches: Sequence[bool], inputs: Sequence[bool]
    ) -> tuple[list[bool], list[bool], list[bool]]:
        """Evaluate the graph gate by gate; return the next latches, the outputs and the bad states."""
        values = [False, *inputs, *latches]

        def value(literal: int) -> bool:
            return values[literal >> 1] ^ bool(literal & 1)

        for a, b in zip(self.left.tolist(), self.right.tolist(), strict=True):
            values.append(value(a) and value(b))
        following, outputs, bad = (
            [value(literal) for literal in literals.tolist()]
            for literals in (self.next, self.output, self.bad_literal)
        )
        return following, outputs, bad


def read(data: bytes) -> Aiger:
    """Parse a graph in either format; raises `GameError` if the data is not AIGER.

    ASCII files may number and order gates in any way; they are renumbered.  Files with invariant
    constraints, justice, fairness, or latches without a reset value are rejected.
    """
    try:
        return _Reader(data).graph()
    except (ValueError, IndexError, OverflowError) as error:
        if isinstance(error, GameError):
            raise
        raise GameError(f"this is not AIGER: {error or 'it ends too early'}") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def line(self) -> str:
        end = self.data.find(b"\n", self.position)
        if end < 0:
            raise GameError("this is not AIGER: it ends too early")
        text = self.data[self.position : end].decode("utf-8", "replace")
        self.position = end + 1
        return text

    def numbers(self, least: int, most: int) -> list[int]:
        text = self.line()
        numbers = [int(word) for word in text.split()]
        if not least <= len(numbers) <= most or min(numbers, default=0) < 0:
            raise GameError(f"this is not AIGER: `{text[:40]}` where {least} numbers were expected")
        return numbers

    def graph(self) -> Aiger:
        header = self.line().split()
        if len(header) < 6 or header[0] not in ("aag", "aig"):
            raise GameError("this is not AIGER: the first line must be `aag M I L O A` or `aig M I L O A`")
        sizes = [int(word) for word in header[1:]]
        if min(sizes) < 0 or sizes[0] > MAX_VARIABLES or any(sizes[6:]):
            raise GameError(
                f"`{' '.join(header)}`: only inputs, latches, outputs, gates and bad states are read"
            )
        most, inputs, latches, outputs, gates = sizes[:5]
        bads = sizes[5] if len(sizes) > 5 else 0
        if most < inputs + latches + gates or len(self.data) < latches + outputs + bads + 2 * gates:
            raise GameError(f"`{' '.join(header)}`: these sizes do not fit each other or the file")
        text = header[0] == "aag"
        own = [self.numbers(1, 1)[0] for _ in range(inputs)] if text else []
        rows = []
        for i in range(latches):
            row = self.numbers(2, 3) if text else self.numbers(1, 2)
            if text:
                own.append(row.pop(0))
            rows.append(row if len(row) == 2 else [*row, 0])
            if rows[-1][1] > 1:
                raise GameError(f"latch {i} has no reset value")
        output = np.array([self.numbers(1, 1)[0] for _ in range(outputs)], np.int64)
        bad = np.array([self.numbers(1, 1)[0] for _ in range(bads)], np.int64)
        following = np.array([row[0] for row in rows], np.int64)
        if text:
            table = [self.numbers(3, 3) for _ in range(gates)]
            left, right, place = _renumbered(most, own, table)
            following, output, bad = (_moved(place, part) for part in (following, output, bad))
        else:
            left, right = self.compact(inputs + latches + 1, gates)
        last = 2 * (1 + inputs + latches + gates)
        if any((part >= last).any() for part in (following, output, bad)):
            raise GameError("this is not AIGER: a literal belongs to no variable")
        names, comment = self.symbols(inputs, latches, outputs, bads)
        return Aiger(
            inputs=names["i"],
            latches=names["l"],
            next=following,
            reset=np.array([row[1] == 1 for row in rows], np.bool_),
            left=left,
            right=right,
            outputs=names["o"],
            output=output,
            bad=names["b"],
            bad_literal=bad,
            comment=comment,
        )

    def compact(self, first: int, gates: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        numbers = []
        place, data = self.position, self.data
        for _ in range(2 * gates):
            number = shift = 0
            while True:
                byte = data[place]
                place += 1
                number |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
            numbers.append(number)
        self.position = place
        pairs = np.array(numbers, np.int64).reshape(gates, 2)
        left = 2 * (first + np.arange(gates, dtype=np.int64)) - pairs[:, 0]
        right = left - pairs[:, 1]
        if (pairs[:, 0] < 1).any() or (right < 0).any():
            raise GameError("this is not AIGER: a gate depends on itself or on a later one")
        return left, right

    def symbols(self, *sizes: int) -> tuple[dict[str, tuple[str, ...]], str]:
        names = {kind: [""] * size for kind, size in zip("ilob", sizes, strict=True)}
        comment = ""
        while self.position < len(self.data):
            if self.data[self.position : self.position + 1] == b"c":
                self.line()
                comment = self.data[self.position :].decode("utf-8", "replace").rstrip("\n")
                break
            key, _, name = self.line().partition(" ")
            names[key[:1]][int(key[1:])] = name
        return {kind: tuple(texts) for kind, texts in names.items()}, comment


def _moved(place: NDArray[np.int64], literals: NDArray[np.int64]) -> NDArray[np.int64]:
    moved_literals: NDArray[np.int64] = 2 * place[literals >> 1] + (literals & 1)
    if (moved_literals < 0).any():
        raise GameError("this is not AIGER: a literal belongs to no variable")
    return moved_literals


def _renumbered(
    most: int, own: list[int], table: list[list[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Number inputs and latches in their order, then gates topologically."""
    place = np.full(most + 1, -1, np.int64)
    place[0] = 0
    for i, literal in enumerate(own):
        place[literal >> 1] = 1 + i
    gates = {row[0] >> 1: row for row in table}
    if len({*gates, *(literal >> 1 for literal in own)}) < len(own) + len(table):
        raise GameError("this is not AIGER: a variable is defined twice")
    rows: list[tuple[int, int]] = []
    for gate in gates:
        stack = [gate]
        open_gates: set[int] = set()
        while stack:
            top = stack[-1]
            if place[top] >= 0:
                stack.pop()
                continue
            if top not in gates:
                raise GameError(f"this is not AIGER: variable {top} is not defined")
            needs = [x >> 1 for x in gates[top][1:] if place[x >> 1] < 0]
            if needs:
                if top in open_gates:
                    raise GameError(f"this is not AIGER: gate {2 * top} depends on itself")
                open_gates.add(top)
                stack += needs
                continue
            _, a, b = gates[top]
            rows.append((2 * int(place[a >> 1]) + (a & 1), 2 * int(place[b >> 1]) + (b & 1)))
            place[top] = len(own) + len(rows)
            stack.pop()
    pairs = np.array(rows, np.int64).reshape(len(rows), 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), place


def _encode(numbers: NDArray[np.int64]) -> bytes:
    """Encode numbers in groups of seven bits, lowest first; the high bit of a byte means that more follow."""
    encoded = bytearray()
    for number in numbers.tolist():
        rest = number
        while rest > 127:
            encoded.append(rest & 127 | 128)
            rest >>= 7
        encoded.append(rest)
    return bytes(encoded)

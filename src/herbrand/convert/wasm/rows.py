"""Straight-line code over rows of lanes as functions of WebAssembly.

An operation computes a row from one or two others.  Its code leaves the value, or its inverse where that
saves an instruction: a gate with two inverted inputs is the inverse of an OR.  Compilers take longer for long
functions, so the operations are divided into *pieces*:

- a value that is read once, in its piece, stays on the stack;
- one that is read more often there has a local variable until its last use;
- one that later pieces read has a row of memory, which is reused after its unit's last read.

The encoder in `publish/templates/lanes.ts.in` follows the same steps and gives the same bytes for a network.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from herbrand.convert.wasm.assembler import V128, ZEROS, FunctionBuilder, i32, load, simd
from herbrand.convert.wasm.binary import Signature, ValueType, unsigned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from herbrand.convert.wasm.binary import Module

__all__ = ["AND", "COPY", "VECTOR", "XOR", "Operation", "Unit", "define_stages"]

COPY, AND, XOR = "copy", "and", "xor"
VECTOR: Final = 16
"""Bytes of a vector; a row has one or several, side by side."""
PIECE: Final = 250
"""The most operations of a function."""
_GET, _SET, _TEE = b"\x20", b"\x21", b"\x22"
_LOAD, _STORE = b"\xfd\x00\x04", b"\xfd\x0b\x04"


class Operation(NamedTuple):
    """Row `out` becomes a function of rows, given as literals: 2 * row + inverted."""

    out: int
    kind: str
    a: int
    b: int = 0
    """Not read by a copy."""
    is_inverted: bool = False
    """Whether the result is inverted."""

    @property
    def reads(self) -> tuple[int, ...]:
        """The rows that it reads."""
        return (self.a >> 1,) if self.kind == COPY else (self.a >> 1, self.b >> 1)


@dataclass(frozen=True, slots=True)
class Unit:
    """Operations that are executed once, or, with feedback, until nothing changes."""

    operations: Sequence[Operation]
    feedback: Sequence[tuple[int, int]] = ()
    """Rows that are false at first, and the rows whose values they take."""


def define_stages(
    module: Module, stages: Mapping[str, Sequence[Unit]], fixed: int, *, base: int = 0, vectors: int = 1
) -> tuple[dict[str, int], int]:
    """Define a function without parameters for each stage; return their indices, and the number of rows.

    Row i is in memory at `base` + 16 * `vectors` * i, if it is below `fixed`; the others are the code's own.
    """
    units = list(chain.from_iterable(stages.values()))
    writer = _Writer(base, VECTOR * vectors, fixed)
    codes = iter(writer.pieces(units))
    signature = Signature((ValueType.I32,) if vectors > 1 else ())
    offsets = [VECTOR * i for i in range(vectors)]
    indices = {}
    for name, own in stages.items():
        pieces = [
            [module.function(signature, [V128] * slots, code) for slots, code in next(codes)] for _ in own
        ]
        stage = FunctionBuilder()
        for unit, functions in zip(own, pieces, strict=True):
            calls = [(function, offset) for function in functions for offset in offsets]
            _execute(stage, unit, calls, writer)
        indices[name] = stage.define(module)
    return indices, writer.rows


def _execute(stage: FunctionBuilder, unit: Unit, calls: Sequence[tuple[int, int]], writer: _Writer) -> None:
    """Call the pieces of a unit; with feedback, until nothing changes."""
    vectors = writer.stride // VECTOR

    def run() -> None:
        for function, offset in calls:
            stage.call(function, *([i32(offset)] if vectors > 1 else []))

    if not unit.feedback:
        run()
        return
    pairs = [
        (writer.address(row) + VECTOR * i, writer.address(source) + VECTOR * i)
        for row, source in unit.feedback
        for i in range(vectors)
    ]
    now, changed = stage.variable(V128), stage.variable(V128)
    stage.set(now, ZEROS)
    for row, _ in pairs:
        stage.store(0, now, row)
    with stage.loop() as again:
        run()
        stage.set(changed, ZEROS)
        for row, source in pairs:
            stage.set(now, load(V128, 0, source))
            stage.set(changed, changed | (now ^ load(V128, 0, row)))
            stage.store(0, now, row)
        stage.go(again, changed.any())


@dataclass(slots=True)
class _Writer:
    """The code of pieces, one after the other."""

    base: int
    stride: int
    """Bytes from a row to the next."""
    fixed: int
    rows: int = field(init=False)
    """The number of rows so far."""
    place: dict[int, int] = field(default_factory=dict)
    """The memory of rows that are not fixed, and read in later pieces."""
    phase: dict[int, int] = field(default_factory=dict)
    """1 for rows whose inverse is computed."""
    operations: dict[int, Operation] = field(init=False)
    """The operations whose values stay on the stack, in the present piece."""
    left: Counter[int] = field(init=False)
    """The number of reads to come, in the present piece."""
    slots: dict[int, int] = field(init=False)
    """The local variables of rows."""
    free: list[int] = field(init=False)
    """Local variables without a row."""
    count: int = field(init=False)
    """The number of local variables."""
    code: bytearray = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.fixed

    def address(self, row: int) -> int:
        """Return the place of a row in memory."""
        return self.base + self.stride * self.place.get(row, row)

    def pieces(self, units: Sequence[Unit]) -> Iterator[list[tuple[int, bytes]]]:
        """Yield, for each unit, the number of local variables and the code of each piece."""
        parts = [
            (number, operations[i : i + PIECE])
            for number, operations in enumerate(self._needed(units))
            for i in range(0, len(operations), PIECE)
        ]
        last = {row: part for part, (_, some) in enumerate(parts) for op in some for row in op.reads}
        free: list[int] = []
        codes: list[list[tuple[int, bytes]]] = [[] for _ in units]
        ends: list[list[int]] = [[] for _ in parts]
        for part, (number, operations) in enumerate(parts):
            for out, *_ in operations:
                if out >= self.fixed and last[out] > part:
                    if not free:
                        free.append(self.rows)
                        self.rows += 1
                    self.place[out] = free.pop()
                    # a unit may run again before another one reads the row
                    if parts[last[out]][0] == number:
                        ends[last[out]].append(self.place[out])
            codes[number].append(self._piece(operations))
            free += ends[part]
        yield from codes

    def _needed(self, units: Sequence[Unit]) -> list[list[Operation]]:
        """Return the operations of each unit without those whose rows nothing reads."""
        read: set[int] = set()
        needed: list[list[Operation]] = []
        for unit in reversed(units):
            needed.append([])
            for operation in reversed(unit.operations):
                if operation.out < self.fixed or operation.out in read:
                    read.update(operation.reads)
                    needed[-1].append(operation)
            needed[-1].reverse()
        return needed[::-1]

    def _piece(self, operations: Sequence[Operation]) -> tuple[int, bytes]:
        """Return the number of local variables and the code of a piece."""
        self.left = Counter(row for operation in operations for row in operation.reads)
        self.operations = {
            operation.out: operation
            for operation in operations
            if operation.out >= self.fixed
            and operation.out not in self.place
            and self.left[operation.out] == 1
        }
        for operation in operations:
            self.phase[operation.out] = operation.out >= self.fixed and self._phase_of(operation)
        self.slots, self.free, self.count, self.code = {}, [], 0, bytearray()
        for operation in operations:
            if operation.out not in self.operations:
                self._assign(operation)
        return self.count, bytes(self.code)

    def _assign(self, operation: Operation) -> None:
        out = operation.out
        is_stored = out < self.fixed or out in self.place
        if is_stored:
            self._base()
        self._expression(operation)
        if out < self.fixed and self._phase_of(operation):
            self.code += simd("not")
        if self.left[out]:
            self._variable(_TEE if is_stored else _SET, out)
        if is_stored:
            self.code += _STORE + unsigned(self.address(out))

    def _base(self) -> None:
        self.code += b"\x20\x00" if self.stride > VECTOR else b"\x41\x00"

    def _variable(self, instruction: bytes, row: int) -> None:
        """Set a new variable to the value of a row."""
        if self.free:
            self.slots[row] = self.free.pop()
        else:
            self.slots[row] = self.count + (self.stride > VECTOR)  # behind the parameter
            self.count += 1
        self.code += instruction + unsigned(self.slots[row])

    def _value(self, row: int) -> None:
        """Leave the value of a row, or its inverse."""
        if row in self.operations:
            self._expression(self.operations[row])
            return
        self.left[row] -= 1
        if row in self.slots:
            self.code += _GET + unsigned(self.slots[row])
            if not self.left[row]:
                self.free.append(self.slots.pop(row))
            return
        self._base()
        self.code += _LOAD + unsigned(self.address(row))
        if self.left[row]:
            self._variable(_TEE, row)

    def _expression(self, operation: Operation) -> None:
        """Leave the value of an operation, or its inverse."""
        if operation.kind == COPY:
            self._value(operation.a >> 1)
            return
        a, b = self._inverse(operation.a), self._inverse(operation.b)
        first, second = operation.a >> 1, operation.b >> 1
        if operation.kind == AND and a > b:
            first, second = second, first
        self._value(first)
        self._value(second)
        if operation.kind == XOR:
            self.code += simd("xor")
        else:
            self.code += simd(("and", "andnot", "or")[a + b])

    def _inverse(self, literal: int) -> int:
        """Return 1 if a literal is the inverse of what is computed for its row."""
        return (literal & 1) ^ self.phase.get(literal >> 1, 0)

    def _phase_of(self, operation: Operation) -> int:
        """Return 1 if the inverse of an operation's value is computed."""
        a = self._inverse(operation.a)
        if operation.kind == COPY:
            return a ^ operation.is_inverted
        b = self._inverse(operation.b)
        return (a & b if operation.kind == AND else a ^ b) ^ operation.is_inverted

"""Execute the machine code of lane programs without the processor it is for.

The core writes AVX-512 and AVX2 with a handful of instructions.  `EmulatedMachine` decodes their bytes and
executes them on integers, so that encoders are tried on every machine: by `fuzz_networks.py` and the tests.
An instruction that is not known, or an address outside of the rows, is an `AssertionError`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.lane_machine import LaneMachine

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.core import CompiledProgram
    from herbrand.network import LaneProgram

__all__ = ["EmulatedMachine"]

_RDX, _RSI, _RDI = 2, 6, 7
_FULL = (1 << 512) - 1
_BINARY: dict[int, Callable[[int, int], int]] = {
    0xDB: lambda a, b: a & b,
    0xDF: lambda a, b: ~a & b & _FULL,
    0xEB: lambda a, b: a | b,
    0xEF: lambda a, b: a ^ b,
}
"""vpand, vpandn, vpor, vpxor, as map 0F with the prefix 66 has them."""


class EmulatedMachine(LaneMachine):
    """The rows of a lane program, and its machine code: `avx512` or `avx2`."""

    def __init__(self, program: LaneProgram, compiled: CompiledProgram, kind: str) -> None:
        super().__init__(program)
        self._code, self._begins, rows, self._pitch = compiled.machine_code(kind)
        self._bytes = 64 if kind == "avx512" else 32
        assert rows >= program.kept
        self.rows = np.zeros((rows, self.rows.shape[1]), np.uint64)
        self.rows[1] = ~np.uint64(0)

    def compute(self, unit: int) -> None:
        """Execute the code of a unit once."""
        words = self._pitch // 8
        for columns in (slice(k, k + words) for k in range(0, self.rows.shape[1], words)):
            memory = bytearray(self.rows[:, columns].tobytes())
            first, after = 2 * self._pitch, (2 + self.program.states) * self._pitch
            for offset in range(0, self._pitch, self._bytes):
                addresses = (offset, first + offset, after + offset)
                _Processor(self._code, memory, self._bytes).call(self._begins[unit], addresses)
            self.rows[:, columns] = np.frombuffer(memory, np.uint64).reshape(-1, words)


class _Processor:
    """Registers, and the instructions that the encoder writes."""

    def __init__(self, code: bytes, memory: bytearray, size: int) -> None:
        self.code, self.memory, self.size = code, memory, size
        self.vector = [0] * 32
        self.address: dict[int, int] = {}

    def call(self, at: int, arguments: tuple[int, int, int]) -> None:
        """Execute a function with the addresses of the rows, the state and the state after it."""
        self.address = dict(zip((_RDI, _RSI, _RDX), arguments, strict=True))
        code = self.code
        while code[at] != 0xC3:  # ret
            if code[at] == 0x62:
                at = self._evex(at + 1)
            elif code[at] == 0xC4:
                at = self._vex(at + 1)
            elif code[at : at + 3] == b"\xc5\xf8\x77":  # vzeroupper
                at += 3
            elif code[at] == 0xC5:
                at = self._short_vex(at + 1)
            else:
                at = self._lea(at)

    def _lea(self, at: int) -> int:
        rex, opcode, modrm = self.code[at : at + 3]
        assert rex & 0xFA == 0x48, f"an instruction that is not known: {rex:#x}"
        assert (opcode, modrm >> 6) == (0x8D, 2)
        assert modrm & 7 != 4
        offset = struct.unpack_from("<i", self.code, at + 3)[0]
        self.address[modrm >> 3 & 7 | (rex & 4) << 1] = self.address[modrm & 7 | (rex & 1) << 3] + offset
        return at + 7

    def _evex(self, at: int) -> int:
        """512 bits, no masks, words of 64 bits."""
        first, second, third, opcode, modrm = self.code[at : at + 5]
        assert self.size == 64
        assert (second & 0x87, third & 0xF7) == (0x85, 0x40)  # a reserved bit is 1; no mask, no broadcast
        bits = ~first & 0xF0
        reg = modrm >> 3 & 7 | bits >> 4 & 8 | bits & 0x10
        source = ~second >> 3 & 15 | (~third << 1) & 16
        return self._operate(at + 5, first & 15, opcode, modrm, reg, source, bits >> 2 & 16 | bits >> 2 & 8)

    def _vex(self, at: int) -> int:
        """256 bits."""
        first, second, opcode, modrm = self.code[at : at + 4]
        assert self.size == 32
        assert second & 0x87 == 0x05
        bits = ~first & 0xE0
        assert not bits & 0x40
        reg, base = modrm >> 3 & 7 | bits >> 4 & 8, bits >> 2 & 8
        return self._operate(at + 4, first & 31, opcode, modrm, reg, ~second >> 3 & 15, base)

    def _short_vex(self, at: int) -> int:
        """256 bits, map 0F, a base among the first eight registers."""
        first, opcode, modrm = self.code[at : at + 3]
        assert self.size == 32
        assert first & 7 == 5
        return self._operate(at + 3, 1, opcode, modrm, modrm >> 3 & 7 | ~first >> 4 & 8, ~first >> 3 & 15, 0)

    def _operate(self, at: int, table: int, opcode: int, modrm: int, reg: int, source: int, high: int) -> int:
        """Execute an instruction whose operand `modrm` names; `high` are its high bits."""
        mode, low = modrm >> 6, modrm & 7
        place, value = -1, 0
        if mode == 3:
            value = self.vector[low | high]
        else:
            assert low != 4, "an index register"
            assert mode or low != 5, "an address relative to the code"
            place = self.address[low | high & 8]
            if mode == 1:
                scale = 64 if self.size == 64 else 1
                place += struct.unpack_from("<b", self.code, at)[0] * scale
                at += 1
            elif mode == 2:
                place += struct.unpack_from("<i", self.code, at)[0]
                at += 4
            assert 0 <= place <= len(self.memory) - self.size, "an address outside of the rows"
            assert place % self.size == 0
            if opcode != 0x7F:
                value = int.from_bytes(self.memory[place : place + self.size], "little")
        if (table, opcode) == (1, 0x7F):
            assert mode != 3
            self.memory[place : place + self.size] = self.vector[reg].to_bytes(self.size, "little")
        elif (table, opcode) == (1, 0x6F):
            self.vector[reg] = value
        elif table == 1:
            full = (1 << 8 * self.size) - 1
            self.vector[reg] = _BINARY[opcode](self.vector[source], value) & full
        else:
            assert (table, opcode, self.size) == (3, 0x25, 64), (
                f"an instruction that is not known: {opcode:#x}"
            )
            self.vector[reg] = _ternary(self.code[at], self.vector[reg], self.vector[source], value)
            at += 1
        return at


def _ternary(table: int, a: int, b: int, c: int) -> int:
    """Compute what vpternlogq does: bit 4 * a + 2 * b + c of the table."""
    result = 0
    for row in range(8):
        if table >> row & 1:
            result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
    return result & _FULL

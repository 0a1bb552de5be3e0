"""Straight-line machine code for one state: the third way of a `reckoning.Memory`.

As in `straight`, but for one state instead of a row of them: a value is a byte, a gate is one
instruction on a register, and the outputs are put together from the bytes.  Networks with loops in the
gates for legal moves and the next state have none.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir

from herbrand.simulate import kept
from herbrand.simulate.straight import expected_seconds, host, machine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network
    from herbrand.simulate.reckoning import Memory

__all__ = ["StateCode", "compile_state"]

_PIECE = 1000
_BYTE, _SHORT, _WORD = ir.IntType(8), ir.IntType(16), ir.IntType(64)
_KIND = ir.FunctionType(_WORD, [_WORD] * 3)


@dataclass(frozen=True, slots=True, eq=False)
class StateCode:
    """Functions of the addresses of values and outputs, for the two kinds of questions."""

    legal: int
    """The address of the function for legal moves and the end."""
    next: int
    """The address of the one for the next state and percepts."""
    seconds: float
    """Wall-clock seconds that compiling took; 0 where the code was on disk."""
    _engine: Any
    """Holds the code; it goes when this goes."""


def compile_state(memory: Memory, *, seconds: float) -> StateCode | None:
    """Return the code for a memory, from the disk where it was compiled before.

    None where compiling is expected to take longer than `seconds`, and where there are loops in the way.
    """
    network = memory.network
    if any(first < network.cones[1] for first in network.loops[:, 0].tolist()):
        return None
    key = _key(memory)
    objects, spent = kept.read(key), 0.0
    if objects is None:
        if expected_seconds(network) > seconds:
            return None
        started = time.monotonic()
        maker = machine()
        objects = [maker.emit_object(llvm.parse_assembly(str(module))) for module in _modules(memory)]
        spent = time.monotonic() - started
        kept.write(key, objects)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())
    for code in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return StateCode(engine.get_function_address("legal"), engine.get_function_address("next"), spent, engine)


def _key(memory: Memory) -> str:
    """Return the name of the code: a digest of all that it depends on."""
    network, digest = memory.network, hashlib.sha256()
    for text in ("state", *host(), str(_PIECE), str(network.inputs), str(network.cones), str(_words(memory))):
        digest.update(text.encode() + b"\n")
    for row in (network.left, network.right, memory.arrays["literals"], memory.arrays["bits"]):
        digest.update(np.ascontiguousarray(row).tobytes() + b"\n")
    return digest.hexdigest()


def _words(memory: Memory) -> tuple[list[int], list[int]]:
    """Return the words of the outputs that each of the two functions writes."""
    at = memory.sizes
    legal = [*range(at["word_next"]), at["word_terminal"]]
    return legal, [*range(at["word_next"], at["word_terminal"]), *range(at["word_sees"], at["words"])]


def _modules(memory: Memory) -> list[ir.Module]:
    """Write the code: pieces of gates, and the two functions that call them and write the outputs."""
    network, modules = memory.network, []
    stored, read = _stored(memory)
    named = [[(f"gates{begin}", begin, end) for begin, end in spans] for spans in _spans(network)]
    for name, begin, end in named[0] + named[1]:
        modules.append(_piece(network, begin, end, stored, read, name))
    for question, pieces, words in zip(("legal", "next"), named, _words(memory), strict=True):
        modules.append(_question(memory, question, [name for name, _, _ in pieces], words))
    return modules


def _spans(network: Network) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the pieces for legal moves, and for the next state: first gate, last + 1."""
    a, b, _ = network.cones

    def cut(begin: int, end: int) -> list[tuple[int, int]]:
        parts = -(-(end - begin) // _PIECE)
        return list(pairwise(begin + (end - begin) * i // parts for i in range(parts + 1))) if parts else []

    return cut(0, a), cut(a, b)


def _stored(memory: Memory) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which gates are written down as they are, and which as their opposite, too.

    The latter are read by the gates for goals, which are walked, the others by other pieces and for
    the outputs.
    """
    network = memory.network
    first, end = network.inputs, network.cones[1]
    piece = np.zeros(network.gates, np.int64)
    for spans in _spans(network):
        for begin, last in spans:
            piece[begin:last] = begin + 1
    stored, read = np.zeros(network.gates, np.bool_), np.zeros(network.gates, np.bool_)
    for operands in (network.left, network.right):
        gates = (operands >> 1) - first
        users = np.flatnonzero(gates >= 0)
        inside = users[users < end]
        stored[gates[inside[piece[gates[inside]] != piece[inside]]]] = True
        read[gates[users[users >= end]]] = True
    for literals in (network.legal, network.next, network.sees, np.array([network.terminal]), network.goal):
        gates = (literals >> 1) - first
        stored[gates[gates >= 0]] = True
    read[(network.goal >> 1)[network.goal >> 1 >= first] - first] = True
    read[(network.feedback >> 1)[network.feedback >> 1 >= first] - first] = True
    return stored | read, read


class _Writer:
    """Writes one function of the addresses of the values and of the outputs."""

    def __init__(self, name: str) -> None:
        self.module = ir.Module(name=name)
        self.function = ir.Function(self.module, _KIND, name=name)
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        values, outputs, _ = self.function.args
        self.values = self.builder.inttoptr(values, _BYTE.as_pointer())
        self.outputs = self.builder.inttoptr(outputs, _WORD.as_pointer())

    def place(self, base: Any, index: int) -> Any:
        return self.builder.gep(base, [ir.Constant(_WORD, index)])

    def done(self) -> ir.Module:
        self.builder.ret(ir.Constant(_WORD, 0))
        return self.module


def _piece(
    network: Network, begin: int, end: int, stored: NDArray[np.bool_], read: NDArray[np.bool_], name: str
) -> ir.Module:
    """Write the code of some gates."""
    writer = _Writer(name)
    builder, first = writer.builder, network.inputs
    known: dict[int, Any] = {}
    one = ir.Constant(_BYTE, 1)

    def value(literal: int) -> Any:
        if literal not in known:
            if literal & 1:
                known[literal] = builder.xor(value(literal ^ 1), one)
            else:
                known[literal] = builder.load(writer.place(writer.values, literal))
        return known[literal]

    for g, left, right in zip(
        range(begin, end), network.left[begin:end].tolist(), network.right[begin:end].tolist(), strict=True
    ):
        literal = 2 * (first + g)
        made = known[literal] = builder.and_(value(left), value(right))
        if stored[g]:
            builder.store(made, writer.place(writer.values, literal))
        if read[g]:
            builder.store(builder.xor(made, one), writer.place(writer.values, literal + 1))
    return writer.done()


def _question(memory: Memory, name: str, pieces: list[str], words: list[int]) -> ir.Module:
    """Write the function that evaluates all pieces and writes some words of the outputs."""
    writer = _Writer(name)
    builder = writer.builder
    for piece in pieces:
        builder.call(ir.Function(writer.module, _KIND, name=piece), writer.function.args)
    literals, count = memory.arrays["literals"], memory.arrays["bits"]
    for word in words:
        parts = []
        for bit, literal in enumerate(literals[64 * word : 64 * word + int(count[word])].tolist()):
            value = builder.load(writer.place(writer.values, literal & ~1))
            if literal & 1:
                value = builder.xor(value, ir.Constant(_BYTE, 1))
            parts.append(builder.shl(builder.zext(value, _WORD), ir.Constant(_WORD, bit)))
        while len(parts) > 1:
            parts = [
                builder.or_(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i]
                for i in range(0, len(parts), 2)
            ]
        builder.store(parts[0] if parts else ir.Constant(_WORD, 0), writer.place(writer.outputs, word))
    return writer.done()

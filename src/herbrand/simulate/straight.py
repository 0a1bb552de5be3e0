"""Straight-line machine code for the gates of a network: the second tier of the kernels.

The walked tier (`kernel.evaluate`) reads from arrays which rows a gate joins; that starts at once and
suits any size.  Here each network gets code of its own: values stay in the registers of the processor,
inversions cost little, and only what is needed elsewhere is written to its row.  It does the same to
the same rows, so that both tiers can be mixed and play the same games.

Gates are compiled in *pieces* of some hundreds; what is not compiled when the time is up, and what is
in a loop, is walked.  Code is kept on disk (`kept`), named after everything it depends on.
"""

from __future__ import annotations

import hashlib
import threading
import time
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import llvmlite
import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir

from herbrand import elsewhere
from herbrand.simulate import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from herbrand.network.network import Network
    from herbrand.simulate.rows import Rows

__all__ = ["SECONDS", "Straight", "expected_seconds", "host", "machine", "nothing", "straighten"]

SECONDS = 20.0
"""Seconds that compiling a network may take, unless said otherwise."""
_PIECE = 1000
_GATES_A_SECOND = 3000.0
_I64 = ir.IntType(64)
_lock = threading.Lock()
_loaded: WeakValueDictionary[str, Straight] = WeakValueDictionary()


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Straight:
    """The code of a network for rows of one width."""

    pieces: NDArray[np.int64]
    """[pieces, 3] first gate, last gate + 1, address of the code; sorted."""
    seconds: float
    """Wall-clock seconds that compiling took; 0 where the code was on disk."""
    gates: int
    """How many gates have code; the others are walked."""
    _engine: Any
    """Holds the code; it goes when this goes."""


def nothing() -> NDArray[np.int64]:
    """Return the `pieces` of a network of which nothing is compiled."""
    return np.empty((0, 3), np.int64)


def expected_seconds(network: Network) -> float:
    """Return roughly how long compiling a network takes."""
    return network.gates / _GATES_A_SECOND


def straighten(
    network: Network, rows: Rows, width: int, *, seconds: float = SECONDS, only_kept: bool = False
) -> Straight | None:
    """Return the code of a network, from the disk where it was compiled before.

    Compiling ends after `seconds`, with the pieces that are ready then; only whole code is kept.
    With `only_kept` nothing is compiled: None unless the code is there.  A program that has its functions
    compiled in another process (`elsewhere`) has this done there, too, and gets the whole code or None; where
    that process is broken it is done here.
    """
    key = _key(network, rows, width)
    with _lock:
        known = _loaded.get(key)
        if known is not None:
            return known
        objects, spent = kept.read(key), 0.0
        if objects is None and not only_kept and elsewhere.is_wanted() and kept.folder() is not None:
            elsewhere.called(__name__, "straighten", network, rows, width, seconds=seconds)
            objects = kept.read(key)
            only_kept = elsewhere.is_wanted()  # not any more where that process is broken
        if objects is None and only_kept:
            return None
        spans, maker = _spans(network), machine()
        if objects is None:
            started = time.monotonic()
            objects = list(_compiled(network, rows, width, spans, maker, seconds))
            spent = time.monotonic() - started
            if len(objects) == len(spans):
                kept.write(key, objects)
        found = _loaded[key] = _linked(spans, objects, maker, spent)
        return found


@cache
def host() -> tuple[str, str, str]:
    """Return what code is made for: the system, the processor, and what it can do."""
    return llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def machine() -> Any:
    """Return a code generator for this machine; linking takes it over."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple, cpu, features = host()
    return llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, opt=2, jit=True)


@cache
def _vector_words() -> int:
    """Return how many words the registers of this processor hold."""
    features = llvm.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4


def _key(network: Network, rows: Rows, width: int) -> str:
    """Return the name of the code: a digest of all that it depends on."""
    digest = hashlib.sha256()
    for text in (llvmlite.__version__, *host()):
        digest.update(text.encode() + b"\n")
    digest.update(f"{width} {_vector_words()} {_PIECE} {network.inputs} {network.cones}\n".encode())
    for row in (
        network.left, network.right, network.loops, network.feedback, *_outputs(network),
        rows.left, rows.right, rows.out,
    ):  # fmt: skip
        digest.update(np.ascontiguousarray(row).tobytes() + b"\n")
    return digest.hexdigest()


def _outputs(network: Network) -> tuple[NDArray[np.int32], ...]:
    terminal = np.array([network.terminal], np.int32)
    return network.legal, network.next, network.goal, network.sees, terminal


def _spans(network: Network) -> list[tuple[int, int]]:
    """Return the pieces: runs of gates within one cone and outside of loops."""
    borders = {0, *network.cones}
    for first, last, _, _ in network.loops.tolist():
        borders |= {first, last}
    inside = {first for first, _, _, _ in network.loops.tolist()}
    spans = []
    ordered = sorted(borders)
    for begin, end in pairwise(ordered):
        if begin in inside:
            continue
        parts = -(-(end - begin) // _PIECE)
        cuts = [begin + (end - begin) * i // parts for i in range(parts + 1)]
        spans += list(pairwise(cuts))
    return spans


def _needed(network: Network, spans: list[tuple[int, int]]) -> NDArray[np.bool_]:
    """Return which gates are read outside of their piece: those have to be written to their row."""
    first = network.inputs
    piece = np.arange(-1, -1 - network.gates, -1)  # a walked gate is a piece of its own
    for i, (begin, end) in enumerate(spans):
        piece[begin:end] = i + 1
    needed = piece < 0
    for operands in (network.left, network.right):
        gates = (operands >> 1) - first
        users = np.flatnonzero(gates >= 0)
        apart = piece[gates[users]] != piece[users]
        needed[gates[users[apart]]] = True
    for literals in (*_outputs(network), network.feedback):
        gates = (literals >> 1) - first
        needed[gates[gates >= 0]] = True
    return needed


def _compiled(
    network: Network, rows: Rows, width: int, spans: list[tuple[int, int]], machine: Any, seconds: float
) -> Iterator[bytes]:
    """Yield the object code of one piece after the other, until the time is up."""
    until = time.monotonic() + seconds
    needed = _needed(network, spans)
    row = np.arange(network.inputs + network.gates)
    row[network.inputs :] = rows.out
    for i, (begin, end) in enumerate(spans):
        if time.monotonic() > until:
            return
        module = llvm.parse_assembly(str(_module(network, row, needed, width, begin, end, f"piece{i}")))
        yield machine.emit_object(module)


def _module(
    network: Network,
    row: NDArray[np.int64],
    needed: NDArray[np.bool_],
    width: int,
    begin: int,
    end: int,
    name: str,
) -> ir.Module:
    """Write the code of one piece: a function that gets the address of the rows.

    The rows are worked on in slices as wide as a register, one slice after the other.
    """
    words = min(width, _vector_words())
    vector = ir.VectorType(_I64, words)
    ones = ir.Constant(vector, [-1] * words)
    module = ir.Module(name=name)
    kind = ir.FunctionType(ir.VoidType(), [_I64.as_pointer()])
    inner = ir.Function(module, kind, name=f"{name}_slice")
    inner.linkage = "internal"
    inner.attributes.add("noinline")
    builder = ir.IRBuilder(inner.append_basic_block())
    first = network.inputs
    known: dict[int, Any] = {}

    def place(node: int) -> Any:
        address = builder.gep(inner.args[0], [ir.Constant(_I64, int(row[node]) * width)])
        return builder.bitcast(address, vector.as_pointer())

    def value(literal: int) -> Any:
        if literal not in known:
            if literal & 1:
                known[literal] = builder.xor(value(literal ^ 1), ones)
            else:
                known[literal] = builder.load(place(literal >> 1), align=8)
        return known[literal]

    for g, a, b in zip(
        range(begin, end), network.left[begin:end].tolist(), network.right[begin:end].tolist(), strict=True
    ):
        made = known[2 * (first + g)] = builder.and_(value(a), value(b))
        if needed[g]:
            builder.store(made, place(first + g), align=8)
    builder.ret_void()
    outer = ir.Function(module, kind, name=name)
    builder = ir.IRBuilder(outer.append_basic_block())
    for word in range(0, width, words):
        builder.call(inner, [builder.gep(outer.args[0], [ir.Constant(_I64, word)])])
    builder.ret_void()
    return module


def _linked(spans: list[tuple[int, int]], objects: list[bytes], machine: Any, spent: float) -> Straight:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for code in objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    pieces = (
        nothing()
        if not objects
        else np.array(
            [
                (begin, end, engine.get_function_address(f"piece{i}"))
                for i, (begin, end) in enumerate(spans[: len(objects)])
            ],
            np.int64,
        )
    )
    gates = sum(end - begin for begin, end in spans[: len(objects)])
    return Straight(pieces, spent, gates, engine)

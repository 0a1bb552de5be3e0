"""Numbers in memory by their address, for compiled kernels that cannot afford arrays.

An array that is passed between compiled functions is seven numbers and a reference count; an
address is one number.  Nothing is checked: the caller knows what lies there and keeps it alive.
"""

# Implemented in LLVM assembly; the Python bodies only tell types.
from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = [
    "call",
    "load_byte",
    "load_int",
    "load_long",
    "load_short",
    "load_word",
    "store_byte",
    "store_int",
    "store_short",
    "store_word",
]


def _load(bits: int, result: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
        value = builder.load(pointer)
        if bits == 64:
            return value
        return (builder.zext if bits < 32 else builder.sext)(value, ir.IntType(64))

    return result(types.int64), codegen


def _store(bits: int, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
        word = args[1] if bits == 64 else builder.trunc(args[1], ir.IntType(bits))
        builder.store(word, pointer)
        return context.get_dummy_value()

    return types.void(types.int64, value), codegen


@intrinsic
def load_byte(typingctx, address):
    """The unsigned byte at an address."""
    return _load(8, types.int64)


@intrinsic
def load_short(typingctx, address):
    """The unsigned 16-bit number at an address."""
    return _load(16, types.int64)


@intrinsic
def load_int(typingctx, address):
    """The signed 32-bit number at an address."""
    return _load(32, types.int64)


@intrinsic
def load_long(typingctx, address):
    """The signed 64-bit number at an address."""
    return _load(64, types.int64)


@intrinsic
def load_word(typingctx, address):
    """The 64 bits at an address."""
    return _load(64, types.uint64)


@intrinsic
def store_byte(typingctx, address, value):
    """Write the lowest 8 bits."""
    return _store(8, types.int64)


@intrinsic
def store_short(typingctx, address, value):
    """Write the lowest 16 bits."""
    return _store(16, types.int64)


@intrinsic
def store_int(typingctx, address, value):
    """Write the lowest 32 bits."""
    return _store(32, types.int64)


@intrinsic
def store_word(typingctx, address, value):
    """Write 64 bits."""
    return _store(64, types.uint64)


@intrinsic
def call(typingctx, address, first, second, third):
    """What the function at an address makes of three 64-bit numbers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.IntType(64)
        function = ir.FunctionType(number, [number] * 3).as_pointer()
        return builder.call(builder.inttoptr(args[0], function), args[1:])

    return types.int64(types.int64, types.int64, types.int64, types.int64), codegen

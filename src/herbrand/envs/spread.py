"""Rows of bits turned into one array element for each bit, in a few vector instructions.

Rows are those of `simulate.vectors`.  Squares of 64 rows are transposed in place, all words of the
rows at once; each word of the result has the bits of one lane, which `spread` writes as 64 bytes and
`put_word` as it is.
"""

# The functions here are implemented in LLVM assembly; their Python bodies only tell types.
from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from herbrand.simulate.vectors import _I64, _operation, _Rows

__all__ = ["put_word", "row_swap", "spread"]


def _swap(r: _Rows, a: Any, b: Any, shift: Any, mask: Any) -> None:
    builder = r.builder
    x, y = r.load(a), r.load(b)
    by = r.splat(shift)
    changed = builder.and_(builder.xor(builder.lshr(x, by), y), r.splat(mask))
    r.store(builder.xor(x, builder.shl(changed, by)), a)
    r.store(builder.xor(y, changed), b)


@intrinsic
def row_swap(typingctx, array, width, a, b, shift, mask):
    """Exchange the bits `mask << shift` of row a with the bits `mask` of row b."""
    return _operation(4, _swap)(typingctx, array, width)


@intrinsic
def spread(typingctx, out, place, word):
    """Write the 64 bits of a word to the bytes `out[place:place + 64]`."""
    signature = types.void(out, types.uint64, types.uint64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, place, word = args
        target = builder.gep(context.make_array(signature.args[0])(context, builder, array).data, [place])
        vector = ir.VectorType(ir.IntType(8), 64)
        value = builder.zext(builder.bitcast(word, ir.VectorType(ir.IntType(1), 64)), vector)
        builder.store(value, builder.bitcast(target, vector.as_pointer()), align=1)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def put_word(typingctx, out, place, word):
    """Write a word to the bytes `out[place:place + 8]`."""
    signature = types.void(out, types.uint64, types.uint64)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array, place, word = args
        target = builder.gep(context.make_array(signature.args[0])(context, builder, array).data, [place])
        builder.store(word, builder.bitcast(target, _I64.as_pointer()), align=1)
        return context.get_dummy_value()

    return signature, codegen

"""Rows of machine words as vectors, for compiled kernels.

A *row* is `W` 64-bit words of a flat array, row `i` being words `i * W` to `i * W + W - 1`; bit
`l` of it belongs to lane `l`.  `W` is the length of the tuple `width`, so that it is known to
the compiler and every operation below becomes a few vector instructions.  All of them read
their operands completely before they write.
"""

# The functions here are implemented in LLVM assembly; their Python bodies only tell types.
from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = [
    "call_code",
    "count_ones",
    "lowest_bit",
    "row_and",
    "row_any",
    "row_copy",
    "row_count_literals",
    "row_draw",
    "row_fill",
    "row_gate",
    "row_literal",
    "row_mux",
    "row_or",
    "row_random",
    "row_take_ranked",
    "row_xor",
]

_I64 = ir.IntType(64)


class _Rows:
    """Emits vector code for one call."""

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any, width: int) -> None:
        self.builder = builder
        self.width = width
        self.vector = ir.VectorType(_I64, width)
        self.base = context.make_array(array_type)(context, builder, array).data

    def pointer(self, row: Any) -> Any:
        word = self.builder.mul(row, ir.Constant(_I64, self.width))
        place = self.builder.gep(self.base, [word])
        return self.builder.bitcast(place, self.vector.as_pointer())

    def load(self, row: Any) -> Any:
        return self.builder.load(self.pointer(row), align=8)

    def store(self, value: Any, row: Any) -> None:
        self.builder.store(value, self.pointer(row), align=8)

    def splat(self, scalar: Any) -> Any:
        single = self.builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.width), [0] * self.width)
        return self.builder.shuffle_vector(single, ir.Constant(self.vector, ir.Undefined), zeros)

    def load_literal(self, literal: Any) -> Any:
        """The row of node `literal >> 1`, inverted when the literal is odd."""
        builder = self.builder
        node = builder.lshr(literal, ir.Constant(_I64, 1))
        inverted = builder.sub(ir.Constant(_I64, 0), builder.and_(literal, ir.Constant(_I64, 1)))
        return builder.xor(self.load(node), self.splat(inverted))


def _next_bits(builder: Any, vector: Any, state: list[Any]) -> tuple[Any, list[Any]]:
    """One step of xoshiro256++ in every word (Blackman and Vigna 2021): bits and new state."""

    def constant(bits: int) -> Any:
        return ir.Constant(vector, [bits] * vector.count)

    def rotate(value: Any, bits: int) -> Any:
        return builder.or_(builder.shl(value, constant(bits)), builder.lshr(value, constant(64 - bits)))

    s0, s1, s2, s3 = state
    result = builder.add(rotate(builder.add(s0, s3), 23), s0)
    shifted = builder.shl(s1, constant(17))
    s2 = builder.xor(s2, s0)
    s3 = builder.xor(s3, s1)
    s1 = builder.xor(s1, s2)
    s0 = builder.xor(s0, s3)
    s2 = builder.xor(s2, shifted)
    return result, [s0, s1, s2, rotate(s3, 45)]


def _operation(rows: int, emit: Any, result: Any = types.void) -> Any:
    """Make an intrinsic `f(array, width, row...)`; `emit(r, *rows)` writes its code."""

    def typer(typingctx: Any, array: Any, width: Any, *operands: Any) -> Any:
        signature = result(array, width, *[types.uint64] * rows)
        lanes = len(width)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            r = _Rows(context, builder, signature.args[0], args[0], lanes)
            value = emit(r, *args[2:])
            return context.get_dummy_value() if result is types.void else value

        return signature, codegen

    return typer


def _gate(r: _Rows, out: Any, left: Any, right: Any) -> None:
    r.store(r.builder.and_(r.load_literal(left), r.load_literal(right)), out)


def _literal(r: _Rows, out: Any, literal: Any) -> None:
    r.store(r.load_literal(literal), out)


def _copy(r: _Rows, out: Any, a: Any) -> None:
    r.store(r.load(a), out)


def _fill(r: _Rows, out: Any, word: Any) -> None:
    r.store(r.splat(word), out)


def _and(r: _Rows, out: Any, a: Any, b: Any) -> None:
    r.store(r.builder.and_(r.load(a), r.load(b)), out)


def _or(r: _Rows, out: Any, a: Any, b: Any) -> None:
    r.store(r.builder.or_(r.load(a), r.load(b)), out)


def _xor(r: _Rows, out: Any, a: Any, b: Any) -> None:
    r.store(r.builder.xor(r.load(a), r.load(b)), out)


def _mux(r: _Rows, out: Any, choice: Any, a: Any, b: Any) -> None:
    """Where `choice` then `a` else `b`."""
    x, y = r.load(a), r.load(b)
    r.store(r.builder.xor(y, r.builder.and_(r.load(choice), r.builder.xor(x, y))), out)


def _any(r: _Rows, a: Any) -> Any:
    builder = r.builder
    wide = ir.IntType(64 * r.width)
    return builder.icmp_unsigned("!=", builder.bitcast(r.load(a), wide), ir.Constant(wide, 0))


def _random(r: _Rows, out: Any, state: Any) -> None:
    """Next bits of the generators whose four state rows begin at `state`."""
    rows = [r.builder.add(state, ir.Constant(_I64, i)) for i in range(4)]
    result, after = _next_bits(r.builder, r.vector, list(map(r.load, rows)))
    r.store(result, out)
    for value, row in zip(after, rows, strict=True):
        r.store(value, row)


@intrinsic
def count_ones(typingctx, word):
    """How many bits of a word are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def lowest_bit(typingctx, word):
    """The place of the lowest bit that is set; the word must not be zero."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def call_code(typingctx, array, address):
    """Call machine code that works on the rows; it gets the address of the array."""
    signature = types.void(array, types.int64)

    def codegen(context, builder, signature, args):
        base = context.make_array(signature.args[0])(context, builder, args[0]).data
        kind = ir.FunctionType(ir.VoidType(), [base.type])
        builder.call(builder.inttoptr(args[1], kind.as_pointer()), [base])
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def row_gate(typingctx, array, width, out, left, right):
    """AND of two literals."""
    return _operation(3, _gate)(typingctx, array, width)


@intrinsic
def row_literal(typingctx, array, width, out, literal):
    """Copy the value of a literal."""
    return _operation(2, _literal)(typingctx, array, width)


@intrinsic
def row_copy(typingctx, array, width, out, a):
    """Copy a row."""
    return _operation(2, _copy)(typingctx, array, width)


@intrinsic
def row_fill(typingctx, array, width, out, word):
    """Set every word."""
    return _operation(2, _fill)(typingctx, array, width)


@intrinsic
def row_and(typingctx, array, width, out, a, b):
    """Bitwise and."""
    return _operation(3, _and)(typingctx, array, width)


@intrinsic
def row_or(typingctx, array, width, out, a, b):
    """Bitwise or."""
    return _operation(3, _or)(typingctx, array, width)


@intrinsic
def row_xor(typingctx, array, width, out, a, b):
    """Bitwise exclusive or."""
    return _operation(3, _xor)(typingctx, array, width)


@intrinsic
def row_mux(typingctx, array, width, out, choice, a, b):
    """Where `choice` then `a` else `b`."""
    return _operation(4, _mux)(typingctx, array, width)


@intrinsic
def row_any(typingctx, array, width, a):
    """Whether any bit is set."""
    return _operation(1, _any, types.boolean)(typingctx, array, width)


@intrinsic
def row_random(typingctx, array, width, out, state):
    """Fill a row with random bits."""
    return _operation(2, _random)(typingctx, array, width)


_SLICE = 4
"""Words that are worked on together where many values have to stay in registers."""


class _Slices:
    """Code for one slice of the rows at a time, with `bits` rows kept in registers."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.builder = builder
        array_type, width_type, bits_type = signature.args[:3]
        self.width = len(width_type)
        self.bits = len(bits_type)
        self.rows = context.make_array(array_type)(context, builder, args[0]).data
        if isinstance(signature.args[3], types.Array):
            self.literals = context.make_array(signature.args[3])(context, builder, args[3]).data
        self.size = min(_SLICE, self.width)
        self.vector = ir.VectorType(_I64, self.size)
        self.ones = ir.Constant(self.vector, [-1] * self.size)

    def pointer(self, row: Any, offset: Any) -> Any:
        word = self.builder.add(self.builder.mul(row, ir.Constant(_I64, self.width)), offset)
        return self.builder.bitcast(self.builder.gep(self.rows, [word]), self.vector.as_pointer())

    def load(self, row: Any, offset: Any) -> Any:
        return self.builder.load(self.pointer(row, offset), align=8)

    def store(self, value: Any, row: Any, offset: Any) -> None:
        self.builder.store(value, self.pointer(row, offset), align=8)

    def literal(self, m: Any, offset: Any) -> Any:
        builder = self.builder
        number = builder.zext(builder.load(builder.gep(self.literals, [m])), _I64)
        value = self.load(builder.lshr(number, ir.Constant(_I64, 1)), offset)
        inverted = builder.sub(ir.Constant(_I64, 0), builder.and_(number, ir.Constant(_I64, 1)))
        single = builder.insert_element(
            ir.Constant(self.vector, ir.Undefined), inverted, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.size), [0] * self.size)
        mask = builder.shuffle_vector(single, ir.Constant(self.vector, ir.Undefined), zeros)
        return builder.xor(value, mask)

    def row(self, first: Any, bit: int) -> Any:
        return self.builder.add(first, ir.Constant(_I64, bit))

    def registers(self, count: int) -> list[Any]:
        return [cgutils.alloca_once(self.builder, self.vector) for _ in range(count)]


@intrinsic
def row_count_literals(typingctx, array, width, bits, literals, begin, end, total):
    """Set the rows from `total` to the number of true literals in each lane, in binary.

    As many rows as `bits` is long; the number must fit.
    """
    signature = types.void(array, width, bits, literals, types.uint64, types.uint64, types.uint64)

    def codegen(context, builder, signature, args):
        loop = _Slices(context, builder, signature, args)
        _, _, _, _, begin, end, total = args
        counters = loop.registers(loop.bits)
        for piece in range(loop.width // loop.size):
            offset = ir.Constant(_I64, piece * loop.size)
            for counter in counters:
                builder.store(ir.Constant(loop.vector, [0] * loop.size), counter)
            with cgutils.for_range(builder, builder.sub(end, begin)) as entry:
                carry = loop.literal(builder.add(begin, entry.index), offset)
                for counter in counters:
                    value = builder.load(counter)
                    builder.store(builder.xor(value, carry), counter)
                    carry = builder.and_(value, carry)
            for bit, counter in enumerate(counters):
                loop.store(builder.load(counter), loop.row(total, bit), offset)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def row_take_ranked(typingctx, array, width, bits, literals, begin, end, moves, rank):
    """Set row `moves + m` to the lanes in which literal m is the one with the given rank.

    The rows from `rank` hold, in binary, how many true literals come before it.
    """
    signature = types.void(
        array, width, bits, literals, types.uint64, types.uint64, types.uint64, types.uint64
    )

    def codegen(context, builder, signature, args):
        loop = _Slices(context, builder, signature, args)
        _, _, _, _, begin, end, moves, rank = args
        registers = loop.registers(loop.bits)
        for piece in range(loop.width // loop.size):
            offset = ir.Constant(_I64, piece * loop.size)
            for bit, register in enumerate(registers):
                builder.store(loop.load(loop.row(rank, bit), offset), register)
            with cgutils.for_range(builder, builder.sub(end, begin)) as entry:
                m = builder.add(begin, entry.index)
                legal = loop.literal(m, offset)
                values = [builder.load(register) for register in registers]
                nonzero = values[0]
                for value in values[1:]:
                    nonzero = builder.or_(nonzero, value)
                taken = builder.and_(legal, builder.xor(nonzero, loop.ones))
                loop.store(taken, builder.add(moves, m), offset)
                # count down where the literal is true; past zero it wraps and stays nonzero
                borrow = legal
                for value, register in zip(values, registers, strict=True):
                    after = builder.xor(value, borrow)
                    builder.store(after, register)
                    borrow = builder.and_(borrow, after)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def row_draw(typingctx, array, width, bits, count, rank, state, fraction):
    """Set the rows from `rank` to the whole part of `count` times a random fraction.

    `count` and `rank` are the first of as many rows as `bits` is long; the fraction has
    `fraction` bits, drawn from the generators whose four state rows begin at `state`.
    """
    signature = types.void(array, width, bits, *[types.uint64] * 4)

    def codegen(context, builder, signature, args):
        loop = _Slices(context, builder, signature, args)
        count, rank, state, fraction = args[3:]
        registers, generator = loop.registers(loop.bits), loop.registers(4)
        zero = ir.Constant(loop.vector, [0] * loop.size)
        for piece in range(loop.width // loop.size):
            offset = ir.Constant(_I64, piece * loop.size)
            counts = [loop.load(loop.row(count, bit), offset) for bit in range(loop.bits)]
            for register in registers:
                builder.store(zero, register)
            for i, register in enumerate(generator):
                builder.store(loop.load(loop.row(state, i), offset), register)
            with cgutils.for_range(builder, fraction):
                bits_drawn, after = _next_bits(builder, loop.vector, list(map(builder.load, generator)))
                for value, register in zip(after, generator, strict=True):
                    builder.store(value, register)
                # add where the bit is set, then halve: the lowest bit of the sum drops out
                carry = zero
                for bit, register in enumerate(registers):
                    addend = builder.and_(counts[bit], bits_drawn)
                    value = builder.load(register)
                    half = builder.xor(value, addend)
                    if bit:
                        builder.store(builder.xor(half, carry), registers[bit - 1])
                    carry = builder.or_(builder.and_(value, addend), builder.and_(half, carry))
                builder.store(carry, registers[-1])
            for bit, register in enumerate(registers):
                loop.store(builder.load(register), loop.row(rank, bit), offset)
            for i, register in enumerate(generator):
                loop.store(builder.load(register), loop.row(state, i), offset)
        return context.get_dummy_value()

    return signature, codegen

"""A small assembler for WebAssembly: typed expressions, variables, loops.

A `Value` is code that leaves one value of its type on the stack; each use in a function evaluates it again.
Operators build greater ones and check the types.  Numbers are unsigned.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.convert.wasm.binary import Signature, ValueType, signed, unsigned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.convert.wasm.binary import Module

__all__ = [
    "I32",
    "I64",
    "V128",
    "ZEROS",
    "FunctionBuilder",
    "Lane",
    "LocalVariable",
    "Value",
    "call",
    "i32",
    "i64",
    "load",
    "load8",
    "memory_grow",
    "memory_size",
    "simd",
]

I32, I64, V128 = ValueType.I32, ValueType.I64, ValueType.V128

_BINARY: Final = {
    I32: {"+": 0x6A, "-": 0x6B, "*": 0x6C, "&": 0x71, "|": 0x72, "^": 0x73, "<<": 0x74, ">>": 0x76},
    I64: {
        "+": 0x7C,
        "-": 0x7D,
        "*": 0x7E,
        "%": 0x82,
        "&": 0x83,
        "|": 0x84,
        "^": 0x85,
        "<<": 0x86,
        ">>": 0x88,
    },
}
_COMPARE: Final = {
    I32: {"==": 0x46, "!=": 0x47, "<": 0x49, ">": 0x4B, "<=": 0x4D, ">=": 0x4F},
    I64: {"==": 0x51, "!=": 0x52, "<": 0x54, ">": 0x56, "<=": 0x58, ">=": 0x5A},
}
_COUNT_ONES: Final = {I32: 0x69, I64: 0x7B}
_COUNT_TRAILING: Final = {I32: 0x68, I64: 0x7A}
_LOAD: Final = {I32: b"\x28\x02", I64: b"\x29\x03", V128: b"\xfd\x00\x04"}
_STORE: Final = {I32: b"\x36\x02", I64: b"\x37\x03", V128: b"\xfd\x0b\x04"}
_SIMD: Final = {
    "not": 77,
    "and": 78,
    "andnot": 79,
    "or": 80,
    "xor": 81,
    "select": 82,
    "any_true": 83,
    "shift_left": 203,
    "shift_right": 205,
    "add": 206,
}
"""Operations on vectors: bits, and words of 64 bits."""
_BITS: Final = {"&": "and", "|": "or", "^": "xor"}


def simd(name: str) -> bytes:
    """Return an instruction on vectors."""
    return b"\xfd" + unsigned(_SIMD[name])


def _arithmetic(symbol: str) -> Callable[[Value, Value | int], Value]:
    """Return the method for an operator on values of one type."""

    def combined(value: Value, other: Value | int) -> Value:
        right = value.same(other)
        instruction = simd(_BITS[symbol]) if value.kind == V128 else bytes([_BINARY[value.kind][symbol]])
        return Value(value.kind, value.code + right.code + instruction)

    return combined


def _comparison(symbol: str) -> Callable[[Value, Value | int], Value]:
    """Return the method for a comparison of two numbers."""

    def compared(value: Value, other: Value | int) -> Value:
        return Value(I32, value.code + value.same(other).code + bytes([_COMPARE[value.kind][symbol]]))

    return compared


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """Code that leaves a value."""

    kind: ValueType
    code: bytes

    __add__ = _arithmetic("+")
    __sub__ = _arithmetic("-")
    __mul__ = _arithmetic("*")
    __and__ = _arithmetic("&")
    __or__ = _arithmetic("|")
    __xor__ = _arithmetic("^")
    __lshift__ = _arithmetic("<<")
    __rshift__ = _arithmetic(">>")
    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    equals = _comparison("==")
    """Whether two numbers are the same."""
    differs = _comparison("!=")
    """Whether two numbers are not the same."""

    def same(self, other: Value | int) -> Value:
        """Return a value or a number as a value of this type; `TypeError` if it is of another one."""
        if isinstance(other, int):
            return {I32: i32, I64: i64}[self.kind](other)
        if other.kind != self.kind:
            raise TypeError(f"{other.kind.name} where {self.kind.name} is needed")
        return other

    def ones(self) -> Value:
        """Return how many bits are 1."""
        return Value(self.kind, self.code + bytes([_COUNT_ONES[self.kind]]))

    def trailing(self) -> Value:
        """Return the number of zeros below the lowest 1."""
        return Value(self.kind, self.code + bytes([_COUNT_TRAILING[self.kind]]))

    def remainder(self, other: Value) -> Value:
        """Return the remainder of a division of 64 bits."""
        self.check(I64)
        return Value(I64, self.code + self.same(other).code + b"\x82")

    def narrow(self) -> Value:
        """Return the lower half of 64 bits."""
        self.check(I64)
        return Value(I32, self.code + b"\xa7")

    def wide(self) -> Value:
        """Return 32 bits as 64."""
        self.check(I32)
        return Value(I64, self.code + b"\xad")

    def any(self) -> Value:
        """Whether a bit of a vector is 1."""
        self.check(V128)
        return Value(I32, self.code + simd("any_true"))

    def without(self, other: Value) -> Value:
        """Return the bits of a vector that another one has not."""
        return Value(V128, self.code + self.same(other).code + simd("andnot"))

    def select(self, one: Value, zero: Value) -> Value:
        """Return the bits of one vector where this one is 1, else those of the other."""
        return Value(V128, self.same(one).code + self.same(zero).code + self.code + simd("select"))

    def add64(self, other: Value) -> Value:
        """Return the sums of words."""
        return Value(V128, self.code + self.same(other).code + simd("add"))

    def shift64(self, bits: int) -> Value:
        """Return words shifted to the left; to the right for a negative number."""
        self.check(V128)
        return Value(
            V128, self.code + i32(abs(bits)).code + simd("shift_left" if bits > 0 else "shift_right")
        )

    def check(self, kind: ValueType) -> None:
        """Raise `TypeError` unless the value is of a type."""
        if self.kind != kind:
            raise TypeError(f"{self.kind.name} where {kind.name} is needed")


@dataclass(frozen=True, slots=True, eq=False)
class LocalVariable(Value):
    """A parameter or a local variable of a function."""

    number: int


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane in which a row is 1, in a loop over all."""

    number: LocalVariable
    at: LocalVariable
    """The offset of its word, in bytes."""
    word: LocalVariable
    """The word, in which the lane is the lowest 1."""

    @property
    def bit(self) -> Value:
        """Only the lane."""
        return self.word & (i64(0) - self.word)


def i32(number: int) -> Value:
    """Return a constant."""
    return Value(I32, b"\x41" + signed((number + 2**31) % 2**32 - 2**31))


def i64(number: int) -> Value:
    """Return a constant."""
    return Value(I64, b"\x42" + signed((number + 2**63) % 2**64 - 2**63))


ZEROS: Final = Value(V128, simd("not")[:1] + b"\x0c" + bytes(16))


def load(kind: ValueType, address: Value | int, offset: int = 0) -> Value:
    """Load a value from memory; the address is a multiple of the size of the type."""
    base = i32(address) if isinstance(address, int) else address
    base.check(I32)
    return Value(kind, base.code + _LOAD[kind] + unsigned(offset))


def load8(address: Value | int, offset: int = 0) -> Value:
    """Return a byte in memory."""
    base = i32(address) if isinstance(address, int) else address
    base.check(I32)
    return Value(I32, base.code + b"\x2d\x00" + unsigned(offset))


def memory_size() -> Value:
    """Return the size of the memory in pages."""
    return Value(I32, b"\x3f\x00")


def memory_grow(pages: Value) -> Value:
    """Add pages to the memory; return its size before, or -1 if that was refused."""
    pages.check(I32)
    return Value(I32, pages.code + b"\x40\x00")


def call(function: int, kind: ValueType, *arguments: Value) -> Value:
    """Return the result of a function."""
    return Value(kind, b"".join(value.code for value in arguments) + b"\x10" + unsigned(function))


@dataclass(slots=True)
class FunctionBuilder:
    """A function under construction."""

    params: Sequence[ValueType] = ()
    result: ValueType | None = None
    local: list[ValueType] = field(default_factory=list)
    code: bytearray = field(default_factory=bytearray)
    depth: int = 0
    """The number of blocks around what comes next."""

    def param(self, number: int) -> LocalVariable:
        """Return a parameter."""
        return self._variable(self.params[number], number)

    def variable(self, kind: ValueType, value: Value | None = None) -> LocalVariable:
        """Return a new variable, 0 at the start of the function, and set it here if a value is given."""
        self.local.append(kind)
        variable = self._variable(kind, len(self.params) + len(self.local) - 1)
        if value is not None:
            self.set(variable, value)
        return variable

    @staticmethod
    def _variable(kind: ValueType, number: int) -> LocalVariable:
        return LocalVariable(kind, b"\x20" + unsigned(number), number)

    def keep(self, value: Value) -> LocalVariable:
        """Evaluate a value here, once."""
        return self.variable(value.kind, value)

    def set(self, variable: LocalVariable, value: Value | int) -> None:
        """Change a variable."""
        self.code += variable.same(value).code + b"\x21" + unsigned(variable.number)

    def store(self, address: Value | int, value: Value, offset: int = 0) -> None:
        """Write a value to memory; the address is a multiple of the size of its type."""
        base = i32(address) if isinstance(address, int) else address
        base.check(I32)
        self.code += base.code + value.code + _STORE[value.kind] + unsigned(offset)

    def store8(self, address: Value, value: Value, offset: int = 0) -> None:
        """Write a byte to memory."""
        address.check(I32)
        value.check(I32)
        self.code += address.code + value.code + b"\x3a\x00" + unsigned(offset)

    def copy(self, to: Value, source: Value, size: Value) -> None:
        """Copy bytes in memory."""
        for value in (to, source, size):
            value.check(I32)
        self.code += to.code + source.code + size.code + b"\xfc\x0a\x00\x00"

    def fill(self, to: Value, byte: int, size: Value) -> None:
        """Set bytes in memory."""
        to.check(I32)
        size.check(I32)
        self.code += to.code + i32(byte).code + size.code + b"\xfc\x0b\x00"

    def call(self, function: int, *arguments: Value) -> None:
        """Call a function without a result."""
        self.code += b"".join(value.code for value in arguments) + b"\x10" + unsigned(function)

    def advance(self, state: Sequence[LocalVariable]) -> None:
        """Change the four vectors of a generator, xoshiro256 in each word (Blackman and Vigna 2021)."""
        s0, s1, s2, s3 = state
        shifted = self.keep(s1.shift64(17))
        self.set(s2, s2 ^ s0)
        self.set(s3, s3 ^ s1)
        self.set(s1, s1 ^ s2)
        self.set(s0, s0 ^ s3)
        self.set(s2, s2 ^ shifted)
        self.set(s3, s3.shift64(45) | s3.shift64(-19))

    def give(self, value: Value | int) -> None:
        """Return a value from the function."""
        assert self.result is not None
        typed = Value(self.result, b"").same(value)
        self.code += typed.code + b"\x0f"

    @contextmanager
    def when(self, condition: Value) -> Iterator[int]:
        """Do what follows if a condition holds."""
        condition.check(I32)
        self.code += condition.code + b"\x04\x40"
        yield from self._labelled()

    def otherwise(self) -> None:
        """Begin what `when` does if its condition does not hold."""
        self.code += b"\x05"

    @contextmanager
    def block(self) -> Iterator[int]:
        """Do what follows; `go` to its label leaves it."""
        self.code += b"\x02\x40"
        yield from self._labelled()

    @contextmanager
    def loop(self) -> Iterator[int]:
        """Do what follows, once; `go` to its label begins it again."""
        self.code += b"\x03\x40"
        yield from self._labelled()

    @contextmanager
    def times(self, counter: LocalVariable, bound: Value | int, step: int = 1) -> Iterator[None]:
        """Do what follows for a counter from where it is, while it is less than a bound."""
        with self.block() as end, self.loop() as again:
            self.go(end, counter >= bound)
            yield
            self.set(counter, counter + step)
            self.go(again)

    @contextmanager
    def each_bit(self, address: Value | int, size: int) -> Iterator[Lane]:
        """Do what follows for each lane that is 1 in a row of so many bytes, which is read word by word."""
        base = i32(address) if isinstance(address, int) else address
        at, word = self.variable(I32, i32(0)), self.variable(I64)
        lane = self.variable(I32)
        with self.times(at, size, 8):
            self.set(word, load(I64, base + at))
            with self.block() as end, self.loop() as again:
                self.go(end, word.equals(0))
                self.set(lane, (at << 3) + word.trailing().narrow())
                yield Lane(lane, at, word)
                self.set(word, word & (word - 1))
                self.go(again)

    def go(self, label: int, condition: Value | None = None) -> None:
        """Go to a label, if a condition holds."""
        if condition is not None:
            condition.check(I32)
            self.code += condition.code
        self.code += (b"\x0c" if condition is None else b"\x0d") + unsigned(self.depth - label)

    def _labelled(self) -> Iterator[int]:
        self.depth += 1
        yield self.depth
        self.depth -= 1
        self.code += b"\x0b"

    def define(self, module: Module) -> int:
        """Add the function to a module; return its index."""
        results = () if self.result is None else (self.result,)
        return module.function(Signature(tuple(self.params), results), self.local, bytes(self.code))

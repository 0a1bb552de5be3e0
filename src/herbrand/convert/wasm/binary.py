"""Modules in the binary format of WebAssembly (WebAssembly Core Specification 2.0, chapter 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from herbrand.runtime.numbers import leb128 as unsigned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["PAGE", "Module", "Signature", "ValueType", "signed", "unsigned"]

PAGE: Final = 65536
"""The unit of memory, in bytes."""

_FUNCTION, _MEMORY = 0, 2


class ValueType(IntEnum):
    """The types of values, by their codes."""

    I32 = 0x7F
    I64 = 0x7E
    V128 = 0x7B


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of parameters and results."""

    params: tuple[ValueType, ...] = ()
    results: tuple[ValueType, ...] = ()

    def encoded(self) -> bytes:
        """Return the type of a function."""
        return (
            b"\x60"
            + _vector(bytes([kind]) for kind in self.params)
            + _vector(bytes([kind]) for kind in self.results)
        )


@dataclass(slots=True)
class Module:
    """A module under construction; imported functions must come before those that are defined."""

    signatures: list[Signature] = field(default_factory=list)
    imports: list[bytes] = field(default_factory=list)
    imported: int = 0
    """The number of imported functions."""
    functions: list[int] = field(default_factory=list)
    """The signature of each function that is defined."""
    code: list[bytes] = field(default_factory=list)
    exports: list[bytes] = field(default_factory=list)
    segments: list[bytes] = field(default_factory=list)
    sections: list[bytes] = field(default_factory=list)
    """Custom sections."""
    pages: int | None = None
    """The size of the module's own memory at first; None if it has none."""

    def signature(self, signature: Signature) -> int:
        """Return the index of a signature."""
        if signature not in self.signatures:
            self.signatures.append(signature)
        return self.signatures.index(signature)

    def import_memory(self, module: str, name: str, pages: int) -> None:
        """Import the memory of the host, of at least some number of pages."""
        self.imports.append(_name(module) + _name(name) + bytes([_MEMORY, 0]) + unsigned(pages))

    def import_function(self, module: str, name: str, signature: Signature) -> int:
        """Take a function of the host; return its index."""
        if self.code:
            raise ValueError("imported functions come first")
        kind = bytes([_FUNCTION]) + unsigned(self.signature(signature))
        self.imports.append(_name(module) + _name(name) + kind)
        self.imported += 1
        return self.imported - 1

    def function(self, signature: Signature, local: Sequence[ValueType], body: bytes) -> int:
        """Define a function by its local variables beside the parameters, and its code; return its index."""
        self.functions.append(self.signature(signature))
        runs: list[list[int]] = []
        for kind in local:
            if runs and runs[-1][1] == kind:
                runs[-1][0] += 1
            else:
                runs.append([1, kind])
        code = _vector(unsigned(count) + bytes([kind]) for count, kind in runs) + body + b"\x0b"
        self.code.append(unsigned(len(code)) + code)
        return self.imported + len(self.functions) - 1

    def export(self, name: str, function: int) -> None:
        """Export a function."""
        self.exports.append(_name(name) + bytes([_FUNCTION]) + unsigned(function))

    def export_memory(self, name: str) -> None:
        """Export the memory."""
        self.exports.append(_name(name) + bytes([_MEMORY]) + unsigned(0))

    def data(self, address: int, content: bytes) -> None:
        """Set the content of a part of the memory at the start."""
        offset = b"\x41" + signed(address) + b"\x0b"
        self.segments.append(b"\x00" + offset + unsigned(len(content)) + content)

    def custom(self, name: str, content: bytes) -> None:
        """Add a section for programs that read the module."""
        self.sections.append(_name(name) + content)

    def encoded(self) -> bytes:
        """Return the module."""
        memory = [] if self.pages is None else [b"\x00" + unsigned(self.pages)]
        numbered = (
            (1, [signature.encoded() for signature in self.signatures]),
            (2, self.imports),
            (3, [unsigned(kind) for kind in self.functions]),
            (5, memory),
            (7, self.exports),
            (10, self.code),
            (11, self.segments),
        )
        parts = [b"\0asm\x01\0\0\0"]
        parts += [_section(number, _vector(items)) for number, items in numbered if items]
        parts += [_section(0, content) for content in self.sections]
        return b"".join(parts)


def signed(number: int) -> bytes:
    """Return a number in signed LEB128."""
    out = bytearray()
    while not -64 <= number < 64:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number & 127)
    return bytes(out)


def _vector(items: Iterable[bytes]) -> bytes:
    parts = list(items)
    return unsigned(len(parts)) + b"".join(parts)


def _name(text: str) -> bytes:
    encoded = text.encode()
    return unsigned(len(encoded)) + encoded


def _section(number: int, content: bytes) -> bytes:
    return bytes([number]) + unsigned(len(content)) + content

"""Split a lane program into chunks of bounded size, each of which becomes a function.

Compile times grow faster than functions, so that a program of a hundred thousand operations must be split.
Values that are used within one chunk only are local variables; those that later chunks read are in rows of
memory, which are reused after the last read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.network.lanes import operands

if TYPE_CHECKING:
    from herbrand.network.lanes import LaneProgram

__all__ = ["Chunk", "Chunks", "cut"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some operations of one unit, in their order."""

    operations: tuple[tuple[int, int, int, int, int], ...]
    """Rows out, a, b, c, and the operation code, as in the program; each row is written at most once."""
    memory: dict[int, int]
    """The address of each row that is read before it is written here, or needed later."""
    local: frozenset[int]
    """The rows that are read in this chunk after it writes them."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """A program in chunks."""

    units: tuple[tuple[Chunk, ...], ...]
    rows: int
    """The number of rows of memory."""


def cut(program: LaneProgram, size: int) -> Chunks:
    """Split each unit of a program into chunks of at most `size` operations."""
    units, rows = [], program.kept
    for begin, end in program.units[:, :2].tolist():
        ops = _needed([tuple(op) for op in program.ops[begin:end].tolist()], program.kept)
        pieces = [ops[i : i + size] for i in range(0, len(ops), size)]
        chunks, used = _unit(pieces, program.kept)
        units.append(chunks)
        rows = max(rows, used)
    return Chunks(tuple(units), rows)


def _needed(ops: list[tuple[int, ...]], shared_rows: int) -> list[tuple[int, ...]]:
    """Return the operations with uses: after covering, some have none."""
    read: set[int] = set()
    needed = []
    for op in reversed(ops):
        if op[0] < shared_rows or op[0] in read:
            read.update(operands(op))
            needed.append(op)
    return needed[::-1]


def _unit(pieces: list[list[tuple[int, ...]]], shared_rows: int) -> tuple[tuple[Chunk, ...], int]:
    """Return the chunks of a unit, and the number of rows of memory."""
    last: dict[int, int] = {}  # the last piece that reads a row
    for i, piece in enumerate(pieces):
        for op in piece:
            for row in operands(op):
                last[row] = i
    place: dict[int, int] = {}
    free: list[int] = []
    rows = shared_rows
    ends: list[list[int]] = [[] for _ in pieces]  # rows that nothing reads after this piece
    chunks = []
    for i, piece in enumerate(pieces):
        memory: dict[int, int] = {}
        written: set[int] = set()
        local: set[int] = set()
        for op in piece:
            for row in operands(op):
                if row in written:
                    local.add(row)
                else:
                    memory[row] = row if row < shared_rows else place[row]
            written.add(op[0])
        for out in sorted(written):
            if out < shared_rows:
                memory[out] = out
            elif last.get(out, i) > i:
                if not free:
                    free.append(rows)
                    rows += 1
                memory[out] = place[out] = free.pop()
                ends[last[out]].append(out)
        free += [place.pop(row) for row in ends[i]]
        chunks.append(Chunk(tuple(piece), memory, frozenset(local)))  # type: ignore[arg-type]
    return tuple(chunks), rows

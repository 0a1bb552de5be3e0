"""Cut a lane program into pieces of bounded size, each of which becomes a function.

Compilers take time that grows faster than the function, so a program of a hundred thousand operations has to
become many.  Values that stay within a piece are local variables there; what later pieces read stands in a
row of memory, which is used again when nothing needs it any more.
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
    """Rows out, a, b, c, and the code, as in the program; every row is written at most once."""
    memory: dict[int, int]
    """Where a row stands in memory, of those rows that are read before they are written here, or needed
    later."""
    local: frozenset[int]
    """The rows that are read after they are written here."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """A program in pieces."""

    units: tuple[tuple[Chunk, ...], ...]
    rows: int
    """How many rows of memory there are."""


def cut(program: LaneProgram, size: int) -> Chunks:
    """Cut each unit of a program into pieces of at most `size` operations."""
    units, rows = [], program.kept
    for begin, end in program.units[:, :2].tolist():
        ops = _needed([tuple(op) for op in program.ops[begin:end].tolist()], program.kept)
        pieces = [ops[i : i + size] for i in range(0, len(ops), size)]
        made, used = _unit(pieces, program.kept)
        units.append(made)
        rows = max(rows, used)
    return Chunks(tuple(units), rows)


def _needed(ops: list[tuple[int, ...]], kept: int) -> list[tuple[int, ...]]:
    """Return the operations that something depends on: covering may leave some whose users ignore them."""
    read: set[int] = set()
    found = []
    for op in reversed(ops):
        if op[0] < kept or op[0] in read:
            read.update(operands(op))
            found.append(op)
    return found[::-1]


def _unit(pieces: list[list[tuple[int, ...]]], kept: int) -> tuple[tuple[Chunk, ...], int]:
    """Cut one unit; also return how many rows of memory it needs."""
    last: dict[int, int] = {}  # the last piece that reads a row
    for i, piece in enumerate(pieces):
        for op in piece:
            for row in operands(op):
                last[row] = i
    place: dict[int, int] = {}
    free: list[int] = []
    rows = kept
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
                    memory[row] = row if row < kept else place[row]
            written.add(op[0])
        for out in sorted(written):
            if out < kept:
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

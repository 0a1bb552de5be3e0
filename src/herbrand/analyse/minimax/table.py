"""Compiled: the transposition table of an alpha-beta search.

An entry is two words, the data and the state's key combined with the data, so that an entry which two
threads wrote at the same time matches no key (Hyatt and Mann 2002).  A bucket has two entries: the first
keeps what was searched deepest, the second whatever came last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from herbrand.compiled import compiled
from herbrand.simulate.memory import zeros

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXACT", "LOWER", "UPPER", "Table", "new_table", "probe", "store"]

EXACT: Final = 0
"""The value is known, within the depth."""
LOWER: Final = 1
"""It is at least that."""
UPPER: Final = 2
"""It is at most that."""

_U = np.uint64


class Table(NamedTuple):
    """Two arrays of the same length, a power of two."""

    key: NDArray[np.uint64]
    data: NDArray[np.uint64]


def new_table(memory: int) -> Table:
    """Make a table of at most so many bytes."""
    size = max(1 << 10, 1 << (max(1, memory // 16).bit_length() - 1))
    table = Table(zeros(size, np.uint64), zeros(size, np.uint64))
    for array in table:
        array.fill(0)  # so that memory is given now, not while a clock runs
    return table


@compiled
def probe(table, key):
    """Return the data under a key, 0 if there are none."""
    place = np.int64(key & _U(len(table.key) - 2))
    for k in range(place, place + 2):
        data = table.data[k]
        if data and table.key[k] ^ data == key:
            return data
    return _U(0)


@compiled
def store(table, key, value, depth, bound, proved, move):
    """Keep a value (0 <= value < 2**20), a depth (< 2**9), a bound, whether it is proved, and a move."""
    data = (
        _U(1) | _U(bound) << _U(1) | _U(proved) << _U(3) | _U(depth) << _U(4) | _U(value) << _U(13)
        | _U(move + 1) << _U(33)
    )  # fmt: skip
    place = np.int64(key & _U(len(table.key) - 2))
    old = table.data[place]
    deep = old and table.key[place] ^ old != key and (old >> _U(4)) & _U(511) > _U(depth)
    if deep:
        place += 1
    table.data[place] = data
    table.key[place] = key ^ data

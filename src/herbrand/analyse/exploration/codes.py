"""States in as few bits as their parts need, and sorted sets of them, as arrays of 64-bit words.

A *code* is a row of `size` words, `uint64 [n, size]`, in which each part of a state (`counting.parts`) has
the bits of its value; a position of connect four on five columns and six rows takes 61 bits instead of
91.  Packed states become codes and back by tables over 16 bits.  Codes are ordered by their words, the
first one foremost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.analyse.counting.parts import StatePart
    from herbrand.engine.expand import States

__all__ = ["Codes", "StateCoder", "difference", "sorted_set"]

Codes: TypeAlias = NDArray[np.uint64]
_Tables: TypeAlias = list[list[tuple[int, NDArray[np.uint64]]]]

_SLICE: Final = 16
_SLICES: Final = 64 // _SLICE
_MIX: Final = 0x9E3779B97F4A7C15
"""An odd number by which words are multiplied, so that all bits of a state count in the order."""


class StateCoder:
    """Translates packed states of a game into codes and back."""

    def __init__(self, parts: Sequence[StatePart], words: int) -> None:
        """`words` are those of a packed state."""
        self.words = words
        places = _places(parts)
        slices = 1 + max((at // _SLICE for at in places), default=0)
        self.size = -(-slices // _SLICES)
        """The number of words of a code."""
        self.bits = sum(part.bits for part in parts)
        """The number of bits that are used."""
        self._parts = parts
        code_of: dict[int, tuple[int, int]] = {}  # by fluent: its slice, and the bits there
        for part, place in zip(parts, places, strict=True):
            for fluent in part.fluents:
                code_of[fluent] = place // _SLICE, part.code(fluent) << place % _SLICE
        encoding = np.zeros((self.size, words * _SLICES, 1 << _SLICE), np.uint64)
        values = np.arange(1 << _SLICE)
        for fluent, (at, bits) in code_of.items():
            word = np.uint64(bits << at % _SLICES * _SLICE)
            encoding[at // _SLICES, fluent // _SLICE, (values >> fluent % _SLICE & 1) > 0] |= word
        decoding = np.zeros((words, slices, 1 << _SLICE), np.uint64)
        for part, place in zip(parts, places, strict=True):
            value = values >> place % _SLICE & (1 << part.bits) - 1
            for fluent in part.fluents:
                is_true = value == part.code(fluent)
                decoding[fluent // 64, place // _SLICE, is_true] |= np.uint64(1 << fluent % 64)
        self._encoding, self._decoding = _tables(encoding), _tables(decoding)

    def encode(self, states: States) -> Codes:
        """Return the codes of packed states."""
        codes = _looked_up(self._encoding, states)
        if self.size > 1:
            codes[:, 0] = (codes[:, 0] + _folded(codes)) * np.uint64(_MIX)
        return codes

    def decode(self, codes: Codes) -> States:
        """Return the packed states of codes."""
        if self.size > 1:
            codes = codes.copy()
            codes[:, 0] = codes[:, 0] * np.uint64(pow(_MIX, -1, 1 << 64)) - _folded(codes)
        return _looked_up(self._decoding, np.ascontiguousarray(codes))

    def summing(self, weights: Sequence[Sequence[int]]) -> Callable[[States], NDArray[np.int64]]:
        """Return a function from states to sums of weights, given for each part and value."""
        # the weight without any fluent, and what each fluent adds
        base, extra = 0, np.zeros(64 * self.words, np.int64)
        for part, part_weights in zip(self._parts, weights, strict=True):
            none = 0 if part.is_exact else part_weights[0]
            base += none
            for fluent in part.fluents:
                extra[fluent] = part_weights[part.code(fluent)] - none
        bits = np.arange(1 << _SLICE)[:, None] >> np.arange(_SLICE) & 1
        slices = enumerate(extra.reshape(-1, _SLICE))
        tables = [(at, bits @ here) for at, here in slices if here.any()]

        def sums(states: States) -> NDArray[np.int64]:
            pieces = states.astype("<u8", copy=False).view("<u2")
            total = np.full(len(states), base, np.int64)
            for at, table in tables:
                total += table[pieces[:, at]]
            return total

        return sums


def _tables(every: NDArray[np.uint64]) -> _Tables:
    """Return for each word of a result the tables that are not empty, with the place of their 16 bits."""
    return [[(at, table) for at, table in enumerate(tables) if table.any()] for tables in every]


def _looked_up(tables: _Tables, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the words of the results for some rows."""
    pieces = rows.astype("<u8", copy=False).view("<u2")
    results = np.empty((len(rows), len(tables)), np.uint64)
    for word, of_word in enumerate(tables):
        column = np.zeros(len(rows), np.uint64)
        for at, table in of_word:
            column |= table[pieces[:, at]]
        results[:, word] = column
    return results


def _places(parts: Sequence[StatePart]) -> list[int]:
    """Return the first bit of each part, so that none is in two slices."""
    free: list[int] = []
    places = [0] * len(parts)
    for number in sorted(range(len(parts)), key=lambda n: -parts[n].bits):
        bits = parts[number].bits
        at = next((i for i, left in enumerate(free) if left >= bits), len(free))
        if at == len(free):
            free.append(_SLICE)
        places[number] = _SLICE * at + _SLICE - free[at]
        free[at] -= bits
    return places


def _folded(codes: Codes) -> NDArray[np.uint64]:
    """Return a word that depends on all but the first of each code."""
    total = np.zeros(len(codes), np.uint64)
    for word in range(1, codes.shape[1]):
        total = (total + codes[:, word]) * np.uint64(_MIX)
        total ^= total >> np.uint64(29)
    return total


def sorted_set(codes: Codes) -> Codes:
    """Return codes in order, each once.  A single column may be sorted in place."""
    if codes.shape[1] == 1:
        column = codes.reshape(-1)
        column.sort()
        fresh = np.empty(len(column), np.bool_)
        fresh[:1] = True
        np.not_equal(column[1:], column[:-1], out=fresh[1:])
        return column[fresh].reshape(-1, 1)
    ordered = codes[np.lexsort(codes.T[::-1])]
    distinct: Codes = ordered[_differs(ordered)]
    return distinct


def difference(codes: Codes, earlier: Codes) -> Codes:
    """Return the codes of a sorted set that are not in another one."""
    if not len(earlier) or not len(codes):
        return codes
    if codes.shape[1] == 1:
        column = earlier.reshape(-1)
        at = np.searchsorted(column, codes.reshape(-1))
        at[at == len(column)] = 0
        left: Codes = codes[column[at] != codes.reshape(-1)]
        return left
    both = np.concatenate((earlier, codes))
    order = np.lexsort(both.T[::-1])  # stable: an earlier one comes before its equal
    fresh = _differs(both[order])
    new: Codes = codes[np.sort(order[fresh & (order >= len(earlier))]) - len(earlier)]
    return new


def _differs(ordered: Codes) -> NDArray[np.bool_]:
    """Return which rows differ from the row before."""
    fresh = np.empty(len(ordered), np.bool_)
    fresh[:1] = True
    np.any(ordered[1:] != ordered[:-1], axis=1, out=fresh[1:])
    return fresh

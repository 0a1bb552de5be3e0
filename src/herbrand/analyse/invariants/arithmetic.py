"""Whole numbers as literals of a circuit: a list of bits, the lowest first, or one literal for each value."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from herbrand.network.circuit import UnrolledCircuit

__all__ = ["add_choice", "add_unary", "all_sums", "differ", "greater", "growth_of", "total_of"]


def total_of(circuit: UnrolledCircuit, numbers: Iterable[Sequence[int]]) -> list[int]:
    """Return the bits of a sum; short numbers are added first, by ripple-carry adders."""
    order = count()  # of numbers with as many bits, the older ones
    heap = [(len(bits), next(order), list(bits)) for bits in numbers if bits]
    heapify(heap)
    while len(heap) > 1:
        bits = _sum(circuit, heappop(heap)[2], heappop(heap)[2])
        heappush(heap, (len(bits), next(order), bits))
    return heap[0][2] if heap else []


def _sum(circuit: UnrolledCircuit, shorter: Sequence[int], longer: Sequence[int]) -> list[int]:
    """Return the bits of the sum of two numbers, the second of which has at least as many bits."""
    bits, carry = [], 0
    for place, a in enumerate(longer):
        b = shorter[place] if place < len(shorter) else 0
        half = differ(circuit, a, b)
        bits.append(differ(circuit, half, carry))
        carry = circuit.any_of((circuit.all_of((a, b)), circuit.all_of((half, carry))))
    return [*bits, carry] if carry else bits


def greater(circuit: UnrolledCircuit, a: Sequence[int], b: Sequence[int]) -> int:
    """Return the literal that the first number is greater than the second."""
    result = 0
    for place in range(max(len(a), len(b))):
        x = a[place] if place < len(a) else 0
        y = b[place] if place < len(b) else 0
        more = circuit.all_of((x, y ^ 1))
        same = differ(circuit, x, y) ^ 1
        result = circuit.any_of((more, circuit.all_of((same, result))))
    return result


def differ(circuit: UnrolledCircuit, a: int, b: int) -> int:
    """Return the literal that exactly one of two literals is true."""
    return circuit.any_of((circuit.all_of((a, b ^ 1)), circuit.all_of((a ^ 1, b))))


def add_choice(
    circuit: UnrolledCircuit, sums: Mapping[int, int], ways: Collection[tuple[int, int]]
) -> dict[int, int]:
    """Return the sums, each with its literal, after adding one of several amounts, each with its literal."""
    following: dict[int, list[int]] = {}
    for total, literal in sums.items():
        for change, way in ways:
            both = circuit.all_of((literal, way)) if way else 0
            if both:
                following.setdefault(total + change, []).append(both)
    return {total: circuit.any_of(literals) for total, literals in following.items()}


def all_sums(
    circuit: UnrolledCircuit, choices: Iterable[Collection[tuple[int, int]]], most: int
) -> dict[int, int] | None:
    """Return the sums of one amount of each choice, with their literals; None for more than `most`."""
    sums = {0: 1}
    for ways in choices:
        sums = add_choice(circuit, sums, ways)
        if len(sums) > most:
            return None
    return sums


def growth_of(
    circuit: UnrolledCircuit,
    changes: Sequence[tuple[int, int, int]],
    amounts: Iterable[int] | None = None,
) -> dict[int, int]:
    """Return the literals of the amounts, or only of some, by which a change of some terms changes their sum.

    Each term is a weight with the literals that it is added before and after; never two are at a time.
    """
    sides = []
    for side in (1, 2):
        ways: dict[int, list[int]] = {0: [circuit.all_of([change[side] ^ 1 for change in changes])]}
        for change in changes:
            ways.setdefault(change[0], []).append(change[side])
        sides.append({weight: circuit.any_of(literals) for weight, literals in ways.items()})
    growth: dict[int, list[int]] = {}
    for gone, was in sides[0].items():
        for amount in amounts or [come - gone for come in sides[1]]:
            if gone + amount in sides[1]:
                growth.setdefault(amount, []).append(circuit.all_of((was, sides[1][gone + amount])))
    return {amount: circuit.any_of(literals) for amount, literals in growth.items()}


def add_unary(circuit: UnrolledCircuit, a: Sequence[int], b: Sequence[int], most: int) -> list[int]:
    """Return the sum of two numbers in unary, at most `most`: digit k is true for numbers above k."""
    digits: list[list[int]] = [[] for _ in range(min(len(a) + len(b), most))]
    for i, left in enumerate((1, *a)):
        for j, right in enumerate((1, *b)):
            if 0 < i + j <= len(digits):
                digits[i + j - 1].append(circuit.all_of((left, right)))
    return [circuit.any_of(ways) for ways in digits]

"""Linear programs and zero-sum matrix games in exact fractions, by the simplex method.

The method is that of Dantzig (1951), with the rule of Bland (1977), which never cycles.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["matrix_value", "maximum"]


def matrix_value(payoff: Sequence[Sequence[Fraction]]) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    """Return the value for the row player, and the probabilities of an optimal row and column."""
    rows, columns = len(payoff), len(payoff[0])
    low = max(min(row) for row in payoff)
    high = min(max(row[j] for row in payoff) for j in range(columns))
    if low == high:  # a saddle point needs no mixing
        i = next(i for i, row in enumerate(payoff) if min(row) == low)
        j = next(j for j in range(columns) if max(row[j] for row in payoff) == high)
        return low, _pure(rows, i), _pure(columns, j)
    shift = 1 - min(min(row) for row in payoff)
    # maximise sum(y) with (A + shift) y <= 1, y >= 0: y / sum(y) is the column player's mix
    ones = [Fraction(1)] * max(rows, columns)
    shifted = [[value + shift for value in row] for row in payoff]
    solution, prices = maximum(ones[:columns], shifted, ones[:rows])
    total = sum(solution, Fraction(0))
    return 1 / total - shift, [price / total for price in prices], [value / total for value in solution]


def _pure(count: int, chosen: int) -> list[Fraction]:
    return [Fraction(int(i == chosen)) for i in range(count)]


def maximum(
    gain: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], bounds: Sequence[Fraction]
) -> tuple[list[Fraction], list[Fraction]]:
    """Return x that maximizes gain x subject to rows x <= bounds and x >= 0; no bound is negative.

    The second result is the optimum of the dual program, with a price for each row.  Raises `ValueError`
    where the program is unbounded.
    """
    width = len(gain)
    # a row gives the value of its basic variable; columns are the nonbasic variables, which are 0
    table = [[*row, bound] for row, bound in zip(rows, bounds, strict=True)]
    cost = [*(-value for value in gain), Fraction(0)]
    basis = [width + i for i in range(len(rows))]
    free = list(range(width))
    while improving := [(name, j) for j, name in enumerate(free) if cost[j] < 0]:
        _, j = min(improving)
        ratios = [(row[-1] / row[j], basis[i], i) for i, row in enumerate(table) if row[j] > 0]
        if not ratios:
            raise ValueError("there is no largest value: the program is unbounded")
        i = min(ratios)[2]
        _pivot(table, cost, i, j)
        basis[i], free[j] = free[j], basis[i]
    solution = [Fraction(0)] * width
    for i, name in enumerate(basis):
        if name < width:
            solution[name] = table[i][-1]
    prices = [Fraction(0)] * len(rows)
    for j, name in enumerate(free):
        if name >= width:
            prices[name - width] = cost[j]
    return solution, prices


def _pivot(table: list[list[Fraction]], cost: list[Fraction], i: int, j: int) -> None:
    """Exchange the basic variable of row i with the nonbasic one of column j."""
    row = table[i]
    inverse = 1 / row[j]
    row[j] = Fraction(1)
    row[:] = [value * inverse if value else value for value in row]
    support = [k for k, value in enumerate(row) if value]
    for other in (*table, cost):
        if other is not row and other[j]:
            factor = other[j]
            other[j] = Fraction(0)
            for k in support:
                other[k] -= factor * row[k]

"""Values of zero-sum matrix games in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["matrix_value"]


def matrix_value(payoff: Sequence[Sequence[Fraction]]) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    """Return the value for the row player, and the probabilities of an optimal row and column.

    By the simplex method on the dual pair of programs (Dantzig 1951), with the rule of Bland
    (1977), which never cycles; all arithmetic is exact.
    """
    rows, columns = len(payoff), len(payoff[0])
    low = max(min(row) for row in payoff)
    high = min(max(row[j] for row in payoff) for j in range(columns))
    if low == high:  # a saddle point needs no mixing
        i = next(i for i, row in enumerate(payoff) if min(row) == low)
        j = next(j for j in range(columns) if max(row[j] for row in payoff) == high)
        return low, _pure(rows, i), _pure(columns, j)
    shift = 1 - min(min(row) for row in payoff)
    # maximise sum(y) with (A + shift) y <= 1, y >= 0: y / sum(y) is the column player's mix
    table = [
        [value + shift for value in row] + [Fraction(int(k == i)) for k in range(rows)] + [Fraction(1)]
        for i, row in enumerate(payoff)
    ]
    cost = [Fraction(-1)] * columns + [Fraction(0)] * (rows + 1)
    basis = [columns + i for i in range(rows)]
    while True:
        entering = next((j for j in range(columns + rows) if cost[j] < 0), None)
        if entering is None:
            break
        ratios = [
            (table[i][-1] / table[i][entering], basis[i], i) for i in range(rows) if table[i][entering] > 0
        ]
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [value / pivot for value in table[leaving]]
        for i in range(rows):
            if i != leaving and table[i][entering]:
                factor = table[i][entering]
                table[i] = [a - factor * b for a, b in zip(table[i], table[leaving], strict=True)]
        factor = cost[entering]
        cost = [a - factor * b for a, b in zip(cost, table[leaving], strict=True)]
        basis[leaving] = entering
    total = cost[-1]
    mix = [Fraction(0)] * columns
    for i, variable in enumerate(basis):
        if variable < columns:
            mix[variable] = table[i][-1] / total
    return 1 / total - shift, [value / total for value in cost[columns:-1]], mix


def _pure(count: int, chosen: int) -> list[Fraction]:
    return [Fraction(int(i == chosen)) for i in range(count)]

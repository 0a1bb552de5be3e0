"""The linear program of the sequence form in exact fractions, for small games.

The program of `sequence_form` with inequalities for its equations: goals are never negative, so that a
greater weight of a sequence never harms its player, and sequences may add up to *at most* the one
before them.  Then 0 is feasible, from which the simplex method starts (Dantzig 1951; the rule of Bland,
1977, never cycles).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from herbrand.analyse.knowledge.plans import Plan, from_choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.unfolding import Unfolding

__all__ = ["MOST_SEQUENCES", "best_plan", "maximum"]

MOST_SEQUENCES = 80
"""The most sequences of both players together; the time is at least cubic."""


def best_plan(tree: Unfolding, place: int) -> Plan:
    """Return a plan that guarantees the value of a game of two players with a constant sum."""
    player, other = tree.players[place], tree.players[1 - place]
    own, gains = player.sequences, len(other.sets) + 1
    width = own + gains
    rows: list[list[Fraction]] = []
    bounds: list[Fraction] = []

    def at_most(entries: Sequence[tuple[int, int]], bound: int) -> list[Fraction]:
        row = [Fraction(0)] * width
        for column, value in entries:
            row[column] += value
        rows.append(row)
        bounds.append(Fraction(bound))
        return row

    at_most([(0, 1)], 1)
    for information_set in player.sets:
        at_most(
            [
                (information_set.parent, -1),
                *((information_set.first + i, 1) for i in range(len(information_set.moves))),
            ],
            0,
        )
    # the payoff at an information set of the opponent is at most that of each of its moves
    replies = [at_most([(own, 1)], 0)]
    for k, information_set in enumerate(other.sets, start=1):
        replies += [at_most([(own + k, 1)], 0) for _ in information_set.moves]
    for k, information_set in enumerate(other.sets, start=1):
        replies[information_set.parent][own + k] -= 1
    for leaf in tree.leaves:
        replies[leaf.sequences[1 - place]][leaf.sequences[place]] -= leaf.weight * leaf.goals[place]
    gain = [Fraction(int(column == own)) for column in range(width)]
    solution = maximum(gain, rows, bounds)

    def choices(k: int) -> list[Fraction]:
        information_set = player.sets[k]
        parts = solution[information_set.first : information_set.first + len(information_set.moves)]
        total = sum(parts)
        return [part / total for part in parts] if total else [Fraction(1, len(parts))] * len(parts)

    return from_choices(player, choices)


def maximum(
    gain: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], bounds: Sequence[Fraction]
) -> list[Fraction]:
    """Return x that maximizes gain x subject to rows x <= bounds and x >= 0; no bound is negative.

    Raises `ValueError` where the program is unbounded.
    """
    width = len(gain)
    # a row gives the value of its basic variable; columns are the nonbasic variables, which are 0
    table = [[*row, bound] for row, bound in zip(rows, bounds, strict=True)]
    cost = [*(-value for value in gain), Fraction(0)]
    basis = [width + i for i in range(len(rows))]
    free = list(range(width))
    while True:
        entering = min((name, j) for j, name in enumerate(free) if cost[j] < 0) if _improves(cost) else None
        if entering is None:
            break
        j = entering[1]
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
    return solution


def _improves(cost: Sequence[Fraction]) -> bool:
    return any(value < 0 for value in cost[:-1])


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

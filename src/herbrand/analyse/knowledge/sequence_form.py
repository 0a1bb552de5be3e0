"""Two players, constant sum: the value by a linear program, then proved in exact fractions.

The program is that of Koller, Megiddo and von Stengel (1994): the first player's plan x and
the second one's payoffs v at its information sets,

    maximise v0   with   E x = e,   F' v <= A' x,   x >= 0,

where A[i, j] is what the first player gets on average when the sequences i and j are played.
The dual solution is the second player's plan.  The solver (HiGHS through scipy) works with
floating-point numbers; its plans are rounded to fractions, and exact best replies to them
show between what bounds the value lies.  When both bounds are equal they are the value, whatever
errors the solver made.  Without scipy small games are solved in fractions (`exact_program`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.exact_program import MOST_SEQUENCES, best_plan
from herbrand.analyse.knowledge.plans import Plan, best_reply, from_choices
from herbrand.errors import GameError, InternalError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.unfolding import PlayerDecisions, Unfolding

__all__ = ["equilibrium", "proved_bounds", "rounded"]

DENOMINATORS = (12, 120, 5040, 10**6)
"""How finely choices are rounded, until the bounds meet."""


def equilibrium(tree: Unfolding) -> tuple[Fraction, Fraction, list[Plan]]:
    """Return the least and the most that the first player's value can be, and plans that show it.

    The first plan makes sure of the lower bound against everybody, the second one keeps the first
    player at the upper bound.  Raises `GameError` unless there are two players whose goals always have the
    same sum, `MissingExtra` for a large game without scipy.
    """
    total = tree.constant_sum
    if len(tree.players) != 2 or total is None:
        raise GameError("the sequence form is for two players whose goals have the same sum in every play")
    try:
        floats = _solve(tree)
    except MissingExtra:
        if sum(player.sequences for player in tree.players) > MOST_SEQUENCES:
            raise
        exact = [best_plan(tree, place) for place in (0, 1)]
        return (*proved_bounds(tree, exact), exact)
    best: tuple[Fraction, Fraction, list[Plan]] | None = None
    for denominator in DENOMINATORS:
        plans = [
            rounded(player, plan, denominator) for player, plan in zip(tree.players, floats, strict=True)
        ]
        low, high = proved_bounds(tree, plans)
        if best is None or high - low < best[1] - best[0]:
            best = low, high, plans
        if low == high:
            break
    assert best is not None
    return best


def proved_bounds(tree: Unfolding, plans: Sequence[Plan]) -> tuple[Fraction, Fraction]:
    """Return what the first of two plans is sure to get, and what the second lets the other have at most."""
    total = tree.constant_sum
    assert total is not None
    return total - best_reply(tree, 1, plans)[0], best_reply(tree, 0, plans)[0]


def rounded(player: PlayerDecisions, plan: Sequence[float], denominator: int) -> Plan:
    """Return an exact plan near one in floating-point numbers; even choices where it never comes."""

    def choices(k: int) -> list[Fraction]:
        one = player.sets[k]
        count = len(one.moves)
        parts = [max(float(value), 0.0) for value in plan[one.first : one.first + count]]
        total = sum(parts)
        if total <= 1e-9:
            return [Fraction(1, count)] * count
        fractions = [Fraction(part / total).limit_denominator(denominator) for part in parts]
        largest = fractions.index(max(fractions))
        fractions[largest] += 1 - sum(fractions)
        if fractions[largest] < 0:
            return [Fraction(1, count)] * count
        return fractions

    return from_choices(player, choices)


def _solve(tree: Unfolding) -> list[list[float]]:
    """Solve the program and return both plans in floating-point numbers."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix, hstack
    except ImportError as error:
        raise MissingExtra("the linear program of two-player games", "analyse") from error
    import numpy as np

    rows, columns = (player.sequences for player in tree.players)
    first, second = zip(*(leaf.sequences for leaf in tree.leaves), strict=True)
    payoff = coo_matrix(
        ([float(leaf.weight * leaf.goals[0]) for leaf in tree.leaves], (second, first)), shape=(columns, rows)
    )
    flow, start = _flow(tree.players[0])
    other, _ = _flow(tree.players[1])
    bounds = [(0, None)] * rows + [(None, None)] * other.shape[0]
    gain = np.zeros(rows + other.shape[0])
    gain[rows] = -1
    found = linprog(
        gain,
        A_ub=hstack([-payoff, other.T]).tocsr(),
        b_ub=np.zeros(columns),
        A_eq=hstack([flow, coo_matrix((flow.shape[0], other.shape[0]))]).tocsr(),
        b_eq=start,
        bounds=bounds,
        method="highs",
    )
    if found.x is None:
        raise InternalError(f"the linear program of {tree.game} was not solved ({found.message})")
    return [found.x[:rows].tolist(), (-found.ineqlin.marginals).tolist()]


def _flow(player: PlayerDecisions) -> tuple[Any, list[float]]:
    """Return the constraints on a plan: the first sequence is 1, each set adds up to its parent."""
    from scipy.sparse import coo_matrix

    entries = [(0, 0, 1.0)]
    for k, one in enumerate(player.sets, start=1):
        entries.append((k, one.parent, -1.0))
        entries += [(k, one.first + i, 1.0) for i in range(len(one.moves))]
    rows, columns, values = zip(*entries, strict=True)
    count = len(player.sets) + 1
    matrix = coo_matrix((values, (rows, columns)), shape=(count, player.sequences))
    return matrix, [1.0] + [0.0] * (count - 1)

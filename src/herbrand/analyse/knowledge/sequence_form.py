"""Values of constant-sum games of two players by a linear program, proved in exact fractions.

The program is that of Koller, Megiddo and von Stengel (1994), over the first player's plan x and
the second player's payoffs v at its information sets:

    maximise v0   with   E x = e,   F' v <= A' x,   x >= 0,

where A[i, j] is the expected payoff of the first player for the sequences i and j.
The dual solution is the second player's plan.  The solver (HiGHS through scipy) works in
floating point; its plans are rounded to fractions, and exact best replies to them give bounds on
the value.  Equal bounds are the value, whatever the errors of the solver.  Without scipy, small
games are solved in fractions (`best_plan`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.plans import Plan, best_reply, from_choices
from herbrand.analyse.solving.matrix import maximum
from herbrand.errors import GameError, InternalError, MissingExtra, optional_import

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.knowledge.unfolding import PlayerDecisions, Unfolding

__all__ = ["best_plan", "equilibrium", "proved_bounds", "rounded"]

DENOMINATORS = (12, 120, 5040, 10**6)
"""The denominators to which choices are rounded, in order, until the bounds meet."""
MOST_SEQUENCES = 80
"""The most sequences of both players together in fractions; the time is at least cubic."""


def equilibrium(tree: Unfolding) -> tuple[Fraction, Fraction, list[Plan]]:
    """Return a lower and an upper bound on the first player's value, and plans that prove them.

    The first plan guarantees the lower bound, the second one limits the first player to the upper bound.
    Raises `GameError` unless there are two players whose goals have a constant sum, `MissingExtra` for a
    large game without scipy.
    """
    total = tree.constant_sum
    if len(tree.players) != 2 or total is None:
        raise GameError("the sequence form is for two players whose goals have a constant sum")
    try:
        floats = _solve(tree)
    except MissingExtra:
        if sum(player.sequences for player in tree.players) > MOST_SEQUENCES:
            raise
        exact = [best_plan(tree, place) for place in (0, 1)]
        return (*proved_bounds(tree, exact), exact)
    best: tuple[Fraction, Fraction, list[Plan]] | None = None
    for denominator in DENOMINATORS:
        pairs = zip(tree.players, floats, strict=True)
        plans = [rounded(player, plan, denominator) for player, plan in pairs]
        low, high = proved_bounds(tree, plans)
        if best is None or high - low < best[1] - best[0]:
            best = low, high, plans
        if low == high:
            break
    assert best is not None
    return best


def proved_bounds(tree: Unfolding, plans: Sequence[Plan]) -> tuple[Fraction, Fraction]:
    """Return the first player's value that the first plan guarantees, and the one that the second allows."""
    total = tree.constant_sum
    assert total is not None
    return total - best_reply(tree, 1, plans)[0], best_reply(tree, 0, plans)[0]


def rounded(player: PlayerDecisions, plan: Sequence[float], denominator: int) -> Plan:
    """Return an exact plan near one in floating point; uniform in information sets that it never reaches."""

    def choices(k: int) -> list[Fraction]:
        first, count = player.sets[k].first, len(player.sets[k].moves)
        parts = [max(float(value), 0.0) for value in plan[first : first + count]]
        total = sum(parts)
        if total > 1e-9:
            fractions = [Fraction(part / total).limit_denominator(denominator) for part in parts]
            largest = fractions.index(max(fractions))
            fractions[largest] += 1 - sum(fractions)
            if fractions[largest] >= 0:
                return fractions
        return [Fraction(1, count)] * count

    return from_choices(player, choices)


def _solve(tree: Unfolding) -> list[list[float]]:
    """Solve the program and return both plans in floating-point numbers."""
    with optional_import("the linear program of two-player games", "analyse"):
        from scipy.optimize import linprog
        from scipy.sparse import coo_matrix, hstack
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
    solution = linprog(
        gain,
        A_ub=hstack([-payoff, other.T]).tocsr(),
        b_ub=np.zeros(columns),
        A_eq=hstack([flow, coo_matrix((flow.shape[0], other.shape[0]))]).tocsr(),
        b_eq=start,
        bounds=bounds,
        method="highs",
    )
    if solution.x is None:
        raise InternalError(f"the linear program of {tree.game} has no solution ({solution.message})")
    return [solution.x[:rows].tolist(), (-solution.ineqlin.marginals).tolist()]


def _flow(player: PlayerDecisions) -> tuple[Any, list[float]]:
    """Return the constraints on a plan: the first sequence is 1, each set adds up to its parent."""
    from scipy.sparse import coo_matrix

    entries = [(0, 0, 1.0)]
    for k, information_set in enumerate(player.sets, start=1):
        entries.append((k, information_set.parent, -1.0))
        entries += [(k, information_set.first + i, 1.0) for i in range(len(information_set.moves))]
    rows, columns, values = zip(*entries, strict=True)
    count = len(player.sets) + 1
    matrix = coo_matrix((values, (rows, columns)), shape=(count, player.sequences))
    return matrix, [1.0] + [0.0] * (count - 1)


def best_plan(tree: Unfolding, place: int) -> Plan:
    """Return a plan that guarantees the value of a game of two players with a constant sum, in fractions.

    The program has inequalities for the equations: goals are never negative, so that a greater weight of a
    sequence never harms its player, and sequences may add up to *at most* the one before them.  Then 0 is
    feasible, from which the simplex method starts.
    """
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
        moves = ((information_set.first + i, 1) for i in range(len(information_set.moves)))
        at_most([(information_set.parent, -1), *moves], 0)
    # the payoff at an information set of the opponent is at most that of each of its moves
    replies = [at_most([(own, 1)], 0)]
    for k, information_set in enumerate(other.sets, start=1):
        replies += [at_most([(own + k, 1)], 0) for _ in information_set.moves]
    for k, information_set in enumerate(other.sets, start=1):
        replies[information_set.parent][own + k] -= 1
    for leaf in tree.leaves:
        replies[leaf.sequences[1 - place]][leaf.sequences[place]] -= leaf.weight * leaf.goals[place]
    gain = [Fraction(int(column == own)) for column in range(width)]
    solution, _ = maximum(gain, rows, bounds)

    def choices(k: int) -> list[Fraction]:
        information_set = player.sets[k]
        parts = solution[information_set.first : information_set.first + len(information_set.moves)]
        total = sum(parts)
        return [part / total for part in parts] if total else [Fraction(1, len(parts))] * len(parts)

    return from_choices(player, choices)

"""Measure first-move advantage and mobility.

Where all states are known and plays end, the numbers are exact: under best play if the game is solved, and
as the expectation under uniformly random play.  Otherwise they are estimated from random games, and the
remark states their number and a confidence interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.proofs.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.solving.solve import Solution

__all__ = ["advantage_text", "tendencies"]

_GAMES = 4096
"""The most random games for an estimate."""
_AT_ONCE = 512
_LONGEST = 300
_NORMAL = 1.96
"""Standard errors to each side that make an interval of 95 %."""
_FEWEST = 100
"""The fewest finished games for an estimate."""


def tendencies(
    space: StateSpace, solution: Solution | None = None, *, budget: Budget | None = None
) -> list[Observation]:
    """Return remarks on first-move advantage and on mobility."""
    players = [r for r, role in enumerate(space.expander.roles) if role.lower() != "random"]
    if not space.expanded or space.over[0] or not players:
        return []
    means = _means(space)
    remarks = []
    first = [r for r in players if space.counts[0, r] > 1]
    if len(players) > 1 and len(first) == 1:
        others = [r for r in players if r != first[0]]
        remarks += _first_move(space, first[0], others, solution, means, budget or Budget())
    if space.complete:
        remarks += _mobility(space, players, means)
    return remarks


def _means(space: StateSpace) -> NDArray[np.float64] | None:
    """Return the expected goals from each state under random play, [n, roles]; None if unknown."""
    if not space.complete or len(space.children) != space.transitions or not space.acyclic:
        return None
    if (space.goals[space.over] < 0).any() or len(space.stuck):
        return None
    values = np.where(space.over[:, None], space.goals, 0).astype(np.float64)
    space.graph.random_values(space.sequence, values)
    return values


def _first_move(
    space: StateSpace,
    first: int,
    others: list[int],
    solution: Solution | None,
    means: NDArray[np.float64] | None,
    budget: Budget,
) -> list[Observation]:
    """Compare the goals of the role that moves first with those of the best other role."""
    roles = space.expander.roles
    remarks = []
    value = None if solution is None else solution.value
    if value is not None:
        ahead = value[roles[first]] - max(value[roles[r]] for r in others)
        evidence = {"by": "best play", "value": dict(value)}
        remarks.append(_remark(roles[first], float(ahead), "with best play", evidence))
    if means is not None:
        ahead = float(means[0, first] - means[0, others].max())
        remarks.append(_remark(roles[first], ahead, "on average over all random play", {"by": "random play"}))
        return remarks
    goals = _random_goals(space, [first, *others], budget)
    if len(goals) < _FEWEST:
        return remarks
    difference = goals[:, 0] - goals[:, 1 + int(goals[:, 1:].mean(axis=0).argmax())]
    mean, error = float(difference.mean()), float(difference.std() / np.sqrt(len(goals)))
    low, high = round(mean - _NORMAL * error, 1), round(mean + _NORMAL * error, 1)
    where = f"in {len(goals)} random games (95 % interval {low:g} to {high:g})"
    estimate = {"games": len(goals), "error": round(error, 2), "interval": [low, high]}
    remarks.append(_remark(roles[first], mean, where, {"by": "random games", **estimate}))
    return remarks


def _random_goals(space: StateSpace, roles: list[int], budget: Budget) -> NDArray[np.float64]:
    """Return the goals of roles at the ends of random games, [games, roles]."""
    batches = []
    for seed in range(_GAMES // _AT_ONCE):
        games = space.expander.rollouts(space.expander.initial, seed=seed, each=_AT_ONCE, max_steps=_LONGEST)
        ended = ~games.truncated & (games.goals[:, roles] >= 0).all(axis=1)
        batches.append(games.goals[ended][:, roles])
        if budget.left <= 0:
            break
    return np.concatenate(batches).astype(np.float64)


def _remark(role: str, ahead: float, where: str, evidence: Mapping[str, object]) -> Observation:
    ahead = round(ahead, 2) + 0.0
    text = f"{advantage_text(role, ahead)} {where}"
    return Observation("first-move-advantage", text, {"role": role, "advantage": ahead, **evidence})


def advantage_text(role: str, ahead: float) -> str:
    """Return how far a role is ahead, in words."""
    if ahead:
        return f"{role}, who moves first, is {'ahead' if ahead > 0 else 'behind'} by {abs(ahead):g} points"
    return f"{role}, who moves first, is neither ahead nor behind"


def _mobility(space: StateSpace, players: list[int], means: NDArray[np.float64] | None) -> list[Observation]:
    """Report how many moves roles choose among, and the correlation of mobility with results."""
    remarks = []
    for r in players:
        counts = space.counts[:, r]
        choosing = ~space.over & (counts > 1)
        if not choosing.any():
            continue
        role = space.expander.roles[r]
        mean, most = round(float(counts[choosing].mean()), 2), int(counts[choosing].max())
        text = f"{role} chooses among {mean:g} moves on average, {most} at most"
        evidence: dict[str, object] = {"role": role, "mean": mean, "most": most}
        if means is not None:
            correlation = _correlation(counts[choosing], means[choosing, r])
            if correlation is not None:
                text += f"; more moves go with {'better' if correlation > 0 else 'worse'} results"
                text += f" (correlation {correlation:.2f})"
                evidence["correlation"] = correlation
        remarks.append(Observation("mobility", text, evidence))
    return remarks


def _correlation(first: NDArray[np.int32], second: NDArray[np.float64]) -> float | None:
    """Return the correlation of two series; None where either is constant or the correlation rounds to 0."""
    if len(first) < 3 or first.std() < 1e-9 or second.std() < 1e-9:
        return None
    return round(float(np.corrcoef(first, second)[0, 1]), 2) or None

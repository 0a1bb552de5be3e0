"""What tends to be good in a game: to move first, and to have many moves to choose from.

Where all states are known and plays end, numbers are exact: best play if the game is solved, and the mean
over all plays in which everybody chooses at random.  Otherwise random games are played, and the remark
says how many and how sure that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.proofs.observation import Observation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.solving.solve import Solution

__all__ = ["tendencies"]

_GAMES = 4096
"""Random games where not all states are known, if there is time for so many."""
_AT_ONCE = 512
_LONGEST = 300
_FEWEST = 100
"""With fewer games that end, nothing is said."""


def tendencies(
    space: StateSpace, solution: Solution | None = None, *, budget: Budget | None = None
) -> list[Observation]:
    """Return remarks on moving first and on mobility, as far as they can be made."""
    players = [r for r, role in enumerate(space.expander.roles) if role.lower() != "random"]
    if not space.expanded or space.over[0] or not players:
        return []
    known = _means(space)
    found = []
    first = [r for r in players if space.counts[0, r] > 1]
    if len(players) > 1 and len(first) == 1:
        others = [r for r in players if r != first[0]]
        found += _first_move(space, first[0], others, solution, known, budget or Budget())
    if space.complete:
        found += _mobility(space, players, known)
    return found


def _means(space: StateSpace) -> NDArray[np.float64] | None:
    """Return what each role gets from each state on, [n, roles], if all choose at random; None if unknown."""
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
    known: NDArray[np.float64] | None,
    budget: Budget,
) -> list[Observation]:
    """Compare the role that moves first with the best of the others."""
    roles = space.expander.roles
    found = []
    value = None if solution is None else solution.value
    if value is not None:
        ahead = value[roles[first]] - max(value[roles[r]] for r in others)
        found.append(_remark(roles[first], float(ahead), "with best play", {"by": "best play"}))
    if known is not None:
        ahead = float(known[0, first] - known[0, others].max())
        found.append(_remark(roles[first], ahead, "on average over all random play", {"by": "random play"}))
        return found
    goals = _random_goals(space, [first, *others], budget)
    if len(goals) < _FEWEST:
        return found
    difference = goals[:, 0] - goals[:, 1 + int(goals[:, 1:].mean(axis=0).argmax())]
    error = float(difference.std() / np.sqrt(len(goals)))
    evidence = {"by": "random games", "games": len(goals), "error": round(error, 2)}
    found.append(
        _remark(
            roles[first], float(difference.mean()), f"in {len(goals)} random games (± {error:.1f})", evidence
        )
    )
    return found


def _random_goals(space: StateSpace, roles: list[int], budget: Budget) -> NDArray[np.float64]:
    """Return what roles get at the ends of random games, [games, roles]."""
    found = []
    for seed in range(_GAMES // _AT_ONCE):
        games = space.expander.rollouts(space.expander.initial, seed=seed, each=_AT_ONCE, max_steps=_LONGEST)
        ended = ~games.truncated & (games.goals[:, roles] >= 0).all(axis=1)
        found.append(games.goals[ended][:, roles])
        if budget.left <= 0:
            break
    return np.concatenate(found).astype(np.float64)


def _remark(role: str, ahead: float, where: str, evidence: dict[str, object]) -> Observation:
    ahead = round(ahead, 2) + 0.0
    if ahead > 0:
        text = f"{role}, who moves first, is ahead by {ahead:g} points {where}"
    elif ahead < 0:
        text = f"{role}, who moves first, is behind by {-ahead:g} points {where}"
    else:
        text = f"{role}, who moves first, is neither ahead nor behind {where}"
    return Observation("first-move-advantage", text, {"role": role, "advantage": ahead, **evidence})


def _mobility(space: StateSpace, players: list[int], known: NDArray[np.float64] | None) -> list[Observation]:
    """Tell how many moves roles have to choose from, and whether more go with better results."""
    found = []
    for r in players:
        counts = space.counts[:, r]
        choosing = ~space.over & (counts > 1)
        if not choosing.any():
            continue
        role = space.expander.roles[r]
        mean, most = round(float(counts[choosing].mean()), 2), int(counts[choosing].max())
        text = f"{role} chooses among {mean:g} moves on average, {most} at most"
        evidence: dict[str, object] = {"role": role, "mean": mean, "most": most}
        if known is not None:
            with_result = _correlation(counts[choosing], known[choosing, r])
            if with_result is not None:
                text += f"; more moves go with {'better' if with_result > 0 else 'worse'} results"
                text += f" (correlation {with_result:.2f})"
                evidence["correlation"] = with_result
        found.append(Observation("mobility", text, evidence))
    return found


def _correlation(some: NDArray[np.int32], other: NDArray[np.float64]) -> float | None:
    """Return the correlation of two rows of numbers; None where one does not vary, or it rounds to 0."""
    if len(some) < 3 or some.std() < 1e-9 or other.std() < 1e-9:
        return None
    return round(float(np.corrcoef(some, other)[0, 1]), 2) or None

"""Results of a search tree: ranked moves, their values, and the expected lines after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.play.explanation import MoveReport
from herbrand.play.search.tree import ALONE, JOINT

if TYPE_CHECKING:
    from random import Random

    from herbrand.engine.expand import Expander, States
    from herbrand.machine.state import State
    from herbrand.play.search.tree import Search

__all__ = ["draw_arm", "pack_state", "ranked_arms", "reports"]

_LINES = 12
"""Moves that get an expected line."""
_MAX_LINE = 20


def pack_state(expander: Expander, state: State) -> States:
    """Return a state packed for the expander; `GameError` if its network cannot represent it."""
    if state.engine == "network":
        packed = np.frombuffer(state.key, np.uint64).reshape(1, -1)
        if packed.shape[1] == expander.words:
            return packed.copy()
    return expander.pack([state.facts])


def ranked_arms(search: Search, at: int, role: int) -> list[int]:
    """Return the arms of a role in an expanded position, best first.

    Proved moves come first if no open move has a higher mean, the shortest win and the longest loss first;
    then open moves by visits; then proved moves that are worse; then moves that cannot reach a proved bound.
    """
    tree = search.tree
    own = search.arms(at, role)
    arms = np.arange(own.start, own.stop)
    counts = tree.arm_count[arms]
    if tree.kind[at] == JOINT or int(tree.mover[at]) != role:
        return [int(arms[k]) for k in np.argsort(-counts, kind="stable")]
    children = tree.arm_child[arms]
    has_child = children >= 0
    low = np.where(has_child, tree.low[children, role], 0.0)
    high = np.where(has_child, tree.high[children, role], 1.0)
    visits = np.where(has_child, tree.games[children], 0.0)
    mean = np.where(visits > 0, tree.total[children, role] / np.maximum(visits, 1e-9), 0.0)
    plies = np.where(has_child, tree.plies[children], 0)
    best_low = float(low.max(initial=0.0))
    exact = low == high
    hopeless = (high <= best_low) & ~(low == best_low)
    open_arms = ~exact & ~hopeless
    best_open = float(mean[np.where(open_arms, counts, -1.0).argmax()]) if open_arms.any() else -1.0
    kinds = [hopeless, exact]
    group = np.select(kinds, [3, np.where(low >= best_open, 0, 2)], 1)
    first = np.select(kinds, [-high, -low], -counts)
    second = np.select(kinds, [-plies, np.where(low >= 0.5, plies, -plies)], -mean)
    third = np.select(kinds, [-mean, -mean], 0.0)
    ranked: list[int] = arms[np.lexsort((third, second, first, group))].tolist()
    return ranked


def draw_arm(search: Search, role: int, chance: Random) -> int:
    """Draw an arm of a role at the root from the average strategy of regret matching."""
    tree, at = search.tree, search.root
    arms = search.arms(at, role)
    weights = [float(tree.arm_share[arm]) for arm in arms]
    if tree.kind[at] != JOINT or not sum(weights):
        return ranked_arms(search, at, role)[0]
    return chance.choices(arms, weights)[0]


def reports(search: Search, role: int) -> list[MoveReport]:
    """Return a report on each move of a role at the root, best first."""
    tree, at = search.tree, search.root
    if tree.kind[at] not in (ALONE, JOINT):
        return []
    move_reports = []
    for rank, arm in enumerate(ranked_arms(search, at, role)):
        count = float(tree.arm_count[arm])
        mean = 100 * float(tree.arm_total[arm]) / count if count > 0 else None
        low, high, plies = 0.0, 1.0, None
        child = int(tree.arm_child[arm]) if tree.kind[at] == ALONE and int(tree.mover[at]) == role else -1
        if child >= 0:
            low, high = float(tree.low[child, role]), float(tree.high[child, role])
            visits = float(tree.games[child])
            if visits > 0:
                mean = 100 * float(tree.total[child, role]) / visits
            plies = int(tree.plies[child]) + 1 if low == high else None
        move_reports.append(
            MoveReport(
                search.move_text(int(tree.move[arm])),
                round(count),
                mean,
                proved=_percent(low) if low == high else None,
                at_least=_percent(low),
                at_most=_percent(high),
                plies=plies,
                line=_line(search, at, role, arm) if rank < _LINES else (),
            )
        )
    return move_reports


def _percent(value: float) -> float:
    return round(100 * value, 3)


def _line(search: Search, at: int, role: int, arm: int) -> tuple[tuple[str, ...], ...]:
    """Follow the best moves after a move, up to a chance node or a leaf."""
    tree = search.tree
    line: list[tuple[str, ...]] = []
    visited = set()
    while at >= 0 and at not in visited and tree.kind[at] in (ALONE, JOINT) and len(line) < _MAX_LINE:
        visited.add(at)
        arms = []
        for r in range(tree.roles):
            if r == search.chance and int(tree.sizes[at, r]) > 1:
                return tuple(line)
            arms.append(ranked_arms(search, at, r)[0] if line or r != role else arm)
        line.append(tuple(search.move_text(int(tree.move[a])) for a in arms))
        at = tree.after(at, arms)
    return tuple(line)

"""Remarks on plays: the shortest and the longest one, and dead ends with a shortest way to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.proofs.observation import Observation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.verdict import Moves

__all__ = ["dead_ends", "lengths"]


def lengths(space: StateSpace) -> list[Observation]:
    """Return the shortest play, and the longest one where plays end, each with its joint moves.

    Needs all states; `StateSpace.children` only for the longest play.
    """
    ends = np.flatnonzero(space.over)
    if not len(ends) or space.over[0]:
        return []
    # states are in the order of discovery: no end is nearer than the first one
    remarks = [_play("shortest-play", space.line_to(int(ends[0])))]
    if len(space.children) == space.transitions and space.acyclic:
        longest = space.longest
        path = [int(ends[longest[ends].argmax()])]
        parents = np.repeat(np.arange(space.expanded), np.diff(space.starts))
        while longest[path[-1]]:
            before = parents[space.children == path[-1]]
            path.append(int(before[longest[before].argmax()]))
        remarks.append(_play("longest-play", space.line_along(path[::-1])))
    return remarks


def _play(kind: str, line: Moves) -> Observation:
    text = f"the {kind.partition('-')[0]} play has {len(line)} {'step' if len(line) == 1 else 'steps'}"
    return Observation(kind, text, {"steps": len(line), "line": [list(joint) for joint in line]})


def dead_ends(space: StateSpace) -> list[Observation]:
    """Return the nearest state from which no play ends, and for games of one role, none ends well.

    "Well" is with the greatest goal value that can be reached at all.  Needs all states and their edges.
    """
    if len(space.children) != space.transitions or space.over[0] or not space.over.any():
        return []
    remarks = _nearest(space, _leads_to(space, space.over), "no play ends any more")
    players = [r for r, role in enumerate(space.expander.roles) if role.lower() != "random"]
    if len(players) == 1 and not remarks:
        goals = space.goals[:, players[0]]
        best = int(goals[space.over].max())
        good = _leads_to(space, space.over & (goals == best))
        text = f"{best} cannot be reached any more"
        aim = {"role": space.expander.roles[players[0]], "goal": best}
        remarks = _nearest(space, good, text, aim)
    return remarks


def _leads_to(space: StateSpace, target: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return from which states some play leads to the target."""
    parents = np.repeat(np.arange(space.expanded), np.diff(space.starts))
    reaches = target.copy()
    while True:
        before = parents[reaches[space.children]]
        if reaches[before].all():
            return reaches
        reaches[before] = True


def _nearest(
    space: StateSpace, reaches: NDArray[np.bool_], text: str, aim: dict[str, Any] | None = None
) -> list[Observation]:
    """Return a remark on the first state that does not reach the target and is not terminal."""
    dead = np.flatnonzero(~reaches & ~space.over)
    if not len(dead):
        return []
    line = space.line_to(int(dead[0]))
    first = "at the start" if not line else f"after {len(line)} {'step' if len(line) == 1 else 'steps'}"
    shown = "; ".join(", ".join(joint) for joint in line[:6]) + ("; ..." if len(line) > 6 else "")
    way = f": {shown}" if line else ""
    going = int((~space.over).sum())
    number = f"in {len(dead)} of {going} states"
    evidence = {"states": len(dead), "of": going, "aim": aim, "line": [list(joint) for joint in line]}
    return [Observation("dead-end", f"{number} {text}, the nearest {first}{way}", evidence)]

"""One fixed list of actions that wins whatever the others do: the literal reading of strong winnability.

Searched breadth first over *beliefs*, the sets of states in which the game can be after the actions
so far (conformant planning; Goldman and Boddy 1996).  An action is possible if it is legal in
every state of the belief; a terminal state must be one that is wanted, and is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.by_states import METHOD, _edges
from herbrand.analyse.verdict import Verdict

if TYPE_CHECKING:
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import StateSpace

__all__ = ["sequence_of"]


def sequence_of(space: StateSpace, role: int, value: int, budget: Budget) -> Verdict:
    """Look for a fixed list of actions with which a role always gets a goal value; shortest first."""
    name = space.expander.roles[role]
    wanted = space.over & (space.goals[:, role] == value)
    options: dict[int, dict[int, frozenset[int]]] = {}

    def actions(state: int) -> dict[int, frozenset[int]]:
        """What can follow each move of the role in a state."""
        found = options.get(state)
        if found is None:
            legal = space.expander.legal(space.states[state : state + 1])
            moves = np.flatnonzero(legal.mask(role)[0]).tolist() if space.counts[state].all() else []
            found = options[state] = {
                move: frozenset(space.children[_edges(space, state, role, k)].tolist())
                for k, move in enumerate(moves)
            }
        return found

    start = frozenset() if wanted[0] else frozenset([0])
    if not start:
        return Verdict("proved", METHOD, f"the game begins with {value} for {name}", details={"actions": []})
    before: dict[frozenset[int], tuple[frozenset[int], int] | None] = {start: None}
    level = [start]
    while level:
        following = []
        for belief in level:
            if budget.left <= 0 or len(before) > budget.states:
                return Verdict.unknown(f"{len(before)} sets of states were looked into")
            if any(state >= space.expanded or space.over[state] for state in belief):
                continue
            common = set.intersection(*(set(actions(state)) for state in belief))
            for move in sorted(common):
                after = frozenset().union(*(actions(state)[move] for state in belief))
                after = frozenset(state for state in after if not wanted[state])
                if after in before:
                    continue
                before[after] = belief, move
                if not after:
                    line = []
                    at: tuple[frozenset[int], int] | None = (belief, move)
                    while at is not None:
                        line.append(space.expander.moves[role][at[1]])
                        at = before[at[0]]
                    actions_found = line[::-1]
                    reason = f"{name} always gets {value} with {len(line)} actions fixed beforehand"
                    return Verdict("proved", METHOD, reason, details={"actions": actions_found})
                following.append(after)
        level = following
    if not space.complete:
        return Verdict.unknown("the states are not all known")
    return Verdict("refuted", METHOD, f"no list of actions fixed beforehand always gives {name} {value}")

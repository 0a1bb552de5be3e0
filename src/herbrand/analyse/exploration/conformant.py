"""A fixed sequence of actions that wins whatever the others do: the literal reading of strong winnability.

Searched breadth first over *beliefs*, the sets of states in which the game can be after the actions
so far (conformant planning; Goldman and Boddy 1996).  An action is applicable if it is legal in
every state of the belief; terminal states must have the wanted value, and are dropped.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.by_states import METHOD, edges_with_move
from herbrand.analyse.verdict import Verdict

if TYPE_CHECKING:
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import StateSpace

__all__ = ["sequence_of"]


def sequence_of(space: StateSpace, role: int, value: int, budget: Budget) -> Verdict:
    """Decide whether some fixed sequence of actions always gets a role a goal value; shortest first."""
    name = space.expander.roles[role]
    wanted = space.over & (space.goals[:, role] == value)

    @cache
    def actions(state: int) -> dict[int, frozenset[int]]:
        """Return the possible successors of a state by move of the role."""
        legal = space.expander.legal(space.states[state : state + 1])
        moves = np.flatnonzero(legal.mask(role)[0]).tolist() if space.counts[state].all() else []
        return {
            move: frozenset(space.children[edges_with_move(space, state, role, k)].tolist())
            for k, move in enumerate(moves)
        }

    if wanted[0]:
        return Verdict("proved", METHOD, f"the game begins with {value} for {name}", details={"actions": []})
    level = [frozenset([0])]
    parents: dict[frozenset[int], tuple[frozenset[int], int] | None] = {level[0]: None}
    while level:
        following = []
        for belief in level:
            if budget.left <= 0 or len(parents) > budget.states:
                return Verdict.unknown(f"{len(parents)} sets of states searched")
            if any(state >= space.expanded or space.over[state] for state in belief):
                continue
            common = set.intersection(*(set(actions(state)) for state in belief))
            for move in sorted(common):
                after = frozenset().union(*(actions(state)[move] for state in belief))
                after = frozenset(state for state in after if not wanted[state])
                if after in parents:
                    continue
                parents[after] = belief, move
                if not after:
                    line = []
                    step = parents[after]
                    while step is not None:
                        line.append(space.expander.moves[role][step[1]])
                        step = parents[step[0]]
                    reason = f"{name} always gets {value} with {len(line)} actions fixed in advance"
                    return Verdict("proved", METHOD, reason, details={"actions": line[::-1]})
                following.append(after)
        level = following
    if not space.complete:
        return Verdict.unknown("not all states are known")
    return Verdict("refuted", METHOD, f"no fixed sequence of actions always gives {name} {value}")

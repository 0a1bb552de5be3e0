"""Replay witnesses and walk through states by evaluating the rules.

These checks use only the rule evaluator (`rules.from_rules`): no code is shared with the network, with
packed states or with the search that produced the evidence.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from herbrand.engine.playouts import goal_value
from herbrand.errors import BudgetExceeded, IllegalMoveError, InvalidMoveError
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.analyse.verdict import Moves, Witness
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["ReplayedState", "goal_of", "goals_of", "holds", "is_goal", "replay", "walk"]


def replay(game: StateMachine, moves: Moves) -> list[State]:
    """Play a line with the rules; return all its states, the initial one first.

    Raises `IllegalMoveError` when it cannot be played.
    """
    return Trajectory.replay(game, moves).states


def holds(game: StateMachine, claim: str, witness: Witness, *, win: int = 100) -> bool:
    """Return whether a witness supports a claim.

    `claim` is "stuck", "cycle", "win", "no goal" or "decrease"; see `verdict.Witness`.
    """
    try:
        states = replay(game, witness.moves)
    except (IllegalMoveError, InvalidMoveError):
        return False
    last = states[-1]
    roles = game.roles if witness.role is None else (witness.role,)
    if claim == "stuck":
        return not last.is_terminal and any(not last.legal_moves(role) for role in roles)
    if claim == "cycle":
        loop = witness.loop
        return loop is not None and loop < len(witness.moves) and states[loop].facts == last.facts
    if claim == "win":
        return last.is_terminal and all(last.goal(role) == win for role in roles)
    if claim == "no goal":
        return last.is_terminal and not all(is_goal(last.goal(role)) for role in roles)
    if claim == "decrease":
        return any(_drops(states[-2:], role) for role in roles)
    raise ValueError(f"no claim {claim!r}")


def is_goal(value: int | None) -> bool:
    """Return whether a value is one that a role can have in the end."""
    return value is not None and 0 <= value <= 100


def _drops(states: list[State], role: str) -> bool:
    values = [state.goal(role) for state in states]
    if None in values:
        return True
    return len(values) > 1 and (values[1] or 0) < (values[0] or 0)


@dataclass(frozen=True, slots=True)
class ReplayedState:
    """A state visited by `walk`."""

    key: Any
    over: bool
    legal: tuple[tuple[int, ...], ...]
    """The legal moves of each role as terms; empty in terminal states."""
    facts: frozenset[str]


def walk(
    game: StateMachine,
    seconds: float,
    *,
    allowed: Callable[[ReplayedState], list[tuple[int, ...]] | None] | None = None,
) -> Iterator[tuple[ReplayedState, list[tuple[tuple[int, ...], Any]]]]:
    """Yield every reachable state with its successors, each as (joint move, key).

    With `allowed` only the joint moves that it returns for a state are followed; None means all.  Raises
    `BudgetExceeded` after `seconds`.
    """
    engine = game.engine_object("rules")
    roles = range(len(game.roles))
    deadline = time.monotonic() + seconds
    first = engine.initial()
    visited = {first}
    queue = deque([first])
    text = engine.terms.text
    while queue:
        key = queue.popleft()
        over = engine.terminal(key)
        legal = () if over else tuple(tuple(sorted(set(engine.legal(key, r)))) for r in roles)
        node = ReplayedState(key, over, legal, frozenset(text(f).lower() for f in engine.fluents(key)))
        joints: list[tuple[int, ...]] = []
        if not over:
            chosen = allowed(node) if allowed is not None else None
            joints = list(product(*legal)) if chosen is None else chosen
        successors = []
        for joint in joints:
            after = engine.successor(key, joint)
            successors.append((joint, after))
            if after not in visited:
                visited.add(after)
                queue.append(after)
            if time.monotonic() > deadline:
                raise BudgetExceeded(f"{seconds:g} seconds", f"{len(visited)} states visited")
        yield node, successors


def goals_of(game: StateMachine, node: ReplayedState) -> list[int | None]:
    """Return the goal value of each role in a state, None unless there is exactly one."""
    return [goal_of(game, node.key, role) for role in range(len(game.roles))]


def goal_of(game: StateMachine, key: Any, role: int) -> int | None:
    """Return the goal value of a role in a state of the rule evaluator, None unless there is exactly one."""
    engine = game.engine_object("rules")
    values = set(engine.goals(key, role))
    return goal_value(engine.terms.text(values.pop())) if len(values) == 1 else None

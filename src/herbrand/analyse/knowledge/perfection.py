"""Does every role always know the state?

A role that knows the state s, makes the move a and is told I knows the next state exactly when all joint
moves in s with its move a and the percepts I lead to one state.  Everybody knows the initial
state, so that a game has perfect information if this holds in every reachable state; and the first
state, counted from the beginning, in which it does not is a play after which a role is in doubt.
So states are looked at, not histories, of which there are many more.
"""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING, Any

from herbrand.analyse.verdict import Verdict, Witness
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["perfect_information"]

MOST_STATES = 20_000
"""How many states are looked at."""


def perfect_information(
    game: StateMachine, *, engine: str = "auto", states: int = MOST_STATES, limits: Limits = DEFAULT
) -> Verdict:
    """Return whether every player of a game always knows the state.

    Proved for games without `sees`, and for others after all reachable states were looked at;
    refuted with a shortest play after which the player `witness.role` is in doubt; unknown when `states` or
    the time of `limits` are spent.  Raises `GameError` for a game with errors.
    """
    began = time.perf_counter()
    if not game.has_percepts:
        return Verdict("proved", "no percepts", "the rules do not define sees: every role sees every move")
    machine = game.engine_object(engine)
    text = machine.terms.text
    clock = limits.start()
    chance = None if game.chance_role is None else game.role_index(game.chance_role)
    came: dict[Any, tuple[Any, tuple[int, ...]] | None] = {machine.initial(): None}
    level = list(came)
    while level:
        following: list[Any] = []
        for key in level:
            if clock.elapsed() > limits.seconds or len(came) > states:
                spent = f"{limits.seconds:g} seconds" if len(came) <= states else f"{states} states"
                return Verdict.unknown(f"nobody is in doubt in the states seen in {spent}", states=len(came))
            if machine.terminal(key):
                continue
            told: dict[tuple[int, int, frozenset[int]], Any] = {}
            legal = [sorted(machine.legal(key, i), key=text) for i in range(len(game.roles))]
            for joint in product(*legal):
                reached = machine.successor(key, joint)
                for i, role in enumerate(game.roles):
                    if i == chance:
                        continue
                    seen = i, joint[i], frozenset(machine.percepts(key, joint, i))
                    if told.setdefault(seen, reached) != reached:
                        moves = (*_way(came, key), joint)
                        witness = Witness(tuple(tuple(map(text, one)) for one in moves), role, shortest=True)
                        return Verdict(
                            "refuted",
                            "exploration",
                            f"{role} does not always know the state",
                            witness,
                            seconds=time.perf_counter() - began,
                            details={"states": len(came)},
                        )
                if reached not in came:
                    came[reached] = key, joint
                    following.append(reached)
        level = following
    return Verdict(
        "proved",
        "exploration",
        f"every player knows the state in all {len(came)} reachable states",
        seconds=time.perf_counter() - began,
        details={"states": len(came)},
    )


def _way(came: dict[Any, tuple[Any, tuple[int, ...]] | None], key: Any) -> list[tuple[int, ...]]:
    """Return the joint moves from the initial state to a state."""
    moves = []
    step = came[key]
    while step is not None:
        key, joint = step
        moves.append(joint)
        step = came[key]
    return moves[::-1]

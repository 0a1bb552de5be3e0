"""Decide whether every role always knows the state.

A role that knows the state s, makes the move a and has the percepts I knows the next state exactly when all
joint moves in s with its move a and the percepts I lead to one state.  All roles know the initial
state, so that a game has perfect information if this holds in every reachable state; and the first
state in which it fails gives a shortest play after which a role does not know the state.
This needs only states, not histories, of which there are many more.
"""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING, Any

from herbrand.analyse.verdict import Verdict, Witness
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from herbrand.analyse.verdict import Answer
    from herbrand.machine.state_machine import StateMachine

__all__ = ["perfect_information"]

MOST_STATES = 20_000
"""The most states that are explored."""


def perfect_information(
    game: StateMachine, *, engine: str = "auto", states: int = MOST_STATES, limits: Limits = DEFAULT
) -> Verdict:
    """Return whether every player of a game always knows the state.

    Proved for games without `sees`, and for others after exploring all reachable states;
    refuted with a shortest play after which `witness.role` does not know the state; unknown when `states` or
    the time of `limits` are spent.  Raises `GameError` for a game with errors.
    """
    began = time.perf_counter()
    if not game.has_percepts:
        return Verdict("proved", "no percepts", "the rules do not define sees: every role sees every move")
    machine = game.engine_object(engine)
    text = machine.terms.text
    clock = limits.start()
    parents: dict[Any, tuple[Any, tuple[int, ...]] | None] = {machine.initial(): None}

    def explored(answer: Answer, reason: str, witness: Witness | None = None) -> Verdict:
        seconds, details = time.perf_counter() - began, {"states": len(parents)}
        return Verdict(answer, "exploration", reason, witness, seconds=seconds, details=details)

    level = list(parents)
    while level:
        following: list[Any] = []
        for key in level:
            if clock.elapsed() > limits.seconds or len(parents) > states:
                limit = f"{limits.seconds:g} seconds" if len(parents) <= states else f"{states} states"
                reason = f"every role knows the state in all states explored in {limit}"
                return Verdict.unknown(reason, states=len(parents))
            if machine.terminal(key):
                continue
            successors: dict[tuple[int, int, frozenset[int]], Any] = {}
            legal = [sorted(machine.legal(key, i), key=text) for i in range(len(game.roles))]
            for joint in product(*legal):
                successor = machine.successor(key, joint)
                for i, role in enumerate(game.roles):
                    if role == game.chance_role:
                        continue
                    view = i, joint[i], frozenset(machine.percepts(key, joint, i))
                    if successors.setdefault(view, successor) != successor:
                        line = [*_line_to(parents, key), joint]
                        moves = tuple(tuple(map(text, joint_move)) for joint_move in line)
                        witness = Witness(moves, role, shortest=True)
                        return explored("refuted", f"{role} does not always know the state", witness)
                if successor not in parents:
                    parents[successor] = key, joint
                    following.append(successor)
        level = following
    return explored("proved", f"every player knows the state in all {len(parents)} reachable states")


def _line_to(parents: dict[Any, tuple[Any, tuple[int, ...]] | None], key: Any) -> list[tuple[int, ...]]:
    """Return the joint moves from the initial state to a state."""
    moves = []
    step = parents[key]
    while step is not None:
        key, joint = step
        moves.append(joint)
        step = parents[key]
    return moves[::-1]

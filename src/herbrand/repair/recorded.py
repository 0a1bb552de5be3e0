"""Plays that a repaired game must have: of a reference, or recorded in traces."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from herbrand.errors import HerbrandError
from herbrand.machine.trajectory import Trajectory
from herbrand.verify.traces import read_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["KnownState", "Play", "first_difference", "plays_of", "plays_recorded"]

PLAYS: Final = 12
"""Random plays of a reference."""
MOST_STEPS: Final = 200
"""Steps of each of them, and of a recorded match."""
MOST_MATCHES: Final = 20
"""Matches of a trace."""


@dataclass(frozen=True, slots=True)
class KnownState:
    """The record of one state of a play; texts are in lower case."""

    is_terminal: bool
    legal: tuple[frozenset[str] | None, ...]
    """The legal moves of each role; None where they are not known."""
    goals: tuple[int | None, ...]
    """The goal value of each role at the end; None where it is not known."""
    joint_move: tuple[str, ...] | None
    """The moves made, in role order; None in the last state."""


@dataclass(frozen=True, slots=True)
class Play:
    """A play, from the initial state."""

    steps: tuple[KnownState, ...]


def plays_of(game: StateMachine, *, plays: int = PLAYS, seed: int = 0) -> tuple[Play, ...]:
    """Return random plays of a game."""
    chance = Random(seed)
    recorded = []
    for _ in range(plays):
        play = Trajectory(game.initial_state("rules"))
        play.finish(chance, max_steps=MOST_STEPS)
        recorded.append(Play(tuple(map(_step, play.states, [*play.joint_moves, None]))))
    return tuple(recorded)


def _step(state: State, joint_move: tuple[str, ...] | None) -> KnownState:
    legal = state.legal_moves()
    return KnownState(
        state.is_terminal,
        tuple(frozenset(move.gdl.lower() for move in legal[role]) for role in state.roles),
        tuple(state.goals[role] for role in state.roles) if state.is_terminal else (None,) * len(state.roles),
        None if joint_move is None else tuple(move.lower() for move in joint_move),
    )


def plays_recorded(path: Path) -> tuple[Play, ...]:
    """Return the matches of a trace file; raises as `herbrand.verify.verify_trace` does."""
    return tuple(Play(tuple(steps)) for steps in _matches(read_trace(path)))


def _matches(records: Iterable[dict[str, object]]) -> Iterator[list[KnownState]]:
    steps: list[KnownState] = []
    matches = 0
    for record in records:
        if record["type"] == "match":
            if steps:
                yield steps
            steps, matches = [], matches + 1
            if matches > MOST_MATCHES:
                return
        elif record["type"] == "step" and len(steps) < MOST_STEPS:
            steps.append(_recorded(record))
    if steps:
        yield steps


def _recorded(record: dict[str, object]) -> KnownState:
    """Return the step of a record; legal moves are left out where only their number is recorded."""
    goals, legal, move = record.get("goals"), record.get("legal"), record.get("move")
    if not isinstance(goals, list):
        raise HerbrandError("not a trace: a step without goals")
    moves_by_role = legal if isinstance(legal, list) else [None] * len(goals)
    over = bool(record.get("terminal"))
    return KnownState(
        over,
        tuple(
            None if over or moves is None else frozenset(str(m).lower() for m in moves)
            for moves in moves_by_role
        ),
        tuple(goal if over and isinstance(goal, int) else None for goal in goals),
        tuple(str(term).lower() for term in move) if isinstance(move, list) else None,
    )


def first_difference(game: StateMachine, plays: Iterable[Play]) -> str | None:
    """Return how a game differs from some plays, in words; None if it has them all."""
    for play in plays:
        state = game.initial_state("rules")
        for number, step in enumerate(play.steps):
            here = _step(state, None)
            where = f"after {number} steps" if number else "in the initial state"
            if here.is_terminal != step.is_terminal:
                return f"{where}, the game is {'' if here.is_terminal else 'not '}over"
            for role, legal, expected_legal in zip(state.roles, here.legal, step.legal, strict=False):
                if step.is_terminal or expected_legal is None or legal is None or legal == expected_legal:
                    continue
                odd = min(legal ^ expected_legal)
                return f"{where}, `{odd}` is {'' if odd in legal else 'not '}legal for {role}"
            for role, value, expected in zip(state.roles, here.goals, step.goals, strict=False):
                if expected is not None and value != expected:
                    return f"{where}, {role} gets {value}, not {expected}"
            if step.joint_move is None:
                break
            state = state.next(list(step.joint_move))
    return None

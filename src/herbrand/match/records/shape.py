"""What every record looks like, before anything is said about the game.

Databases and documents come from anywhere, and SQLite keeps any value in any column.  What is checked here
need not be true, but can be worked with; whether it is true, `verifier` says.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from herbrand.match.protocol.manager import PROBLEMS, MatchSettings
from herbrand.match.records.record import ORIGINS, STATUSES, RecordError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.match.protocol.manager import Problem
    from herbrand.match.records.record import MatchRecord, MessageRecord

__all__ = ["require_shape"]


def require_shape(record: MatchRecord) -> None:
    """Raise `RecordError`, saying what is wrong, for a record that no program can have written."""
    roles = set(record.roles)
    texts = (record.id, record.token, record.game, record.rules, record.reason, record.software)
    _require(_are_texts(texts), "a name or text is none")
    _require(record.status in STATUSES, f"no status {record.status!r}")
    _require(record.origin in ORIGINS, f"no origin {record.origin!r}")
    _require(_are_texts(record.roles) and len(roles) == len(record.roles), "the roles are no different names")
    _require(
        _are_texts(record.players.values()) and roles.issuperset(record.players), "a player is of nobody"
    )
    times = [record.started, *record.step_times, *([] if record.ended is None else [record.ended])]
    _require(all(_is_number(at) for at in times), "a time is no number")
    clocks = (record.start_clock, record.play_clock)
    _require(all(_is_count(clock) for clock in clocks), "a clock is no number of seconds")
    _settings(record.settings)
    _require(_are_texts((record.names or {}).values()), "a scrambled name is none")
    for joint in (*record.opening, *record.moves):
        _require(
            _are_texts(joint) and len(joint) == len(roles), "a step does not have one move for each role"
        )
    for step in record.percepts:
        seen = [percept for percepts in step.values() for percept in percepts]
        _require(roles.issuperset(step) and _are_texts(seen), "percepts are of nobody, or are none")
    for message in record.messages:
        _message(message, record.roles)
    for problem in record.problems:
        _problem(problem, record.roles)
    goals = record.goals or {}
    _require(roles.issuperset(goals), "a goal is of nobody")
    _require(all(goal is None or isinstance(goal, int) for goal in goals.values()), "a goal is no number")


def _settings(settings: dict[str, Any]) -> None:
    _require(isinstance(settings, dict), "the settings are none")
    try:
        MatchSettings(**settings)
    except (TypeError, ValueError) as error:
        raise RecordError(f"the settings are none: {error}") from error


def _message(message: MessageRecord, roles: Sequence[str]) -> None:
    _require(message.role in roles, "a message is to nobody")
    _require(_is_count(message.step), "a message belongs to no step")
    _require(_is_number(message.sent) and _is_number(message.seconds), "the time of a message is no number")
    given = (message.text, message.reply, message.problem)
    _require(
        _are_texts((message.kind, *message.notes, *(text for text in given if text is not None))),
        "a message or its answer is no text",
    )


def _problem(problem: Problem, roles: Sequence[str]) -> None:
    _require(problem.role in roles, "a problem is of nobody")
    _require(_is_count(problem.step), "a problem belongs to no step")
    _require(problem.kind in PROBLEMS, f"no problem is called {problem.kind!r}")
    given = (problem.reply, problem.played)
    _require(
        _are_texts((problem.note, *(text for text in given if text is not None))), "a problem is no text"
    )


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise RecordError(otherwise)


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value >= 0

"""Checks types and references within a record, independent of its game.

Databases and documents are untrusted, and SQLite accepts any value in any column.  A record that passes can
be processed without type errors; whether it is true is checked by `verifier`.
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
    """Raise `RecordError` for a record with values of a wrong type or unknown roles."""
    roles = set(record.roles)
    texts = (record.id, record.token, record.game, record.rules, record.reason, record.software)
    _require(_are_texts(texts), "a name or text is not a string")
    _require(record.status in STATUSES, f"unknown status {record.status!r}")
    _require(record.origin in ORIGINS, f"unknown origin {record.origin!r}")
    _require(_are_texts(record.roles) and len(roles) == len(record.roles), "the roles are not distinct names")
    _require(_are_texts(record.players.values()) and roles.issuperset(record.players), "invalid players")
    times = [record.started, *record.step_times, *([] if record.ended is None else [record.ended])]
    _require(all(_is_number(at) for at in times), "a time is not a number")
    clocks = (record.start_clock, record.play_clock)
    _require(all(_is_count(clock) for clock in clocks), "a clock is not a number of seconds")
    _require(isinstance(record.settings, dict), "invalid settings")
    if record.origin != "web":
        _settings(record.settings)
    _require(_are_texts((record.names or {}).values()), "a scrambled name is not a string")
    for joint in (*record.opening, *record.moves):
        _require(
            _are_texts(joint) and len(joint) == len(roles), "a step does not have one move for each role"
        )
    for step in record.percepts:
        seen = [percept for percepts in step.values() for percept in percepts]
        _require(roles.issuperset(step) and _are_texts(seen), "invalid percepts")
    for message in record.messages:
        _message(message, record.roles)
    for problem in record.problems:
        _problem(problem, record.roles)
    goals = record.goals or {}
    _require(roles.issuperset(goals), "a goal of an unknown role")
    _require(all(goal is None or isinstance(goal, int) for goal in goals.values()), "a goal is not a number")


def _settings(settings: dict[str, Any]) -> None:
    try:
        MatchSettings(**settings)
    except (TypeError, ValueError) as error:
        raise RecordError(f"invalid settings: {error}") from error


def _message(message: MessageRecord, roles: Sequence[str]) -> None:
    _require(message.role in roles, "a message to an unknown role")
    _require(_is_count(message.step), "invalid step of a message")
    _require(
        _is_number(message.sent) and _is_number(message.seconds), "the time of a message is not a number"
    )
    are_texts = _are_texts((message.kind, *message.notes), (message.text, message.reply, message.problem))
    _require(are_texts, "a message or its answer is not a string")


def _problem(problem: Problem, roles: Sequence[str]) -> None:
    _require(problem.role in roles, "a problem of an unknown role")
    _require(_is_count(problem.step), "invalid step of a problem")
    _require(problem.kind in PROBLEMS, f"unknown kind of problem {problem.kind!r}")
    are_texts = _are_texts((problem.note,), (problem.reply, problem.played))
    _require(are_texts, "the text of a problem is not a string")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise RecordError(message)


def _are_texts(values: Iterable[Any], optional: Iterable[Any] = ()) -> bool:
    """Whether values are texts, and the optional ones texts or None."""
    return all(isinstance(value, str) for value in values) and all(
        value is None or isinstance(value, str) for value in optional
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value >= 0

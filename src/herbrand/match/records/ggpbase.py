"""Reads and writes the match records of ggp-base (`Match.toJSON`).

They contain the states (as facts without `true`), the joint moves, times in milliseconds, and the error of
each player in each step: `IL` and the answer (illegal), `TO` (timeout), `CE` (connection error) or an empty
string. Instead of the rules they have the URL of the game, hence reading them requires the game.  Keys that
old or other programs do not write are optional.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.machine.moves import Move
from herbrand.machine.trajectory import Trajectory
from herbrand.match.protocol.manager import Problem, as_sent
from herbrand.match.protocol.messages import normalise, spaced, split_list
from herbrand.match.records.record import MatchRecord, RecordError, new_token
from herbrand.match.records.resume import game_of
from herbrand.match.records.shape import require_shape

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["read_ggpbase", "replayed", "write_ggpbase"]

_CODES: Final = {
    "timeout": "TO",
    "ignored": "TO",
    "connection": "CE",
    "failed": "CE",
    "unsigned": "CE",
    "illegal": "IL",
    "unreadable": "IL",
}
_KINDS: Final = {"TO": "timeout", "CE": "connection", "IL": "illegal"}


def replayed(record: MatchRecord, game: Game | None = None) -> list[State]:
    """Return the states of a match, the initial one first; `IllegalMoveError` for illegal moves."""
    return Trajectory.replay(game or game_of(record), record.moves, engine="auto").states


def write_ggpbase(record: MatchRecord, *, game: Game | None = None, url: str | None = None) -> dict[str, Any]:
    """Return a match in the format of ggp-base; `url` is the address of the game in its repository.

    Unlike in ggp-base's own files, strings are escaped as JSON demands; there is no ggp-base signature.
    """
    states = replayed(record, game)
    document: dict[str, Any] = {
        "matchId": record.id,
        "randomToken": record.token,
        "startTime": _milliseconds(record.started),
        "isCompleted": record.status == "completed",
        "isAborted": record.status == "aborted",
        "states": [f"( {' '.join(spaced(fact) for fact in sorted(state.facts))} )" for state in states],
        "moves": [[spaced(move) for move in joint] for joint in record.moves],
        "stateTimes": [_milliseconds(at) for at in (record.started, *record.step_times)],
        "previewClock": -1,
        "startClock": record.start_clock,
        "playClock": record.play_clock,
        "playerNamesFromHost": [record.players.get(role, "random") for role in record.roles],
        "isPlayerHuman": [record.players.get(role) == "human" for role in record.roles],
        "scrambled": record.names is not None,
    }
    if url is not None:
        document["gameMetaURL"] = url
    if record.problems:
        errors = [[""] * len(record.roles) for _ in range(len(record.moves) + 1)]
        for problem in record.problems:
            if problem.step < len(errors):
                code = _CODES[problem.kind]
                if code == "IL":
                    code = f"IL {problem.reply or ''}".rstrip()
                errors[problem.step][record.roles.index(problem.role)] = code
        document["errors"] = errors
    if record.status == "completed" and record.goals is not None:
        document["goalValues"] = [record.goals[role] for role in record.roles]
    return document


def read_ggpbase(data: Any, game: Game) -> MatchRecord:
    """Read a ggp-base record of a match of `game`; raise `RecordError` if that fails.

    Moves are respelled as in the game; whether they are legal is checked by `verifier`.
    """
    if not isinstance(data, dict):
        raise RecordError("a match record is a JSON object")
    try:
        game, rules = as_sent(game)
        roles = game.roles
        moves = [_joint(step, texts, game) for step, texts in enumerate(_list(data, "moves"), start=1)]
        states = [frozenset(_fact(fact) for fact in split_list(text)) for text in _list(data, "states")]
        times = [float(at) / 1000 for at in _list(data, "stateTimes")]
        started = float(data.get("startTime", 0)) / 1000
        names = list(data.get("playerNamesFromHost") or [])
        goals = data.get("goalValues")
        completed = bool(data.get("isCompleted")) and goals is not None
        record = MatchRecord(
            str(data.get("matchId", "")) or "unnamed",
            str(data.get("randomToken") or new_token()),
            game.name,
            rules,
            roles,
            {
                role: str(names[place]) if place < len(names) and names[place] else f"player {place + 1}"
                for place, role in enumerate(roles)
                if role != game.chance_role
            },
            started,
            times[-1] if times else None,
            "completed" if completed else "aborted",
            "terminal" if completed else "aborted" if data.get("isAborted") else "unfinished",
            int(data.get("startClock", 0)),
            int(data.get("playClock", 0)),
            None,
            {},
            moves=moves,
            step_times=times[1 : len(moves) + 1],
            software="ggp-base",
            origin="ggp-base",
            states=states or None,
        )
        if completed:
            values = [int(value) for value in _list(data, "goalValues")]
            record.goals = dict(zip(roles, values, strict=True))
        record.problems = _problems(data, record)
        require_shape(record)
    except RecordError:
        raise
    except (ArithmeticError, HerbrandError, ValueError, TypeError, LookupError) as error:
        raise RecordError(f"not a match record of ggp-base: {error}") from error
    return record


def _problems(data: dict[str, Any], record: MatchRecord) -> list[Problem]:
    problems = []
    for step, texts in enumerate(data.get("errors") or []):
        has_move = 0 < step <= len(record.moves)
        joint = record.moves[step - 1] if has_move else [None] * len(record.roles)
        for role, text, played in zip(record.roles, texts, joint, strict=True):
            if text:
                code, _, reply = str(text).partition(" ")
                kind = _KINDS.get(code, "failed")
                problems.append(Problem(step, role, kind, reply[:200] or None, str(text)[:200], played))
    return problems


def _joint(step: int, texts: Any, game: Game) -> tuple[str, ...]:
    if not isinstance(texts, list) or len(texts) != len(game.roles):
        raise RecordError(f"step {step} does not have one move for each of {', '.join(game.roles)}")
    try:
        moves = [str(Move(str(text))) for text in texts]
    except HerbrandError as error:
        raise RecordError(f"a move of step {step} cannot be read: {error}") from error
    spelling = game.rules.spelling
    return tuple(re.sub(r"[^\s()]+", lambda word: spelling.get(word[0].lower(), word[0]), m) for m in moves)


def _fact(text: str) -> str:
    """Return the canonical spelling of a fact, for comparison."""
    return normalise(text).lower()


def _list(data: dict[str, Any], key: str) -> list[Any]:
    values = data.get(key) or []
    if not isinstance(values, list):
        raise RecordError(f"`{key}` is not a list")
    return values


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)

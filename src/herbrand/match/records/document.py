"""Records as JSON documents: a superset of the match records of ggp-base.

The additional keys are listed in `docs/reference/records.md` and `docs/reference/schemas/match.schema.json`;
programs for ggp-base records can read these documents.  A document contains the rules, and can thus be
verified and replayed on its own.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.match.protocol.manager import Problem
from herbrand.match.protocol.messages import normalise, split_list
from herbrand.match.records.ggpbase import read_ggpbase, write_ggpbase
from herbrand.match.records.record import MatchRecord, MessageRecord, RecordError
from herbrand.match.records.resume import game_of
from herbrand.match.records.shape import require_shape

if TYPE_CHECKING:
    from herbrand.game import Game

__all__ = ["FORMAT", "read_document", "write_document"]

FORMAT: Final = "herbrand match record"


def write_document(record: MatchRecord, *, game: Game | None = None) -> dict[str, Any]:
    """Return a match as a JSON document; the states are recomputed from the moves."""
    game = game or game_of(record)
    substituted = [
        {p.role: p.kind for p in record.problems if p.step == step and p.played is not None}
        for step in range(1, len(record.moves) + 1)
    ]
    return {
        "format": FORMAT,
        "version": 1,
        **write_ggpbase(record, game=game),
        "game": record.game,
        "rulesheet": record.rules,
        "rulesheetHash": record.hash,
        "gdlVersion": "GDL-II" if game.has_percepts or game.chance_role else "GDL",
        "roles": list(record.roles),
        "players": record.players,
        "status": record.status,
        "reason": record.reason,
        "endTime": None if record.ended is None else round(1000 * record.ended),
        "percepts": [{role: list(seen) for role, seen in step.items()} for step in record.percepts],
        "substituted": substituted,
        "problems": [asdict(problem) for problem in record.problems],
        "replies": [
            {**asdict(message), "sent": round(1000 * message.sent), "notes": list(message.notes)}
            for message in record.messages
        ],
        "goals": record.goals,
        "opening": [list(joint) for joint in record.opening],
        "seed": record.seed,
        "settings": record.settings,
        "scramble": None if record.names is None else {"seed": record.scramble, "names": record.names},
        "software": record.software,
        "origin": record.origin,
        "signature": record.signature,
    }


def read_document(data: Any, game: Game | None = None) -> MatchRecord:
    """Read a document of herbrand or, with a game, of ggp-base; raise `RecordError` if that fails."""
    if not isinstance(data, dict):
        raise RecordError("a match record is a JSON object")
    if data.get("format") != FORMAT:
        if game is None:
            raise RecordError("a match record of ggp-base does not contain the rules: give its game, too")
        return read_ggpbase(data, game)
    if data.get("version") != 1:
        raise RecordError(f"unknown version {data.get('version')!r} of match records: update herbrand")
    try:
        return _read(data)
    except (ArithmeticError, HerbrandError, ValueError, TypeError, LookupError, AttributeError) as error:
        reason = f"`{error.args[0]}` is missing" if isinstance(error, KeyError) else str(error)
        raise RecordError(f"not a match record: {reason}") from error


def _read(data: dict[str, Any]) -> MatchRecord:
    roles = tuple(map(str, data["roles"]))
    scramble = data["scramble"]
    record = MatchRecord(
        str(data["matchId"]),
        str(data["randomToken"]),
        str(data["game"]),
        str(data["rulesheet"]),
        roles,
        {role: str(data["players"][role]) for role in roles if role in data["players"]},
        data["startTime"] / 1000,
        None if data["endTime"] is None else data["endTime"] / 1000,
        data["status"],
        str(data["reason"]),
        int(data["startClock"]),
        int(data["playClock"]),
        None if data["seed"] is None else int(data["seed"]),
        dict(data["settings"]),
        None if scramble is None else int(scramble["seed"]),
        None if scramble is None else {str(a): str(b) for a, b in scramble["names"].items()},
        [tuple(map(str, joint)) for joint in data["opening"]],
        [tuple(normalise(str(move)) for move in joint) for joint in data["moves"]],
        [at / 1000 for at in data["stateTimes"][1:]],
        [{role: tuple(map(str, seen)) for role, seen in step.items()} for step in data["percepts"]],
        [
            MessageRecord(**{**entry, "sent": entry["sent"] / 1000, "notes": tuple(entry["notes"])})
            for entry in data["replies"]
        ],
        [Problem(**entry) for entry in data["problems"]],
        None if data["goals"] is None else {role: data["goals"][role] for role in roles},
        str(data["software"]),
        str(data["origin"]),
        None if data["signature"] is None else {str(a): str(b) for a, b in data["signature"].items()},
        [frozenset(normalise(fact).lower() for fact in split_list(text)) for text in data["states"]],
    )
    require_shape(record)
    if record.hash != data["rulesheetHash"]:
        raise RecordError("the rules do not match their hash")
    return record

"""Signatures that prove a record unchanged.

An Ed25519 signature covers a canonical text of id, token, start and end times, hash of the rules, players,
settings, opening, moves, percepts, problems and result, but not the messages and their times.  Keys are those
of `herbrand.match.keys`.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from herbrand.match.keys import PrivateKey, is_valid
from herbrand.match.records.record import RecordError

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.match.records.record import MatchRecord

__all__ = ["check", "core", "sign"]


def core(record: MatchRecord) -> bytes:
    """Return the signed bytes: JSON with sorted keys, without blanks, in UTF-8."""
    value = {
        "record": 1,
        "id": record.id,
        "token": record.token,
        "game": record.game,
        "rules": record.hash,
        "roles": record.roles,
        "players": record.players,
        "started": round(1000 * record.started),
        "ended": None if record.ended is None else round(1000 * record.ended),
        "status": record.status,
        "reason": record.reason,
        "clocks": [record.start_clock, record.play_clock],
        "seed": record.seed,
        "settings": record.settings,
        "scramble": record.scramble,
        "opening": record.opening,
        "moves": record.moves,
        "percepts": record.percepts,
        "problems": [asdict(problem) for problem in record.problems],
        "goals": record.goals,
    }
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sign(record: MatchRecord, path: str | Path) -> dict[str, str]:
    """Return the signature of a match that has ended, with the private key in a file."""
    if record.status == "running":
        raise RecordError(f"match `{record.id}` is running and cannot be signed yet")
    key = PrivateKey(path)
    return {"algorithm": "ed25519", "public_key": key.public, "value": key.sign(core(record))}


def check(record: MatchRecord) -> bool:
    """Whether the signature of a record is valid for the public key in it."""
    signature = record.signature or {}
    if signature.get("algorithm") != "ed25519":
        return False
    return is_valid(signature.get("public_key", ""), core(record), signature.get("value", ""))

"""Signatures that prove a record unchanged.

An Ed25519 signature covers a canonical text of id, token, start and end times, hash of the rules, players,
settings, opening, moves, percepts, problems and result, but not the messages and their times.  Private keys
are PEM files; public keys are hexadecimal digits.  Needs `cryptography` (extra `sign`).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herbrand.errors import optional_import
from herbrand.match.records.record import RecordError

if TYPE_CHECKING:
    from herbrand.match.records.record import MatchRecord

__all__ = ["check", "core", "make_key", "public_key", "sign"]


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


def make_key(path: str | Path) -> str:
    """Write a new private key to a file that only its owner can read; return the public key.

    Raises `RecordError` if the file exists.
    """
    serialization, ed25519 = _library()
    key = ed25519.Ed25519PrivateKey.generate()
    data = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise RecordError(f"`{path}` exists; keys are not overwritten") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except BaseException:  # half a key would be in the way of a new one
        Path(path).unlink()
        raise
    return _public(key)


def public_key(path: str | Path) -> str:
    """Return the public key for the private key in a file."""
    return _public(_load(path))


def sign(record: MatchRecord, path: str | Path) -> dict[str, str]:
    """Return the signature of a match that has ended, with the private key in a file."""
    if record.status == "running":
        raise RecordError(f"match `{record.id}` is running and cannot be signed yet")
    key = _load(path)
    return {
        "algorithm": "ed25519",
        "public_key": _public(key),
        "value": key.sign(core(record)).hex(),
    }


def check(record: MatchRecord) -> bool:
    """Whether the signature of a record is valid for the public key in it."""
    _, ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    signature = record.signature or {}
    if signature.get("algorithm") != "ed25519":
        return False
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["public_key"]))
        key.verify(bytes.fromhex(signature["value"]), core(record))
    except (InvalidSignature, ValueError, KeyError):
        return False
    return True


def _load(path: str | Path) -> Any:
    serialization, ed25519 = _library()
    try:
        key = serialization.load_pem_private_key(Path(path).read_bytes(), None)
    except (ValueError, TypeError) as error:
        raise RecordError(f"`{path}` is not a private key: {error}") from error
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise RecordError(f"`{path}` is not an Ed25519 key")
    return key


def _public(key: Any) -> str:
    serialization, _ = _library()
    raw: bytes = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw.hex()


def _library() -> tuple[Any, Any]:
    with optional_import("signing records", "sign"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    return serialization, ed25519

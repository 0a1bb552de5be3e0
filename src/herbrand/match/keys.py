"""Ed25519 keys: files with private keys, and signatures of records and of replies.

Private keys are PEM files; public keys are 64 hexadecimal digits, signatures 128.  Needs `cryptography`
(extra `sign`).

A manager that knows a player's public key sends a random challenge with each message, and the player signs
challenge, message and reply together: nobody else can have answered this message, and no earlier reply can be
sent again.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError, optional_import

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "InvalidKey",
    "PrivateKey",
    "ReplyChecker",
    "is_valid",
    "make_key",
    "reply_headers",
    "require_public_key",
]

CHALLENGE_HEADER: Final = "Herbrand-Challenge"
SIGNATURE_HEADER: Final = "Herbrand-Signature"
_CHALLENGE: Final = re.compile(r"[0-9a-f]{32,128}")


class InvalidKey(HerbrandError, ValueError):
    """A text or file is not an Ed25519 key, or a key would overwrite a file."""


class PrivateKey:
    """The private key in a file; `InvalidKey` for a file without one."""

    def __init__(self, path: str | Path) -> None:
        serialization, ed25519 = _library()
        try:
            self._key = serialization.load_pem_private_key(Path(path).read_bytes(), None)
        except (ValueError, TypeError) as error:
            raise InvalidKey(f"`{path}` is not a private key: {error}") from error
        if not isinstance(self._key, ed25519.Ed25519PrivateKey):
            raise InvalidKey(f"`{path}` is not an Ed25519 key")
        self.public = _public(self._key)
        """The public key."""

    def sign(self, data: bytes) -> str:
        """Return the signature of data."""
        signature: bytes = self._key.sign(data)
        return signature.hex()


def make_key(path: str | Path) -> str:
    """Write a new private key to a file that only its owner can read; return the public key.

    Raises `InvalidKey` if the file exists.
    """
    serialization, ed25519 = _library()
    key = ed25519.Ed25519PrivateKey.generate()
    data = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise InvalidKey(f"`{path}` exists; keys are not overwritten") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except BaseException:  # half a key would be in the way of a new one
        Path(path).unlink()
        raise
    return _public(key)


def require_public_key(text: str) -> str:
    """Return a public key in lower case; raises `InvalidKey`, and `MissingExtra` without the library."""
    _library()
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise InvalidKey(f"`{text[:100]}` is not a public key of 64 hexadecimal digits")
    return text.lower()


def is_valid(public_key: str, data: bytes, signature: str) -> bool:
    """Whether a signature of data was made with the private key that belongs to a public key."""
    _, ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def reply_headers(key: PrivateKey, request: Mapping[str, str], message: str, reply: str) -> dict[str, str]:
    """Return the headers that sign a reply to a message with a challenge, none without a challenge.

    `request` are the headers of the message, by name in lower case.
    """
    challenge = request.get(CHALLENGE_HEADER.lower(), "")
    if not _CHALLENGE.fullmatch(challenge):
        return {}
    return {SIGNATURE_HEADER: key.sign(_signed(challenge, message, reply))}


class ReplyChecker:
    """Checks the reply to one message by the public key of its player."""

    def __init__(self, public_key: str) -> None:
        self._public_key = public_key
        self._challenge = os.urandom(32).hex()
        self.headers = {CHALLENGE_HEADER: self._challenge}
        """The headers of the request."""

    def is_signed(self, headers: Mapping[str, str], message: str, reply: str) -> bool:
        """Whether the reply is signed, given its headers by name in lower case."""
        signature = headers.get(SIGNATURE_HEADER.lower(), "")
        return is_valid(self._public_key, _signed(self._challenge, message, reply), signature)


def _signed(challenge: str, message: str, reply: str) -> bytes:
    digest = hashlib.sha256(message.encode()).hexdigest()
    return f"herbrand reply 1\n{challenge}\n{digest}\n{reply.strip()}".encode()


def _public(key: Any) -> str:
    serialization, _ = _library()
    raw: bytes = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw.hex()


def _library() -> tuple[Any, Any]:
    with optional_import("signing", "sign"):
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    return serialization, ed25519

"""Tokens: secrets in addresses, for servers that other users of a computer could reach, too."""

from __future__ import annotations

import hmac
import re
import secrets
from typing import Final

__all__ = ["TOKEN_VARIABLE", "is_same", "is_token", "new_token"]

TOKEN_VARIABLE: Final = "HERBRAND_TOKEN"
"""The environment variable for a token: other users can see command lines, but no environment."""
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~-]{8,200}")


def new_token() -> str:
    """Return a random token of 192 bits."""
    return secrets.token_urlsafe(24)


def is_token(text: str) -> bool:
    """Whether a text can be a token: 8 to 200 characters that an address can have as they are.

    >>> is_token("correct-horse"), is_token("a b c d e"), is_token("short")
    (True, False, False)
    """
    return _TOKEN.fullmatch(text) is not None


def is_same(text: str, secret: str) -> bool:
    """Whether two texts are the same, in a time that does not tell how much of them is.

    >>> is_same("correct-horse", "correct-horse"), is_same("é", "correct-horse")
    (True, False)
    """
    return hmac.compare_digest(text.encode(errors="surrogatepass"), secret.encode(errors="surrogatepass"))

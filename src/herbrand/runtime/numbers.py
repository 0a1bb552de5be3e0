"""Numbers as text, and as bytes."""

from __future__ import annotations

__all__ = ["leb128", "spaced"]


def spaced(number: float) -> str:
    """Return a number rounded to an integer, its digits in groups of three.

    >>> spaced(1234567.8)
    '1 234 568'
    """
    return f"{round(number):,}".replace(",", " ")


def leb128(number: int) -> bytes:
    r"""Return a number in groups of seven bits, lowest first; the high bit of a byte says that more follow.

    >>> leb128(300)
    b'\xac\x02'
    """
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)

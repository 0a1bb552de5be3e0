"""`spaced`: numbers as text."""

from __future__ import annotations

__all__ = ["spaced"]


def spaced(number: float) -> str:
    """Return a number rounded to an integer, its digits in groups of three.

    >>> spaced(1234567.8)
    '1 234 568'
    """
    return f"{round(number):,}".replace(",", " ")

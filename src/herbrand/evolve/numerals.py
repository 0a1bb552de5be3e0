"""Small numbers in words."""

from __future__ import annotations

__all__ = ["count", "times"]

_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]


def count(number: int) -> str:
    """Return a number in words up to eleven: `three`, `17`."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else str(number)


def times(number: int, noun: str, plural: str = "") -> str:
    """Return a number of things: `one stone`, `three stones`."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"

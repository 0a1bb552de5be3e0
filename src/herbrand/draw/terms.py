"""Facts and moves as lists of parts, and the order of their arguments."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LARGEST_SIDE", "NUMBERED", "arguments", "natural", "ordered"]

LARGEST_SIDE: Final = 40
"""Most cells in a row of a readable board."""

NUMBERED: Final = re.compile(r"([A-Za-z_-]*)(\d+)\Z")
"""A number with a prefix, such as `c3`."""

_NAME_OR_PARENTHESIS = re.compile(r"[()]|[^\s()]+")


@lru_cache(maxsize=65536)
def arguments(fact: str) -> tuple[str, ...]:
    """Split a fact into its name and its arguments; compound arguments stay whole.

    >>> arguments("(cell 1 (at 2 3) x)")
    ('cell', '1', '(at 2 3)', 'x')
    """
    parts: list[str] = []
    depth = 0
    for token in _NAME_OR_PARENTHESIS.findall(fact):
        if token == ")":
            depth -= 1
        if depth <= 1 and token not in "()":
            parts.append(token)
        elif depth > 1 or (depth == 1 and token in "()"):
            if depth == 1 and token == "(":
                parts.append("(")
            elif parts:
                joint = "" if token == ")" or parts[-1].endswith("(") else " "
                parts[-1] += joint + token
        if token == "(":
            depth += 1
    return tuple(parts)


def ordered(values: Iterable[str]) -> list[str] | None:
    """Return a coordinate's domain in order, gaps filled, or None when it is not one.

    >>> ordered({"c1", "c4", "c2"}), ordered({"a", "c"}), ordered({"red", "blue"})
    (['c1', 'c2', 'c3', 'c4'], ['a', 'b', 'c'], None)

    Numbers may have a sign: `n` before those below zero, `p` before the others.

    >>> ordered({"n2", "p0", "p1"})
    ['n2', 'n1', 'p0', 'p1']
    """
    values = set(values)
    if not 1 < len(values) <= LARGEST_SIDE:
        return None
    if all(len(v) == 1 and v.isascii() and v.isalpha() for v in values):
        span = [chr(c) for c in range(ord(min(values)), ord(max(values)) + 1)]
        return span if len(values) * 2 >= len(span) else None
    matches = [NUMBERED.match(v) for v in values]
    prefixes = {m[1] for m in matches if m}
    if not all(matches) or (len(prefixes) != 1 and prefixes != {"n", "p"}):
        return None
    below = "n" if len(prefixes) == 2 else None
    prefix = max(prefixes)
    numbers = {-int(m[2]) if m[1] == below else int(m[2]): m[0] for m in matches if m}
    low, high = min(numbers), max(numbers)
    if high - low >= LARGEST_SIDE:
        return None
    return [numbers.get(n, f"{prefix}{n}" if n >= 0 else f"{below}{-n}") for n in range(low, high + 1)]


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key that counts: `c2` before `c10`."""
    return [
        (0, int(piece), "") if piece.isdecimal() else (1, 0, piece.lower())
        for piece in re.split(r"(\d+)", text)
        if piece
    ]

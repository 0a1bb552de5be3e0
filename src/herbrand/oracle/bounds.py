"""Answers of bounded size: models pay for every character that they read."""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["MAX_CHARACTERS", "bounded"]

MAX_CHARACTERS: Final = 24_000
"""Characters of an answer as JSON; some six thousand tokens."""
_LEAST: Final = 4
"""Lists and texts are not cut to fewer items than this."""


def bounded(answer: dict[str, Any], characters: int = MAX_CHARACTERS) -> dict[str, Any]:
    """Return an answer cut to a number of characters, if its lists and texts can be cut that far.

    The longest list or text is halved until the rest fits; `cut` then tells how much of each is left, by its
    path within the answer.

    >>> bounded({"over": False, "facts": 48 * ["p"]}, 200)["cut"]
    {'facts': 'the first 24 of 48 items'}
    """
    if _size(answer) <= characters:
        return answer
    answer = json.loads(json.dumps(answer))
    cut: dict[str, str] = {}
    whole: dict[str, int] = {}
    while _size(answer) + _size(cut) > characters:
        path, holder, key = max(
            _parts(answer, ""), key=lambda part: _size(part[1][part[2]]), default=("", None, "")
        )
        if holder is None:
            break
        part = holder[key]
        keep = max(_LEAST, len(part) // 2)
        holder[key] = part[:keep]
        whole.setdefault(path, len(part))
        unit = "characters" if isinstance(part, str) else "items"
        cut[path] = f"the first {keep} of {whole[path]} {unit}"
    answer["cut"] = cut
    return answer


def _parts(value: Any, path: str) -> Any:
    """Yield the path, the holder and the key of every list and text that can be cut, the inner ones first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        inner = f"{path}.{key}" if path else str(key)
        yield from _parts(part, inner)
        if isinstance(part, list | str) and len(part) > _LEAST:
            yield inner, value, key


def _size(value: Any) -> int:
    return len(json.dumps(value))

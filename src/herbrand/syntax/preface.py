"""The description of a game in the comment at the beginning of its rulesheet."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

__all__ = ["preface"]

_COMMENT: Final = re.compile(r"\s*(;+|%+|//+|#+)\s?")


def preface(text: str, *, legend: bool = False) -> list[str]:
    r"""Return the paragraphs of sentences of the initial comment, without title and author.

    The `legend`, a paragraph that begins with a term, is included on demand.

    >>> preface("; Nim\n;\n; Whoever takes\n; the last one wins.\n\n(role a)")
    ['Whoever takes the last one wins.']
    """
    lines = []
    for line in text.splitlines():
        if line.strip() and not _COMMENT.match(line):
            break
        lines.append(_COMMENT.sub("", line, count=1).strip())
    paragraphs = [" ".join(part.split("\n")).strip() for part in "\n".join(lines).split("\n\n")]
    before = takewhile(lambda part: not part.startswith("Author"), paragraphs)
    return [
        part
        for part in before
        if part.endswith(".") and (part[0].isupper() or (legend and part.startswith("(")))
    ]

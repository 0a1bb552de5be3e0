"""The bundled games: rulesheets of our own, each with a page of facts beside it.

`NAME.kif` (or `.hrf`, `.pl`) holds the rules and `NAME.json` what one may want to know about
them.  Names are looked up without case:

    >>> from herbrand import games
    >>> games.info("CHESS")["roles"]
    ['white', 'black']
    >>> games.path("ches")
    Traceback (most recent call last):
    FileNotFoundError: no bundled game `ches` (did you mean `chess`?)

| key in `info`   | what it holds                                                               |
|-----------------|-----------------------------------------------------------------------------|
| `name`          | the name under which the game is bundled                                    |
| `title`         | what people call the game                                                   |
| `roles`         | list of the roles, in their order                                           |
| `features`      | list of words: `simultaneous`, `recursion`, ...                             |
| `rules_source`  | whose rules the sheet follows, in words                                     |
| `description`   | a few sentences about the game and its rulesheet                            |
| `perft`         | list of `{depth, states, note}`: sequences of joint moves of that length    |
| `known`         | list of `{fact, value, source}`: what the rulesheet can be checked against  |
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

__all__ = ["info", "names", "path", "text"]

ENDINGS: Final = (".kif", ".gdl", ".hrf", ".pl")
"""Endings of rulesheets; when two files have the same name, the earlier ending is the game."""


def names() -> tuple[str, ...]:
    """Return the names of all bundled games, sorted without case."""
    return tuple(sorted((file.stem for file in _sheets().values()), key=str.lower))


def path(name: str) -> Path:
    """Return the file that holds the rules of a bundled game.

    Raises `FileNotFoundError`, naming the nearest game, when there is none of that name.
    """
    sheets = _sheets()
    if found := sheets.get(name.lower()):
        return found
    near = get_close_matches(name.lower(), sheets, n=1)
    hint = f" (did you mean `{sheets[near[0]].stem}`?)" if near else f" (there are: {', '.join(names())})"
    raise FileNotFoundError(f"no bundled game `{name}`{hint}")


def text(name: str) -> str:
    """Return the rules of a bundled game as they are written; `FileNotFoundError` as in `path`."""
    return path(name).read_text(encoding="utf-8")


def info(name: str) -> dict[str, Any]:
    """Return what is known about a bundled game (the table above); `FileNotFoundError` as in `path`."""
    content: dict[str, Any] = json.loads(path(name).with_suffix(".json").read_text(encoding="utf-8"))
    return content


@cache
def _sheets() -> dict[str, Path]:
    """The rulesheets by their names in lower case."""
    # A wheel is always unpacked on disk, so that resources are files.
    everything = [Path(str(entry)) for entry in files(__name__).iterdir()]
    sheets: dict[str, Path] = {}
    for ending in ENDINGS:
        for file in everything:
            if file.suffix == ending:
                sheets.setdefault(file.stem.lower(), file)
    return sheets

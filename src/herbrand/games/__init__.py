"""The bundled games: rulesheets of our own, each with a page of facts beside it.

`NAME.kif` (or `.hrf`, `.pl`, `.ggd`) holds the rules and `NAME.json` what one may want to know about
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

from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["files", "info", "names", "path", "text"]

ENDINGS: Final = (".kif", ".gdl", ".hrf", ".pl", ".ggd")
"""Endings of rulesheets.  A game goes by the name of its file without ending; where that is taken by an
earlier ending, as for `ticTacToe.ggd`, with it."""


def names() -> tuple[str, ...]:
    """Return the names of all bundled games, sorted without case."""
    sheets = _sheets()
    found = (_name(file, sheets) for file in dict.fromkeys(sheets.values()))
    return tuple(sorted(found, key=str.lower))


def files() -> tuple[str, ...]:
    """Return the names of all files that hold a bundled game, sorted."""
    return tuple(sorted({file.name for file in _sheets().values()}))


def path(name: str) -> Path:
    """Return the file that holds the rules of a bundled game.

    Raises `FileNotFoundError`, naming the nearest game, when there is none of that name.
    """
    sheets = _sheets()
    if found := sheets.get(name.lower()):
        return found
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), sheets, n=1)
    hint = (
        f" (did you mean `{_name(sheets[near[0]], sheets)}`?)"
        if near
        else f" (there are: {', '.join(names())})"
    )
    raise FileNotFoundError(f"no bundled game `{name}`{hint}")


def text(name: str) -> str:
    """Return the rules of a bundled game as they are written; `FileNotFoundError` as in `path`."""
    return path(name).read_text(encoding="utf-8")


def info(name: str) -> dict[str, Any]:
    """Return what is known about a bundled game (the table above); `FileNotFoundError` as in `path`."""
    file = path(name)
    facts = file.with_name(f"{_name(file, _sheets())}.json")
    import json

    content: dict[str, Any] = json.loads(facts.read_text(encoding="utf-8"))
    return content


@cache
def _sheets() -> dict[str, Path]:
    """The rulesheets by their names in lower case, with and without ending."""
    everything = list(Path(__file__).parent.iterdir())  # a wheel is always unpacked on disk
    sheets: dict[str, Path] = {}
    for ending in ENDINGS:
        for file in everything:
            if file.suffix == ending:
                sheets.setdefault(file.stem.lower(), file)
                sheets[file.name.lower()] = file
    return sheets


def _name(file: Path, sheets: dict[str, Path]) -> str:
    """Return the name that a game goes by."""
    return file.stem if sheets[file.stem.lower()] == file else file.name

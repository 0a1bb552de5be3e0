"""The bundled games with their metadata.

`NAME.kif` (or `.hrf`, `.pl`, `.ggd`) has the rules and `NAME.json` the metadata.  Names are case-insensitive:

    >>> from herbrand import games
    >>> games.info("CHESS")["roles"]
    ['white', 'black']
    >>> games.path("ches")
    Traceback (most recent call last):
    FileNotFoundError: no bundled game `ches` (did you mean `chess`?)

| key of `info`   | content                                                                     |
|-----------------|-----------------------------------------------------------------------------|
| `name`          | the name of the bundled game                                                |
| `title`         | the common name of the game                                                 |
| `roles`         | list of the roles in order                                                  |
| `features`      | list of words: `simultaneous`, `recursion`, ...                             |
| `rules_source`  | the source of the rules                                                     |
| `description`   | a few sentences about the game and its rulesheet                            |
| `perft`         | list of `{depth, states, note}`: sequences of joint moves of that length    |
| `known`         | list of `{fact, value, source}`: published values to check the rules with   |
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["files", "info", "names", "path", "text"]

ENDINGS: Final = (".kif", ".gdl", ".hrf", ".pl", ".ggd")
"""Suffixes of rulesheets.  The name of a game is that of its file without suffix; if an earlier suffix
already has that name, as for `ticTacToe.ggd`, it includes the suffix."""


def names() -> tuple[str, ...]:
    """Return the names of all bundled games in case-insensitive order."""
    sheets = _sheets()
    return tuple(sorted((_name(file, sheets) for file in set(sheets.values())), key=str.lower))


def files() -> tuple[str, ...]:
    """Return the file names of all bundled games, sorted."""
    return tuple(sorted({file.name for file in _sheets().values()}))


def path(name: str) -> Path:
    """Return the rulesheet of a bundled game; raise `FileNotFoundError`, with a similar name, if unknown."""
    sheets = _sheets()
    if file := sheets.get(name.lower()):
        return file
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), sheets, n=1)
    hint = (
        f" (did you mean `{_name(sheets[near[0]], sheets)}`?)" if near else f" (one of: {', '.join(names())})"
    )
    raise FileNotFoundError(f"no bundled game `{name}`{hint}")


def text(name: str) -> str:
    """Return the text of a bundled game's rules; `FileNotFoundError` as in `path`."""
    return path(name).read_text(encoding="utf-8")


def info(name: str) -> dict[str, Any]:
    """Return the metadata of a bundled game (see the table above); `FileNotFoundError` as in `path`."""
    import json

    file = path(name)
    metadata = file.with_name(f"{_name(file, _sheets())}.json")
    content: dict[str, Any] = json.loads(metadata.read_text(encoding="utf-8"))
    return content


@cache
def _sheets() -> dict[str, Path]:
    """Return the rulesheets by name in lower case, with and without suffix."""
    everything = list(Path(__file__).parent.iterdir())  # a wheel is always unpacked on disk
    sheets: dict[str, Path] = {}
    for ending in ENDINGS:
        for file in everything:
            if file.suffix == ending:
                sheets.setdefault(file.stem.lower(), file)
                sheets[file.name.lower()] = file
    return sheets


def _name(file: Path, sheets: dict[str, Path]) -> str:
    """Return the name of a game."""
    return file.stem if sheets[file.stem.lower()] == file else file.name

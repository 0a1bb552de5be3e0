"""Hints for drawing a game: what cannot be told from its rules.

They stand under the key `drawing` of the facts of a bundled game, and for a file `NAME.kif` in
`NAME.drawing.json` beside it.

| key       | value                                                                                    |
|-----------|------------------------------------------------------------------------------------------|
| `boards`  | by name of the fluent: `form` ("square", "hex", "hex-left"), `across`, `upward`, `rack`    |
| `fluents` | by name: `first`, `second`, `keys`, `content` (lists of argument positions), `edge`, `crowded` |
| `pieces`  | by content in lower case: `kind`, `colour`, `text`, `turn` (`herbrand.draw.looks.Look`)    |
| `hide`    | names of fluents that are not drawn                                                       |
| `moves`   | by name of the move: `[]` when it refers to no place                                      |
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["KEYS", "hints_for", "read_hints"]

KEYS: Final = ("boards", "fluents", "pieces", "hide", "moves")
MOST_BYTES: Final = 100_000


def hints_for(game: StateMachine) -> dict[str, Any]:
    """Return the hints for a game: of the file beside it, or of a bundled game; none else.

    Raises `HerbrandError` for a file of hints that cannot be read.
    """
    from herbrand import games

    source = Path(game.tree.source.name)
    beside = source.with_name(f"{source.stem}.drawing.json")
    if source.suffix and beside.is_file():
        return read_hints(beside)
    bundled = {str(games.path(name)) for name in games.names()}
    if str(source) in bundled:
        return dict(games.info(source.name).get("drawing", {}))
    return {}


def read_hints(path: Path) -> dict[str, Any]:
    """Read a file of hints; `HerbrandError` says what is wrong with it."""
    try:
        data = path.read_bytes()
        content = json.loads(data) if len(data) <= MOST_BYTES else None
    except ValueError as error:
        raise HerbrandError(f"`{path}` is no file of hints: {error}") from error
    if not isinstance(content, dict):
        raise HerbrandError(
            f"`{path}` is no file of hints: it must hold an object of at most {MOST_BYTES} bytes"
        )
    wrong = sorted(set(content) - set(KEYS))
    if wrong:
        raise HerbrandError(f"`{path}` has a hint `{wrong[0]}` (there are: {', '.join(KEYS)})")
    for key, value in content.items():
        if not isinstance(value, list if key == "hide" else dict):
            raise HerbrandError(
                f"`{path}`: the hint `{key}` must be {'a list' if key == 'hide' else 'an object'}"
            )
    return content

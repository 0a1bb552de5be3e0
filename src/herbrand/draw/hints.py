"""Hints for drawing a game: what cannot be told from its rules.

They stand in `NAME.drawing.json` beside a file `NAME.kif`, under the key `drawing` of the facts of a bundled
game, or in a line of the comment at the beginning of a rulesheet: `;; drawing: {"boards": ...}`.

| key       | value                                                                                    |
|-----------|------------------------------------------------------------------------------------------|
| `boards`  | by name of the fluent: `form` ("square", "hex", "hex-left"), `across`, `upward`, ... |
| `fluents` | by name: `first`, `second`, `keys`, `content` (lists of argument positions), `edge`, `crowded` |
| `pieces`  | by content in lower case: `kind`, `colour`, `text`, `turn` (`herbrand.draw.looks.Look`)    |
| `hide`    | names of fluents that are not drawn                                                       |
| `moves`   | by name of the move: `[]` when it refers to no place                                      |
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["KEYS", "comment_of", "hints_for", "read_hints"]

KEYS: Final = ("boards", "fluents", "pieces", "hide", "moves")
MOST_BYTES: Final = 100_000
_MARK: Final = "drawing: "
_IN_COMMENT: Final = re.compile(rf"\s*(?:;+|%+|//+|#+)\s*{_MARK}(.*)")


def hints_for(game: StateMachine) -> dict[str, Any]:
    """Return the hints for a game: of the file beside it, of a bundled game, or of its comment; none else.

    Raises `HerbrandError` for a file of hints that cannot be read.
    """
    from herbrand import games

    source = Path(game.tree.source.name)
    beside = source.with_name(f"{source.stem}.drawing.json")
    if source.suffix and beside.is_file():
        return read_hints(beside)
    if str(source) in {str(games.path(name)) for name in games.names()}:
        hints = games.info(source.name).get("drawing")
        if hints is not None:
            return dict(hints)
    for line in game.tree.source.text.splitlines():
        if match := _IN_COMMENT.match(line):
            return _checked(match[1].encode(), "the comment `drawing:`")
        if line.strip() and line.lstrip()[0] not in ";%/#":
            break
    return {}


def comment_of(hints: dict[str, Any], mark: str = ";;;") -> str:
    """Return the line of a comment that gives these hints."""
    return f"{mark} {_MARK}{json.dumps(hints)}"


def read_hints(path: Path) -> dict[str, Any]:
    """Read a file of hints; raises `HerbrandError` with the reason if it is invalid."""
    return _checked(path.read_bytes(), f"`{path}`")


def _checked(data: bytes, where: str) -> dict[str, Any]:
    try:
        content = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError) as error:
        raise HerbrandError(f"{where} has no valid hints for drawing: {error}") from error
    if not isinstance(content, dict):
        raise HerbrandError(
            f"{where} has no valid hints for drawing: they are an object of at most {MOST_BYTES} bytes"
        )
    wrong = sorted(set(content) - set(KEYS))
    if wrong:
        raise HerbrandError(f"{where} has a hint `{wrong[0]}` (there are: {', '.join(KEYS)})")
    for key, value in content.items():
        if not isinstance(value, list if key == "hide" else dict):
            raise HerbrandError(
                f"{where}: the hint `{key}` must be {'a list' if key == 'hide' else 'an object'}"
            )
    return content

"""The base class of game designs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.hints import comment_of
from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.from_json import block_from_json
from herbrand.evolve.blocks.grammar import within
from herbrand.evolve.blocks.parameters import Writing, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from herbrand.evolve.sheet import SheetWriter
    from herbrand.game import Game

__all__ = ["Design", "design_from_json"]

_FIRST: Final = [*"bdfghklmnprstvz", "br", "dr", "gr", "kr", "tr", "st", "sk"]
_VOWELS: Final = [*"aeiou", "ai", "ei", "ou"]
_LAST: Final = ["n", "l", "r", "k", "m", "s", "th", "x", "nd", "rk", "lt"]


@dataclass(frozen=True)
class Design(Block):
    """A complete game composed of blocks, as a value with a JSON form.

        >>> from herbrand.evolve import BoardGame, InARow, Piece, Place, Squares
        >>> design = BoardGame(Squares(3, 3), (Piece((Place(),)),), goals=(InARow(3),))
        >>> design.problems()
        []
        >>> design.game().simulate(100, seed=1).playouts
        100

    Not every combination of blocks is a game (see `problems`).  A design without problems prints as a
    rulesheet without warnings, in which every play ends and every role always has a legal move.
    """

    @property
    def name(self) -> str:
        """A pronounceable name derived from a hash of the design."""
        content = json.dumps(self.as_json(), sort_keys=True)
        number = int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big")
        name = ""
        for parts in (_FIRST, _VOWELS, _FIRST, _VOWELS, _LAST):
            number, index = divmod(number, len(parts))
            name += parts[index]
        return name.capitalize()

    def problems(self) -> list[str]:
        """Return all reasons why this is not a game; empty for a game."""
        invalid = [
            f"invalid value {value!r} of `{path}`"
            for path, value, grammar in within(self)
            if not grammar.holds(value)
        ]
        return invalid or list(self._problems())

    def _problems(self) -> Iterable[str]:
        raise NotImplementedError

    def paragraphs(self) -> list[str]:
        """Describe the game to people, in sentences from its blocks."""
        raise NotImplementedError

    def in_words(self) -> str:
        """Describe the game in one paragraph."""
        return " ".join(self.paragraphs())

    def rulesheet(self) -> str:
        """Return the game as GDL or GDL-II with comments; valid if there are no `problems`."""
        return self.sheet_of().text(self.helpers())

    def ggdl(self) -> str:
        """Return the same game in GGDL, with some numbers of the design as parameters.

        >>> from herbrand.evolve import BoardGame, InARow, Piece, Place, Squares
        >>> design = BoardGame(Squares(3, 3), (Piece((Place(),)),), goals=(InARow(3),))
        >>> from herbrand import loads
        >>> [parameter.name for parameter in loads(design.ggdl(), "ggdl").parameters]
        ['width', 'height', 'length', 'steps']
        """
        varied = self.with_parameters()
        sheet = replace(varied.sheet_of(), title=self.name, about=self.sheet_of().about)
        return sheet.ggdl(varied.helpers(), parameters_of(varied), varied.writing())

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections, without helper relations."""
        raise NotImplementedError

    def helpers(self) -> dict[str, tuple[str, str]]:
        """Return the helper relations that rules may use: comment of the section and rules."""
        raise NotImplementedError

    def with_parameters(self) -> Self:
        """Return the design with numbers that can vary independently of the rules as parameters."""
        return self

    def writing(self) -> Writing:
        """Return the relations that are shorter in GGDL, for a design with parameters."""
        return Writing({}, {})

    def game(self) -> Game:
        """Return the game, cached for the most recent designs."""
        return _game_of(self)

    def rules_as_text(self) -> str:
        """Return the rules without comments and layout."""
        return self.sheet_of().rules(self.helpers())

    @property
    def drawing(self) -> dict[str, Any]:
        """How to draw the board, where rules do not tell (a hint for `herbrand.draw`)."""
        return {}

    @property
    def size(self) -> int:
        """Number of blocks and fields, as a measure of the complexity of the rules."""
        return _size(self)


@lru_cache(maxsize=4)
def _game_of(design: Design) -> Game:
    from herbrand.game import loads

    return loads(f"{comment_of(design.drawing)}\n{design.rules_as_text()}", "prefix", name=design.name)


def _size(value: Any) -> int:
    if isinstance(value, Block):
        return 1 + sum(_size(getattr(value, part.name)) for part in fields(value))
    return sum(map(_size, value)) if isinstance(value, tuple) else value is not None


def design_from_json(content: Any) -> Design:
    """Return the design from the result of `as_json`; `HerbrandError` for invalid content."""
    return block_from_json(content, Design)

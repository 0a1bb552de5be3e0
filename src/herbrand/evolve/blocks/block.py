"""What every block of a game is: a value that can say itself in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """A part of a game: immutable, hashable, comparable, with a JSON form.

    Each kind is a frozen dataclass whose fields come from `herbrand.evolve.blocks.grammar`.  Kinds are known
    by the names of their classes.
    """

    kinds: ClassVar[dict[str, type[Block]]] = {}
    """All kinds of blocks there are."""

    def __init_subclass__(cls) -> None:
        Block.kinds[cls.__name__] = cls

    def in_words(self) -> str:
        """Say in a sentence or a phrase what the block means for players."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Return the block as JSON: `block` has the kind, the other keys its fields."""
        found: dict[str, Any] = {"block": type(self).__name__}
        for part in fields(self):
            value = getattr(self, part.name)
            found[part.name] = (
                value.as_json()
                if isinstance(value, Block)
                else [item.as_json() if isinstance(item, Block) else item for item in value]
                if isinstance(value, tuple)
                else value
            )
        return found

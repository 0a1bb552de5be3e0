"""The base class of blocks: values with a description and a JSON form."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """A part of a game: immutable, hashable, comparable, with a JSON form.

    Each kind is a frozen dataclass whose fields declare their valid values.
    """

    kinds: ClassVar[dict[str, type[Block]]] = {}
    """All kinds of blocks by class name."""

    def __init_subclass__(cls) -> None:
        Block.kinds[cls.__name__] = cls

    def in_words(self) -> str:
        """Describe the block to players in a sentence or a phrase."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """Return the block as JSON: its kind in `block`, and its fields."""
        content: dict[str, Any] = {"block": type(self).__name__}
        for part in fields(self):
            value = getattr(self, part.name)
            content[part.name] = (
                value.as_json()
                if isinstance(value, Block)
                else [item.as_json() if isinstance(item, Block) else item for item in value]
                if isinstance(value, tuple)
                else value
            )
        return content

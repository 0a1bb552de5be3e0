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
        content = {part.name: _as_json(getattr(self, part.name)) for part in fields(self)}
        return {"block": type(self).__name__, **content}


def _as_json(value: Any) -> Any:
    if isinstance(value, Block):
        return value.as_json()
    return list(map(_as_json, value)) if isinstance(value, tuple) else value

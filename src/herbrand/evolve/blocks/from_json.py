"""Reads blocks from the JSON of `Block.as_json`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from herbrand.errors import HerbrandError
from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import grammar_of

__all__ = ["block_from_json"]

B = TypeVar("B", bound=Block)


def block_from_json(content: Any, kind: type[B]) -> B:
    """Return the block from the result of `as_json`; missing fields have their defaults.

    Raises `HerbrandError`, naming all invalid fields, if the content is not a block of this kind.
    """
    errors: list[str] = []
    block = _read(content, "", errors)
    if not errors and not isinstance(block, kind):
        errors.append(f"there is a {type(block).__name__} instead of a {kind.__name__}")
    if errors:
        raise HerbrandError("not a design: " + "; ".join(errors))
    assert isinstance(block, kind)
    return block


def _read(content: Any, path: str, errors: list[str]) -> Any:
    at = f" at {path}" if path else ""
    if not isinstance(content, dict) or content.get("block") not in Block.kinds:
        named = content.get("block") if isinstance(content, dict) else content
        errors.append(f"unknown block {named!r}{at} (one of: {', '.join(sorted(Block.kinds))})")
        return None
    kind = Block.kinds[content["block"]]
    grammars = grammar_of(kind)
    names = {part.name for part in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in content.items():
        here = f"{path}.{name}" if path else name
        if name == "block":
            continue
        if name not in names:
            errors.append(f"{kind.__name__} has no field `{name}`{at} (it has: {', '.join(sorted(names))})")
            continue
        before = len(errors)
        if isinstance(value, dict):
            value = _read(value, here, errors)
        elif isinstance(value, list):
            value = tuple(
                _read(item, f"{here}.{number}", errors) if isinstance(item, dict) else item
                for number, item in enumerate(value)
            )
        if len(errors) == before and name in grammars and not grammars[name].holds(value):
            errors.append(f"invalid value {value!r} of {here} (allowed: {grammars[name]})")
        values[name] = value
    return None if errors else kind(**values)

"""Blocks from the JSON that `Block.as_json` writes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from herbrand.errors import HerbrandError
from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import grammar_of

__all__ = ["block_from_json"]

B = TypeVar("B", bound=Block)


def block_from_json(content: Any, kind: type[B]) -> B:
    """Return the block that `as_json` wrote.

    Fields that are left out have their usual values.  Raises `HerbrandError` with every wrong field named
    when the content is no block of the kind asked for.
    """
    wrong: list[str] = []
    made = _read(content, "", wrong)
    if not wrong and not isinstance(made, kind):
        wrong.append(f"there is a {type(made).__name__} instead of a {kind.__name__}")
    if wrong:
        raise HerbrandError("this is no design: " + "; ".join(wrong))
    assert isinstance(made, kind)
    return made


def _read(content: Any, path: str, wrong: list[str]) -> Any:
    at = f" at {path}" if path else ""
    if not isinstance(content, dict) or content.get("block") not in Block.kinds:
        named = content.get("block") if isinstance(content, dict) else content
        wrong.append(f"{named!r} names no block{at} (there are: {', '.join(sorted(Block.kinds))})")
        return None
    kind = Block.kinds[content["block"]]
    grammars = grammar_of(kind)
    known = {part.name for part in fields(kind)}
    values: dict[str, Any] = {}
    for name, value in content.items():
        here = f"{path}.{name}" if path else name
        if name == "block":
            continue
        if name not in known:
            wrong.append(f"{kind.__name__} has no field `{name}`{at} (it has: {', '.join(sorted(known))})")
            continue
        before = len(wrong)
        if isinstance(value, dict):
            value = _read(value, here, wrong)
        elif isinstance(value, list):
            value = tuple(
                _read(item, f"{here}.{number}", wrong) if isinstance(item, dict) else item
                for number, item in enumerate(value)
            )
        if len(wrong) == before and name in grammars and not grammars[name].holds(value):
            wrong.append(f"{value!r} may not stand at {here} (allowed: {grammars[name]})")
        values[name] = value
    return None if wrong else kind(**values)

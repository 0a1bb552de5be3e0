"""The catalogue of measures, each with its definition and sources, from `catalogue.toml`.

A *score* is the result of a game by rank: 1 for the only role with the highest goal, 1/t for each of t roles
that share it, 0 for the others.  `random` does not count as a role.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["CATALOGUE", "SOURCES", "Definition"]


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a measure."""

    name: str
    about: str
    """The definition in one sentence."""
    group: str
    """"rules", "random play", "search play" or "comparison"."""
    sources: tuple[str, ...] = ()
    """Keys of `SOURCES`."""
    unit: str = ""
    """The unit of a count; empty for a share from 0 to 1."""
    players: int = 1
    """Minimum number of roles, chance not counted."""


_FILE: Final = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8"))
SOURCES: Final[dict[str, str]] = _FILE["sources"]
"""References by the keys used in the catalogue."""
CATALOGUE: Final = {
    name: Definition(name, **{**entry, "sources": tuple(entry["sources"])})
    for name, entry in _FILE["measures"].items()
}
"""All definitions by name, in display order."""

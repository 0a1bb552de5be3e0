"""The origin of a game."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herbrand.evolve.blocks.design import Design

__all__ = ["Lineage", "Variant"]


@dataclass(frozen=True, slots=True)
class Lineage:
    """The origin of a game: operator, seed and parents determine it."""

    operator: str
    """`random`, `mutate`, `cross`, `mutate_rules` or `cross_rules`."""
    seed: int
    parents: tuple[str, ...] = ()
    """Names of its parents."""
    detail: str = ""
    """Description of the change."""

    def as_json(self) -> dict[str, Any]:
        """Return the lineage as JSON-ready data."""
        return {**asdict(self), "parents": list(self.parents)}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Lineage:
        """Return the lineage from the result of `as_json`."""
        return cls(**{**content, "parents": tuple(content["parents"])})

    def __str__(self) -> str:
        of = f" of {' and '.join(self.parents)}" if self.parents else ""
        return f"{self.operator}{of}{': ' if self.detail else ''}{self.detail}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A new design, or None if every attempt failed."""

    design: Design | None
    lineage: Lineage
    discarded: tuple[str, ...] = ()
    """The reason for discarding each earlier attempt."""

"""Candidates: how a game is to be made, and what was found out about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from herbrand.evolve.blocks.design import Design, design_from_json
from herbrand.evolve.random_designs import FAMILIES
from herbrand.evolve.variation.lineage import Lineage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from herbrand.game import Game

__all__ = ["Candidate", "EvaluationJob", "SearchSettings"]


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What decides the result of a search, beside how long it goes on."""

    seed: int = 0
    batch: int = 16
    """Candidates that are drawn from one state of the archive."""
    first: int = 48
    """So many candidates are random designs, before any is varied."""
    families: tuple[str, ...] = tuple(FAMILIES)
    """Of random designs: `board`, `tricks`, `market`."""
    pairs: int = 16
    """Pairs of games in each contest between players that search."""
    gates: int = 20_000
    """Larger networks are not looked at."""

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON-ready data."""
        return {**asdict(self), "families": list(self.families)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> SearchSettings:
        """Return what `as_json` wrote."""
        return cls(**{**content, "families": tuple(content["families"])})


@dataclass(frozen=True, slots=True)
class EvaluationJob:
    """One candidate to be made and looked at; can be sent to another process."""

    operator: str
    seed: int
    parents: tuple[Design, ...]
    settings: SearchSettings
    measure: Callable[[Game, int], Mapping[str, float]] | None = None
    """Measures a game by a seed; `herbrand.measure` if None."""
    known: frozenset[str] = frozenset()
    """Networks of games that are there already: who plays as one of them is thrown away."""


@dataclass(slots=True)
class Candidate:
    """A game that was made, and what was found out about it."""

    design: Design | None
    lineage: Lineage
    reason: str = ""
    """Why it was thrown away; empty for a game that was measured."""
    measures: dict[str, float] = field(default_factory=dict)
    quality: float = 0.0
    cell: tuple[str, ...] = ()
    """Where in the archive it belongs."""
    proofs: dict[str, str] = field(default_factory=dict)
    """Properties with their verdicts, for games that were better than the one in their cell."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor seconds of each stage."""
    number: int = -1
    """Place among all candidates of the search."""
    network: str = ""
    """The same for games that are the same, gate by gate; empty where there is none."""

    @property
    def name(self) -> str:
        """Name of the design."""
        return self.design.name if self.design is not None else "-"

    @property
    def measured(self) -> bool:
        """Whether it passed the filters, so that it was measured."""
        return bool(self.cell)

    def as_json(self) -> dict[str, Any]:
        """Return the candidate as JSON-ready data."""
        return {
            "number": self.number,
            "name": self.name,
            "design": None if self.design is None else self.design.as_json(),
            "lineage": self.lineage.as_json(),
            "reason": self.reason,
            "measures": self.measures,
            "quality": self.quality,
            "cell": list(self.cell),
            "proofs": self.proofs,
            "seconds": self.seconds,
            "network": self.network,
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Candidate:
        """Return what `as_json` wrote."""
        design = content["design"]
        return cls(
            None if design is None else design_from_json(design),
            Lineage.from_json(content["lineage"]),
            content["reason"],
            dict(content["measures"]),
            content["quality"],
            tuple(content["cell"]),
            dict(content["proofs"]),
            dict(content["seconds"]),
            content["number"],
            content.get("network", ""),
        )

"""Candidates of a search, and the jobs that create them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
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
    """The settings that determine the result of a search, besides its duration."""

    seed: int = 0
    batch: int = 16
    """Number of candidates drawn from one state of the archive."""
    first: int = 48
    """Number of initial candidates, which are random designs."""
    families: tuple[str, ...] = tuple(FAMILIES)
    """Of random designs: `board`, `tricks`, `market`."""
    pairs: int = 16
    """Pairs of games in each contest between searching players."""
    gates: int = 20_000
    """Maximum size of a network."""

    def as_json(self) -> dict[str, Any]:
        """Return the settings as JSON-ready data."""
        return {**asdict(self), "families": list(self.families)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> SearchSettings:
        """Return the settings from the result of `as_json`."""
        return cls(**{**content, "families": tuple(content["families"])})


@dataclass(frozen=True, slots=True)
class EvaluationJob:
    """A candidate to be created and evaluated; can be sent to another process."""

    operator: str
    seed: int
    parents: tuple[Design, ...]
    settings: SearchSettings
    measure: Callable[[Game, int], Mapping[str, float]] | None = None
    """Function that measures a game with a seed; `herbrand.measure` if None."""
    known: frozenset[str] = frozenset()
    """Network digests of existing games; candidates with one of them are discarded."""


@dataclass(slots=True)
class Candidate:
    """A game and the results of its evaluation."""

    design: Design | None
    lineage: Lineage
    reason: str = ""
    """Why it was discarded; empty for a game that was measured."""
    measures: dict[str, float] = field(default_factory=dict)
    quality: float = 0.0
    cell: tuple[str, ...] = ()
    """Its cell of the archive."""
    proofs: dict[str, str] = field(default_factory=dict)
    """Verdicts by property, for games that were better than the one in their cell."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor seconds of each stage."""
    number: int = -1
    """Index among all candidates of the search."""
    network: str = ""
    """Digest of the network, equal for games with equal networks; empty without a network."""

    @property
    def name(self) -> str:
        """Name of the design."""
        return self.design.name if self.design is not None else "-"

    @property
    def measured(self) -> bool:
        """Whether it passed the filters and was measured."""
        return bool(self.cell)

    def as_json(self) -> dict[str, Any]:
        """Return the candidate as JSON-ready data."""
        own = {part.name: getattr(self, part.name) for part in fields(self)}
        design = None if self.design is None else self.design.as_json()
        plain = {"design": design, "lineage": self.lineage.as_json(), "cell": list(self.cell)}
        return {"number": self.number, "name": self.name, **own, **plain}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Candidate:
        """Return the candidate from the result of `as_json`."""
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

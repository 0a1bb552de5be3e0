"""The archive: the best game of each cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.evolve.search.candidate import Candidate

__all__ = ["Archive"]

MIN_QUALITY: Final = 0.05
"""Minimum quality; games below it are unfair or nearly always drawn."""


@dataclass(slots=True)
class Archive:
    """The best game of each cell; depends only on the candidates and their order."""

    cells: dict[tuple[str, ...], Candidate] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    """Names of all candidates so far."""
    networks: set[str] = field(default_factory=set)
    """Digests of their networks."""

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> Archive:
        """Return the archive that results from candidates."""
        archive = cls()
        for candidate in candidates:
            archive.add(candidate)
        return archive

    def wants(self, candidate: Candidate) -> bool:
        """Whether a candidate is new and better than the game in its cell."""
        if candidate.reason or candidate.quality < MIN_QUALITY or candidate.name in self.names:
            return False
        elite = self.cells.get(candidate.cell)
        return elite is None or candidate.quality > elite.quality

    def add(self, candidate: Candidate) -> bool:
        """Add a candidate; return whether it became the game of its cell."""
        is_better = self.wants(candidate)
        if is_better:
            self.cells[candidate.cell] = candidate
        self.names.add(candidate.name)
        self.networks.add(candidate.network)
        return is_better

    def elites(self) -> list[Candidate]:
        """Return the games of all cells, the best first."""
        return sorted(self.cells.values(), key=lambda c: (-c.quality, c.number))

    def copy(self) -> Archive:
        """Return an independent copy."""
        return Archive(dict(self.cells), set(self.names), set(self.networks))

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.elites())

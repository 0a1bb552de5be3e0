"""The archive: the best game of each cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.evolve.search.candidate import Candidate

__all__ = ["Archive"]

LEAST: Final = 0.05
"""Games of less quality are not kept, whatever cell they are in: they are unfair, or always drawn."""


@dataclass(slots=True)
class Archive:
    """Games by cells.  Two archives are the same when the same candidates came in the same order."""

    cells: dict[tuple[str, ...], Candidate] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    """Names of all games that were ever looked at."""
    networks: set[str] = field(default_factory=set)
    """Their networks."""

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> Archive:
        """Return the archive that candidates lead to."""
        archive = cls()
        for candidate in candidates:
            archive.add(candidate)
        return archive

    def wants(self, candidate: Candidate) -> bool:
        """Whether a candidate is better than what its cell has; new names only."""
        if candidate.reason or candidate.quality < LEAST or candidate.name in self.names:
            return False
        old = self.cells.get(candidate.cell)
        return old is None or candidate.quality > old.quality

    def add(self, candidate: Candidate) -> bool:
        """Put a candidate into its cell if it is better than what is there; say whether it was."""
        better = self.wants(candidate)
        if better:
            self.cells[candidate.cell] = candidate
        self.names.add(candidate.name)
        self.networks.add(candidate.network)
        return better

    def elites(self) -> list[Candidate]:
        """Return the games that are kept, the best first."""
        return sorted(self.cells.values(), key=lambda c: (-c.quality, c.number))

    def copy(self) -> Archive:
        """Return an archive that further candidates do not change."""
        return Archive(dict(self.cells), set(self.names), set(self.networks))

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.elites())

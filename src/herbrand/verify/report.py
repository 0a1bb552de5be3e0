"""Reports of comparisons between two evaluations of a game."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Difference", "Report", "Side", "shown", "surplus"]

_SHOWN = 8
"""The most differing terms in a message."""


@dataclass(frozen=True, slots=True)
class Side:
    """The answer of one engine for an atom, with the explanation by the rules in the same state."""

    engine: str
    atom: str
    holds: bool
    """The answer of the engine."""
    why: str
    """The derivation of the atom from the rules, or why there is none, as a tree in text form."""
    agrees: bool
    """Whether the explanation agrees with the engine."""

    def __str__(self) -> str:
        verb = "holds" if self.holds else "does not hold"
        reason = "because" if self.agrees else "but"
        lines = self.why.replace("\n", "\n      ")
        return f"{self.engine} says that {self.atom} {verb}, {reason}\n      {lines}"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first disagreement of two evaluations."""

    match: int
    step: int
    what: str
    """"state", "terminal", "legal ROLE", "goal ROLE" or "move"."""
    expected: str
    got: str
    moves: tuple[str, ...] = ()
    """The joint moves from the initial state, as for `herbrand show --moves`."""
    state: tuple[str, ...] = ()
    """The fluents of the state, sorted; if states differ, those of the last common state."""
    sides: tuple[Side, ...] = ()
    """For engines: their answers for the first atom on which they differ."""

    def __str__(self) -> str:
        path = f"\n  moves: {'; '.join(self.moves)}" if self.moves else ""
        state = f"\n  state: {' '.join(self.state)}" if self.state else ""
        sides = "".join(f"\n  {side}" for side in self.sides)
        return (
            f"match {self.match}, step {self.step}: {self.what} differs\n"
            f"  expected: {self.expected}\n  got:      {self.got}{path}{state}{sides}"
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a comparison."""

    states: int
    difference: Difference | None = None
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    """Processor seconds, without reading the rules."""
    engine: str = field(default="")
    compared: Mapping[str, int] = field(default_factory=dict)
    """For engines: the number of states in which each was compared with the first."""
    unsupported: Mapping[str, str] = field(default_factory=dict)
    """Engines that gave up or did not start, with the reason."""

    @property
    def ok(self) -> bool:
        """Whether everything agreed."""
        return self.difference is None


def shown(terms: Sequence[str]) -> str:
    """Return the first of some terms, and the number of the others."""
    more = f" ... {len(terms) - _SHOWN} more" if len(terms) > _SHOWN else ""
    return (" ".join(terms[:_SHOWN]) or "nothing") + more


def surplus(first: Iterable[str], second: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the terms that only the first has and those that only the second has, in lower case, sorted."""
    left, right = ({term.lower() for term in terms} for terms in (first, second))
    return sorted(left - right), sorted(right - left)

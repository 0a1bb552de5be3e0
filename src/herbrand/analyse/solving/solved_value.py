"""The proved value of a game, independent of the method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herbrand.analyse.solving.by_search import SearchedValue
    from herbrand.analyse.solving.forcing import ForcedGoals
    from herbrand.analyse.verdict import Moves

__all__ = ["SolvedValue"]


@dataclass(frozen=True)
class SolvedValue:
    """The proved value of a game, or bounds on it."""

    method: str
    bounds: dict[str, tuple[float, float]]
    """For each role, bounds on the goal value that it can force: the least and the greatest."""
    value: dict[str, float] | None
    """The result of best play, where it is known."""
    chooser: str | None = None
    """The role that chooses first, if one does."""
    best: tuple[str, ...] = ()
    """Moves of that role that are known to be best."""
    moves: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The moves of that role with bounds on the goal value that it can force after each."""
    line: Moves = ()
    states: int = 0
    """States listed, or expanded by the search."""
    symmetries: int = 1
    """Symmetries of the rules that the search made use of, the identity included."""
    seconds: float = 0.0
    stopped: str = ""
    """Why not everything is known; empty if it is."""
    notes: tuple[str, ...] = ()
    searched: SearchedValue | None = field(default=None, repr=False, compare=False)
    """Results from which `make_strategy` makes strategies, of games that were searched."""
    forced: ForcedGoals | None = field(default=None, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "method": self.method,
            "value": self.value,
            "bounds": {role: list(pair) for role, pair in self.bounds.items()},
            "chooser": self.chooser,
            "best": list(self.best),
            "moves": {move: list(pair) for move, pair in self.moves.items()},
            "line": [list(joint) for joint in self.line],
            "states": self.states,
            "symmetries": self.symmetries,
            "stopped": self.stopped or None,
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }

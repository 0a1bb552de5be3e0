"""How much play a measurement is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CHEAP", "EFFORTS", "FULL", "THOROUGH", "Effort"]


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of games, so that the same effort and seed give the same result on any machine."""

    name: str
    playouts: int = 1024
    """Random games for how games end."""
    traced: int = 64
    """Random games that are followed step by step."""
    max_steps: int = 300
    """Steps after which a game counts as not ended."""
    pairs: int = 0
    """Pairs of games in each contest of two players; 0 measures nothing that needs search."""
    rungs: tuple[int, ...] = (1, 4, 16, 64)
    """Random games after each move that the players of the skill ladder look at, weakest first."""
    estimates: int = 64
    """Random games from each state of a line of play, for who is in the lead."""
    work: float = 4e9
    """About how many gates times games may be evaluated in play with search; the numbers above are
    made smaller for games that would need more."""

    def __post_init__(self) -> None:
        least = min(self.playouts, self.traced, self.max_steps, self.estimates, *self.rungs)
        if least < 1 or self.pairs < 0 or not self.rungs:
            raise ValueError("an effort has positive numbers, and at least one rung")
        if list(self.rungs) != sorted(set(self.rungs)):
            raise ValueError("the rungs of an effort ascend")


CHEAP: Final = Effort("cheap")
"""The rules and random games: some milliseconds once the game is ready."""
FULL: Final = Effort("full", pairs=32)
"""Play with search as well: about a second for a game on a small board."""
THOROUGH: Final = Effort(
    "thorough", playouts=8192, traced=256, pairs=128, rungs=(1, 4, 16, 64, 256), work=1e11
)
"""For games that are to be kept: some ten seconds."""
EFFORTS: Final = {effort.name: effort for effort in (CHEAP, FULL, THOROUGH)}

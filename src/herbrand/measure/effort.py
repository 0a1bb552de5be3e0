"""How much play a measurement is made from."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
    """Positions that the players of the skill ladder open before a move, weakest first."""
    estimates: int = 64
    """Random games from each state of a line of play, for who is in the lead."""
    work: float = 4.0
    """About how many seconds play with search may take, on a core of the year 2022.

    It is reckoned from the size of the game, not from a clock: there are fewer pairs and fewer rungs
    (`within`) where it would be more, so that the result is the same on any machine.
    """

    def __post_init__(self) -> None:
        least = min(self.playouts, self.traced, self.max_steps, self.estimates, *self.rungs)
        if least < 1 or self.pairs < 0 or not self.rungs:
            raise ValueError("an effort has positive numbers, and at least one rung")
        if list(self.rungs) != sorted(set(self.rungs)):
            raise ValueError("the rungs of an effort ascend")

    def within(self, each_opening: float, choices: float, each_choice: float = 0.0) -> Effort | None:
        """Return as much of this effort as fits into its work; None if nothing does.

        `each_opening` are the seconds to open a position, `choices` is how often somebody chooses in a game,
        `each_choice` what that costs a player that searches besides.
        """

        def seconds(effort: Effort) -> float:
            # self-play, skill, and the ladder, in which both play half of the moves
            searching = [effort.rungs[-1], effort.searcher, *effort.rungs, *effort.rungs[:-1]]
            moves = sum(searching) * each_opening + len(searching) * each_choice
            return effort.pairs * choices * moves

        if not self.pairs:
            return None
        least = min(self.pairs, _LEAST_PAIRS)
        found = self
        while seconds(found) > self.work:
            pairs = max(least, int(found.pairs * self.work / seconds(found)))
            if pairs < found.pairs:
                found = replace(found, pairs=pairs)
            elif len(found.rungs) > 1:
                found = replace(found, rungs=found.rungs[:-1])
            else:
                return None
        return found

    @property
    def searcher(self) -> int:
        """The rung of the player that skill is measured with: the highest one up to 16."""
        return max((rung for rung in self.rungs if rung <= _SEARCHER), default=self.rungs[0])


_SEARCHER: Final = 16
_LEAST_PAIRS: Final = 10
"""Pairs of games below which rather the strongest player is left out."""
CHEAP: Final = Effort("cheap")
"""The rules and random games: some milliseconds once the game is ready."""
FULL: Final = Effort("full", pairs=24)
"""Play with search as well: about a second for a game on a small board."""
THOROUGH: Final = Effort(
    "thorough", playouts=8192, traced=256, pairs=128, rungs=(1, 4, 16, 64, 256), work=1e11
)
"""For games that are to be kept: some ten seconds."""
EFFORTS: Final = {effort.name: effort for effort in (CHEAP, FULL, THOROUGH)}

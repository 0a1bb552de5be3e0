"""`Effort`: how many games and playouts a measurement uses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["CHEAP", "EFFORTS", "FULL", "THOROUGH", "Effort"]


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of games; the same effort and seed give the same result on any machine."""

    name: str
    playouts: int = 1024
    """Playouts for the measures of outcomes."""
    traced: int = 64
    """Playouts that are traced step by step."""
    max_steps: int = 300
    """Steps after which a game is cut off."""
    pairs: int = 0
    """Pairs of games in each contest of two players; 0 skips the measures of search play."""
    rungs: tuple[int, ...] = (1, 4, 16, 64)
    """The skill ladder: positions that each player expands before a move, weakest first."""
    estimates: int = 64
    """Playouts from each state of a game that estimate its value."""
    work: float = 4.0
    """Estimated seconds for search play, at most, on a processor core of 2022.

    The estimate uses the size of the game, not a clock, so that the result is the same on any machine.
    Larger games get fewer pairs and rungs (`within`).
    """

    def __post_init__(self) -> None:
        smallest = min(self.playouts, self.traced, self.max_steps, self.estimates, *self.rungs)
        if smallest < 1 or self.pairs < 0 or not self.rungs:
            raise ValueError("an effort has positive numbers, and at least one rung")
        if list(self.rungs) != sorted(set(self.rungs)):
            raise ValueError("the rungs of an effort ascend")

    def within(self, each_opening: float, choices: float, each_choice: float = 0.0) -> Effort | None:
        """Reduce pairs and rungs until the estimated time is at most `work`; None if that is impossible.

        `each_opening` is the time to expand a position, `choices` the mean number of choices in a game, and
        `each_choice` the overhead of a search for each choice, in seconds.
        """

        def seconds(effort: Effort) -> float:
            # self-play, skill, and the ladder, in which both play half of the moves
            searching = [effort.rungs[-1], effort.searcher, *effort.rungs, *effort.rungs[:-1]]
            moves = sum(searching) * each_opening + len(searching) * each_choice
            return effort.pairs * choices * moves

        if not self.pairs:
            return None
        min_pairs = min(self.pairs, _LEAST_PAIRS)
        reduced = self
        while seconds(reduced) > self.work:
            pairs = max(min_pairs, int(reduced.pairs * self.work / seconds(reduced)))
            if pairs < reduced.pairs:
                reduced = replace(reduced, pairs=pairs)
            elif len(reduced.rungs) > 1:
                reduced = replace(reduced, rungs=reduced.rungs[:-1])
            else:
                return None
        return reduced

    @property
    def searcher(self) -> int:
        """The rung of the player that skill is measured with: the highest one up to 16."""
        return max((rung for rung in self.rungs if rung <= _SEARCHER), default=self.rungs[0])


_SEARCHER: Final = 16
_LEAST_PAIRS: Final = 10
"""Pairs of games below which the strongest player is dropped instead."""
CHEAP: Final = Effort("cheap")
"""Rules and random play: some milliseconds after the network is built."""
FULL: Final = Effort("full", pairs=24)
"""Also search play: about a second for a game on a small board."""
THOROUGH: Final = Effort(
    "thorough", playouts=8192, traced=256, pairs=128, rungs=(1, 4, 16, 64, 256), work=1e11
)
"""More games and a stronger player: about ten seconds for a game on a small board."""
EFFORTS: Final = {effort.name: effort for effort in (CHEAP, FULL, THOROUGH)}

"""Levels of strength for people, from beginner to expert: players that err as people do.

A weak level searches little, sees threats the less the more steps away they are, and chooses among the moves
that seem nearly as good as the best.  So its moves make sense, and its blunders are lines that it did not
see.  A strong level is `meta` with more time.  The matches behind the numbers are in
`docs/reference/strength.md`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from herbrand.play.interface import DelegatingPlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import MoveReport, PlayerReport
    from herbrand.play.interface import Player

__all__ = ["DEFAULT_LEVEL", "LEVELS", "LevelPlayer", "SkillLevel", "default_clock"]

_PLAYOUTS_PER_STATE: Final = 16
"""Playouts of the tree search that count as one of `ismcts`, which is slower but starts in many states."""
_WIN: Final = 100.0


@dataclass(frozen=True, slots=True)
class SkillLevel:
    """How strong a player is."""

    name: str
    about: str
    """A description for a person who chooses an opponent."""
    seconds: float
    """Maximum time for a move."""
    playouts: int | None = None
    """Playouts of the tree search for a move; None for `meta`, which only the time bounds."""
    sight: int = 0
    """Proved wins and losses at most so many steps ahead are always noticed."""
    attention: float = 1.0
    """The probability of noticing a proof falls by this factor for each step beyond `sight`."""
    temperature: float = 0.0
    """The points of a goal value by which a move may seem worse and still be chosen e times less often."""


LEVELS: Final = {
    level.name: level
    for level in (
        SkillLevel("beginner", "sees a move ahead, and often errs", 0.3, 4096, 0, 0.9, 2.5),
        SkillLevel("casual", "plays for fun", 0.5, 12288, 2, 0.95, 1.6),
        SkillLevel("club", "sees short tactics, and seldom errs", 1.0, 65536, 4, 0.98, 0.5),
        SkillLevel("strong", "thinks for two seconds", 2.0),
        SkillLevel("expert", "thinks for ten seconds", 10.0),
    )
}
"""From weak to strong, by name.  Pages that play without herbrand have the same names and descriptions."""

DEFAULT_LEVEL: Final = "strong"
"""The opponent of people who choose none."""


def default_clock(player: str) -> float:
    """Return the default number of seconds for a move of a player: that of its level, else 1.

    >>> default_clock("strong"), default_clock("process:beginner"), default_clock("mcts(threads=1)")
    (2.0, 0.3, 1.0)
    """
    level = LEVELS.get(player.removeprefix("process:").partition("(")[0].strip())
    return 1.0 if level is None else level.seconds


class LevelPlayer(DelegatingPlayer):
    """A player of some level; its subclasses are the levels.

    It takes no longer than its level does, whatever the clock.  `memory`, in megabytes, and `ponder` are
    those of `meta`, and without effect in weak levels.
    """

    level: SkillLevel

    def __init_subclass__(cls, level: SkillLevel) -> None:
        cls.level = level
        cls.__doc__ = f"For people: {level.about}."

    def __init__(self, seed: int | None = None, *, memory: float = 512.0, ponder: bool = False) -> None:
        super().__init__(seed, memory=memory, ponder=ponder)
        self._report: PlayerReport | None = None

    def prepare(self, deadline: float) -> None:
        """Create the player that searches, and let it prepare."""
        self._report = None
        self._deputy = self._create_searcher(self.game)
        self._deputy.start_for(self, deadline - time.monotonic())

    def _create_searcher(self, game: Game) -> Player:
        seed, playouts = self.chance.getrandbits(32), self.level.playouts
        if playouts is None:
            from herbrand.play.meta import MetaPlayer

            return MetaPlayer(seed, memory=self.memory, ponder=self.ponder)
        if game.has_percepts:
            from herbrand.play.ismcts import IsMctsPlayer

            return IsMctsPlayer(seed, playouts=max(1, playouts // _PLAYOUTS_PER_STATE))
        from herbrand.play.mcts import MctsPlayer

        return MctsPlayer(seed, memory=self.memory, playouts=playouts, probe=False, beam=False)

    def select(self, state: State, play_clock: float) -> Move:
        """Search for the time of the level, then choose as the level does."""
        self._report = None
        searcher = self._deputy
        if searcher is None:
            raise RuntimeError("the player was used before `start`")
        move = searcher.select(state, min(play_clock, self.level.seconds))
        report = searcher.report()
        if report is None or not report.moves:
            return move
        if self.level.playouts is not None:
            chosen = self._choose(report.moves)
            report = replace(report, moves=(chosen, *(one for one in report.moves if one is not chosen)))
            move = next((legal for legal in self.options(state) if str(legal) == chosen.move), move)
        self._report = replace(report, player=self.level.name)
        return move

    def _choose(self, moves: Sequence[MoveReport]) -> MoveReport:
        """Choose among the moves, the best first, by how good they seem."""
        seeming = [self._seeming(report) for report in moves]
        best = max(seeming)
        if not math.isfinite(best) or best >= _WIN or not self.level.temperature:
            return moves[seeming.index(best)]
        weights = [math.exp((value - best) / self.level.temperature) for value in seeming]
        return self.chance.choices(moves, weights)[0]

    def _seeming(self, report: MoveReport) -> float:
        """Return the value of a move as the level sees it: proofs that it does not notice are none."""
        if report.proved is not None:
            beyond = max(0, (report.plies or 1) - self.level.sight)
            if self.chance.random() < self.level.attention**beyond:
                return report.proved
        return -math.inf if report.mean is None else report.mean

    def report(self) -> PlayerReport | None:
        """Return the report of the search, the chosen move first."""
        return self._report


class Beginner(LevelPlayer, level=LEVELS["beginner"]): ...


class Casual(LevelPlayer, level=LEVELS["casual"]): ...


class Club(LevelPlayer, level=LEVELS["club"]): ...


class Strong(LevelPlayer, level=LEVELS["strong"]): ...


class Expert(LevelPlayer, level=LEVELS["expert"]): ...

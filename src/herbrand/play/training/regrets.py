"""`RegretTrainer`: strategies for games of hidden information, chance or simultaneous moves, by CFR+.

The whole tree of histories is unfolded and kept, so this is for small games; see
`herbrand.analyse.knowledge.regrets`.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.knowledge.behaviour import average_strategy
from herbrand.analyse.knowledge.regrets import RegretMinimiser
from herbrand.analyse.knowledge.unfolding import MOST_NODES, unfold
from herbrand.errors import BudgetExceeded, GameError, HerbrandError
from herbrand.play.training.interface import Training
from herbrand.runtime.limits import seconds_left

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from herbrand.analyse.knowledge.behaviour import BehaviourStrategy
    from herbrand.analyse.knowledge.unfolding import Unfolding
    from herbrand.game import Game

__all__ = ["RegretSnapshot", "RegretTrainer"]

PRECISION: Final = 0.001
"""The exploitability, in goal points, at which training ends."""
_FIRST_SNAPSHOT: Final = 10
_GROWTH: Final = 1.5
"""Snapshots are taken whenever the number of rounds has grown by this factor."""
_LISTENER_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class RegretSnapshot:
    """The progress of a training at one time."""

    rounds: int
    seconds: float
    """Wall-clock seconds of training."""
    exploitability: float
    """Goal points that players gain by best replies, on average."""


class RegretTrainer(Training):
    """Learns behaviour strategies of all roles of one game by regret minimisation.

    Nothing is drawn, so that the number of rounds alone determines the result.
    """

    unit = "round"

    def __init__(self, game: Game, tree: Unfolding) -> None:
        super().__init__(game)
        self.tree = tree
        self.minimiser = RegretMinimiser(tree)
        self.snapshots: list[RegretSnapshot] = []

    @classmethod
    def start(cls, game: Game, *, nodes: int | None = None, seconds: float | None = None) -> RegretTrainer:
        """Unfold the game and return a training at its beginning.

        Raises `GameError` with the reason for a game that cannot be played by its rules, has more than so
        many `nodes` (`MOST_NODES`), or takes more than `seconds` to unfold.
        """
        limits = game.limits if seconds is None else replace(game.limits, seconds=seconds)
        try:
            tree = unfold(game, nodes=MOST_NODES if nodes is None else nodes, limits=limits)
        except BudgetExceeded as error:
            raise GameError(
                f"strategies of `{game.name}` cannot be learned, "
                f"since its tree of histories is too large: {error}"
            ) from error
        return cls(game, tree)

    @property
    def done(self) -> int:
        """The number of rounds."""
        return self.minimiser.rounds

    @property
    def exploitability(self) -> float:
        """That of the last snapshot, in goal points; infinite without one."""
        return self.snapshots[-1].exploitability if self.snapshots else math.inf

    @property
    def converged(self) -> str:
        """Why training has ended, if it is precise enough."""
        precise = self.done > 0 and self.exploitability <= PRECISION
        return f"best replies gain no more than {PRECISION:g} points" if precise else ""

    def strategy(self) -> BehaviourStrategy:
        """Return the average strategies, by which players play."""
        return average_strategy(self.minimiser)[0]

    def run(
        self,
        *,
        seconds: float = math.inf,
        games: float = math.inf,
        executor: Executor | None = None,
        device: str | None = None,
        listener: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Train until it has lasted `seconds`, or so many rounds, both in all, or is precise enough.

        `games` counts rounds.  There is at least one round.  Everything runs in this process: the `executor`
        gets no tasks.
        """
        del executor
        if device is not None:
            raise HerbrandError("regret minimisation has no use for a device: it runs on the processor")
        update_clock, last_report = self.start_clock(), time.monotonic()

        def is_over() -> bool:
            return self.done > 0 and (self.seconds >= seconds or self.done >= games or not seconds_left())

        def tell(snapshot: RegretSnapshot | None) -> None:
            if listener is not None:
                listener(self, snapshot)

        if not self.snapshots:
            tell(self._take_snapshot())
        while not is_over() and not self.converged:
            self.minimiser.play_round()
            update_clock()
            if is_over() or self.done >= max(_FIRST_SNAPSHOT, _GROWTH * self.snapshots[-1].rounds):
                tell(self._take_snapshot())
            elif time.monotonic() - last_report > _LISTENER_SECONDS:
                tell(None)
            else:
                continue
            last_report = time.monotonic()
        update_clock()

    def _take_snapshot(self) -> RegretSnapshot:
        exploitability = average_strategy(self.minimiser)[1]
        self.snapshots.append(RegretSnapshot(self.done, self.seconds, exploitability))
        return self.snapshots[-1]

    def progress(self) -> str:
        """Return rounds and exploitability in a few words."""
        return f"{self.done} rounds, exploitability {self.exploitability:.3g}"

    def describe(self, snapshot: RegretSnapshot) -> str:
        """Return a snapshot as a line of text."""
        return (
            f"{snapshot.seconds:6.1f} s  {snapshot.rounds:7.0f} rounds  "
            f"exploitability {snapshot.exploitability:.4g} points"
        )

    def summary(self) -> list[tuple[str, str]]:
        """Return the results as names and values."""
        return [
            ("rounds", str(self.done)),
            ("minutes", f"{self.seconds / 60:.1f}"),
            *((name.replace("_", " "), str(size)) for name, size in self._sizes().items()),
            ("exploitability", f"{self.exploitability:.4g} points"),
        ]

    def _sizes(self) -> dict[str, int]:
        sets = sum(len(player.sets) for player in self.tree.players)
        return {"histories": self.tree.nodes, "information_sets": sets}

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON-ready data."""
        return {
            "rounds": self.done,
            **self._sizes(),
            "exploitability": self.exploitability,
            "converged": bool(self.converged),
            "snapshots": [asdict(snapshot) for snapshot in self.snapshots],
        }

    def chart(self) -> tuple[str, float, list[tuple[float, float]]]:
        """Return the exploitability of the snapshots, on a logarithmic scale."""
        title = f"{self.game.name}: exploitability in goal points, as a power of ten"
        points = [(one.seconds, math.log10(max(one.exploitability, 1e-12))) for one in self.snapshots]
        return title, 0.5, points

"""`Search`: one search tree for one game, worked on in rounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from herbrand.play.search.reading import ranked_arms
from herbrand.play.search.style import PLAIN
from herbrand.play.search.tree import JOINT, LANES, GameTree
from herbrand.play.search.worker import SearchWorker

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from herbrand.network.network import Network
    from herbrand.play.search.style import Style

__all__ = ["Search"]

_WAIT = 0.0005
"""Seconds to wait while the games of others are under way, from all leaves there are."""
_IDLE = 100
"""Rounds without a random game after which a search ends: everything in reach is known."""


class Search(GameTree):
    """A search tree that grows in rounds, until it is told to stop.

    `memory` is the size of the tree in bytes.  `each` is how many random games are played after every new
    position, on the average; fewer mean a deeper tree.  `exploration` is the constant of UCB1 for values from
    0 to 1.  `max_steps` cuts off games that do not end.  Each of `workers`, as many as `threads`, may be used
    by one thread, at the same time as the others; everything else by one thread alone, except that
    `stop` makes rounds give up within a step of the games.
    """

    def __init__(
        self,
        network: Network,
        *,
        memory: int = 1 << 29,
        seed: int = 0,
        exploration: float = 0.5,
        each: float = 1.0,
        max_steps: int = 1000,
        regret: bool = False,
        amaf: float = 0.0,
        widest: int = LANES,
        threads: int = 1,
        style: Style = PLAIN,
    ) -> None:
        super().__init__(
            network,
            memory=memory,
            seed=seed,
            exploration=exploration,
            each=each,
            max_steps=max_steps,
            regret=regret,
            amaf=amaf,
            widest=widest,
            style=style,
        )
        self.workers = [SearchWorker(self, seed + k) for k in range(threads)]

    def drawn_arm(self, role: int, chance: Random) -> int:
        """Draw an arm of a role at the root as often as regret matching took it on the average."""
        tree, at = self.tree, self.root
        begin = int(tree.first[at] + tree.sizes[at, :role].sum())
        arms = range(begin, begin + int(tree.sizes[at, role]))
        weights = [float(tree.arm_share[arm]) for arm in arms]
        if tree.kind[at] != JOINT or not sum(weights):
            return ranked_arms(self, at, role)[0]
        return chance.choices(arms, weights)[0]

    def round(self) -> bool:
        """Let the first thread's worker do a round; return False if that was stopped."""
        return self.workers[0].round()

    def run(self, may_go_on: Callable[[], bool], worker: int = 0, *, seconds: float = 0.0) -> None:
        """Let a worker grow the tree until `may_go_on` says no, `stop` is set, or nothing new is found.

        It is asked after rounds of so many seconds, and before the first; if that is 0, after every round.
        """
        idle = 0
        while not self.stop.is_set and not self.is_solved and may_go_on() and idle < _IDLE:
            before = self.playouts
            self.workers[worker].rounds(seconds)
            if self.playouts > before:
                idle = 0
            elif self.playing:  # all leaves are busy
                time.sleep(_WAIT)
            else:
                idle += 1

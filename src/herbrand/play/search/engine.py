"""`Search`: the search tree of one game, grown in rounds by one or several workers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from herbrand.play.search.policy import UNIFORM
from herbrand.play.search.results import ranked_arms
from herbrand.play.search.tree import JOINT, LANES, GameTree
from herbrand.play.search.worker import SearchWorker

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from herbrand.network.network import Network
    from herbrand.play.search.policy import PlayoutPolicy

__all__ = ["Search"]

_BUSY_WAIT = 0.0005
"""Seconds to sleep while all leaves are busy with playouts of other workers."""
_MAX_IDLE_ROUNDS = 100
"""Rounds without a playout after which a search ends, since the whole tree is proved or full."""


class Search(GameTree):
    """A search tree that grows in rounds.

    `memory` is the size of the tree in bytes.  `each` is the mean number of playouts for every new position;
    fewer mean a deeper tree.  `exploration` is the constant of UCB1 for values from 0 to 1.  `max_steps` cuts
    off playouts.  There are `threads` workers; each may be used by one thread, concurrently with the others.
    Everything else is not thread-safe, except `stop`, which ends running rounds within a step of the
    playouts.
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
        policy: PlayoutPolicy = UNIFORM,
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
            policy=policy,
        )
        self.workers = [SearchWorker(self, seed + k) for k in range(threads)]

    def draw_arm(self, role: int, chance: Random) -> int:
        """Draw an arm of a role at the root from the average strategy of regret matching."""
        tree, at = self.tree, self.root
        begin = int(tree.first[at] + tree.sizes[at, :role].sum())
        arms = range(begin, begin + int(tree.sizes[at, role]))
        weights = [float(tree.arm_share[arm]) for arm in arms]
        if tree.kind[at] != JOINT or not sum(weights):
            return ranked_arms(self, at, role)[0]
        return chance.choices(arms, weights)[0]

    def round(self) -> bool:
        """Run one round of the first worker; return False if it was stopped."""
        return self.workers[0].round()

    def run(self, keep_going: Callable[[], bool], worker: int = 0, *, seconds: float = 0.0) -> None:
        """Let a worker grow the tree until `keep_going()` is false, `stop` is set, or it cannot grow.

        `keep_going` is called before the first round and then about every `seconds`; after every round for 0.
        """
        idle_rounds = 0
        while not self.stop.is_set and not self.is_solved and keep_going() and idle_rounds < _MAX_IDLE_ROUNDS:
            before = self.playouts
            self.workers[worker].rounds(seconds)
            if self.playouts > before:
                idle_rounds = 0
            elif self.playing:  # all leaves are busy
                time.sleep(_BUSY_WAIT)
            else:
                idle_rounds += 1

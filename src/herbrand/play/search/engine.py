"""`Search`: one search tree for one game, worked on in rounds."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import Stop, Tree
from herbrand.play.search.reading import ranked_arms
from herbrand.play.search.style import PLAIN, styled
from herbrand.play.search.tree import ALONE, JOINT, OVER
from herbrand.play.search.worker import LANES, Worker
from herbrand.simulate.expand import Expander

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from herbrand.network.network import Network
    from herbrand.play.search.style import Style
    from herbrand.simulate.expand import States

__all__ = ["Plan", "Search"]

_WAIT = 0.0005
"""Seconds to wait while the games of others are under way, from all leaves there are."""
_IDLE = 100
"""Rounds without a random game after which a search ends: everything in reach is known."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A way for one role alone to a value."""

    value: float
    moves: dict[bytes, int]
    """The number of the move in each state on the way, by the state's bytes."""
    length: int


class Search:
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
        self.expander = Expander(network)
        roles = self.expander.roles
        self.chance = next((r for r, name in enumerate(roles) if name.lower() == "random"), -1)
        self.players = [r for r in range(len(roles)) if r != self.chance]
        self.tree = Tree(
            network.circuit,
            memory=memory,
            seed=seed % (1 << 64),
            exploration=exploration,
            chance=self.chance,
            regret=regret,
            amaf=amaf,
        )
        self.each = each
        self.widest = widest
        self.max_steps = max_steps
        self.style = style
        """How the games after a leaf are played."""
        self.player = styled(self.expander, style)
        """Plays the games: a move may stand there several times."""
        self.stop = Stop()
        """Ends a round early when it is set."""
        self.root = -1
        self.playouts = 0
        """Random games played so far."""
        self.plan: Plan | None = None
        """For one role alone: the best that was reached, and how."""
        self.playing = 0
        """How many workers have games under way."""
        self.lock = threading.Lock()
        """Held by whoever changes the search, or what is proved, while several threads grow its tree."""
        self.workers = [Worker(self, seed + k) for k in range(threads)]

    # -- where the tree stands ------------------------------------------------------------

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root; what is known below it is kept.

        Forgets what can no longer come when the tree is half full.
        """
        tree = self.tree
        at = tree.find(state)
        if at < 0:
            tree.clear()
            at = tree.add(state)
        elif max(tree.positions / tree.room, tree.arms / tree.arm_room) > 0.5:
            at = tree.forget(at)
        self.root = at
        tree.is_full = False

    def move_text(self, number: int) -> str:
        """Return a move, by its number among those of all roles, as KIF."""
        bounds = self.expander.bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - int(bounds[role])]

    # -- growing --------------------------------------------------------------------------

    @property
    def is_solved(self) -> bool:
        """Whether the value of the root is proved for every role."""
        return self.tree.is_exact(self.root) or bool(self.tree.kind[self.root] == OVER)

    @property
    def is_open(self) -> bool:
        """Whether the moves at the root are known."""
        return bool(self.tree.kind[self.root] in (ALONE, JOINT))

    @property
    def positions(self) -> int:
        """How many positions the tree has."""
        return int(self.tree.positions)

    @property
    def is_full(self) -> bool:
        """Whether no more positions fit in: then games are played from the leaves there are."""
        return bool(self.tree.is_full)

    def decided(self, role: int) -> bool:
        """Whether more rounds cannot change the choice of a role at the root."""
        tree, at = self.tree, self.root
        if self.plan is not None and self.plan.value >= 1.0 and self.planned() is not None:
            return True
        return self.is_solved or bool(
            self.is_open and tree.low[at, role] == tree.high[at, role] and not tree.regret
        )

    def planned(self) -> str | None:
        """Return the move of the plan at the root, for one role alone."""
        number = None if self.plan is None else self.plan.moves.get(self.tree.state[self.root].tobytes())
        return None if number is None else self.move_text(number)

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

    def follow(self, value: float, moves: list[int]) -> None:
        """Keep a plan, checked by making its moves."""
        expander = self.expander
        state = self.tree.state[self.root : self.root + 1].copy()
        found: dict[bytes, int] = {}
        for move in moves:
            found[state.tobytes()] = move
            state = expander.step(state, np.array([[move]], np.int32))
        if expander.terminal(state)[0] and int(expander.goals(state)[0, 0]) == round(100 * value):
            self.plan = Plan(value, found, len(moves))

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

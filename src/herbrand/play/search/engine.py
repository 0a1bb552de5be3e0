"""`Search`: one search tree for one game, worked on in rounds."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.play.search.descent import is_exact
from herbrand.play.search.growth import _add_position
from herbrand.play.search.reading import ranked_arms
from herbrand.play.search.style import PLAIN
from herbrand.play.search.tree import (
    ALONE,
    AMAF,
    ARMS,
    CHANCE,
    EDGES,
    EXPLORATION,
    FULL,
    JOINT,
    OVER,
    POSITIONS,
    REGRET,
    SINGLE,
    SUM,
    forget,
    new_tree,
    position_slot,
)
from herbrand.play.search.worker import LANES, Worker
from herbrand.simulate.expand import Expander
from herbrand.simulate.straight import expected_seconds

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
    `stop[0] = 1` makes rounds give up within a step of the games.
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
        self.tree = new_tree(self.expander.words, len(roles), memory=memory, seed=seed)
        settings = self.tree.settings
        settings[EXPLORATION] = exploration
        settings[CHANCE] = self.chance
        settings[SINGLE] = len(roles) == 1
        settings[REGRET] = regret
        settings[AMAF] = amaf
        settings[SUM] = -2 if len(self.players) == 2 else -1
        self.each = each
        self.widest = widest
        self.max_steps = max_steps
        self.style = style
        """How the games after a leaf are played."""
        self.stop = np.zeros(1, np.int64)
        """Set `stop[0]` to end a round early, from any thread."""
        self.root = -1
        self.playouts = 0
        """Random games played so far."""
        self.plan: Plan | None = None
        """For one role alone: the best that was reached, and how."""
        self.is_full = False
        """Whether no more positions fit in: then games are played from the leaves there are."""
        self.playing = 0
        """How many workers have games under way."""
        self.lock = threading.Lock()
        """Held by whoever reads or writes the tree while several threads work on it."""
        self.workers = [Worker(self, self.expander, seed)]
        for k in range(1, threads):
            self.workers.append(Worker(self, Expander(network), seed + k))

    # -- where the tree stands ------------------------------------------------------------

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root; what is known below it is kept.

        Forgets what can no longer come when the tree is half full.
        """
        tree = self.tree
        at = int(tree.slots[position_slot(tree, state, 0)]) - 1
        if at < 0:
            self._clear()
            at = int(_add_position(tree, state, 0)[0])
        elif max(tree.used[POSITIONS] / len(tree.games), tree.used[ARMS] / len(tree.move)) > 0.5:
            at = forget(tree, at)
        self.root = at
        self.is_full = False
        tree.used[FULL] = 0

    def _clear(self) -> None:
        used = self.tree.used
        if used[POSITIONS]:
            self.tree.slots[:] = 0
        if used[EDGES]:
            self.tree.edge_slots[:] = 0
        used[[POSITIONS, ARMS, EDGES]] = 0

    def move_text(self, number: int) -> str:
        """Return a move, by its number among those of all roles, as KIF."""
        bounds = self.expander._bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - int(bounds[role])]

    # -- growing --------------------------------------------------------------------------

    @property
    def is_solved(self) -> bool:
        """Whether the value of the root is proved for every role."""
        return bool(is_exact(self.tree, self.root) or self.tree.kind[self.root] == OVER)

    @property
    def is_open(self) -> bool:
        """Whether the moves at the root are known."""
        return bool(self.tree.kind[self.root] in (ALONE, JOINT))

    @property
    def positions(self) -> int:
        """How many positions the tree has."""
        return int(self.tree.used[POSITIONS])

    def decided(self, role: int) -> bool:
        """Whether more rounds cannot change the choice of a role at the root."""
        tree, at = self.tree, self.root
        if self.plan is not None and self.plan.value >= 1.0 and self.planned() is not None:
            return True
        return self.is_solved or bool(
            self.is_open and tree.low[at, role] == tree.high[at, role] and not tree.settings[REGRET]
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

    def warm(self) -> None:
        """Load everything by a round at the root, which counts, and what is needed when the tree is full."""
        self.round()
        self.root = forget(self.tree, self.root)
        self.workers[0].warm()

    def straighten(self, seconds: float) -> None:
        """Make machine code of the gates for the random games if there is time; else use what is kept."""
        games = [worker.player for worker in self.workers]
        enough = expected_seconds(games[0].network) <= seconds
        for expander in games:
            expander.straighten(seconds=max(0.0, seconds), only_kept=not enough)

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

    def run(self, may_go_on: Callable[[], bool], worker: int = 0) -> None:
        """Let a worker grow the tree until `may_go_on` says no, `stop` is set, or nothing new is found."""
        idle = 0
        while not self.stop[0] and not self.is_solved and may_go_on() and idle < _IDLE:
            before = self.playouts
            self.workers[worker].round()
            if self.playouts > before:
                idle = 0
            elif self.playing:  # all leaves are busy
                time.sleep(_WAIT)
            else:
                idle += 1

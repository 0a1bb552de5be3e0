"""`GameTree`: the tree of one game and the state that its workers share."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.core import SearchTree, Stop
from herbrand.engine.expand import Expander
from herbrand.play.search.policy import UNIFORM, playout_expander

if TYPE_CHECKING:
    from herbrand.engine.expand import States
    from herbrand.network.network import Network
    from herbrand.play.search.policy import PlayoutPolicy

__all__ = ["ALONE", "BUSY", "JOINT", "LANES", "LEAF", "OVER", "GameTree", "SolutionLine"]

LANES: Final = 512
"""Playouts run at once."""

LEAF: Final = 0
"""In `SearchTree.kind`: a position that was evaluated but not expanded."""
ALONE: Final = 1
"""At most one role has a choice."""
JOINT: Final = 2
"""Several roles have a choice."""
OVER: Final = 3
"""Terminal, or a role has no legal move."""

BUSY: Final = 1 << 62
"""In `SearchTree.seen`: a worker runs playouts from this position; others must not expand it."""


@dataclass(frozen=True, slots=True)
class SolutionLine:
    """A sequence of moves to a value in a one-role game."""

    value: float
    """From 0 to 1."""
    moves: dict[bytes, int]
    """The number of the move in each state of the line, by the state's bytes."""


class GameTree:
    """A tree of positions, its limits, and the playout policy.

    For the arguments see `herbrand.play.search.engine.Search`.
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
        policy: PlayoutPolicy = UNIFORM,
    ) -> None:
        self.expander = Expander(network)
        roles = self.expander.roles
        self.chance = next((r for r, name in enumerate(roles) if name.lower() == "random"), -1)
        self.players = [r for r in range(len(roles)) if r != self.chance]
        self.tree = SearchTree(
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
        self.policy = policy
        self.playout_expander = playout_expander(self.expander, policy)
        """Runs the playouts; in it, a move may occur several times."""
        self.stop = Stop()
        """Ends a round early when set."""
        self.root = -1
        self.playouts = 0
        """Playouts run so far."""
        self.plan: SolutionLine | None = None
        """In one-role games, the best line so far."""
        self.playing = 0
        """Number of workers with running playouts."""
        self.lock = threading.Lock()
        """Held to change the tree or the fields above while several workers run."""

    def move_to(self, state: States) -> None:
        """Make a packed state, [1, words], the root; keeps the subtree below it.

        When the tree is more than half full, unreachable positions are discarded.
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
        """Return the move with a number, counted over all roles, as KIF."""
        bounds = self.expander.bounds
        role = int(np.searchsorted(bounds, number, side="right")) - 1
        return self.expander.moves[role][number - int(bounds[role])]

    @property
    def is_solved(self) -> bool:
        """Whether the value of the root is proved for every role."""
        return self.tree.is_exact(self.root) or bool(self.tree.kind[self.root] == OVER)

    @property
    def is_open(self) -> bool:
        """Whether the root is expanded."""
        return bool(self.tree.kind[self.root] in (ALONE, JOINT))

    @property
    def positions(self) -> int:
        """The number of positions in the tree."""
        return int(self.tree.positions)

    @property
    def is_full(self) -> bool:
        """Whether the tree cannot grow; playouts then start from existing leaves."""
        return bool(self.tree.is_full)

    def is_decided(self, role: int) -> bool:
        """Whether more rounds cannot change the choice of a role at the root."""
        tree, at = self.tree, self.root
        if self.plan is not None and self.plan.value >= 1.0 and self.planned_move() is not None:
            return True
        return self.is_solved or bool(
            self.is_open and tree.low[at, role] == tree.high[at, role] and not tree.regret
        )

    def planned_move(self) -> str | None:
        """Return the move of the plan at the root; None if there is none."""
        number = None if self.plan is None else self.plan.moves.get(self.tree.state[self.root].tobytes())
        return None if number is None else self.move_text(number)

    def set_plan(self, value: float, moves: list[int]) -> None:
        """Replay moves from the root; make them the plan if they end the game with this value."""
        expander = self.expander
        state = self.tree.state[self.root : self.root + 1].copy()
        by_state: dict[bytes, int] = {}
        for move in moves:
            by_state[state.tobytes()] = move
            state = expander.step(state, np.array([[move]], np.int32))
        if expander.terminal(state)[0] and int(expander.goals(state)[0, 0]) == round(100 * value):
            self.plan = SolutionLine(value, by_state)

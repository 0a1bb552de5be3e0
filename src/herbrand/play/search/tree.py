"""`GameTree`: the tree of one game, and what its workers share."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.core import SearchTree, Stop
from herbrand.engine.expand import Expander
from herbrand.play.search.style import PLAIN, styled

if TYPE_CHECKING:
    from herbrand.engine.expand import States
    from herbrand.network.network import Network
    from herbrand.play.search.style import Style

__all__ = ["ALONE", "BUSY", "JOINT", "LANES", "LEAF", "OVER", "GameTree", "SolutionLine"]

LANES: Final = 512
"""Random games played at once."""

LEAF: Final = 0
"""In `SearchTree.kind`: a position that was valued but not expanded."""
ALONE: Final = 1
"""At most one role has a choice."""
JOINT: Final = 2
"""Several roles have a choice."""
OVER: Final = 3
"""The game is over, or stuck."""

BUSY: Final = 1 << 62
"""In `SearchTree.seen`: playouts from this position are under way, and it is not to be expanded."""


@dataclass(frozen=True, slots=True)
class SolutionLine:
    """A way for one role alone to a value."""

    value: float
    moves: dict[bytes, int]
    """The number of the move in each state on the way, by the state's bytes."""
    length: int


class GameTree:
    """A tree of positions, with its limits and how random games are played from it.

    The arguments mean what they do in `herbrand.play.search.engine.Search`.
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
        style: Style = PLAIN,
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
        self.style = style
        """How the games after a leaf are played."""
        self.player = styled(self.expander, style)
        """Plays the games: a move may stand there several times."""
        self.stop = Stop()
        """Ends a round early when it is set."""
        self.root = -1
        self.playouts = 0
        """Random games played so far."""
        self.plan: SolutionLine | None = None
        """For one role alone: the best that was reached, and how."""
        self.playing = 0
        """How many workers have games under way."""
        self.lock = threading.Lock()
        """Held by whoever changes the search, or what is proved, while several threads grow its tree."""

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

    def follow(self, value: float, moves: list[int]) -> None:
        """Keep a plan, checked by making its moves."""
        expander = self.expander
        state = self.tree.state[self.root : self.root + 1].copy()
        found: dict[bytes, int] = {}
        for move in moves:
            found[state.tobytes()] = move
            state = expander.step(state, np.array([[move]], np.int32))
        if expander.terminal(state)[0] and int(expander.goals(state)[0, 0]) == round(100 * value):
            self.plan = SolutionLine(value, found, len(moves))

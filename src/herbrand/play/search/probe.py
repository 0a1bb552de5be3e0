"""An exact look ahead beside a tree search: what it proves of the moves at the root goes into the tree.

Random games see a long forced win late, alpha-beta sees it as soon as it is near enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.analyse.minimax.table import LOWER, UPPER
from herbrand.play.minimax.engine import AlphaBeta
from herbrand.play.search.growth import tighten
from herbrand.play.search.tree import ALONE, SUM

if TYPE_CHECKING:
    from herbrand.network.network import Network
    from herbrand.play.search.engine import Search
    from herbrand.simulate.expand import States

__all__ = ["Probe"]


class Probe:
    """Looks for proofs about the moves of a role, with a table of `memory` bytes."""

    def __init__(self, network: Network, role: int, *, memory: int) -> None:
        self.engine = AlphaBeta(network, role, memory=memory, exact=True)
        self.role = role
        self.is_able = False
        """Whether the role alone has a choice at the root, and as far as was looked."""
        self._told = 0

    def move_to(self, state: States) -> None:
        """Make a packed state the root."""
        self._told = 0
        if self.engine.is_simultaneous:
            self.is_able = False
            return
        self.engine.move_to(state)
        self.is_able = self.engine.chooser == self.role

    @property
    def may_go_on(self) -> bool:
        """Whether there is anything left to look for."""
        return self.is_able and not self.engine.is_done and not self.engine.is_simultaneous

    def slice(self) -> None:
        """Look on for about a hundredth of a second."""
        self.engine.slice()

    def tell(self, search: Search) -> None:
        """Put what was proved since into the tree, whose root is the same state.

        What the role gets at most is known only where what it gets the other loses.
        """
        engine, tree, root = self.engine, search.tree, search.root
        if not self.is_able or engine.depth == self._told or tree.kind[root] != ALONE:
            return
        self._told = engine.depth
        role = self.role
        opposed = tree.settings[SUM] >= 0
        first = int(tree.first[root] + tree.sizes[root, :role].sum())
        places = {int(tree.move[arm]): arm for arm in range(first, first + int(tree.sizes[root, role]))}
        for move, value, bound, plies in engine.proofs():
            child = int(tree.arm_child[places[move]]) if move in places else -1
            if child < 0 or tree.low[child, role] == tree.high[child, role]:
                continue
            if bound != UPPER and value > tree.low[child, role]:
                tree.low[child, role] = min(value, tree.high[child, role])
            if bound != LOWER and opposed and value < tree.high[child, role]:
                tree.high[child, role] = max(value, tree.low[child, role])
            if opposed:
                other = next(r for r in search.players if r != role)
                tree.low[child, other] = tree.settings[SUM] - tree.high[child, role]
                tree.high[child, other] = tree.settings[SUM] - tree.low[child, role]
            tree.plies[child] = max(0, plies - 1)
        tighten(tree, root)

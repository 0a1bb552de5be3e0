"""`RulesSearch`: UCT on the states of any engine, one playout at a time.

For games without a network.  Nodes are shared by transpositions; every role has its own statistics of its own
moves (decoupled UCT), which covers alternating and simultaneous moves, chance and any number of roles.
"""

from __future__ import annotations

import math
import random
import sys
from typing import TYPE_CHECKING

from herbrand.play.explanation import MoveReport
from herbrand.play.interface import counted_goals

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["RulesSearch"]

_MAX_STEPS = 1000
_NODE_BYTES, _MOVE_BYTES = 1000, 250
"""Estimated sizes of a node and of each of its moves."""


class _Node:
    """The legal moves of a state, by role, and the visit count and total value of each."""

    __slots__ = ("count", "counts", "legal", "over", "totals")

    def __init__(self, state: State) -> None:
        self.over = state.is_terminal
        self.legal: list[list[Move]] = [] if self.over else list(state.legal_moves().values())
        self.count = 0
        self.counts = [[0] * len(moves) for moves in self.legal]
        self.totals = [[0.0] * len(moves) for moves in self.legal]

    def size(self, state: State) -> int:
        """Estimate the bytes of the node and its state."""
        return _NODE_BYTES + sys.getsizeof(state.key) + _MOVE_BYTES * sum(map(len, self.legal))


class RulesSearch:
    """A search for one role; `memory` bounds the estimated size of the tree in megabytes."""

    def __init__(self, role: str, seed: int, *, exploration: float = 0.5, memory: float = 512.0) -> None:
        self.role = role
        self.chance = random.Random(seed)
        self.exploration = exploration
        self.memory = memory
        self.nodes: dict[State, _Node] = {}
        self.playouts = 0
        self.root: State
        """Set by `move_to`."""
        self._bytes = 0

    def move_to(self, state: State) -> None:
        """Make a state the root; keeps the tree, or clears it when it is full."""
        if self.is_full:
            self.nodes.clear()
            self._bytes = 0
        self.root = state

    @property
    def is_full(self) -> bool:
        """Whether the memory limit is reached and the tree has stopped growing."""
        return self._bytes > 1e6 * self.memory

    def run(self, keep_going: Callable[[], bool]) -> None:
        """Run playouts from the root while `keep_going()` is true; it is called before every step."""
        while keep_going():
            self._run_playout(keep_going)

    def _run_playout(self, keep_going: Callable[[], bool]) -> None:
        """Descend the tree, add one node, play on at random and backpropagate; nothing if it is stopped."""
        state = self.root
        path: list[tuple[_Node, list[int]]] = []
        in_tree = True
        for _ in range(_MAX_STEPS):
            if not keep_going():
                return
            if in_tree:
                node = self.nodes.get(state)
                if node is None:
                    node = _Node(state)
                    in_tree = False
                    if not self.is_full:
                        self.nodes[state] = node
                        self._bytes += node.size(state)
                if node.over or not all(node.legal):
                    break
                chosen = [self._select(node, role) for role in range(len(node.legal))]
                path.append((node, chosen))
                state = state.next([moves[k] for moves, k in zip(node.legal, chosen, strict=True)])
            else:
                if state.is_terminal:
                    break
                legal = list(state.legal_moves().values())
                if not all(legal):
                    break
                state = state.next([self.chance.choice(moves) for moves in legal])
        values = [goal / 100 for goal in counted_goals(state)]
        self.playouts += 1
        for node, chosen in path:
            node.count += 1
            for role, k in enumerate(chosen):
                node.counts[role][k] += 1
                node.totals[role][k] += values[role]

    def _select(self, node: _Node, role: int) -> int:
        """Return the index of a move: by UCB1, unvisited moves first; uniformly for `random`."""
        counts, totals = node.counts[role], node.totals[role]
        if len(counts) == 1:
            return 0
        if self.root.roles[role].lower() == "random":
            return self.chance.randrange(len(counts))
        unvisited = [k for k, count in enumerate(counts) if not count]
        if unvisited:
            return self.chance.choice(unvisited)
        width = self.exploration**2 * math.log(node.count + 2)
        return max(range(len(counts)), key=lambda k: totals[k] / counts[k] + math.sqrt(width / counts[k]))

    def best(self) -> Move | None:
        """Return the most visited move at the root; None if none was visited."""
        moves, counts, totals = self._at_root()
        if not any(counts):
            return None
        return moves[max(range(len(moves)), key=lambda k: (counts[k], totals[k]))]

    def reports(self) -> list[MoveReport]:
        """Return the statistics of the moves at the root, most visited first."""
        reports = [
            MoveReport(str(move), count, 100 * total / count if count else None)
            for move, count, total in zip(*self._at_root(), strict=True)
        ]
        return sorted(reports, key=lambda report: (-report.visits, -(report.mean or 0.0)))

    def _at_root(self) -> tuple[list[Move], list[int], list[float]]:
        """Return the moves of the role at the root, with the visit count and total value of each."""
        node = self.nodes.get(self.root)
        if node is None or node.over:
            return [], [], []
        role = self.root.game.role_index(self.role)
        # copies, since the search thread may still run
        return node.legal[role], node.counts[role].copy(), node.totals[role].copy()

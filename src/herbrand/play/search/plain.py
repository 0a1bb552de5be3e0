"""UCT on states answered for by any engine, one random game at a time.

For games whose rules do not become a network in time.  Positions are found by their states; every
role keeps its own averages of its own moves, so that turns, moves at once, chance and any number
of roles are one case (decoupled UCT).
"""

from __future__ import annotations

import math
import random
import sys
from typing import TYPE_CHECKING

from herbrand.play.explanation import MoveReport

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["PlainSearch"]

_MAX_STEPS = 1000
_NODE, _MOVE = 1000, 250
"""Bytes that a position and each of its moves take."""


class _Node:
    """A position: its legal moves, and for each what it gave."""

    __slots__ = ("count", "counts", "legal", "over", "totals")

    def __init__(self, state: State) -> None:
        self.over = state.is_terminal
        self.legal: list[list[Move]] = [] if self.over else list(state.legal_moves().values())
        self.count = 0
        self.counts = [[0] * len(moves) for moves in self.legal]
        self.totals = [[0.0] * len(moves) for moves in self.legal]

    def size(self, state: State) -> int:
        """Return about how many bytes it takes with its state."""
        return _NODE + sys.getsizeof(state.key) + _MOVE * sum(map(len, self.legal))


class PlainSearch:
    """A tree of states, for one role; see the module."""

    def __init__(
        self,
        role: str,
        seed: int,
        *,
        exploration: float = 0.5,
        memory: float = 512.0,
        max_steps: int = _MAX_STEPS,
    ) -> None:
        self.role = role
        self.chance = random.Random(seed)
        self.exploration = exploration
        self.memory = memory
        """Megabytes that the tree takes, at most, as far as can be told."""
        self.max_steps = max_steps
        self.nodes: dict[State, _Node] = {}
        self.playouts = 0
        self.root: State | None = None
        self._bytes = 0

    def move_to(self, state: State) -> None:
        """Make a state the root; what is known below it is kept while there is room."""
        if self.is_full:
            self.nodes.clear()
            self._bytes = 0
        self.root = state

    @property
    def is_full(self) -> bool:
        """Whether the tree does not grow any more."""
        return self._bytes > 1e6 * self.memory

    def run(self, may_go_on: Callable[[], bool]) -> None:
        """Play games from the root until `may_go_on` says no; it is asked before every step."""
        while may_go_on():
            self._one(may_go_on)

    def _one(self, may_go_on: Callable[[], bool]) -> None:
        state = self.root
        assert state is not None
        path: list[tuple[_Node, list[int]]] = []
        inside = True
        for _ in range(self.max_steps):
            if not may_go_on():
                return
            if inside:
                node = self.nodes.get(state)
                if node is None:
                    node = _Node(state)
                    inside = False
                    if not self.is_full:
                        self.nodes[state] = node
                        self._bytes += node.size(state)
                if node.over or not all(node.legal):
                    break
                places = [self._choose(node, place) for place in range(len(node.legal))]
                path.append((node, places))
                state = state.next([moves[k] for moves, k in zip(node.legal, places, strict=True)])
            else:
                if state.is_terminal:
                    break
                legal = list(state.legal_moves().values())
                if not all(legal):
                    break
                state = state.next([self.chance.choice(moves) for moves in legal])
        values = [0.5 if goal is None else goal / 100 for goal in state.goals.values()]
        self.playouts += 1
        for node, places in path:
            node.count += 1
            for role, k in enumerate(places):
                node.counts[role][k] += 1
                node.totals[role][k] += values[role]

    def _choose(self, node: _Node, role: int) -> int:
        """Choose the place of a move: by UCB1, moves without games first; for `random` evenly."""
        counts, totals = node.counts[role], node.totals[role]
        if len(counts) == 1:
            return 0
        fresh = [k for k, count in enumerate(counts) if not count]
        assert self.root is not None
        if self.root.roles[role].lower() == "random":
            return self.chance.randrange(len(counts))
        if fresh:
            return self.chance.choice(fresh)
        width = self.exploration**2 * math.log(node.count + 2)
        return max(range(len(counts)), key=lambda k: totals[k] / counts[k] + math.sqrt(width / counts[k]))

    def best(self) -> Move | None:
        """Return the move at the root that was looked at most; None if none was."""
        assert self.root is not None
        node = self.nodes.get(self.root)
        if node is None or node.over:
            return None
        role = self.root.game.role_index(self.role)
        counts, totals = node.counts[role], node.totals[role]
        place = max(range(len(counts)), key=lambda k: (counts[k], totals[k]))
        return node.legal[role][place] if counts[place] else None

    def reports(self) -> list[MoveReport]:
        """Return what is known about the moves at the root, best first."""
        assert self.root is not None
        node = self.nodes.get(self.root)
        if node is None or node.over:
            return []
        role = self.root.game.role_index(self.role)
        found = [
            MoveReport(str(move), count, 100 * total / count if count else None)
            for move, count, total in zip(
                node.legal[role], node.counts[role].copy(), node.totals[role].copy(), strict=True
            )
        ]
        return sorted(found, key=lambda report: (-report.visits, -(report.mean or 0.0)))

"""The network engine: evaluates a network for one state at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.engine.walker import Walker
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.network.network import Network

__all__ = ["NetworkEngine"]


class NetworkEngine:
    """Answers questions about states through a network (`interface.Engine`).

    The key of a state is its fluents as bits, in whole words of 64.  All methods share one `StateMemory`,
    which each of them moves to the state in question.  Thread-safe: each answer is one call that holds the
    GIL.
    """

    name = "network"
    in_order = True

    def __init__(self, network: Network) -> None:
        self.network = network
        self.terms = network.terms
        self.roles = network.roles
        self.walker = Walker(network)
        """Every method of the engine moves it: do not rely on its state."""
        memory = self.walker.memory
        self._go, self._legal = memory.go, memory.legal
        self._scores, self._look_ahead = memory.scores, memory.look_ahead
        self._fluent_index = {term: i for i, term in enumerate(network.fluents.tolist())}
        self._always = network.always
        terms = network.moves[:, 1].tolist()
        self._moves = [[terms[m] for m in inputs] for inputs in self.walker.inputs]
        self._input = [{terms[m]: m for m in inputs} for inputs in self.walker.inputs]
        self._goals: list[list[int]] = network.goals.tolist()
        self._percepts: list[list[int]] = network.percepts.tolist()

    def initial(self) -> bytes:
        """Return the key of the initial state."""
        return self.walker.start

    def key(self, fluents: Iterable[int]) -> bytes:
        """Return the key of a state; `GameError` if a fluent can never be true, or never false."""
        bits = np.zeros(8 * len(self.walker.start), np.bool_)
        for fluent in fluents:
            index = self._fluent_index.get(fluent)
            if index is None:
                raise GameError(f"`{self.terms.text(fluent)}` is true in no reachable state")
            bits[index] = True
        missing = np.flatnonzero(self._always > bits[: len(self._always)])
        if len(missing):
            always = self.terms.text(int(self.network.fluents[missing[0]]))
            raise GameError(f"`{always}` is true in every reachable state")
        return np.packbits(bits, bitorder="little").tobytes()

    def fluents(self, key: bytes) -> list[int]:
        """Return the fluents that are true."""
        bits = np.unpackbits(np.frombuffer(key, np.uint8), count=len(self.network.fluents), bitorder="little")
        fluents: list[int] = self.network.fluents[bits.view(np.bool_)].tolist()
        return fluents

    def legal(self, key: bytes, role: int) -> list[int]:
        """Return the legal moves of a role, sorted by their texts."""
        moves = self._moves[role]
        return [moves[i] for i in self._legal(role, key)]

    def terminal(self, key: bytes) -> bool:
        """Return whether the state is terminal."""
        over: bool = self._go(key)
        return over

    def goals(self, key: bytes, role: int) -> list[int]:
        """Return the goal values of a role."""
        goals = self._scores(key)
        return [value for owner, value in map(self._goals.__getitem__, goals) if owner == role]

    def values(self, key: bytes) -> list[int | None]:
        """Return the goal value of each role as a number; None unless there is exactly one."""
        return self.walker.numbering.values(self._scores(key))

    def successor(self, key: bytes, moves: Sequence[int]) -> bytes:
        """Return the state after a joint move."""
        following, _ = self._step(key, moves)
        return following

    def percepts(self, key: bytes, moves: Sequence[int], role: int) -> list[int]:
        """Return the percepts of a role for a joint move."""
        _, seen = self._step(key, moves)
        return [percept for owner, percept in map(self._percepts.__getitem__, seen) if owner == role]

    def _step(self, key: bytes, moves: Sequence[int]) -> tuple[bytes, list[int]]:
        """Return the state after a joint move, and the indices of the percepts that the roles see."""
        inputs = []
        for input_of, move in zip(self._input, moves, strict=True):
            node = input_of.get(move)
            if node is None:
                raise GameError(f"`{self.terms.text(move)}` is legal in no reachable state")
            inputs.append(node)
        step: tuple[bytes, list[int]] = self._look_ahead(inputs, key)
        return step

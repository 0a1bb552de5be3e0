"""The network engine: one state at a time, answered by the network's gates."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from herbrand.errors import GameError
from herbrand.simulate.walker import Walker

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.network.network import Network

__all__ = ["NetworkEngine"]


class NetworkEngine:
    """Answers questions about states through a network (`interface.Engine`).

    The key of a state is its fluents as bits, in whole words of 64.  The answers come from one
    `Walker` that goes where it is asked.  Thread-safe: one call at a time.
    """

    name = "network"
    in_order = True

    def __init__(self, network: Network) -> None:
        self.network = network
        self.terms = network.terms
        self.roles = network.roles
        self.walker = Walker(network)
        self._place = {term: i for i, term in enumerate(network.fluents.tolist())}
        self._always = network.always
        terms = network.moves[:, 1].tolist()
        self._moves = [[terms[m] for m in inputs] for inputs in self.walker.inputs]
        self._input = [{terms[m]: m for m in inputs} for inputs in self.walker.inputs]
        self._goals: list[list[int]] = network.goals.tolist()
        self._percepts: list[list[int]] = network.percepts.tolist()
        self._lock = RLock()
        self._at: bytes | None = None
        """The key of the walker's state; another object may be the same key."""

    def initial(self) -> bytes:
        """Return the key of the initial state."""
        return self.walker.start

    def key(self, fluents: Iterable[int]) -> bytes:
        """Return the key of a state; `GameError` if a fluent can never be true, or never false."""
        bits = np.zeros(8 * len(self.walker.start), np.bool_)
        for fluent in fluents:
            place = self._place.get(fluent)
            if place is None:
                raise GameError(f"`{self.terms.text(fluent)}` is true in no reachable state")
            bits[place] = True
        missing = np.flatnonzero(self._always > bits[: len(self._always)])
        if len(missing):
            always = self.terms.text(int(self.network.fluents[missing[0]]))
            raise GameError(f"`{always}` is true in every reachable state, and the network is for these")
        return np.packbits(bits, bitorder="little").tobytes()

    def fluents(self, key: bytes) -> list[int]:
        """Return the fluents that are true."""
        bits = np.unpackbits(np.frombuffer(key, np.uint8), count=len(self.network.fluents), bitorder="little")
        found: list[int] = self.network.fluents[bits.view(np.bool_)].tolist()
        return found

    def legal(self, key: bytes, role: int) -> list[int]:
        """Return the legal moves of a role, sorted by their texts."""
        moves = self._moves[role]
        with self._lock:
            return [moves[i] for i in self._go(key).legal(role)]

    def terminal(self, key: bytes) -> bool:
        """Return whether the state is terminal."""
        with self._lock:
            return self._go(key).is_terminal

    def goals(self, key: bytes, role: int) -> list[int]:
        """Return the goal values of a role."""
        with self._lock:
            places = self._go(key).scores()
        return [value for of, value in map(self._goals.__getitem__, places) if of == role]

    def values(self, key: bytes) -> list[int | None]:
        """Return the goal value of each role as a number; None unless there is exactly one."""
        with self._lock:
            return self._go(key).goals

    def successor(self, key: bytes, moves: Sequence[int]) -> bytes:
        """Return the state after a joint move."""
        with self._lock:
            return self._look_ahead(key, moves).following

    def percepts(self, key: bytes, moves: Sequence[int], role: int) -> list[int]:
        """Return what a role sees of a joint move."""
        with self._lock:
            places = self._look_ahead(key, moves).percepts
        return [percept for of, percept in map(self._percepts.__getitem__, places) if of == role]

    def answers(self, key: bytes) -> list[int]:
        """Return `Walker.answers` of a state."""
        with self._lock:
            return self._go(key).answers

    def advance(self, key: bytes, inputs: Sequence[int]) -> tuple[bytes, list[int]] | None:
        """Return the state after a joint move and the answers about it; None if the move is not legal.

        The moves are given by their inputs of the network.
        """
        with self._lock:
            walker = self.walker if self._at is key else self._go(key)
            if not walker.made(inputs):
                return None
            self._at = key = walker.key
            return key, walker.answers

    def _go(self, key: bytes) -> Walker:
        walker = self.walker
        if self._at is not key:
            if self._at != key:
                self._at = None
                walker.go(key)
            self._at = key
        return walker

    def _look_ahead(self, key: bytes, moves: Sequence[int]) -> Walker:
        inputs = []
        for known, move in zip(self._input, moves, strict=True):
            place = known.get(move)
            if place is None:
                raise GameError(f"`{self.terms.text(move)}` is legal in no reachable state")
            inputs.append(place)
        walker = self._go(key)
        walker.look_ahead(inputs)
        return walker

"""The network engine: one state at a time, answered by the network's gates."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["NetworkEngine"]

_WIDTH = (0,)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class NetworkEngine:
    """Answers questions about states through a network (`interface.Engine`).

    The key of a state is its fluents as packed bits.  Thread-safe: one call at a time.
    """

    name = "network"

    def __init__(self, network: Network) -> None:
        from herbrand.simulate.kernel import evaluate

        self.network = network
        self.terms = network.terms
        self.roles = network.roles
        self._place = {term: i for i, term in enumerate(network.fluents.tolist())}
        self._moves = {(role, move): i for i, (role, move) in enumerate(network.moves.tolist())}
        self._rows = np.zeros(network.inputs + network.gates + 1, np.uint64)
        self._loops = network.loops[np.argsort(network.loops[:, 0])]
        self._evaluate = evaluate
        self._lock = RLock()
        self._key: bytes | None = None
        self._known = 0
        """How many cones hold the values of the state `_key`: legal, or legal and goals."""

    def initial(self) -> bytes:
        """Return the key of the initial state."""
        return np.packbits(self.network.initial).tobytes()

    def key(self, fluents: Iterable[int]) -> bytes:
        """Return the key of a state; `GameError` if a fluent can never be true."""
        bits = np.zeros(len(self.network.fluents), np.bool_)
        for fluent in fluents:
            place = self._place.get(fluent)
            if place is None:
                raise GameError(f"`{self.terms.text(fluent)}` is true in no reachable state")
            bits[place] = True
        return np.packbits(bits).tobytes()

    def fluents(self, key: bytes) -> list[int]:
        """Return the fluents that are true."""
        found: list[int] = self.network.fluents[self._bits(key)].tolist()
        return found

    def legal(self, key: bytes, role: int) -> list[int]:
        """Return the legal moves of a role."""
        network = self.network
        with self._lock:
            self._load(key)
            mine = network.moves[:, 0] == role
            found: list[int] = network.moves[mine][self._values(network.legal[mine]), 1].tolist()
        return found

    def terminal(self, key: bytes) -> bool:
        """Return whether the state is terminal."""
        with self._lock:
            self._load(key)
            return bool(self._values(np.array([self.network.terminal]))[0])

    def goals(self, key: bytes, role: int) -> list[int]:
        """Return the goal values of a role."""
        network = self.network
        with self._lock:
            self._load(key)
            if self._known < 2:
                self._run(network.cones[1], network.cones[2])
                self._known = 2
            mine = network.goals[:, 0] == role
            found: list[int] = network.goals[mine][self._values(network.goal[mine]), 1].tolist()
        return found

    def successor(self, key: bytes, moves: Sequence[int]) -> bytes:
        """Return the state after a joint move."""
        with self._lock:
            self._make(key, moves)
            return np.packbits(self._values(self.network.next)).tobytes()

    def percepts(self, key: bytes, moves: Sequence[int], role: int) -> list[int]:
        """Return what a role sees of a joint move."""
        network = self.network
        with self._lock:
            self._make(key, moves)
            mine = network.percepts[:, 0] == role
            found: list[int] = network.percepts[mine][self._values(network.sees[mine]), 1].tolist()
        return found

    def _bits(self, key: bytes) -> NDArray[np.bool_]:
        return np.unpackbits(np.frombuffer(key, np.uint8), count=len(self.network.fluents)).view(np.bool_)

    def _load(self, key: bytes) -> None:
        """Set the fluents and evaluate what legal and terminal need."""
        if key == self._key:
            return
        self._rows[1 : 1 + len(self.network.fluents)] = np.where(self._bits(key), _ALL, np.uint64(0))
        self._run(0, self.network.cones[0])
        self._key, self._known = key, 1

    def _make(self, key: bytes, moves: Sequence[int]) -> None:
        """Set a joint move in a state and evaluate what next and sees need."""
        network = self.network
        self._load(key)
        first = 1 + len(network.fluents)
        self._rows[first : first + len(network.moves)] = 0
        for role, move in enumerate(moves):
            place = self._moves.get((role, move))
            if place is None:
                raise GameError(f"`{self.terms.text(move)}` is legal in no reachable state")
            self._rows[first + place] = _ALL
        self._run(network.cones[0], network.cones[1])

    def _run(self, begin: int, end: int) -> None:
        network = self.network
        self._evaluate(
            self._rows,
            _WIDTH,
            network.left,
            network.right,
            network.inputs,
            begin,
            end,
            self._loops,
            network.feedback,
            1 + len(network.fluents) + len(network.moves),
            len(self._rows) - 1,
        )

    def _values(self, literals: Any) -> NDArray[np.bool_]:
        values: NDArray[np.bool_] = (self._rows[literals >> 1] != 0) ^ (literals & 1).astype(np.bool_)
        return values

"""One game on a network, updated in place: the fastest way to step through states from Python."""

from __future__ import annotations

import math
import random
import time
from operator import index
from typing import TYPE_CHECKING

import numpy as np

from herbrand.engine.playouts import goal_value
from herbrand.errors import IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, overload

    from herbrand.network.network import Network

    class _Legal(Protocol):
        @overload
        def __call__(self) -> list[list[int]]: ...
        @overload
        def __call__(self, role: int, /) -> list[int]: ...


__all__ = ["Walker"]

_FEW_GATES = 150
"""Smaller networks are evaluated gate by gate, without measuring the alternatives."""
_TRIALS = 3
_TRIAL_STEPS = 50
_TRIAL_SECONDS = 0.05


class Numbering:
    """The moves of a network, numbered for each role in the order of their texts, and its goal values."""

    __slots__ = ("goals", "inputs", "moves", "order")

    def __init__(self, network: Network) -> None:
        text = network.terms.text
        pairs = network.moves.tolist()
        order = sorted(range(len(pairs)), key=lambda m: (pairs[m][0], text(pairs[m][1])))
        self.order = np.array(order, np.int64)
        self.moves: list[list[str]] = [[] for _ in network.roles]
        self.inputs: list[list[int]] = [[] for _ in network.roles]
        for m in order:
            role, move = pairs[m]
            self.moves[role].append(text(move))
            self.inputs[role].append(m)
        self.goals: list[tuple[int, int | None]] = [
            (role, goal_value(text(value))) for role, value in network.goals.tolist()
        ]

    def values(self, places: list[int]) -> list[int | None]:
        """Return the value of each role from the goals that hold; None unless there is exactly one."""
        values: list[int | None] = [None] * len(self.moves)
        seen_roles = set()
        for place in places:
            role, value = self.goals[place]
            values[role] = None if role in seen_roles else value
            seen_roles.add(role)
        return values


class Walker:
    """A game in progress, which every joint move changes in place.

    Moves are indices into `moves[role]`, the sorted texts of all moves of a role.  Roles are numbers too,
    in the order of joint moves.  A walker belongs to one thread; several can share a network.

        >>> import herbrand
        >>> game = herbrand.load("ticTacToe")
        >>> walker = game.walker()
        >>> while not walker.is_terminal:
        ...     walker.play([walker.legal(role)[0] for role in (0, 1)])
        >>> dict(zip(game.roles, walker.goals))
        {'xplayer': 100, 'oplayer': 0}
    """

    def __init__(self, network: Network, like: Walker | None = None) -> None:
        """Start a game; `like`, another walker on this network, shares its tables and tuning."""
        from herbrand.core import StateMemory

        self.network = network
        self.numbering: Numbering = like.numbering if like else Numbering(network)
        """Shared by the walkers of a network."""
        self.moves = self.numbering.moves
        """The moves of each role as KIF, sorted: all that can ever be legal."""
        self.inputs = self.numbering.inputs
        """The indices of those moves among the inputs of the network."""
        self.memory: StateMemory = (
            like.memory.again() if like else StateMemory(network.circuit, self.numbering.order)
        )
        self._go, self._play = self.memory.go, self.memory.play
        self._scores = self.memory.scores
        self.legal: _Legal = self.memory.legal
        """`legal(role)`: the numbers of a role's legal moves, ascending; `legal()`: those of each role."""
        words = network.circuit.state_words
        self.start: bytes = np.packbits(network.initial, bitorder="little").tobytes().ljust(8 * words, b"\0")
        """The key of the initial state."""
        self.is_terminal: bool
        """Whether the game is over."""
        if like is None:
            self._tune()
        self.reset()

    # -- the state ------------------------------------------------------------------------

    @property
    def key(self) -> bytes:
        """The current state: its fluents as bits in the order of the network, in whole words of 64."""
        return self.memory.key

    def go(self, key: bytes) -> None:
        """Go to the state with this key; `ValueError` if it is not a key of this network."""
        self.is_terminal = self._go(key)

    def reset(self) -> None:
        """Go to the initial state."""
        self.go(self.start)

    @property
    def goals(self) -> list[int | None]:
        """The goal value of each role; None unless the rules give exactly one."""
        return self.numbering.values(self._scores())

    # -- moving ---------------------------------------------------------------------------

    def play(self, moves: Sequence[int]) -> None:
        """Make a joint move, one number for each role.

        Raises `IllegalMoveError` if a move is not legal or the game is over, `IndexError` if a
        role has no such move; the state is unchanged then.
        """
        over = self._play(moves)
        if over is None:
            over = self._play_numbers(moves)
        self.is_terminal = over

    def _play_numbers(self, moves: Sequence[int]) -> bool:
        """Make a joint move that the core declined: convert it to a list of `int`, or raise the reason."""
        numbers = [index(moves[role]) for role in range(len(self.moves))]
        if self.is_terminal:
            raise IllegalMoveError("the game is over")
        for role, number in enumerate(numbers):
            if not 0 <= number < len(self.moves[role]):
                raise IndexError(f"role {role} has no move {number}: it has {len(self.moves[role])}")
            if number not in self.legal(role):
                raise IllegalMoveError(f"no legal move `{self.moves[role][number]}` for role {role}")
        over: bool = self._play(numbers)
        return over

    def _tune(self) -> None:
        """Choose the fastest way to evaluate gates: time each, in turn, on the steps of a random game."""
        memory = self.memory
        memory.reckons = False
        if self.network.gates < _FEW_GATES:
            return
        # with one state cached for each role, a step starts from the last one in which the same role was to
        # move
        counts = sorted({1, 2, min(len(self.moves), memory.MOST_KEPT)})
        settings = [(False, 1), *((True, count) for count in counts)]
        joints = self._random_game(random.Random(1))
        durations = [math.inf] * len(settings)
        for _ in range(_TRIALS):
            for i, (memory.reckons, memory.kept) in reversed(list(enumerate(settings))):
                self.reset()  # evaluates all gates, so that no timed step does
                started = time.thread_time()
                for joint in joints:
                    self._play(joint)
                durations[i] = min(durations[i], time.thread_time() - started)
        memory.reckons, memory.kept = settings[durations.index(min(durations))]

    def _random_game(self, rng: random.Random) -> list[list[int]]:
        """Return the joint moves of a random game, up to `_TRIAL_STEPS` and `_TRIAL_SECONDS`."""
        self.reset()
        joints: list[list[int]] = []
        started = time.thread_time()
        while not self.is_terminal and len(joints) < _TRIAL_STEPS:
            legal = self.legal()
            if not all(legal) or time.thread_time() - started > _TRIAL_SECONDS:
                break
            joints.append([rng.choice(moves) for moves in legal])
            self.play(joints[-1])
        return joints

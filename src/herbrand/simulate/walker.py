"""One game on a network that is moved along in place: the fastest way from state to state in Python."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.errors import IllegalMoveError
from herbrand.simulate.playouts import goal_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.network.network import Network

__all__ = ["Walker"]

_FEW_GATES = 500
"""Networks with fewer gates than this are walked, without trying."""
_TRIAL_STEPS = 50
_TRIAL_SECONDS = 0.1


class Numbering:
    """The moves of a network numbered as people read them, and its goals as numbers."""

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


class Walker:
    """A game in progress that changes with every joint move.

    Moves are numbers: the place among all moves of a role in the order of their texts, which
    `moves[role][number]` is.  Roles are numbers too, in the order of the joint moves.  A walker
    belongs to one thread; several can share a network.

        >>> import herbrand
        >>> game = herbrand.load("ticTacToe")
        >>> walker = game.walker()
        >>> while not walker.is_terminal:
        ...     walker.play([walker.legal(role)[0] for role in (0, 1)])
        >>> dict(zip(game.roles, walker.goals))
        {'xplayer': 100, 'oplayer': 0}
    """

    def __init__(self, network: Network, like: Walker | None = None) -> None:
        """`like`, another walker on this network, spares preparing what they share."""
        from herbrand.simulate import reckoning

        self.network = network
        self._numbering: Numbering = like._numbering if like else Numbering(network)
        self.moves = self._numbering.moves
        """The moves of each role as KIF, sorted: all that are ever legal."""
        self.inputs = self._numbering.inputs
        """The places of those moves among the inputs of the network."""
        memory = self._memory = reckoning.Memory(network, self._numbering.order)
        self._address = memory.address
        arrays, sizes = memory.arrays, memory.sizes
        words = sizes["state_words"]
        outputs: Any = arrays["outputs"]
        self._state = _view(arrays["state"])
        self._entry = _view(arrays["entering"].view(np.uint8))
        self._joint = _view(arrays["joint"])
        self._answers = _view(arrays["answers"])
        self._next = _view(outputs[sizes["word_next"] : sizes["word_next"] + words])
        self._sees = outputs[sizes["word_sees"] :].view(np.uint8)
        self._ask: Any = reckoning.ask
        self._step: Any = reckoning.step
        self._score: Any = reckoning.score
        self._follow: Any = reckoning.follow
        self.start: bytes = np.packbits(network.initial, bitorder="little").tobytes().ljust(8 * words, b"\0")
        """The key of the initial state."""
        if like is not None:
            memory.reckons = like._memory.reckons
        else:
            self._tune()
        self.answers: list[int] = []
        """1 or 0 for terminal, then for each role how many moves are legal, and their numbers."""
        self.reset()

    # -- the state ------------------------------------------------------------------------

    @property
    def key(self) -> bytes:
        """The present state: its fluents as bits in the order of the network, in whole words of 64."""
        return self._state.tobytes()

    def go(self, key: bytes) -> None:
        """Go to a state, given by its key."""
        self._entry[:] = key
        self.answers = self._answers[: self._ask(self._address, True)].tolist()

    def reset(self) -> None:
        """Go to the initial state."""
        self.go(self.start)

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.answers[0] != 0

    def legal(self, role: int) -> list[int]:
        """Return the numbers of the legal moves of a role, ascending."""
        answers, at = self.answers, 1
        while role:
            at += 1 + answers[at]
            role -= 1
        return answers[at + 1 : at + 1 + answers[at]]

    @property
    def goals(self) -> list[int | None]:
        """The goal value of each role; None unless the rules give exactly one."""
        found: list[int | None] = [None] * len(self.moves)
        met, pairs = set(), self._numbering.goals
        for place in self.scores():
            role, value = pairs[place]
            found[role] = None if role in met else value
            met.add(role)
        return found

    def scores(self) -> list[int]:
        """Return the goals that hold, as places among the goals of the network."""
        scores: list[int] = self._answers[: self._score(self._address, False)].tolist()
        return scores

    # -- moving ---------------------------------------------------------------------------

    def play(self, moves: Sequence[int]) -> None:
        """Make a joint move: a number for each role.

        Raises `IllegalMoveError` if a move is not legal or the game is over, `IndexError` if a
        role has no such move; the state stays then.
        """
        joint = self._joint
        role = 0
        for inputs in self.inputs:
            joint[role] = inputs[moves[role]]
            role += 1  # noqa: SIM113 - enumerate costs more
        count = self._step(self._address, False)
        if count < 0:
            raise IllegalMoveError(
                "the game is over"
                if count == -1
                else f"no legal move `{self.moves[-2 - count][moves[-2 - count]]}` for role {-2 - count}"
            )
        self.answers = self._answers[:count].tolist()

    def made(self, inputs: Sequence[int]) -> bool:
        """Make a joint move, given as inputs of the network; return whether it was legal."""
        for role, move in enumerate(inputs):
            self._joint[role] = move
        count = self._step(self._address, False)
        if count < 0:
            return False
        self.answers = self._answers[:count].tolist()
        return True

    def look_ahead(self, inputs: Sequence[int]) -> None:
        """Evaluate what a joint move gives, legal or not, and stay."""
        for role, move in enumerate(inputs):
            self._joint[role] = move
        self._follow(self._address, False)

    @property
    def following(self) -> bytes:
        """After `look_ahead`: the key of the next state."""
        return self._next.tobytes()

    @property
    def percepts(self) -> list[int]:
        """After `look_ahead`: the percepts, as places among the percepts of the network."""
        bits = np.unpackbits(self._sees, count=len(self.network.sees), bitorder="little")
        found: list[int] = np.flatnonzero(bits).tolist()
        return found

    def _tune(self) -> None:
        """Take the faster way to evaluate gates: try both on some steps of a random game.

        Each way goes one step before its time is taken: the first costs compiled code that is
        loaded, and the evaluation of all gates, which no later step pays.
        """
        if self.network.gates < _FEW_GATES:
            self._memory.reckons = False
            return
        spent = {}
        for reckons in (True, False):
            self._memory.reckons = reckons
            self.reset()
            rng = random.Random(1)
            self._wander(rng)
            started = now = time.thread_time()
            steps = 0
            while steps < _TRIAL_STEPS and now - started < _TRIAL_SECONDS:
                self._wander(rng)
                steps += 1
                now = time.thread_time()
            spent[reckons] = (now - started) / steps
        self._memory.reckons = spent[True] < spent[False]

    def _wander(self, rng: random.Random) -> None:
        """Make a random joint move, or begin anew where there is none."""
        legal = [self.legal(role) for role in range(len(self.moves))]
        if self.is_terminal or not all(legal):
            self.reset()
        else:
            self.play([rng.choice(moves) for moves in legal])


def _view(array: Any) -> memoryview[Any]:
    return memoryview(array)

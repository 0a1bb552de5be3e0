"""States and steps of a game inside an `UnrolledCircuit`."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.circuit import UnrolledCircuit
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from collections.abc import Container

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.sat import Solver
    from herbrand.network.network import Network

__all__ = ["Frame", "System"]


class System:
    """A game as a transition system; its frames share one circuit.

    Without `loops`, recursion within states is not unrolled: its signals may have any values that are closed
    under the rules, of which the least are those of the game.  What is unreachable in this over-approximation
    is unreachable in the game, too.  Nothing is lost where a property needs only that something, such as a
    chain of stones, does not follow by recursion: any closed values without it show that.
    """

    def __init__(self, network: Network, *, loops: bool = True) -> None:
        self._original = network
        self.network = unrolled(network) if loops else network
        self.circuit = UnrolledCircuit()
        text = network.terms.text
        self.roles = [text(role) for role in network.roles]
        owner = self.network.moves[:, 0]
        self.moves = [np.flatnonzero(owner == role) for role in range(len(self.roles))]
        """The moves of each role."""
        self.move_texts = [text(move) for move in self.network.moves[:, 1].tolist()]
        self.fluent_texts = [text(fluent) for fluent in self.network.fluents.tolist()]
        self.goal_values = [(role, text(value)) for role, value in self.network.goals.tolist()]

    def without_loops(self) -> System:
        """Return the system in which recursion within states is not unrolled, over the same circuit."""
        system = copy(self)
        system.network = self._original
        return system

    def initial(self) -> Frame:
        """Return the initial state."""
        return Frame(self, self.network.initial.astype(np.int32))

    def any_state(self) -> Frame:
        """Return an unconstrained state."""
        return Frame(self, self.circuit.variables(len(self.network.fluents)))


class Frame:
    """One state and its properties, as literals of the circuit."""

    def __init__(self, system: System, state: NDArray[np.int32]) -> None:
        network = system.network
        self.system = system
        self.state = state
        self.value = np.zeros(network.inputs + network.gates, np.int32)
        self.value[1 : 1 + len(state)] = state
        feedback = 1 + len(state) + len(network.moves)
        self.value[feedback : network.inputs] = system.circuit.variables(network.inputs - feedback)
        self._copy(0, network.cones[0])
        self.legal = self.literals(network.legal)
        self.terminal = int(self.literals(np.array([network.terminal]))[0])
        self._has_goals = False

    def _copy(self, begin: int, end: int) -> None:
        """Copy gates `begin` to `end`; the values fed back in their loops are closed."""
        network, circuit = self.system.network, self.system.circuit
        circuit.copy(network, self.value, begin, end)
        first = network.inputs - len(network.feedback)
        for start, last, low, high in network.loops.tolist():
            if begin <= start and last <= end:
                sources = self.literals(network.feedback[low:high]).tolist()
                variables = (self.value[first + low : first + high] >> 1).tolist()
                circuit.closed.update(zip(variables, sources, strict=True))

    def literals(self, literals: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return literals of the network as literals of the circuit in this frame."""
        translated: NDArray[np.int32] = self.value[literals >> 1] ^ (literals & 1).astype(np.int32)
        return translated

    def goal(self) -> NDArray[np.int32]:
        """Return the goal literals."""
        network = self.system.network
        if not self._has_goals:
            self._copy(network.cones[1], network.cones[2])
            self._has_goals = True
        return self.literals(network.goal)

    def sees(self) -> NDArray[np.int32]:
        """Return the literals of percepts that do not depend on moves; others have no meaning here."""
        network = self.system.network
        self._copy(network.cones[0], network.cones[1])
        return self.literals(network.sees)

    def stuck(self, role: int) -> int:
        """Return the literal that the game is not over and a role has no legal move."""
        moves = self.legal[self.system.moves[role]]
        return self.system.circuit.all_of([self.terminal ^ 1, *(moves ^ 1).tolist()])

    def wins(self, role: int) -> int:
        """Return the literal that the game is over and the goal of a role is 100, and no other value."""
        return self.gets(role, 100)

    def gets(self, role: int, value: int) -> int:
        """Return the literal that the game is over and a role has one goal value, this one."""
        circuit = self.system.circuit
        chosen, others = self._goals(role, {str(value)})
        return circuit.all_of((self.terminal, circuit.any_of(chosen), *(x ^ 1 for x in others)))

    def hundred(self, role: int) -> int:
        """Return the literal that a goal value of a role is 100, in any state."""
        return self.system.circuit.any_of(self._goals(role, {"100"})[0])

    def no_other(self, role: int) -> int:
        """Return the literal that a role has no goal value but 100, in any state."""
        return self.system.circuit.any_of(self._goals(role, {"100"})[1]) ^ 1

    def has_no_goal(self, role: int) -> int:
        """Return the literal that the game is over and a role has no, several or an invalid goal value."""
        circuit = self.system.circuit
        proper, others = self._goals(role, _VALUES)
        valid = circuit.all_of([circuit.only_one(proper)[0], *(x ^ 1 for x in others)])
        return circuit.all_of((self.terminal, valid ^ 1))

    def _goals(self, role: int, values: Container[str]) -> tuple[list[int], list[int]]:
        """Return the literals of some goal values of a role, and those of its other values."""
        chosen: list[int] = []
        others: list[int] = []
        for (owner, text), x in zip(self.system.goal_values, self.goal().tolist(), strict=True):
            if owner == role:
                (chosen if text in values else others).append(x)
        return chosen, others

    def play(self, solver: Solver, when: int = 1) -> FrameStep:
        """Require that the game is not over and each role makes one legal move; return the step.

        With `when`, a literal, this is required where it is true.
        """
        system, network = self.system, self.system.network
        solver.add([self.terminal ^ 1, when ^ 1])
        choices = np.zeros(len(network.moves), np.int32)
        for moves in system.moves:
            legal_moves = moves[self.legal[moves] != 0]
            if len(legal_moves) == 1:
                choices[legal_moves[0]] = 1
                solver.add([int(self.legal[legal_moves[0]]), when ^ 1])
                continue
            chosen = system.circuit.variables(len(legal_moves))
            choices[legal_moves] = chosen
            for choice, legal in zip(chosen.tolist(), self.legal[legal_moves].tolist(), strict=True):
                solver.add([choice ^ 1, legal, when ^ 1])
            solver.add([*chosen.tolist(), when ^ 1])
            solver.at_most_one(chosen.tolist(), when)
        first = 1 + len(network.fluents)
        self.value[first : first + len(choices)] = choices
        self._copy(network.cones[0], network.cones[1])
        return FrameStep(self, choices, Frame(system, self.literals(network.next)))


@dataclass(frozen=True, slots=True)
class FrameStep:
    """A step of a game."""

    before: Frame
    choices: NDArray[np.int32]
    """[moves] the literals of the moves that are made."""
    after: Frame


_VALUES = frozenset(map(str, range(101)))

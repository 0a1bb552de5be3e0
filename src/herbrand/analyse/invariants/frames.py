"""States and steps of a game inside a `UnrolledCircuit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.circuit import UnrolledCircuit
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.invariants.sat import Solver
    from herbrand.network.network import Network

__all__ = ["Frame", "System"]


class System:
    """A game as a transition system; its frames share one circuit.

    Without `loops` these are not written out, but may have any values: then it can do all that the game
    can, and more, so that what it never reaches the game does not.
    """

    def __init__(self, network: Network, *, loops: bool = True) -> None:
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

    def initial(self) -> Frame:
        """Return the initial state."""
        return Frame(self, self.network.initial.astype(np.int32))

    def any_state(self) -> Frame:
        """Return a state of which nothing is known."""
        return Frame(self, self.circuit.variables(len(self.network.fluents)))


class Frame:
    """One state and what is asked about it, as literals of the circuit."""

    def __init__(self, system: System, state: NDArray[np.int32]) -> None:
        network = system.network
        self.system = system
        self.state = state
        self.value = np.zeros(network.inputs + network.gates, np.int32)
        self.value[1 : 1 + len(state)] = state
        fed = 1 + len(state) + len(network.moves)
        self.value[fed : network.inputs] = system.circuit.variables(network.inputs - fed)
        system.circuit.copy(network, self.value, 0, network.cones[0])
        self.legal = self.literals(network.legal)
        self.terminal = int(self.literals(np.array([network.terminal]))[0])
        self._has_goals = False

    def literals(self, literals: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return literals of the network as literals of the circuit in this frame."""
        found: NDArray[np.int32] = self.value[literals >> 1] ^ (literals & 1).astype(np.int32)
        return found

    def goal(self) -> NDArray[np.int32]:
        """Return the goal literals."""
        network = self.system.network
        if not self._has_goals:
            self.system.circuit.copy(network, self.value, network.cones[1], network.cones[2])
            self._has_goals = True
        return self.literals(network.goal)

    def stuck(self, role: int) -> int:
        """Return when the game is not over and a role has no legal move."""
        moves = self.legal[self.system.moves[role]]
        return self.system.circuit.all_of([self.terminal ^ 1, *(moves ^ 1).tolist()])

    def wins(self, role: int) -> int:
        """Return when the game is over and the goal of a role is 100."""
        return self.system.circuit.all_of((self.terminal, self.hundred(role)))

    def hundred(self, role: int) -> int:
        """Return when the goal of a role is 100, whether the game is over or not."""
        pairs = zip(self.system.goal_values, self.goal().tolist(), strict=True)
        hundred = [x for (owner, text), x in pairs if owner == role and text == "100"]
        return self.system.circuit.any_of(hundred)

    def has_no_goal(self, role: int) -> int:
        """Return when the game is over and a role has no, or more than one, or an impossible goal value."""
        pairs = list(zip(self.system.goal_values, self.goal().tolist(), strict=True))
        circuit = self.system.circuit
        proper = [x for (owner, text), x in pairs if owner == role and text in _VALUES]
        others = [x ^ 1 for (owner, text), x in pairs if owner == role and text not in _VALUES]
        fine = circuit.all_of([circuit.only_one(proper)[0], *others])
        return circuit.all_of((self.terminal, fine ^ 1))

    def play(self, solver: Solver) -> FrameStep:
        """Demand that the game goes on: each role makes one legal move.  Return the step."""
        system, network = self.system, self.system.network
        solver.add([self.terminal ^ 1])
        made = np.zeros(len(network.moves), np.int32)
        for moves in system.moves:
            possible = moves[self.legal[moves] != 0]
            if len(possible) == 1:
                made[possible[0]] = 1
                solver.add([int(self.legal[possible[0]])])
                continue
            chosen = system.circuit.variables(len(possible))
            made[possible] = chosen
            for choice, legal in zip(chosen.tolist(), self.legal[possible].tolist(), strict=True):
                solver.add([choice ^ 1, legal])
            solver.add(chosen.tolist())
            solver.at_most_one(chosen.tolist())
        first = 1 + len(network.fluents)
        self.value[first : first + len(made)] = made
        system.circuit.copy(network, self.value, network.cones[0], network.cones[1])
        return FrameStep(self, made, Frame(system, self.literals(network.next)))


@dataclass(frozen=True, slots=True)
class FrameStep:
    """A step of a game."""

    before: Frame
    made: NDArray[np.int32]
    """[moves] the literals that say which move is made."""
    after: Frame


_VALUES = frozenset(map(str, range(101)))

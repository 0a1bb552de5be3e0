"""A rollout policy that looks two steps ahead: it takes immediate wins and prevents those of others.

A move is *decisive* if it ends the game with the highest goal of its role.  A role that has decisive moves
takes one of them (Teytaud and Teytaud, On the huge benefit of decisive moves in Monte-Carlo tree search
algorithms, 2010); otherwise it makes, if possible, a move that leaves its opponents none (anti-decisive).
The policy is compiled into the network: only the moves that a role would choose from are legal, so that the
loops that choose uniformly among legal moves need not change.

Gates decide which moves these are: the network is copied once for each move, with that move as its input; the
next state of each copy feeds another copy of `terminal` and `goal`.  Gates that several copies have in common
are shared.  Roles are assumed to take turns: only the mover has a choice.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from herbrand.engine.playouts import goal_value
from herbrand.network.circuit import UnrolledCircuit
from herbrand.network.cones import in_cones

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.network.network import Network

__all__ = ["decisive"]


def decisive(network: Network, *, gates: int = 20_000) -> Network | None:
    """Return a network in which roles with decisive moves may make only these, and others only safe moves.

    A role whose moves are all unsafe keeps them.  Returns None if the result would have more than `gates`
    gates, if no move is decisive, or if the network has loops.
    """
    if len(network.loops) or network.gates > gates:
        return None
    builder = _Builder(network, 50 * gates)
    try:
        legal = builder.legal()
    except _TooLarge:
        return None
    if legal is None:
        return None
    restricted = builder.network(legal)
    return restricted if restricted.gates <= gates else None


class _TooLarge(Exception):
    """The circuit exceeds its limit of nodes."""


class _Builder:
    """Unrolls a network into one circuit, whose first variables are the fluents and moves of the network.

    A *value* array has the literal in the circuit of each node of one copy of the network.
    """

    def __init__(self, network: Network, max_nodes: int) -> None:
        self.source = network
        self.max_nodes = max_nodes
        self.circuit = UnrolledCircuit()
        self.first_move = 1 + len(network.fluents)
        self.value = np.zeros(network.inputs + network.gates, np.int32)
        self.value[1 : network.inputs] = self.circuit.variables(network.inputs - 1)
        self.circuit.copy(network, self.value, 0, network.gates)
        self.legal_literals = self._translate(self.value, network.legal)
        self.owner = network.moves[:, 0]
        self.best_goals = [self._best_goal(role) for role in range(len(network.roles))]

    def _best_goal(self, role: int) -> int | None:
        """Return the index among the network's goals of the highest of a role."""
        source = self.source
        by_value: dict[int, int] = {}
        for k in np.flatnonzero(source.goals[:, 0] == role).tolist():
            value = goal_value(source.terms.text(int(source.goals[k, 1])))
            if value is not None:
                by_value[value] = k
        return by_value[max(by_value)] if by_value else None

    def _translate(self, value: NDArray[np.int32], literals: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the literals of the circuit for literals of one copy of the network."""
        translated: NDArray[np.int32] = value[literals >> 1] ^ (literals & 1)
        return translated

    def _copy(self, network: Network, value: NDArray[np.int32], begin: int, end: int) -> None:
        self.circuit.copy(network, value, begin, end)
        if self.circuit.nodes > self.max_nodes:
            raise _TooLarge

    def _state(self, fluents: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the values of a copy in a state, in the cones of `legal`, `terminal` and `goal` alone."""
        source = self.source
        value = np.zeros(len(self.value), np.int32)
        value[1 : self.first_move] = fluents
        self._copy(source, value, 0, source.cones[0])
        self._copy(source, value, source.cones[1], source.cones[2])
        return value

    def _after(self, move: int) -> NDArray[np.int32]:
        """Return the fluents after a move, if each of the other roles makes its only legal move."""
        source = self.source
        value = self.value.copy()
        joint = np.where(self.owner == self.owner[move], 0, self.legal_literals)
        joint[move] = 1  # the literal of true
        value[self.first_move : source.inputs] = joint
        self._copy(source, value, source.cones[0], source.cones[1])
        return self._translate(value, source.next)

    def _wins(self, role: int) -> tuple[dict[int, int], dict[int, NDArray[np.int32]]]:
        """Return for each move of a role the literal "it is legal and decisive", and the fluents after it."""
        source, wins, following = self.source, {}, {}
        goal = self.best_goals[role]
        if goal is None:
            return {}, {}
        for move in np.flatnonzero(self.owner == role).tolist():
            following[move] = self._after(move)
            after = self._state(following[move])
            ends = self._translate(after, np.array([source.terminal, source.goal[goal]], np.int32))
            wins[move] = self.circuit.all_of([*ends.tolist(), int(self.legal_literals[move])])
        return wins, following

    def legal(self) -> NDArray[np.int32] | None:
        """Return the literal of each move in the restricted network; None if no move is decisive."""
        source, circuit = self.source, self.circuit
        legal = self.legal_literals.copy()
        roles = [r for r, name in enumerate(source.roles) if source.terms.text(name).lower() != "random"]
        wins, following = {}, {}
        for role in roles:
            wins[role], following[role] = self._wins(role)
        can_win = {role: circuit.any_of(wins[role].values()) for role in roles}
        if not any(can_win.values()):
            return None
        for role in roles:
            quiet = {move: int(self.legal_literals[move]) for move in wins[role]}
            others = [can_win[other] for other in roles if other != role and can_win[other]]
            if others:
                threat = self._extract(circuit.any_of(others))
                safe = {
                    move: circuit.all_of([quiet[move], self._threatened(threat, after) ^ 1])
                    for move, after in following[role].items()
                }
                none_safe = circuit.any_of(safe.values()) ^ 1
                quiet = {
                    move: circuit.any_of([safe[move], circuit.all_of([quiet[move], none_safe])])
                    for move in quiet
                }
            for move, win in wins[role].items():
                legal[move] = circuit.any_of([win, circuit.all_of([quiet[move], can_win[role] ^ 1])])
        return legal

    def _extract(self, literal: int) -> Network:
        """Return the cone of a literal as a network whose `terminal` it is."""
        return self.network(np.zeros_like(self.source.legal), terminal=literal)

    def _threatened(self, threat: Network, fluents: NDArray[np.int32]) -> int:
        """Return the literal of `terminal` of `threat` in the state with these fluents."""
        value = np.zeros(threat.inputs + threat.gates, np.int32)
        value[1 : self.first_move] = fluents
        self._copy(threat, value, 0, threat.cones[0])
        return int(value[threat.terminal >> 1]) ^ (threat.terminal & 1)

    def network(self, legal: NDArray[np.int32], terminal: int | None = None) -> Network:
        """Return the network with these literals as its legal moves, and its `terminal` if one is given."""
        source, circuit = self.source, self.circuit
        inputs = source.inputs
        if terminal is None:
            terminal = int(self._translate(self.value, np.array([source.terminal], np.int32))[0])
        return in_cones(
            replace(
                source,
                left=circuit.left[inputs : circuit.nodes].copy(),
                right=circuit.right[inputs : circuit.nodes].copy(),
                legal=legal,
                next=self._translate(self.value, source.next),
                terminal=terminal,
                goal=self._translate(self.value, source.goal),
                sees=self._translate(self.value, source.sees),
            ),
            inputs,
        )

"""A policy that sees two steps ahead: games in which nobody passes by a win, written into the network.

A move is *decisive* where it ends the game with the highest goal of its role.  A role that has one takes one
(Teytaud and Teytaud, On the huge benefit of decisive moves in Monte-Carlo tree search algorithms, 2010); else
it makes, if it can, a move after which the other has none (anti-decisive).  The loops that
choose uniformly among legal moves need to know nothing of it: in the network that is made here, only
the moves that a role would choose from are legal.

Which moves these are is computed by gates: the network is copied once for each move with the move made, the
copies' fluents lead into `terminal` and `goal` again, and what is the same in several copies is there once.
It is assumed that nobody but the mover has a choice.
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
    """Return a network in which a role with a decisive move has no other, or else a safe one if there is one.

    None where that takes more than so many `gates`, where no move is decisive, or where the network
    has loops.
    """
    if len(network.loops) or network.gates > gates:
        return None
    maker = _Maker(network, 50 * gates)
    try:
        legal = maker.legal()
    except _TooLarge:
        return None
    if legal is None:
        return None
    made = maker.network(legal)
    return made if made.gates <= gates else None


class _TooLarge(Exception):
    """More nodes than allowed."""


class _Maker:
    """Copies a network into one circuit, whose first variables are its fluents and moves."""

    def __init__(self, network: Network, most: int) -> None:
        self.source = network
        self.most = most
        self.circuit = UnrolledCircuit()
        self.moves_first = 1 + len(network.fluents)
        self.value = np.zeros(network.inputs + network.gates, np.int32)
        self.value[1 : network.inputs] = self.circuit.variables(network.inputs - 1)
        self.circuit.copy(network, self.value, 0, network.gates)
        self.possible = self._of(self.value, network.legal)
        self.owner = network.moves[:, 0]
        self.best = [self._best(role) for role in range(len(network.roles))]

    def _best(self, role: int) -> int | None:
        """Return which of the goals is the highest of a role."""
        source = self.source
        found: dict[int, int] = {}
        for k in np.flatnonzero(source.goals[:, 0] == role).tolist():
            worth = goal_value(source.terms.text(int(source.goals[k, 1])))
            if worth is not None:
                found[worth] = k
        return found[max(found)] if found else None

    def _of(self, value: NDArray[np.int32], literals: NDArray[np.int32]) -> NDArray[np.int32]:
        found: NDArray[np.int32] = value[literals >> 1] ^ (literals & 1)
        return found

    def _copy(self, network: Network, value: NDArray[np.int32], begin: int, end: int) -> None:
        self.circuit.copy(network, value, begin, end)
        if self.circuit.nodes > self.most:
            raise _TooLarge

    def _state(self, fluents: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the values of a copy in a state, with what legal moves, goals and the end depend on."""
        source = self.source
        value = np.zeros(len(self.value), np.int32)
        value[1 : self.moves_first] = fluents
        self._copy(source, value, 0, source.cones[0])
        self._copy(source, value, source.cones[1], source.cones[2])
        return value

    def _after(self, move: int) -> NDArray[np.int32]:
        """Return the fluents after a move; all others do the only thing they can."""
        source = self.source
        value = self.value.copy()
        made = np.where(self.owner == self.owner[move], 0, self.possible)
        made[move] = 1
        value[self.moves_first : source.inputs] = made
        self._copy(source, value, source.cones[0], source.cones[1])
        return self._of(value, source.next)

    def _wins(self, role: int) -> tuple[dict[int, int], dict[int, NDArray[np.int32]]]:
        """Return for each move of a role whether it is legal and decisive, and the fluents after it."""
        source, found, following = self.source, {}, {}
        goal = self.best[role]
        if goal is None:
            return {}, {}
        for move in np.flatnonzero(self.owner == role).tolist():
            following[move] = self._after(move)
            after = self._state(following[move])
            ends = self._of(after, np.array([source.terminal, source.goal[goal]], np.int32))
            found[move] = self.circuit.all_of([*ends.tolist(), int(self.possible[move])])
        return found, following

    def legal(self) -> NDArray[np.int32] | None:
        """Return what is legal where decisive moves are taken; None where there are none."""
        source, circuit = self.source, self.circuit
        legal = self.possible.copy()
        roles = [r for r, name in enumerate(source.roles) if source.terms.text(name).lower() != "random"]
        wins, following = {}, {}
        for role in roles:
            wins[role], following[role] = self._wins(role)
        can_win = {role: circuit.any_of(wins[role].values()) for role in roles}
        if not any(can_win.values()):
            return None
        for role in roles:
            quiet = {move: int(self.possible[move]) for move in wins[role]}
            others = [can_win[other] for other in roles if other != role and can_win[other]]
            if others:
                threat = self._alone(circuit.any_of(others))
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

    def _alone(self, literal: int) -> Network:
        """Return the gates that a literal depends on as a network, of which it is `terminal`."""
        return self.network(np.zeros_like(self.source.legal), terminal=literal)

    def _threatened(self, threat: Network, fluents: NDArray[np.int32]) -> int:
        """Return the literal of a network's `terminal` in the state that has these fluents."""
        value = np.zeros(threat.inputs + threat.gates, np.int32)
        value[1 : self.moves_first] = fluents
        self._copy(threat, value, 0, threat.cones[0])
        return int(value[threat.terminal >> 1]) ^ (threat.terminal & 1)

    def network(self, legal: NDArray[np.int32], terminal: int | None = None) -> Network:
        """Return the network with other legal moves."""
        source, circuit = self.source, self.circuit
        inputs = source.inputs
        if terminal is None:
            terminal = int(self._of(self.value, np.array([source.terminal], np.int32))[0])
        return in_cones(
            replace(
                source,
                left=circuit.left[inputs : circuit.nodes].copy(),
                right=circuit.right[inputs : circuit.nodes].copy(),
                legal=legal,
                next=self._of(self.value, source.next),
                terminal=terminal,
                goal=self._of(self.value, source.goal),
                sees=self._of(self.value, source.sees),
            ),
            inputs,
        )

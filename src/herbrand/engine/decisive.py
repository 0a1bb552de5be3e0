"""A rollout policy that looks two steps ahead: it takes immediate wins and prevents those of others.

A move is *decisive* if it ends the game with the highest goal of its role.  A role that has decisive moves
takes one of them (Teytaud and Teytaud, On the huge benefit of decisive moves in Monte-Carlo tree search
algorithms, 2010); otherwise it makes, if possible, a move that leaves its opponents none (anti-decisive).
The policy is compiled into the network: only the moves that a role would choose from are legal, so that the
loops that choose uniformly among legal moves need not change.

Gates decide which moves these are (`lookahead`).  Roles are assumed to take turns: only the mover has a
choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.engine.lookahead import Lookahead, TooLarge
from herbrand.engine.playouts import goal_value

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
    try:
        builder = _Builder(network, 50 * gates)
        legal = builder.legal()
    except TooLarge:
        return None
    if legal is None:
        return None
    restricted = builder.network(legal=legal)
    return restricted if restricted.gates <= gates else None


class _Builder(Lookahead):
    """Finds out which moves are decisive."""

    def __init__(self, network: Network, max_nodes: int) -> None:
        super().__init__(network, max_nodes)
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

    def _wins(self, role: int) -> tuple[dict[int, int], dict[int, NDArray[np.int32]]]:
        """Return for each move of a role the literal "it is legal and decisive", and the fluents after it."""
        source, wins, following = self.source, {}, {}
        goal = self.best_goals[role]
        if goal is None:
            return {}, {}
        for move in np.flatnonzero(self.owner == role).tolist():
            following[move] = self.after(move)
            after = self.state(following[move])
            ends = self.translate(after, np.array([source.terminal, source.goal[goal]], np.int32))
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
                # a network whose `terminal` says that another role can win
                threat = self.network(legal=np.zeros_like(source.legal), terminal=circuit.any_of(others))
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

    def _threatened(self, threat: Network, fluents: NDArray[np.int32]) -> int:
        """Return the literal of `terminal` of `threat` in the state with these fluents."""
        value = np.zeros(threat.inputs + threat.gates, np.int32)
        value[1 : self.first_move] = fluents
        self._copy(threat, value, 0, threat.cones[0])
        return int(value[threat.terminal >> 1]) ^ (threat.terminal & 1)

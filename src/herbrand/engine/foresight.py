"""Networks that see the end of a game a step before, and what the side not to move threatens.

A search for what a role can force decides a state as soon as one move does.  That a reply is needed at once
tells which states to look at first (threats, Allis 1994): the side not to move would decide if it were to
move.  That is asked of the state in which the fluents that say whose turn it is are exchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.engine.lookahead import Lookahead, TooLarge
from herbrand.engine.playouts import goal_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander
    from herbrand.network.network import Network

__all__ = ["find_turns", "foreseen", "threats"]

_GROWTH: Final = 20
"""How many times as large a circuit may become."""
_LEAST, _MOST = 20_000, 2_000_000
"""Gates that a circuit may have in any case, and at most."""


def foreseen(network: Network, role: int, goal: int) -> Network | None:
    """Return a network that ends where one move decides if a role, by number, gets at least a goal value.

    It is terminal, with such a value of the role or another one, where a role alone has a choice, and one of
    its moves leads to an end at which the question has the answer that it wants.  The goal values of other
    roles have no meaning there.  None if it would be too large, or where states have recursion.
    """
    try:
        ahead = _Deciding(network, role, goal)
        wins, fails = ahead.decisions()
    except TooLarge:
        return None
    circuit = ahead.circuit
    if not wins and not fails:
        return None
    over, goals = ahead.end(ahead.value)
    won, failed = circuit.all_of((over ^ 1, wins)), circuit.all_of((over ^ 1, fails))
    for kinds, decided in ((ahead.good, won), (ahead.bad, failed)):
        for place, kind in enumerate(kinds.tolist()):
            value = circuit.all_of((over, int(goals[kind])))
            goals[kind] = circuit.any_of((value, decided)) if place == 0 else value
    return ahead.network(terminal=circuit.any_of((over, won, failed)), goal=goals)


def threats(network: Network, role: int, goal: int, turns: tuple[int, int]) -> Network | None:
    """Return a network whose `terminal` says where a side would decide that question if it were to move.

    `turns` are the fluents, by index, that are true when it is the turn of the first role and of the second.
    Nothing else of the network has a meaning.  None as in `foreseen`.
    """
    try:
        ahead = _Deciding(network, role, goal, turns)
        wins, fails = ahead.decisions()
    except TooLarge:
        return None
    decided = ahead.circuit.any_of((wins, fails))
    if not decided:
        return None
    legal, goal_literals = np.zeros_like(network.legal), np.zeros_like(network.goal)
    return ahead.network(terminal=decided, legal=legal, goal=goal_literals)


def find_turns(expander: Expander, states: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return the fluents, by index, that are true when the first and the second of two roles has a choice.

    As far as sampled states, [n, fluents], show; None where there are none.
    """
    if len(expander.roles) != 2:
        return None
    legal = expander.legal(expander.pack_bits(states))
    chooses = legal.counts() > 1
    one = legal.going & (chooses.sum(axis=1) == 1)
    turns = []
    for role in (0, 1):
        agrees = (states[one] == chooses[one, role, None]).all(axis=0)
        found = np.flatnonzero(agrees & states[one].any(axis=0))
        if not len(found):
            return None
        turns.append(int(found[0]))
    return turns[0], turns[1]


class _Deciding(Lookahead):
    """Finds out where one move decides the question whether a role gets at least a goal value."""

    def __init__(self, network: Network, role: int, goal: int, turns: tuple[int, int] | None = None) -> None:
        if len(network.loops):
            raise TooLarge
        most = min(_MOST, max(_LEAST, _GROWTH * network.gates))
        super().__init__(network, most, () if turns is None else (turns,))
        self.role = role
        own = np.flatnonzero(network.goals[:, 0] == role)
        values = [goal_value(network.terms.text(int(network.goals[kind, 1]))) for kind in own.tolist()]
        self.good = own[[value is not None and value >= goal for value in values]]
        """The goals of the role that are wanted, by number."""
        self.bad = own[[value is not None and value < goal for value in values]]
        self.own = own

    def end(self, value: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
        """Return the literals of `terminal` and of the goals in a copy."""
        (over,) = self.translate(value, np.array([self.source.terminal], np.int32)).tolist()
        return over, self.translate(value, self.source.goal)

    def decisions(self) -> tuple[int, int]:
        """Return the literals that a move of the role leads to a wanted end, another one to an unwanted."""
        circuit, roles = self.circuit, range(len(self.source.roles))
        single = [circuit.only_one(self.legal_literals[self.owner == role])[0] for role in roles]
        ways: tuple[list[int], list[int]] = [], []
        for role in roles:
            quiet = circuit.all_of([single[other] for other in roles if other != role])
            for move in np.flatnonzero(self.owner == role).tolist():
                over, goals = self.end(self.state(self.after(move)))
                if over == 0:
                    continue
                alone = circuit.only_one(goals[self.own])[0]
                kinds = self.good if role == self.role else self.bad
                wanted = circuit.all_of((alone, circuit.any_of(goals[kinds].tolist())))
                way = circuit.all_of((int(self.legal_literals[move]), quiet, over, wanted))
                ways[role != self.role].append(way)
        return circuit.any_of(ways[0]), circuit.any_of(ways[1])

"""Random play from states that satisfy what is assumed, which finds what else does not last.

A counterexample of a solver satisfies all groups and sums that are assumed, but is no state of any game: with
five queens, say.  Random play from there comes to many others in which all that is left holds, and each
group that one of its steps violates would be refuted by the solver, too, in some later round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.engine.expand import Expander

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.groups import Group
    from herbrand.network.network import Network

__all__ = ["Wandering"]

_LANES: Final = 128
"""Games from each state."""
_STEPS: Final = 40
"""Steps of each game."""


class Wandering:
    """Random play from any states in which some groups, which have no condition, and other conditions hold.

    Conditions are functions of states, [n, fluents], that return in which of them they hold, [n].
    """

    def __init__(
        self,
        network: Network,
        groups: Sequence[Group],
        conditions: Sequence[Callable[[NDArray[np.bool_]], NDArray[np.bool_]]] = (),
    ) -> None:
        self.expander = Expander(network)
        self.conditions = conditions
        self.members = np.zeros((len(network.fluents), len(groups)), np.float32)
        for number, group in enumerate(groups):
            self.members[list(group.fluents), number] = 1
        self.some = np.array([group.some for group in groups], np.bool_)
        self._random = np.random.default_rng(5)

    def violated(self, state: NDArray[np.bool_], lost: Iterable[int]) -> set[int]:
        """Return which groups do not last, by number, besides some that are `lost`.

        `state`, [fluents], satisfies all others, and the conditions.
        """
        left = np.ones(len(self.some), np.bool_)
        left[list(lost)] = False
        before = left.copy()
        states = np.repeat(self.expander.pack_bits(state[None, :]), _LANES, axis=0)
        for _ in range(_STEPS):
            legal = self.expander.legal(states)
            going = legal.going
            if not going.any():
                break
            states = self.expander.step(states[going], legal.sample_joint(self._random)[going])
            bits = self.expander.bits(states)
            left &= self._hold(bits).all(axis=0)
            for condition in self.conditions:
                good = condition(bits)
                states, bits = states[good], bits[good]
        return set(np.flatnonzero(before & ~left).tolist())

    def _hold(self, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which groups hold in states, [n, groups]."""
        counts = states.astype(np.float32) @ self.members
        holds: NDArray[np.bool_] = np.where(self.some, counts >= 1, counts <= 1)
        return holds

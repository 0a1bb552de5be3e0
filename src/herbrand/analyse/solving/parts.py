"""Parts of a game with one role: sets of fluents whose next values depend on themselves and the move alone.

A piece of a turning cube is a part, with its place and its twist, and so is a tile of a sliding puzzle
together with the hole.  A part is a small automaton that reads moves, and a game that asks only for certain
values of its parts is their product (compare the causal graphs of planning, Helmert 2006).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.network.cones import fluents_of
from herbrand.network.ternary import TernarySimulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from herbrand.engine.expand import Expander

__all__ = ["IndependentPart", "find_parts"]

_MOST_FLUENTS = 3000
"""The most fluents of a game in which parts are looked for."""
_MOST_VALUES = 2048
"""The most values of a part."""


@dataclass(frozen=True, slots=True)
class IndependentPart:
    """A part and its values, which are numbered; 0 is that of the initial state."""

    fluents: NDArray[np.int64]
    """By index in the network."""
    values: NDArray[np.bool_]
    """[values, fluents]"""
    after: NDArray[np.int32]
    """[moves, values] the value after each move."""
    legal: NDArray[np.bool_]
    """[moves, values] whether the move may be legal then; another part can prevent it."""

    def satisfying(self, required: Mapping[int, bool]) -> NDArray[np.bool_]:
        """Return which values agree with those of some fluents, by index in the network, [values]."""
        good = np.ones(len(self.values), np.bool_)
        for place, fluent in enumerate(self.fluents.tolist()):
            if fluent in required:
                good &= self.values[:, place] == required[fluent]
        return good


def find_parts(expander: Expander, needed: Iterable[int], deadline: float) -> list[IndependentPart] | None:
    """Return the least parts of a game with one role that have all `needed` fluents, by index in the network.

    None where they are too large, or not found by the deadline, a time of `time.monotonic`.
    """
    network = expander.network
    if len(expander.roles) != 1 or len(network.fluents) > _MOST_FLUENTS:
        return None
    depends: dict[int, frozenset[int]] = {}
    closed: list[frozenset[int]] = []
    for fluent in needed:
        if any(fluent in part for part in closed):
            continue
        part, waiting = {fluent}, [fluent]
        while waiting:
            one = waiting.pop()
            if one not in depends:
                cone = fluents_of(network, network.next[one : one + 1])
                depends[one] = frozenset(np.flatnonzero(cone).tolist())
            waiting += depends[one] - part
            part |= depends[one]
            if len(part) > _MOST_VALUES or time.monotonic() > deadline:
                return None
        closed = [*(other for other in closed if not other <= part), frozenset(part)]
    parts = []
    for fluents in closed:
        found = _part_of(expander, np.array(sorted(fluents), np.int64), deadline)
        if found is None:
            return None
        parts.append(found)
    return parts


def _part_of(expander: Expander, fluents: NDArray[np.int64], deadline: float) -> IndependentPart | None:
    """Return the part with these fluents; None where it has too many values."""
    initial = expander.bits(expander.initial)[0]
    moves = np.arange(len(expander.moves[0]), dtype=np.int32)
    values = [initial[fluents]]
    numbers = {values[0].tobytes(): 0}
    after: list[NDArray[np.int32]] = []
    while len(after) < len(values):
        if len(values) > _MOST_VALUES or time.monotonic() > deadline:
            return None
        new = np.array(values[len(after) :])
        states = np.repeat(initial[None], len(new), axis=0)
        states[:, fluents] = new
        parents = np.repeat(np.arange(len(new)), len(moves))
        stepped = expander.step(expander.pack_bits(states), np.tile(moves, len(new))[:, None], parents)
        found = []
        for value in expander.bits(stepped)[:, fluents]:
            number = numbers.setdefault(value.tobytes(), len(values))
            found.append(number)
            if number == len(values):
                values.append(value)
        after += list(np.array(found, np.int32).reshape(len(new), -1))
    table = np.array(values)
    return IndependentPart(fluents, table, np.stack(after, axis=1), _legal(expander, fluents, table))


def _legal(expander: Expander, fluents: NDArray[np.int64], values: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which moves may be legal when all that is known is the value of a part, [moves, values]."""
    simulation = TernarySimulation(expander.network)
    can, must = simulation.can, simulation.must
    legal = np.zeros((len(expander.moves[0]), len(values)), np.bool_)
    for number, value in enumerate(values):
        can[simulation.fluents], must[simulation.fluents] = True, False
        can[1 + fluents] = must[1 + fluents] = value
        simulation.evaluate()
        legal[:, number] = simulation.possible(expander.network.legal)
    return legal

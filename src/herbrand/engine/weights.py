"""Weighted rollout policies: some legal moves are chosen more often than others.

`weighted` writes weights into the network: a move of weight 3 becomes three moves with the same legality and
the same effect, so that a uniform choice takes it three times as often as a move of weight 1.  The
loops that choose uniformly need not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from herbrand.network.gates import Gates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.network.network import Network
    from herbrand.rules.terms import TermTable

__all__ = ["MAX_WEIGHT", "WeightFunction", "Weights", "weight_function", "weighted"]

MAX_WEIGHT: Final = 255

Weights: TypeAlias = Mapping[str, Mapping[str, int]] | Callable[[str, str], int]
"""The weights of moves by role, 1 for those not listed; or a function of role and move."""
WeightFunction: TypeAlias = Callable[[int, int], int]
"""The weight of a move (a term) for a role (counted from 0)."""


def weight_function(weights: Weights, terms: TermTable, roles: Sequence[int]) -> WeightFunction:
    """Return `weights` as a function of the term numbers of an engine.

    Raises `ValueError` for roles that are not in the game and for weights that are not integers
    from 1 to `MAX_WEIGHT`, `InvalidMoveError` for texts that are not ground terms.
    """
    names = [terms.text(role) for role in roles]
    if isinstance(weights, Mapping):
        places = {name.lower(): i for i, name in enumerate(names)}
        unknown = [role for role in weights if role.lower() not in places]
        if unknown:
            raise ValueError(f"no role `{unknown[0]}` (roles: {', '.join(names)})")
        table = {
            (places[role.lower()], terms.read(move)): _checked(weight, role, move)
            for role, moves in weights.items()
            for move, weight in moves.items()
        }
        return lambda role, move: table.get((role, move), 1)

    @cache
    def weigh(role: int, move: int) -> int:
        text = terms.text(move)
        return _checked(weights(names[role], text), names[role], text)

    return weigh


def _checked(weight: object, role: str, move: str) -> int:
    if not isinstance(weight, int) or not 1 <= weight <= MAX_WEIGHT:
        raise ValueError(
            f"`{move}` of {role}: a weight is a whole number from 1 to {MAX_WEIGHT}, not {weight!r}"
        )
    return weight


def weighted(network: Network, weigh: WeightFunction) -> Network:
    """Return a network in which each move is repeated as often as its weight.

    The gates that join the copies of a move are inserted at the beginning of the cone of `next` and `sees`;
    gates before them cannot depend on a move, since `legal`, `terminal` and `goal` do not.
    """
    weights = np.array([weigh(role, move) for role, move in network.moves.tolist()], np.int64)
    copies = np.repeat(np.arange(len(weights)), weights)
    fluents, old, border = len(network.fluents), network.inputs, network.cones[0]
    inputs = old + len(copies) - len(weights)
    joined = Gates(inputs + border)
    literal = np.zeros(old + network.gates, np.int32)
    literal[: 1 + fluents] = 2 * np.arange(1 + fluents)
    ends = 1 + fluents + np.cumsum(weights)
    for move, (end, weight) in enumerate(zip(ends.tolist(), weights.tolist(), strict=True)):
        literal[1 + fluents + move] = joined.any_of(2 * node for node in range(end - weight, end))
    more = len(joined.left)
    literal[1 + fluents + len(weights) : old] = 2 * np.arange(inputs - len(network.feedback), inputs)
    literal[old : old + border] = 2 * np.arange(inputs, inputs + border)
    literal[old + border :] = 2 * np.arange(inputs + border + more, inputs + network.gates + more)

    def renumber(literals: NDArray[np.int32]) -> NDArray[np.int32]:
        shifted: NDArray[np.int32] = (literal[literals >> 1] ^ (literals & 1)).astype(np.int32)
        return shifted

    def gates(side: NDArray[np.int32], new: list[int]) -> NDArray[np.int32]:
        shifted = renumber(side)
        return np.concatenate([shifted[:border], np.array(new, np.int32), shifted[border:]])

    loops = network.loops.copy()
    loops[:, :2] += np.where(loops[:, :1] >= border, more, 0).astype(loops.dtype)
    return replace(
        network,
        moves=network.moves[copies],
        left=gates(network.left, joined.left),
        right=gates(network.right, joined.right),
        feedback=renumber(network.feedback),
        loops=loops,
        legal=renumber(network.legal)[copies],
        next=renumber(network.next),
        terminal=int(literal[network.terminal >> 1] ^ (network.terminal & 1)),
        goal=renumber(network.goal),
        sees=renumber(network.sees),
        cones=(border, network.cones[1] + more, network.cones[2] + more),
    )

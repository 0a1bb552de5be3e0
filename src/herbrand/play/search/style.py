"""How the games after a leaf are played: by weighted moves, and cut off early for a learned value.

*Weights* are learned from the lanes of random games: what a role got on the average in games in which it made
a move (move-average sampling, MAST: Finnsson and Björnsson 2008) says how often the move is chosen, with
Gibbs's distribution.  They are written into a network (`simulate.weights`), so that games are
played as fast as random ones, but for the choice itself.

A game that is *cut off* after some steps counts what its last state is worth by a value learned before
(`minimax.learning`; Lorentz 2008).  One role's value is enough where two share a constant sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.simulate.expand import Expander
from herbrand.simulate.lanes import rollout
from herbrand.simulate.weights import weighted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.minimax.nodes import Judge

__all__ = ["PLAIN", "Style", "mast_weights", "weighted_expander"]

_GAMES = 4096
_LANES = 512
_BASE = 2.0
"""The weight of a move that is as good as others."""
_WARMTH = 10.0
"""Points, of a hundred, by which a move must be better to be chosen e times as often."""
_MOST = 8
_RARE = 16
"""A move must have been made in so many games."""


class Style(NamedTuple):
    """How games are played; `PLAIN` is at random to their end."""

    weights: NDArray[np.int64] | None = None
    """[moves] of all roles; None for even chances."""
    cutoff: int = 0
    """Steps after which a game is cut off, where there is a `judge`."""
    judge: Judge | None = None
    role: int = 0
    """Whose values the judge knows."""


PLAIN = Style()


def weighted_expander(expander: Expander, weights: NDArray[np.int64]) -> Expander:
    """Return an expander of the same states in which a move stands as often as it weighs."""
    numbers = {move: k for k, move in enumerate(map(tuple, expander.network.moves.tolist()))}
    return Expander(weighted(expander.network, lambda role, move: int(weights[numbers[role, move]])))


def mast_weights(
    expander: Expander, *, seed: int = 0, games: int = _GAMES, max_steps: int = 500
) -> NDArray[np.int64]:
    """Return the weights of all moves after so many random games from the initial state."""
    network = expander.network
    generator = np.random.SeedSequence(seed).generate_state(4 * 8, np.uint64)
    machine = expander._machine(_LANES)
    moves = int(expander._bounds[-1])
    owner = network.moves[:, 0]
    totals, counts = np.zeros(moves), np.zeros(moves)
    sums, known = np.zeros(len(expander.roles)), 0
    for _ in range(0, games, _LANES):
        played = np.zeros((moves, len(machine[1])), np.uint64)
        goals = np.zeros((_LANES, len(expander.roles)), np.int16)
        rollout(
            *machine, expander.initial, np.zeros(_LANES, np.int64), network.legal, expander._bounds,
            network.terminal, network.next, network.goal, expander._goal_role, expander._goal_value,
            generator, max_steps, goals, np.zeros(_LANES, np.int64), np.zeros(1, np.int64), -1,
            np.zeros((0, 1), np.int32), played, np.zeros((0, 1), np.uint64),
        )  # fmt: skip
        valid = np.asarray((goals >= 0).all(axis=1))
        made = np.unpackbits(played.view(np.uint8), axis=1, bitorder="little").astype(np.float32)
        values = np.where(valid[:, None], goals, 0).astype(np.float32)
        totals += (made @ values)[np.arange(moves), owner]
        counts += made @ valid.astype(np.float32)
        sums += values.sum(axis=0)
        known += int(valid.sum())
    means = sums / max(1, known)
    better = np.where(counts >= _RARE, totals / np.maximum(counts, 1) - means[owner], 0.0)
    return np.clip(np.round(_BASE * np.exp(better / _WARMTH)), 1, _MOST).astype(np.int64)

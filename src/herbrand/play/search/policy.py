"""Playout policies: weighted moves, decisive moves, and cutoff with a learned evaluation function.

*Weights* come from move-average sampling (MAST: Finnsson and Björnsson 2008): the mean result of uniform
playouts in which a role made a move gives the probability of the move, by a Gibbs distribution.  They are
built into a network (`engine.weights`), so that weighted playouts are almost as fast as uniform ones.

With *decisive moves* (Teytaud and Teytaud 2010), roles play winning moves and avoid those that let the
opponent win (`engine.decisive`).

A playout that is *cut off* after some steps takes the learned value of its last state (`play.learning`;
Lorentz 2008).  In constant-sum games, the value of one role is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.engine.decisive import decisive
from herbrand.engine.expand import Expander, new_generator
from herbrand.engine.weights import weighted
from herbrand.play.search.features import takes_turns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.solving.minimax.judge import LinearJudge
    from herbrand.network.network import Network

__all__ = ["UNIFORM", "PlayoutPolicy", "decisive_network", "learn_mast_weights", "playout_expander"]

_GAMES = 4096
_LANES = 512
_BASE_WEIGHT = 2.0
"""The weight of a move with an average result."""
_TEMPERATURE = 10.0
"""Goal points by which a move must be better to be chosen e times as often."""
_MAX_WEIGHT = 8
_MIN_COUNT = 16
"""Playouts in which a move must occur to get a weight of its own."""
_LENGTH_SAMPLE = 64
"""Playouts that estimate the length of a game."""
_MAX_LENGTH = 500
_MAX_DECISIVE_COST = 500_000
"""Gates times steps of a playout up to which decisive moves pay, as measured."""


class PlayoutPolicy(NamedTuple):
    """How moves of playouts are chosen, and when playouts are cut off."""

    network: Network | None = None
    """The network of `decisive_network`, in which only decisive moves are legal; None for the game's own."""
    weights: NDArray[np.int64] | None = None
    """[moves of all roles]; None for uniform choice."""
    cutoff: int = 0
    """Steps after which a playout is cut off, if there is a `judge`."""
    judge: LinearJudge | None = None
    role: int = 0
    """The role whose values the judge gives."""


UNIFORM = PlayoutPolicy()


def decisive_network(expander: Expander, *, anyway: bool = False) -> Network | None:
    """Return a network in which only decisive moves are legal (`engine.decisive`).

    None for games with simultaneous moves, where the network would be too large, and, unless `anyway`, where
    its playouts are so slow that more uniform ones are worth more.
    """
    network = decisive(expander.network) if takes_turns(expander) else None
    if network is None or anyway:
        return network
    games = Expander(network).rollouts(expander.initial, seed=0, each=_LENGTH_SAMPLE, max_steps=_MAX_LENGTH)
    return network if network.gates * float(games.lengths.mean()) <= _MAX_DECISIVE_COST else None


def playout_expander(expander: Expander, policy: PlayoutPolicy) -> Expander:
    """Return an expander for playouts from the same states, with each move repeated by its weight."""
    network = policy.network or expander.network
    if policy.weights is not None:
        weights = policy.weights
        numbers = {move: k for k, move in enumerate(map(tuple, network.moves.tolist()))}
        network = weighted(network, lambda role, move: int(weights[numbers[role, move]]))
    return expander if network is expander.network else Expander(network)


def learn_mast_weights(expander: Expander, *, seed: int = 0, games: int = _GAMES) -> NDArray[np.int64]:
    """Return the weights of all moves, [moves], from uniform playouts of the initial state."""
    network = expander.network
    generator = new_generator(seed)
    moves = int(expander.bounds[-1])
    owner = network.moves[:, 0]
    totals, counts = np.zeros(moves), np.zeros(moves)
    sums, finished = np.zeros(len(expander.roles)), 0
    start = np.zeros(_LANES, np.int64)
    for _ in range(0, games, _LANES):
        ended = expander.core.rollouts(expander.initial, start, generator, _MAX_LENGTH, played=True)
        goals = ended.goals
        valid = np.asarray((goals >= 0).all(axis=1))
        played = np.unpackbits(ended.played.view(np.uint8), axis=1, bitorder="little").astype(np.float32)
        values = np.where(valid[:, None], goals, 0).astype(np.float32)
        totals += (played @ values)[np.arange(moves), owner]
        counts += played @ valid.astype(np.float32)
        sums += values.sum(axis=0)
        finished += int(valid.sum())
    means = sums / max(1, finished)
    advantages = np.where(counts >= _MIN_COUNT, totals / np.maximum(counts, 1) - means[owner], 0.0)
    weights = np.round(_BASE_WEIGHT * np.exp(advantages / _TEMPERATURE))
    return np.clip(weights, 1, _MAX_WEIGHT).astype(np.int64)

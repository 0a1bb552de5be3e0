"""How the games after a leaf are played: by weighted moves, seeing wins, cut off early for a learned value.

*Weights* are learned from the lanes of random games: what a role got on the average in games in which it made
a move (move-average sampling, MAST: Finnsson and Björnsson 2008) says how often the move is chosen, with
Gibbs's distribution.  They are written into a network (`engine.weights`), so that games are
played as fast as random ones, but for the choice itself.

Where it costs little, games are played by roles that see wins: that take one, and that leave none to
the other (`engine.decisive`).

A game that is *cut off* after some steps counts what its last state is worth by a value learned before
(`minimax.learning`; Lorentz 2008).  One role's value is enough where two share a constant sum.
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

__all__ = ["PLAIN", "Style", "mast_weights", "sighted", "styled"]

_GAMES = 4096
_LANES = 512
_BASE = 2.0
"""The weight of a move that is as good as others."""
_WARMTH = 10.0
"""Points, of a hundred, by which a move must be better to be chosen e times as often."""
_MOST = 8
_RARE = 16
"""A move must have been made in so many games."""
_TRIED = 64
_LONGEST = 500
_AFFORDABLE = 500_000
"""Gates times steps of a game up to which seeing wins pays, as measured."""


class Style(NamedTuple):
    """How games are played; `PLAIN` is at random to their end."""

    network: Network | None = None
    """In which a role that sees wins may do what it would choose from (`sighted`); None for the game's."""
    weights: NDArray[np.int64] | None = None
    """[moves] of all roles; None for even chances."""
    cutoff: int = 0
    """Steps after which a game is cut off, where there is a `judge`."""
    judge: LinearJudge | None = None
    role: int = 0
    """Whose values the judge knows."""


PLAIN = Style()


def sighted(expander: Expander, *, anyway: bool = False) -> Network | None:
    """Return a network for games in which nobody passes by a win or lets the other have one (`decisive`).

    None where such games take so much longer than random ones that fewer of them are worth less, unless it is
    wanted `anyway`, where the network would be too large, and where roles choose at once.
    """
    found = decisive(expander.network) if takes_turns(expander) else None
    if found is None or anyway:
        return found
    games = Expander(found).rollouts(expander.initial, seed=0, each=_TRIED, max_steps=_LONGEST)
    return found if found.gates * float(games.lengths.mean()) <= _AFFORDABLE else None


def styled(expander: Expander, style: Style) -> Expander:
    """Return an expander of the same states for playing games: a move stands there as often as it weighs."""
    network = style.network or expander.network
    if style.weights is not None:
        weights = style.weights
        numbers = {move: k for k, move in enumerate(map(tuple, network.moves.tolist()))}
        network = weighted(network, lambda role, move: int(weights[numbers[role, move]]))
    return expander if network is expander.network else Expander(network)


def mast_weights(
    expander: Expander, *, seed: int = 0, games: int = _GAMES, max_steps: int = 500
) -> NDArray[np.int64]:
    """Return the weights of all moves after so many random games from the initial state."""
    network = expander.network
    generator = new_generator(seed)
    moves = int(expander.bounds[-1])
    owner = network.moves[:, 0]
    totals, counts = np.zeros(moves), np.zeros(moves)
    sums, known = np.zeros(len(expander.roles)), 0
    start = np.zeros(_LANES, np.int64)
    for _ in range(0, games, _LANES):
        ended = expander.core.rollouts(expander.initial, start, generator, max_steps, played=True)
        goals = ended.goals
        valid = np.asarray((goals >= 0).all(axis=1))
        made = np.unpackbits(ended.played.view(np.uint8), axis=1, bitorder="little").astype(np.float32)
        values = np.where(valid[:, None], goals, 0).astype(np.float32)
        totals += (made @ values)[np.arange(moves), owner]
        counts += made @ valid.astype(np.float32)
        sums += values.sum(axis=0)
        known += int(valid.sum())
    means = sums / max(1, known)
    better = np.where(counts >= _RARE, totals / np.maximum(counts, 1) - means[owner], 0.0)
    return np.clip(np.round(_BASE * np.exp(better / _WARMTH)), 1, _MOST).astype(np.int64)

"""Turn order: GDL lets every role move in every step, while learners mostly want one player at a time.

A game *goes by turns* when in no state two players have a choice.  It is then the turn of the player
who has one.  Where no player has, it is the turn of the first player with a legal move that is
not *idle*: a move that was all a player could do while another one chose, as `noop` mostly is.  The rules
do not state any of this, so it is estimated by playing random games.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.errors import GameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import States
    from herbrand.game import Game

__all__ = ["Turns", "find_turns", "sampled_states"]

GAMES = 64
STEPS = 400
MOST_STATES = 20_000


@dataclass(frozen=True, slots=True)
class Turns:
    """Whether a game goes by turns, as far as random games tell."""

    by_turns: bool
    """No sampled state gives two players a choice."""
    idle: NDArray[np.bool_]
    """[moves of the network] moves that wait while another player chooses."""


def sampled_states(game: Game) -> States:
    """Return packed states of random games that are not over; the initial state comes first."""
    expander = game.expander
    chance = np.random.default_rng(1)
    states = np.repeat(expander.initial, GAMES, axis=0)
    batches: list[States] = []
    for _ in range(STEPS):
        legal = expander.legal(states)
        going = legal.going
        states = states[going]
        if not len(states) or sum(map(len, batches)) > MOST_STATES:
            break
        batches.append(states)
        states = expander.step(states, legal.sample_joint(chance)[going])
    return np.concatenate(batches) if batches else expander.initial[:0]


def find_turns(game: Game) -> Turns:
    """Find out whether a game goes by turns and which moves are idle.

    Raises `GameError` for a game that is over at once or has no player.
    """
    if not game.players:
        raise GameError("no role chooses anything: all is left to `random`")
    legal = game.expander.legal(sampled_states(game))
    if not len(legal.over):
        raise GameError("the initial state is terminal, or a role has no legal move in it")
    is_player = np.array([role != game.chance_role for role in game.roles])
    masks = [legal.mask(role) for role in range(len(game.roles))]
    choosing = np.stack([mask.sum(axis=1) > 1 for mask in masks], axis=1) & is_player
    waiting = choosing.any(axis=1, keepdims=True) & ~choosing & is_player
    idle = [mask[waiting[:, role]].any(axis=0) for role, mask in enumerate(masks)]
    by_turns = bool((choosing.sum(axis=1) <= 1).all())
    return Turns(by_turns, np.concatenate(idle))

"""Turn order: GDL lets every role move in every step, while learners mostly want one player at a time.

A game *goes by turns* when in no state two players have a choice.  It is then the turn of the player
who has one.  Where no player has, it is the turn of the first player with a legal move that is
not *idle*: a move that was all a player could do while another one chose, as `noop` mostly is.  The rules
do not state any of this, so it is estimated by playing random games; `Turns.sampled` is the number of
states of the sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
    sampled: int
    """In how many states this was looked at."""
    states: States
    """Some of them, packed."""


def sampled_states(game: Game, *, seed: int = 1) -> States:
    """Return packed states of random games that are not over; the initial state comes first."""
    expander = game.expander
    chance = np.random.default_rng(seed)
    states = np.repeat(expander.initial, GAMES, axis=0)
    batches = []
    total = 0
    for _ in range(STEPS):
        legal = expander.legal(states)
        going = ~legal.over & (legal.joint_counts() > 0)
        states = states[going]
        if not len(states) or total > MOST_STATES:
            break
        batches.append(states)
        total += len(states)
        legal = expander.legal(states)
        masks = [legal.mask(role) for role in range(len(legal.sizes))]
        moves = np.stack(
            [np.argmax(mask * chance.random(mask.shape, np.float32), axis=1) for mask in masks], axis=1
        )
        states = expander.step(states, moves)
    return np.concatenate(batches) if batches else expander.initial[:0]


def find_turns(game: Game, *, seed: int = 1) -> Turns:
    """Find out whether a game goes by turns and which moves are idle."""
    expander = game.expander
    states = sampled_states(game, seed=seed)
    legal = expander.legal(states)
    players = [i for i, role in enumerate(game.roles) if role != game.chance_role]
    masks = [legal.mask(role) for role in range(len(game.roles))]
    choosing = np.stack([masks[role].sum(axis=1) > 1 for role in players], axis=1)
    idle: list[NDArray[np.bool_]] = []
    for role in range(len(game.roles)):
        if role not in players:
            idle.append(np.zeros(legal.sizes[role], np.bool_))
            continue
        at = players.index(role)
        waiting = np.delete(choosing, at, axis=1).any(axis=1) & ~choosing[:, at]
        idle.append(np.asarray(masks[role][waiting].any(axis=0)))
    by_turns = bool((choosing.sum(axis=1) <= 1).all())
    return Turns(by_turns, np.concatenate(idle), len(states), states)

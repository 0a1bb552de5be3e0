"""Properties of a game, estimated from a few playouts, that decide how to search it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from herbrand.engine.expand import Expander, Rollouts

__all__ = ["adds_up", "is_placement_only", "takes_turns"]

_GAMES = 32
_STEPS = 60


def adds_up(playouts: Rollouts) -> bool:
    """Whether the goals of two roles add up to 100 at the end of all playouts that ended."""
    goals = playouts.goals[~playouts.truncated]
    return goals.shape[1] == 2 and len(goals) > 0 and bool((goals.sum(axis=1) == 100).all())


def takes_turns(expander: Expander, seed: int = 0) -> bool:
    """Whether at most one role had a choice in every state of some playouts."""
    generator = np.random.default_rng(seed)
    states = np.repeat(expander.initial, _GAMES, axis=0)
    for _ in range(_STEPS):
        legal = expander.legal(states)
        counts = legal.counts()
        going = ~legal.over & (counts > 0).all(axis=1)
        if not going.any():
            break
        if ((counts[going] > 1).sum(axis=1) > 1).any():
            return False
        states = expander.step(states[going], legal.sample_joint(generator)[going])
    return True


def is_placement_only(expander: Expander, seed: int = 0) -> bool:
    """Whether no move became legal during some playouts, and no move could be made twice.

    That holds in games such as Hex, where pieces are placed on empty cells and stay: a move is worth much the
    same whenever it is made, so that AMAF values are informative.  False for games with simultaneous moves
    and those in which a role never has a choice.
    """
    generator = np.random.default_rng(seed)
    roles = len(expander.roles)
    states = np.repeat(expander.initial, _GAMES, axis=0)
    left = [np.ones((_GAMES, len(moves)), np.bool_) for moves in expander.moves]
    chose = np.zeros(roles, np.bool_)
    for _ in range(_STEPS):
        legal = expander.legal(states)
        going = legal.going
        if not going.any():
            break
        joint = np.zeros((len(states), roles), np.int32)
        choosing = np.zeros(len(states), np.int64)
        for r in range(roles):
            mask = legal.mask(r)
            free = going & (mask.sum(axis=1) > 1)
            if (mask & ~left[r])[free].any():
                return False
            keys = np.where(mask, generator.random(mask.shape), -1.0)
            joint[:, r] = keys.argmax(axis=1)
            rows = np.flatnonzero(free)
            left[r][rows] = mask[rows]
            left[r][rows, joint[rows, r]] = False
            chose[r] |= bool(len(rows))
            choosing += free
        if (choosing > 1).any():
            return False
        states = expander.step(states[going], joint[going])
        left = [mask[going] for mask in left]
    return roles > 1 and bool(chose.all())

"""Games of a model against itself, hundreds at a time, and the values that they teach.

All successors of the states of all games are evaluated together.  A state's *backed-up value* is that of its
best successor for the role that chooses, and its goal where that ends the game, as in descent with terminal
evaluation (Cohen-Solal and Cazenave 2020).  Its target mixes the backed-up values of the states that follow
(TD(lambda): Sutton 1988), up to the first move that was not the best (Watkins 1989).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.solving.minimax.judge import SCALE
from herbrand.errors import GameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.core import Valuer
    from herbrand.engine.expand import Expander, Expansion, States

__all__ = ["Lesson", "play_match", "self_play"]

_MAX_STEPS = 400
"""Steps after which a game ends without a result."""
_BLUNDER = 0.02
"""Probability of a move drawn uniformly."""
_COLDEST, _HOTTEST = 0.003, 0.06
"""The range of temperatures; each game has its own."""
_TIES = 0.5 / (100 * SCALE)
"""Noise that decides between equal values only."""
_LOSS = 0.01
"""A move that is worse than the best by more than this share of all goal points cuts off what follows from
the targets of the states before it."""


class Lesson(NamedTuple):
    """States of some games, with the values that a model is to predict for them."""

    states: States
    counts: NDArray[np.int32]
    """[states, roles] the numbers of legal moves."""
    targets: NDArray[np.float32]
    """[states, views] from 0 to 1."""
    games: int
    steps: float
    """The mean length of the games."""
    seconds: float
    """How long playing them took."""


def _values(valuers: list[Valuer], states: States) -> NDArray[np.float32]:
    """Return the values of states for each view, [states, views], from 0 to 1."""
    values = np.stack([valuer.values(states) for valuer in valuers], axis=1)
    return (values / (100 * SCALE)).astype(np.float32)


def _chooser(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the role that chooses in each state, 0 where none has a choice; `GameError` if several have."""
    choosing = counts > 1
    if (choosing.sum(axis=1) > 1).any():
        raise GameError("several roles choose at the same time")
    chooser: NDArray[np.int64] = choosing.argmax(axis=1)
    return chooser


def _for_chooser(
    values: NDArray[np.float32], choosers: NDArray[np.int64], *, constant_sum: bool
) -> NDArray[np.float32]:
    """Return each value for the role that chooses."""
    if constant_sum:
        return np.where(choosers == 0, values[:, 0], 1 - values[:, 0])
    return values[np.arange(len(values)), choosers]


def _best(
    scores: NDArray[np.float32], parents: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the index of the highest score for each parent; `starts` are the first indices."""
    highest = np.maximum.reduceat(scores, starts)
    at = np.flatnonzero(scores == highest[parents])
    return at[np.unique(parents[at], return_index=True)[1]]


def _successors(expander: Expander, states: States) -> tuple[NDArray[np.bool_], NDArray[np.int64], Expansion]:
    """Return which games go on, the counts of legal moves there, and the successors there."""
    legal = expander.legal(states)
    counts = legal.counts()
    going = ~legal.over & (counts > 0).all(axis=1)
    return going, counts[going], expander.expand(states[going])


def self_play(
    expander: Expander,
    valuers: list[Valuer],
    generator: np.random.Generator,
    *,
    games: int,
    constant_sum: bool,
    openings: int,
    trace: float = 1.0,
    until: float = math.inf,
) -> Lesson:
    """Play games and return what they teach: nothing if they last longer than `until`.

    Up to `openings` first moves of a game are drawn uniformly.  `trace` is the lambda of TD(lambda); with 1
    the target is the result of the game, or the backed-up value before the first move that was not the best.
    """
    began = time.monotonic()
    states = np.repeat(expander.initial, games, axis=0)
    numbers = np.arange(games)
    temperatures = np.exp(generator.uniform(np.log(_COLDEST), np.log(_HOTTEST), games)).astype(np.float32)
    opening = generator.integers(0, openings + 1, games)
    rows: list[
        tuple[NDArray[np.int64], States, NDArray[np.int64], NDArray[np.float32], NDArray[np.bool_]]
    ] = []
    for step in range(_MAX_STEPS):
        if time.monotonic() > until:
            games, rows = 0, []
            break
        going, counts, after = _successors(expander, states)
        numbers, states = numbers[going], states[going]
        if not len(numbers):
            break
        parents = after.parents
        starts = np.searchsorted(parents, np.arange(len(numbers)))
        values = _values(valuers, after.states)
        choosers = _chooser(counts)
        scores = _for_chooser(values, choosers[parents], constant_sum=constant_sum)
        best = _best(scores, parents, starts)
        noise = generator.gumbel(size=len(scores)).astype(np.float32) * temperatures[numbers][parents]
        chosen = _best(scores + noise, parents, starts)
        random = (step < opening[numbers]) | (generator.random(len(numbers)) < _BLUNDER)
        sizes = np.diff(np.append(starts, len(parents)))
        drawn = starts + (generator.random(len(numbers)) * sizes).astype(np.int64)
        chosen = np.where(random, drawn, chosen)
        follows = scores[chosen] >= scores[best] - _LOSS
        rows.append((numbers, states, counts, values[best], follows))
        states = after.states[chosen]
    roles, views = len(expander.roles), len(valuers)
    if not rows:
        empty = np.zeros((0, roles), np.int32), np.zeros((0, views), np.float32)
        return Lesson(expander.initial[:0], *empty, games, 0.0, time.monotonic() - began)
    later = np.zeros((games, views), np.float32)
    has_later = np.zeros(games, np.bool_)
    targets = []
    for numbers, _, _, values, follows in reversed(rows):
        mixes = (has_later[numbers] & follows)[:, None]
        mixed = np.where(mixes, (1 - trace) * values + trace * later[numbers], values).astype(np.float32)
        later[numbers], has_later[numbers] = mixed, True
        targets.append(mixed)
    return Lesson(
        np.concatenate([row[1] for row in rows]),
        np.concatenate([row[2] for row in rows]).astype(np.int32),
        np.concatenate(targets[::-1]),
        games,
        sum(len(row[0]) for row in rows) / games,
        time.monotonic() - began,
    )


def play_match(
    expander: Expander,
    sides: tuple[list[Valuer], list[Valuer]],
    generator: np.random.Generator,
    *,
    games: int,
    constant_sum: bool,
    openings: int,
) -> float:
    """Return the score of the first of two models against the second, from 0 to 1.

    Both choose the best successor, of equal ones any.  The first moves are drawn, and games come in pairs
    with equal first moves, in which the models exchange roles: the first model has every other role,
    beginning with the first or the second.  In a game of one role the models compare their goals.
    """
    pairs = max(1, games // 2)
    start = _openings(expander, generator, pairs, openings)
    goals = []
    for first in range(2):
        states = start
        numbers = np.arange(len(states))
        ends = start.copy()
        for _ in range(_MAX_STEPS):
            going, counts, after = _successors(expander, states)
            ends[numbers[~going]] = states[~going]
            numbers, states = numbers[going], states[going]
            if not len(numbers):
                break
            choosers = _chooser(counts)
            sided = (choosers + first) % 2
            parents = after.parents
            starts = np.searchsorted(parents, np.arange(len(numbers)))
            scores = np.empty(len(parents), np.float32)
            for side, valuers in enumerate(sides):
                here = np.flatnonzero(sided[parents] == side)
                if len(here):
                    values = _values(valuers, after.states[here])
                    scores[here] = _for_chooser(values, choosers[parents[here]], constant_sum=constant_sum)
            scores += _TIES * generator.random(len(scores), np.float32)
            states = after.states[_best(scores, parents, starts)]
        ends[numbers] = states
        goals.append(np.maximum(expander.goals(ends), 0).astype(float))
    if len(expander.roles) == 1:
        return float(0.5 + (goals[0] - goals[1]).mean() / 200)
    leads = [  # every other role is of the first model
        ends[:, first::2].mean(axis=1) - ends[:, 1 - first :: 2].mean(axis=1)
        for first, ends in enumerate(goals)
    ]
    return float(0.5 + np.mean(leads) / 200)


def _openings(expander: Expander, generator: np.random.Generator, games: int, most: int) -> States:
    """Return states after up to `most` random steps from the initial state, none of them terminal."""
    states = np.repeat(expander.initial, games, axis=0)
    lengths = generator.integers(0, most + 1, games)
    for step in range(most):
        legal = expander.legal(states)
        after = expander.step(states, legal.sample_joint(generator))
        ahead = expander.legal(after)
        fits = (step < lengths) & ahead.going
        states = np.where(fits[:, None], after, states)
    return states

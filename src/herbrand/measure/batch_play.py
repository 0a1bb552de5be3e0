"""`play_games`: many games in lockstep.

All games advance together on packed states (`Expander`).  Roles move at random, or search before every move
with a tree of their own (`Forest`).  With hidden information, a role searches from states sampled from its
belief (`BeliefSamples`) instead of the true state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.core import STUCK
from herbrand.engine.expand import sample_true
from herbrand.measure.beliefs import BeliefSamples, NetworkGame

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import States
    from herbrand.play.search.forest import Forest

__all__ = ["UNKNOWN", "PlayedGames", "empty_games", "estimate", "play_games"]

UNKNOWN = 50.0
"""The goal value of a role in a game that ends without exactly one."""
_MAX_PLAYOUTS = 1 << 15
"""Playouts in one call, at most."""


def estimate(
    game: NetworkGame, states: States, games: int, max_steps: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean goals, from 0 to 1, of `games` playouts from each state, [states, roles]."""
    means = np.zeros((len(states), game.roles))
    batch_size = max(1, _MAX_PLAYOUTS // games)
    for begin in range(0, len(states), batch_size):
        batch = states[begin : begin + batch_size]
        seed = int(random.integers(1 << 62))
        goals = game.expander.rollouts(batch, seed=seed, each=games, max_steps=max_steps).goals
        values = np.where(goals < 0, UNKNOWN, goals) / 100.0
        means[begin : begin + batch_size] = values.reshape(len(batch), games, -1).mean(axis=1)
    return means


@dataclass(slots=True)
class PlayedGames:
    """Results and statistics of played games; roles here are those that are not chance."""

    goals: NDArray[np.int16]
    """[games, all roles] as in `Rollouts`: negative without a value."""
    lengths: NDArray[np.int64]
    """[games] steps."""
    ended: NDArray[np.bool_]
    """[games] whether the game reached a terminal state."""
    first: NDArray[np.int64]
    """[games] the role with the first choice; -1 if several had it simultaneously, or no role ever chose."""
    choices: NDArray[np.int64]
    """[games] the number of times that a role had several legal moves."""
    legal: NDArray[np.int64]
    """[games] the number of legal moves at these choices, in total."""
    states_with_choice: NDArray[np.int64]
    """[games] the number of states with such a choice."""
    searched: NDArray[np.int64]
    """[games] the number of searches."""
    depleted: NDArray[np.int64]
    """[games] the number of searches replaced by random moves, since the belief sample was depleted."""
    states: list[tuple[NDArray[np.int64], States]] = field(default_factory=list)
    """For each step, if recorded, the numbers of the running games and their states before it."""

    def first_games(self, n: int) -> PlayedGames:
        """Return the first n games; states must be recorded for these only."""
        *arrays, _ = (part.name for part in fields(self))
        first: dict[str, Any] = {name: getattr(self, name)[:n] for name in arrays}
        return replace(self, **first)


def play_games(
    game: NetworkGame,
    budgets: NDArray[np.int64],
    *,
    seed: np.random.SeedSequence,
    max_steps: int,
    keep: int = 0,
) -> PlayedGames:
    """Play a game from the initial state for each row of `budgets`.

    `budgets[game, role]` is the number of positions that the role's search expands before a move, 0 for
    random moves.  Roles of a game with the same budget share a tree, except with hidden information.  States
    are recorded for the first `keep` games.
    """
    expander, (games, roles) = game.expander, budgets.shape
    random = np.random.default_rng(seed)
    forest: Forest | None = None
    beliefs: BeliefSamples | None = None
    if budgets.any() and game.hidden:
        beliefs = BeliefSamples(game, budgets > 0, random)
    if budgets.any():
        from herbrand.play.search.forest import Forest

        forest = Forest(expander, seed=int(random.integers(1 << 62)), max_steps=max_steps)
    played = empty_games(games, roles)
    going = np.arange(games)
    states = np.repeat(expander.initial, games, axis=0)
    decided = np.zeros(games, np.bool_)
    last = np.repeat(expander.initial, games, axis=0)
    joint = percepts = None
    for step in range(max_steps + 1):
        legal = expander.legal(states)
        counts = legal.counts()
        stuck = ~legal.over & (counts == 0).any(axis=1)
        played.ended[going[legal.over]] = True
        played.lengths[going] = step
        last[going] = states
        played.goals[going[stuck]] = STUCK
        continuing = ~legal.over & ~stuck
        if step == max_steps or not continuing.any():
            break
        masks = [legal.mask(r)[continuing] for r in range(roles)]
        if beliefs is not None and joint is not None and percepts is not None:
            beliefs.update(going[continuing], joint[continuing], percepts[continuing])
        going, states, counts = going[continuing], states[continuing], counts[continuing]
        if keep:
            played.states.append((going[going < keep], states[going < keep]))
        has_several = counts > 1
        own_choice = has_several[:, game.players]
        has_choice = own_choice.any(axis=1)
        played.choices[going] += own_choice.sum(axis=1)
        played.legal[going] += np.where(own_choice, counts[:, game.players], 0).sum(axis=1)
        played.states_with_choice[going] += has_choice
        is_first = has_choice & ~decided[going]
        alone = is_first & (own_choice.sum(axis=1) == 1)
        played.first[going[alone]] = np.array(game.players)[own_choice[alone].argmax(axis=1)]
        decided[going[is_first]] = True
        joint = np.stack([sample_true(mask, random) for mask in masks], axis=1).astype(np.int32)
        active_budgets = np.where(has_several, budgets[going], 0)
        played.searched[going] += (active_budgets > 0).sum(axis=1)
        if forest is not None and beliefs is not None:
            played.depleted[going] += _search_beliefs(forest, beliefs, going, active_budgets, masks, joint)
        elif forest is not None:
            _search_moves(forest, states, active_budgets, joint)
        if beliefs is None:
            states = expander.step(states, joint)
        else:
            states, percepts = expander.observed(states, joint)
    open_goals = played.goals[:, 0] != STUCK
    played.goals[open_goals] = expander.goals(last)[open_goals]
    return played


def _search_moves(
    forest: Forest, states: States, budgets: NDArray[np.int64], joint: NDArray[np.int32]
) -> None:
    """Replace the moves of searching roles in the joint moves."""
    rows, roles = np.nonzero(budgets)
    if not len(rows):
        return
    searches = np.stack([rows, budgets[rows, roles]], axis=1)
    trees, tree = np.unique(searches, axis=0, return_inverse=True)
    roots = forest.search(states[trees[:, 0]], trees[:, 1])
    moves = forest.best(roots[tree.reshape(-1)], roles)
    searched = moves >= 0  # else the move that was drawn
    joint[rows[searched], roles[searched]] = moves[searched]


def _search_beliefs(
    forest: Forest,
    beliefs: BeliefSamples,
    going: NDArray[np.int64],
    budgets: NDArray[np.int64],
    masks: list[NDArray[np.bool_]],
    joint: NDArray[np.int32],
) -> NDArray[np.int64]:
    """As `_search_moves`, from the belief of each role; return the depleted samples of each game."""
    rows, roles = np.nonzero(budgets)
    searcher, states, tree_budgets = beliefs.draw(going[rows], roles, budgets[rows, roles])
    if len(searcher):
        allowed = np.zeros((len(rows), max(mask.shape[1] for mask in masks)), np.bool_)
        for role, mask in enumerate(masks):
            of_role = np.flatnonzero(roles == role)
            allowed[of_role, : mask.shape[1]] = mask[rows[of_role]]
        moves = forest.best_of_all(forest.search(states, tree_budgets), searcher, roles, allowed)
        searched = moves >= 0  # else the move that was drawn
        joint[rows[searched], roles[searched]] = moves[searched]
    is_depleted = np.bincount(searcher, minlength=len(rows)) == 0
    return np.bincount(rows[is_depleted], minlength=len(joint))


def empty_games(games: int, roles: int) -> PlayedGames:
    """Return zeros for a number of games; -1 for `first`."""

    def zeros() -> Any:
        return np.zeros(games, np.int64)

    return PlayedGames(
        np.zeros((games, roles), np.int16), zeros(), np.zeros(games, np.bool_), np.full(games, -1),
        zeros(), zeros(), zeros(), zeros(), zeros(),
    )  # fmt: skip

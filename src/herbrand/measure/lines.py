"""`play_lines`: many games at once, step by step.

All games take their steps together on packed states (`Expander`).  A role moves at random, or as a search
tree of its own says that grows by so many positions before every move (`Forest`).  Where the rules hide
something, the tree is not grown from the state, but several from what the role can hold possible (`Worlds`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.core import STUCK
from herbrand.engine.expand import any_of
from herbrand.measure.worlds import PlayedGame, Worlds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.engine.expand import States
    from herbrand.play.search.forest import Forest

__all__ = ["UNKNOWN", "PlayedGames", "estimate", "no_lines", "play_lines"]

UNKNOWN = 50.0
"""What a game counts that ends without exactly one goal value for a role."""
_MOST = 1 << 15
"""Random games that are played in one call."""


def estimate(
    game: PlayedGame, states: States, games: int, max_steps: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean goals, from 0 to 1, of random games from each state, [n, roles]."""
    found = np.zeros((len(states), game.roles))
    piece = max(1, _MOST // games)
    for begin in range(0, len(states), piece):
        few = states[begin : begin + piece]
        seed = int(random.integers(1 << 62))
        goals = game.expander.rollouts(few, seed=seed, each=games, max_steps=max_steps).goals
        values = np.where(goals < 0, UNKNOWN, goals) / 100.0
        found[begin : begin + piece] = values.reshape(len(few), games, -1).mean(axis=1)
    return found


@dataclass(slots=True)
class PlayedGames:
    """Games that were played."""

    goals: NDArray[np.int16]
    """[n, roles] as in `Rollouts`: negative where there is no value."""
    lengths: NDArray[np.int64]
    """[n] steps."""
    ended: NDArray[np.bool_]
    """[n] whether the game came to a terminal state."""
    first: NDArray[np.int64]
    """[n] the role that alone had the first choice; -1 if several had it at once, or nobody had any."""
    choices: NDArray[np.int64]
    """[n] how often a role that is not chance had several legal moves."""
    legal: NDArray[np.int64]
    """[n] how many legal moves such roles had, in all."""
    states_with_choice: NDArray[np.int64]
    """[n] states in which there was such a role."""
    searched: NDArray[np.int64]
    """[n] how often a role searched for a move."""
    lost: NDArray[np.int64]
    """[n] how often a role that searches found nothing that fits what it had seen, and moved at random."""
    states: list[tuple[NDArray[np.int64], States]] = field(default_factory=list)
    """For each step, if they were kept, the games that went on and their states before it."""

    def first_games(self, n: int) -> PlayedGames:
        """Return the first n games; the states must be of them alone."""
        return PlayedGames(
            *(self.goals[:n], self.lengths[:n], self.ended[:n], self.first[:n]),
            *(self.choices[:n], self.legal[:n], self.states_with_choice[:n]),
            *(self.searched[:n], self.lost[:n], self.states),
        )


def play_lines(
    game: PlayedGame,
    budgets: NDArray[np.int64],
    *,
    seed: np.random.SeedSequence,
    max_steps: int,
    keep: int = 0,
) -> PlayedGames:
    """Play games from the initial state, as many as `budgets` has rows.

    `budgets[game, role]` is how many positions the role's search opens before it moves, 0 for random moves.
    Roles of a game that have the same budget have the same tree, unless something is hidden from them.  The
    states of the first `keep` games are kept.
    """
    expander, (games, roles) = game.expander, budgets.shape
    random = np.random.default_rng(seed)
    forest: Forest | None = None
    worlds: Worlds | None = None
    if budgets.any() and game.hidden:
        worlds = Worlds(game, budgets > 0, random)
    if budgets.any():
        from herbrand.play.search.forest import Forest

        forest = Forest(expander, seed=int(random.integers(1 << 62)), max_steps=max_steps)
    lines = no_lines(games, roles)
    going = np.arange(games)
    states = np.repeat(expander.initial, games, axis=0)
    decided = np.zeros(games, np.bool_)
    last = np.repeat(expander.initial, games, axis=0)
    joint = seen = None
    for step in range(max_steps + 1):
        legal = expander.legal(states)
        counts = legal.counts()
        stuck = ~legal.over & (counts == 0).any(axis=1)
        lines.ended[going[legal.over]] = True
        lines.lengths[going] = step
        last[going] = states
        lines.goals[going[stuck]] = STUCK
        on = ~legal.over & ~stuck
        if step == max_steps or not on.any():
            break
        masks = [legal.mask(r)[on] for r in range(roles)]
        if worlds is not None and joint is not None and seen is not None:
            worlds.follow(going[on], joint[on], seen[on])
        going, states, counts = going[on], states[on], counts[on]
        if keep:
            lines.states.append((going[going < keep], states[going < keep]))
        free = counts > 1
        mine = free[:, game.players]
        chose = mine.any(axis=1)
        lines.choices[going] += mine.sum(axis=1)
        lines.legal[going] += np.where(mine, counts[:, game.players], 0).sum(axis=1)
        lines.states_with_choice[going] += chose
        new = chose & ~decided[going]
        alone = new & (mine.sum(axis=1) == 1)
        lines.first[going[alone]] = np.array(game.players)[mine[alone].argmax(axis=1)]
        decided[going[new]] = True
        joint = np.stack([any_of(mask, random) for mask in masks], axis=1).astype(np.int32)
        wanted = np.where(free, budgets[going], 0)
        lines.searched[going] += (wanted > 0).sum(axis=1)
        if forest is not None and worlds is not None:
            lines.lost[going] += _guess(forest, worlds, going, wanted, masks, joint)
        elif forest is not None:
            _think(forest, states, wanted, joint)
        if worlds is None:
            states = expander.step(states, joint)
        else:
            states, seen = expander.observed(states, joint)
    open_goals = lines.goals[:, 0] != STUCK
    lines.goals[open_goals] = expander.goals(last)[open_goals]
    return lines


def _think(forest: Forest, states: States, budgets: NDArray[np.int64], joint: NDArray[np.int32]) -> None:
    """Put the moves of roles that search into the joint moves."""
    rows, roles = np.nonzero(budgets)
    if not len(rows):
        return
    wanted = budgets[rows, roles]
    trees, tree = np.unique(np.stack([rows, wanted], axis=1), axis=0, return_inverse=True)
    roots = forest.search(states[trees[:, 0]], trees[:, 1])
    moves = forest.best(roots[tree.reshape(-1)], roles)
    found = moves >= 0  # else the move that was drawn
    joint[rows[found], roles[found]] = moves[found]


def _guess(
    forest: Forest,
    worlds: Worlds,
    going: NDArray[np.int64],
    budgets: NDArray[np.int64],
    masks: list[NDArray[np.bool_]],
    joint: NDArray[np.int32],
) -> NDArray[np.int64]:
    """As `_think`, by what each role can hold possible; say how many roles of each game have lost track."""
    rows, roles = np.nonzero(budgets)
    whose, states, each = worlds.draw(going[rows], roles, budgets[rows, roles])
    if len(whose):
        allowed = np.zeros((len(rows), max(mask.shape[1] for mask in masks)), np.bool_)
        for role, mask in enumerate(masks):
            mine = np.flatnonzero(roles == role)
            allowed[mine, : mask.shape[1]] = mask[rows[mine]]
        moves = forest.best_of_all(forest.search(states, each), whose, roles, allowed)
        found = moves >= 0  # else the move that was drawn
        joint[rows[found], roles[found]] = moves[found]
    without = np.bincount(whose, minlength=len(rows)) == 0
    return np.bincount(rows[without], minlength=len(joint))


def no_lines(games: int, roles: int) -> PlayedGames:
    """Return room for so many games."""

    def zeros() -> Any:
        return np.zeros(games, np.int64)

    return PlayedGames(
        np.zeros((games, roles), np.int16), zeros(), np.zeros(games, np.bool_), np.full(games, -1),
        zeros(), zeros(), zeros(), zeros(), zeros(),
    )  # fmt: skip

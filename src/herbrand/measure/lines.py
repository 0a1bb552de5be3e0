"""`play_lines`: many games at once, step by step, by players that choose in batches.

All games take their steps together on packed states (`Expander`).  A *chooser* picks the moves of one
role in some of the games; `Flat(k)` looks at k random games after each of its moves (flat Monte-Carlo) and
takes the move with the best mean, `RANDOM` any move.  Both see the whole state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from herbrand.simulate.lanes import STUCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.simulate.expand import Expander, States

__all__ = ["RANDOM", "Chooser", "Flat", "Lines", "Table", "estimate", "no_lines", "play_lines"]

UNKNOWN = 50.0
"""What a game counts that ends without exactly one goal value for a role."""
_MOST = 1 << 15
"""Random games that are played in one call."""


@dataclass(frozen=True, slots=True)
class Table:
    """The game to be played and who chooses in it."""

    expander: Expander
    players: tuple[int, ...]
    """The roles that are not chance, by number."""

    @property
    def roles(self) -> int:
        """How many roles there are, chance counted."""
        return len(self.expander.roles)


class Chooser(Protocol):
    """Picks moves."""

    def choose(
        self,
        table: Table,
        states: States,
        masks: Sequence[NDArray[np.bool_]],
        role: int,
        random: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return the number of a legal move of a role in each state.

        `masks[r]` are the legal moves of role r.  The role has at least two in each state, the others have
        at least one.
        """
        ...


class _Random:
    def choose(
        self,
        table: Table,
        states: States,
        masks: Sequence[NDArray[np.bool_]],
        role: int,
        random: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Pick any legal move, each as likely as another."""
        del table, states
        return any_move(masks[role], random)

    def __repr__(self) -> str:
        return "RANDOM"


RANDOM: Chooser = _Random()
"""Chooses any legal move, each as likely as another."""


@dataclass(frozen=True, slots=True)
class Flat:
    """Takes the move after which random games end best on the average, `games` of them for each move."""

    games: int
    max_steps: int = 300

    def choose(
        self,
        table: Table,
        states: States,
        masks: Sequence[NDArray[np.bool_]],
        role: int,
        random: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Pick the best move of each state, any of those that are equally good."""
        means = np.where(masks[role], -1.0, -2.0)
        at, move = np.nonzero(masks[role])
        values = move_values(table, states, masks, role, at, move, self.games, self.max_steps, random)
        means[at, move] = values + 1e-6 * random.random(len(at))
        best: NDArray[np.int64] = means.argmax(axis=1)
        return best


def any_move(mask: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.int64]:
    """Return the number of any legal move in each row."""
    counts = mask.sum(axis=1)
    ranks = (random.random(len(mask)) * counts).astype(np.int64) + 1
    place: NDArray[np.int64] = (mask.cumsum(axis=1) < ranks[:, None]).sum(axis=1)
    return place


def move_values(
    table: Table,
    states: States,
    masks: Sequence[NDArray[np.bool_]],
    role: int,
    at: NDArray[np.int64],
    move: NDArray[np.int64],
    games: int,
    max_steps: int,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the mean goal of a role, from 0 to 1, after `move[i]` in `states[at[i]]`, by random games.

    Other roles that choose at the same time do so at random, anew for every game.
    """
    others = [r for r in range(table.roles) if r != role and (masks[r].sum(axis=1) > 1).any()]
    copies = games if others else 1
    values = np.zeros(len(at))
    piece = max(1, _MOST // games)
    for begin in range(0, len(at), piece):
        where = np.repeat(at[begin : begin + piece], copies)
        joint = np.empty((len(where), table.roles), np.int32)
        for r in range(table.roles):
            if r == role:
                joint[:, r] = np.repeat(move[begin : begin + piece], copies)
            elif r in others:
                joint[:, r] = any_move(masks[r][where], random)
            else:
                joint[:, r] = masks[r].argmax(axis=1)[where]
        after = table.expander.step(states, joint, where)
        ended = estimate(table, after, games // copies, max_steps, random)[:, role]
        values[begin : begin + piece] = ended.reshape(-1, copies).mean(axis=1)
    return values


def estimate(
    table: Table, states: States, games: int, max_steps: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean goals, from 0 to 1, of random games from each state, [n, roles]."""
    found = np.zeros((len(states), table.roles))
    piece = max(1, _MOST // games)
    for begin in range(0, len(states), piece):
        few = states[begin : begin + piece]
        seed = int(random.integers(1 << 62))
        goals = table.expander.rollouts(few, seed=seed, each=games, max_steps=max_steps).goals
        values = np.where(goals < 0, UNKNOWN, goals) / 100.0
        found[begin : begin + piece] = values.reshape(len(few), games, -1).mean(axis=1)
    return found


@dataclass(slots=True)
class Lines:
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
    states: list[tuple[NDArray[np.int64], States]] = field(default_factory=list)
    """For each step, if they were kept, the games that went on and their states before it."""

    def first_games(self, n: int) -> Lines:
        """Return the first n games, without their states."""
        return Lines(
            *(self.goals[:n], self.lengths[:n], self.ended[:n], self.first[:n]),
            *(self.choices[:n], self.legal[:n], self.states_with_choice[:n]),
        )


def play_lines(
    table: Table,
    choosers: Sequence[tuple[NDArray[np.int64], int, Chooser]],
    games: int,
    *,
    seed: int | np.random.SeedSequence,
    max_steps: int,
    keep: bool = False,
) -> Lines:
    """Play so many games from the initial state.

    `choosers` are (numbers of games, role, who chooses for it there); who is not named chooses at random.
    """
    expander, roles = table.expander, table.roles
    random = np.random.default_rng(seed)
    seat = np.zeros((games, roles), np.int64)
    seated: list[Chooser] = [RANDOM]
    for which, role, chooser in choosers:
        if chooser not in seated:
            seated.append(chooser)
        seat[which, role] = seated.index(chooser)
    lines = no_lines(games, roles)
    going = np.arange(games)
    states = np.repeat(expander.initial, games, axis=0)
    decided = np.zeros(games, np.bool_)
    last = np.repeat(expander.initial, games, axis=0)
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
        going, states, counts = going[on], states[on], counts[on]
        if keep:
            lines.states.append((going, states))
        free = counts > 1
        mine = free[:, table.players]
        chose = mine.any(axis=1)
        lines.choices[going] += mine.sum(axis=1)
        lines.legal[going] += np.where(mine, counts[:, table.players], 0).sum(axis=1)
        lines.states_with_choice[going] += chose
        new = chose & ~decided[going]
        alone = new & (mine.sum(axis=1) == 1)
        lines.first[going[alone]] = np.array(table.players)[mine[alone].argmax(axis=1)]
        decided[going[new]] = True
        joint = np.stack([mask.argmax(axis=1) for mask in masks], axis=1).astype(np.int32)
        for role in range(roles):
            for number, chooser in enumerate(seated):
                rows = np.flatnonzero(free[:, role] & (seat[going, role] == number))
                if len(rows):
                    few = [mask[rows] for mask in masks]
                    joint[rows, role] = chooser.choose(table, states[rows], few, role, random)
        states = expander.step(states, joint)
    open_goals = lines.goals[:, 0] != STUCK
    lines.goals[open_goals] = expander.goals(last)[open_goals]
    return lines


def no_lines(games: int, roles: int) -> Lines:
    """Return room for so many games."""

    def zeros() -> Any:
        return np.zeros(games, np.int64)

    return Lines(
        np.zeros((games, roles), np.int16), zeros(), np.zeros(games, np.bool_), np.full(games, -1),
        zeros(), zeros(), zeros(),
    )  # fmt: skip

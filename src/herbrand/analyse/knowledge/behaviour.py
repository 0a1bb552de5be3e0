"""Behaviour strategies: the probabilities of moves in each information set, as tables for players.

An information set is known by the key of its history (`histories.history_key`), or of its state in games
without `sees`.  There several information sets may share a key and then have the same probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from herbrand.analyse.knowledge.histories import KEY_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.knowledge.regrets import Plan, RegretMinimiser
    from herbrand.analyse.knowledge.unfolding import PlayerDecisions

__all__ = ["BehaviourStrategy", "MoveChance", "StrategyTable", "average_strategy", "behaviour_shares"]


class MoveChance(NamedTuple):
    """A move of a behaviour strategy in one information set."""

    move: str
    chance: float
    value: float | None
    """The expected goal value after the move, if all go on by the strategies.

    None where the strategies of the others never lead to the information set.
    """


@dataclass(frozen=True)
class StrategyTable:
    """The behaviour strategy of one role."""

    keys: NDArray[np.uint8]
    """[sets, KEY_BYTES], the rows sorted and different."""
    counts: NDArray[np.int32]
    """[sets] the number of moves of each."""
    moves: NDArray[np.int32]
    """[choices] numbers in the list of moves, set after set."""
    chances: NDArray[np.float64]
    """[choices] probabilities, which add up to 1 in each set."""
    values: NDArray[np.float32]
    """[choices] expected goal values of the role; NaN where there is none."""

    @cached_property
    def places(self) -> dict[bytes, tuple[int, int]]:
        """The range of choices of each set, by key."""
        ends = np.cumsum(self.counts, dtype=np.int64)
        rows = (row.tobytes() for row in self.keys)
        return dict(zip(rows, zip((ends - self.counts).tolist(), ends.tolist(), strict=True), strict=True))


@dataclass(frozen=True)
class BehaviourStrategy:
    """A behaviour strategy for each role that is played."""

    moves: tuple[str, ...]
    """All moves in it, as KIF."""
    tables: dict[str, StrategyTable]
    """By role."""

    @property
    def information_sets(self) -> int:
        """The number of information sets of all roles; those with the same key count once."""
        return sum(len(table.keys) for table in self.tables.values())

    def choices(self, role: str, key: bytes) -> list[MoveChance]:
        """Return the moves of a role in the information set with a key; empty if it is unknown."""
        if role not in self.tables:
            return []
        table = self.tables[role]
        places = slice(*table.places.get(key, (0, 0)))
        columns = (column[places].tolist() for column in (table.moves, table.chances, table.values))
        return [
            MoveChance(self.moves[number], chance, None if isnan(value) else value)
            for number, chance, value in zip(*columns, strict=True)
        ]


def behaviour_shares(player: PlayerDecisions, plan: Plan) -> tuple[NDArray[np.int64], Plan]:
    """Return the probability of each sequence in its information set, for a player that knows the keys alone.

    Sets with the same key get the mean of their probabilities, weighted by how often the plan itself leads
    there.  Also returns the number of one set for each key.
    """
    sets = player.sets
    shares = np.ones(player.sequences)
    if not sets:
        return np.zeros(0, np.int64), shares
    keys = np.frombuffer(b"".join(one.key for one in sets), np.dtype((np.void, KEY_BYTES)))
    _, examples, groups = np.unique(keys, return_index=True, return_inverse=True)
    sizes = np.array([len(one.moves) for one in sets])
    firsts = np.array([one.first for one in sets])
    of_set = np.repeat(np.arange(len(sets)), sizes)
    """The set of each sequence but the empty one; sequences are numbered set after set."""
    shared = firsts[examples[groups[of_set]]] + np.arange(1, player.sequences) - firsts[of_set]
    totals = np.bincount(shared, plan[1:], player.sequences)[shared]
    sums = np.bincount(of_set, totals, len(sets))[of_set]
    shares[1:] = np.where(sums > 0, totals / np.where(sums > 0, sums, 1), 1.0 / sizes[of_set])
    return examples, shares


def average_strategy(minimiser: RegretMinimiser) -> tuple[BehaviourStrategy, float]:
    """Return the average strategies of a regret minimisation as tables, and their exploitability."""
    players = minimiser.tree.players
    grouped = [behaviour_shares(*pair) for pair in zip(players, minimiser.average(), strict=True)]
    plans = [learner.plan(shares) for learner, (_, shares) in zip(minimiser.learners, grouped, strict=True)]
    moves = sorted({move for player in players for one in player.sets for move in one.moves})
    numbers = {move: number for number, move in enumerate(moves)}
    tables = {}
    for place, (player, (examples, shares)) in enumerate(zip(players, grouped, strict=True)):
        chosen = [player.sets[k] for k in examples]
        at = [one.first + i for one in chosen for i in range(len(one.moves))]
        tables[player.role] = StrategyTable(
            np.frombuffer(b"".join(one.key for one in chosen), np.uint8).reshape(-1, KEY_BYTES),
            np.array([len(one.moves) for one in chosen], np.int32),
            np.array([numbers[move] for one in chosen for move in one.moves], np.int32),
            shares[at],
            minimiser.move_values(place, plans)[at].astype(np.float32),
        )
    return BehaviourStrategy(tuple(moves), tables), minimiser.exploitability(plans)

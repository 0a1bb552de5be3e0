"""Counterfactual regret minimisation: strategies for games that are too large for a linear program.

Zinkevich, Johanson, Bowling and Piccione, *Regret Minimization in Games with Incomplete
Information* (2007), on the sequence form: what each sequence of a player is worth against the
plans of the others is one pass over the leaves, and the regrets are one pass over the
information sets, all of them at once for each number of choices made before.  "cfr+" (Tammelin,
2014) forgets negative regret, lets the players take turns and counts later plans more.
The average plans come near an equilibrium when there are two players and a constant sum; in
other games nothing is promised, and `plans.regret` tells how far from one they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.knowledge.unfolding import PlayerDecisions, Unfolding

__all__ = ["minimise_regret"]


class _Learner:
    """The regrets of one player, as arrays over its sequences."""

    def __init__(self, player: PlayerDecisions) -> None:
        self.count = player.sequences
        self.levels: list[tuple[int, int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
        """First and last sequence of each level; where its sets begin in it, their sizes and parents."""
        for begin, end in zip(player.levels, player.levels[1:], strict=False):
            sets = player.sets[begin:end]
            if sets:
                first = sets[0].first
                sizes = np.array([len(one.moves) for one in sets])
                starts = np.array([one.first - first for one in sets])
                parents = np.array([one.parent for one in sets])
                self.levels.append((first, first + int(sizes.sum()), starts, sizes, parents))
        self.regret = np.zeros(self.count)
        self.total = np.zeros(self.count)

    def plan(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the present plan and its choices, each sequence's share of its set."""
        plan, shares = np.ones(self.count), np.ones(self.count)
        for first, last, starts, sizes, parents in self.levels:
            positive = np.maximum(self.regret[first:last], 0)
            sums = np.repeat(np.add.reduceat(positive, starts), sizes)
            even = np.repeat(1.0 / sizes, sizes)
            shares[first:last] = np.where(sums > 0, positive / np.where(sums > 0, sums, 1), even)
            plan[first:last] = np.repeat(plan[parents], sizes) * shares[first:last]
        return plan, shares

    def learn(self, worth: NDArray[np.float64], shares: NDArray[np.float64], *, floor: bool) -> None:
        """Add the regrets for what each sequence is worth (changed on the way)."""
        for first, last, starts, sizes, parents in reversed(self.levels):
            values = np.add.reduceat(worth[first:last] * shares[first:last], starts)
            self.regret[first:last] += worth[first:last] - np.repeat(values, sizes)
            np.add.at(worth, parents, values)
        if floor:
            np.maximum(self.regret, 0, out=self.regret)


def minimise_regret(
    tree: Unfolding, *, rounds: int = 1000, plus: bool = True, limits: Limits = DEFAULT
) -> tuple[list[list[float]], int]:
    """Return the average plan of each player after so many rounds, and the rounds played.

    Stops early when the time of `limits` is up, but not before the first round is played.
    """
    clock = limits.start()
    learners = [_Learner(player) for player in tree.players]
    sequences = np.array([leaf.sequences for leaf in tree.leaves], np.int64).reshape(-1, len(learners))
    weights = np.array([float(leaf.weight) for leaf in tree.leaves])
    goals = np.array([leaf.goals for leaf in tree.leaves], np.float64).reshape(-1, len(learners))
    played = 0
    while played < rounds and (played == 0 or clock.elapsed() < limits.seconds):
        now = [learner.plan() for learner in learners]
        played += 1
        for i, learner in enumerate(learners):
            if plus:
                now[i] = learner.plan()
            chance = weights * goals[:, i]
            for k in range(len(learners)):
                if k != i:
                    chance = chance * now[k][0][sequences[:, k]]
            worth: NDArray[np.float64] = np.zeros(learner.count)
            np.add.at(worth, sequences[:, i], chance)
            learner.learn(worth, now[i][1], floor=plus)
            if plus:
                now[i] = learner.plan()
            learner.total += now[i][0] * (played if plus else 1)
    return [(learner.total / learner.total[0]).tolist() for learner in learners], played

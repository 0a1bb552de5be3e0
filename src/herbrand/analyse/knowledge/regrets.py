"""Counterfactual regret minimisation: strategies for games that are too large for a linear program.

Zinkevich, Johanson, Bowling and Piccione, *Regret Minimization in Games with Incomplete
Information* (2007), on the sequence form: one pass over the leaves gives the value of each sequence
against the plans of the others, and one pass over the information sets gives the regrets, vectorized by
the number of earlier choices.  "cfr+" (Tammelin 2014) clips negative regret, updates the players in turn
and weights later plans more.
The average plans approach an equilibrium in constant-sum games of two players; in other games nothing is
guaranteed, and `plans.regret` measures the distance from one.
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
        """For each level: first and last sequence, and the offsets, sizes and parents of its sets."""
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
        """Return the present plan, and the probability of each sequence in its information set."""
        plan, shares = np.ones(self.count), np.ones(self.count)
        for first, last, starts, sizes, parents in self.levels:
            positive = np.maximum(self.regret[first:last], 0)
            sums = np.repeat(np.add.reduceat(positive, starts), sizes)
            even = np.repeat(1.0 / sizes, sizes)
            shares[first:last] = np.where(sums > 0, positive / np.where(sums > 0, sums, 1), even)
            plan[first:last] = np.repeat(plan[parents], sizes) * shares[first:last]
        return plan, shares

    def learn(self, worth: NDArray[np.float64], shares: NDArray[np.float64], *, floor: bool) -> None:
        """Add the regrets, given the value of each sequence; overwrites `worth`."""
        for first, last, starts, sizes, parents in reversed(self.levels):
            values = np.add.reduceat(worth[first:last] * shares[first:last], starts)
            self.regret[first:last] += worth[first:last] - np.repeat(values, sizes)
            np.add.at(worth, parents, values)
        if floor:
            np.maximum(self.regret, 0, out=self.regret)


def minimise_regret(
    tree: Unfolding, *, rounds: int = 1000, plus: bool = True, limits: Limits = DEFAULT
) -> tuple[list[list[float]], int]:
    """Return the average plan of each player, and the number of rounds played.

    Stops early when the time of `limits` is up, but not before the first round.
    """
    clock = limits.start()
    learners = [_Learner(player) for player in tree.players]
    sequences = np.array([leaf.sequences for leaf in tree.leaves], np.int64).reshape(-1, len(learners))
    weights = np.array([float(leaf.weight) for leaf in tree.leaves])
    goals = np.array([leaf.goals for leaf in tree.leaves], np.float64).reshape(-1, len(learners))
    done = 0
    while done < rounds and (done == 0 or clock.elapsed() < limits.seconds):
        plans = [learner.plan() for learner in learners]
        done += 1
        for i, learner in enumerate(learners):
            if plus:
                plans[i] = learner.plan()
            chance = weights * goals[:, i]
            for k in range(len(learners)):
                if k != i:
                    chance = chance * plans[k][0][sequences[:, k]]
            worth: NDArray[np.float64] = np.zeros(learner.count)
            np.add.at(worth, sequences[:, i], chance)
            learner.learn(worth, plans[i][1], floor=plus)
            if plus:
                plans[i] = learner.plan()
            learner.total += plans[i][0] * (done if plus else 1)
    return [(learner.total / learner.total[0]).tolist() for learner in learners], done

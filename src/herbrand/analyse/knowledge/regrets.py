"""Counterfactual regret minimisation: strategies for games that are too large for a linear program.

Zinkevich, Johanson, Bowling and Piccione, *Regret Minimization in Games with Incomplete
Information* (2007), on the sequence form: one pass over the leaves gives the value of each sequence
against the plans of the others, and one pass over the information sets gives the regrets, vectorized by
the number of earlier choices.  "cfr+" (Tammelin 2014) clips negative regret, updates the players in turn
and weights later plans more.
The average plans approach an equilibrium in constant-sum games of two players; in other games nothing is
guaranteed, and `RegretMinimiser.gains` measures the distance from one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.knowledge.unfolding import PlayerDecisions, Unfolding

    Plan = NDArray[np.float64]
    """The weight of each sequence of a player, see `plans`, in floating point."""

__all__ = ["RegretMinimiser", "minimise_regret"]


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

    def shares(self, weights: Plan) -> Plan:
        """Return each weight as a share of those in its information set; equal shares where all are 0."""
        shares = np.ones(self.count)
        for first, last, starts, sizes, _ in self.levels:
            sums = np.repeat(np.add.reduceat(weights[first:last], starts), sizes)
            even = np.repeat(1.0 / sizes, sizes)
            shares[first:last] = np.where(sums > 0, weights[first:last] / np.where(sums > 0, sums, 1), even)
        return shares

    def plan(self, shares: Plan) -> Plan:
        """Return the plan with these probabilities of moves in the information sets."""
        plan = np.ones(self.count)
        for first, last, _, sizes, parents in self.levels:
            plan[first:last] = np.repeat(plan[parents], sizes) * shares[first:last]
        return plan

    def back_up(self, worth: Plan, shares: Plan | None = None) -> Plan:
        """Add to each sequence, in place, the values of the information sets that follow it.

        The value of a set is the mean of its moves by `shares`, their maximum without.  Returns for each
        sequence the value of the set to which it belongs; for the empty one, that of the game.
        """
        values = np.empty(self.count)
        for first, last, starts, sizes, parents in reversed(self.levels):
            moves = worth[first:last]
            if shares is None:
                of_sets = np.maximum.reduceat(moves, starts)
            else:
                of_sets = np.add.reduceat(moves * shares[first:last], starts)
            values[first:last] = np.repeat(of_sets, sizes)
            worth[:first] += np.bincount(parents, of_sets, first)
        values[0] = worth[0]
        return values


class RegretMinimiser:
    """Regret minimisation for one game, round by round."""

    def __init__(self, tree: Unfolding, *, plus: bool = True) -> None:
        self.tree = tree
        self.plus = plus
        self.rounds = 0
        self.learners = [_Learner(player) for player in tree.players]
        players = len(self.learners)
        self._sequences = np.array([leaf.sequences for leaf in tree.leaves], np.int64).reshape(-1, players)
        self._weights = np.array([float(leaf.weight) for leaf in tree.leaves])
        self._goals = np.array([leaf.goals for leaf in tree.leaves], np.float64).reshape(-1, players)

    def play_round(self) -> None:
        """Play one round, in which every player learns."""
        self.rounds += 1
        positive = [np.maximum(learner.regret, 0) for learner in self.learners]
        shares = [learner.shares(regret) for learner, regret in zip(self.learners, positive, strict=True)]
        plans = [learner.plan(share) for learner, share in zip(self.learners, shares, strict=True)]
        for i, learner in enumerate(self.learners):
            worth = self.worth(i, plans)
            values = learner.back_up(worth, shares[i])
            learner.regret += worth - values
            if self.plus:
                np.maximum(learner.regret, 0, out=learner.regret)
                plans[i] = learner.plan(learner.shares(learner.regret))
            learner.total += plans[i] * (self.rounds if self.plus else 1)

    def average(self) -> list[Plan]:
        """Return the average plan of each player."""
        return [learner.plan(learner.shares(learner.total)) for learner in self.learners]

    def worth(self, place: int, plans: Sequence[Plan], *, chances: bool = False) -> Plan:
        """Return what the leaves with each sequence of a player give it against the plans of the others.

        They count by the probabilities of chance and of the others.  With `chances`, every leaf gives 1.
        """
        leaves = self._weights if chances else self._weights * self._goals[:, place]
        for k in range(len(plans)):
            if k != place:
                leaves = leaves * plans[k][self._sequences[:, k]]
        totals = np.bincount(self._sequences[:, place], leaves, self.learners[place].count)
        return totals.astype(np.float64, copy=False)

    def gains(self, plans: Sequence[Plan]) -> list[float]:
        """Return how much each player would gain by its best reply to the plans of the others."""
        gains = []
        for i, learner in enumerate(self.learners):
            worth = self.worth(i, plans)
            expected = float(worth @ plans[i])
            gains.append(float(learner.back_up(worth)[0]) - expected)
        return gains

    def exploitability(self, plans: Sequence[Plan]) -> float:
        """Return the sum of the gains divided by the number of players: 0 in equilibrium."""
        return max(0.0, sum(self.gains(plans)) / max(1, len(plans)))

    def move_values(self, place: int, plans: Sequence[Plan]) -> Plan:
        """Return the expected payoff of a player after each sequence, once its information set is reached.

        NaN where the others never let it be reached.
        """
        learner = self.learners[place]
        shares = learner.shares(plans[place])
        worth, reached = self.worth(place, plans), self.worth(place, plans, chances=True)
        learner.back_up(worth, shares)
        learner.back_up(reached, shares)
        values: Plan = np.divide(worth, reached, out=np.full(learner.count, np.nan), where=reached > 0)
        return values


def minimise_regret(
    tree: Unfolding, *, rounds: int = 1000, plus: bool = True, limits: Limits = DEFAULT
) -> tuple[list[list[float]], int]:
    """Return the average plan of each player, and the number of rounds played.

    Stops early when the time of `limits` is up, but not before the first round.
    """
    clock = limits.start()
    minimiser = RegretMinimiser(tree, plus=plus)
    while minimiser.rounds < rounds and (minimiser.rounds == 0 or clock.elapsed() < limits.seconds):
        minimiser.play_round()
    return [plan.tolist() for plan in minimiser.average()], minimiser.rounds

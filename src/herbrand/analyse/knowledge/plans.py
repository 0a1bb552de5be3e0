"""Realisation plans (Koller, Megiddo and von Stengel): expected payoffs and best replies.

A *plan* has, for every sequence of a player, the product of the player's move probabilities along it:
plan[0] = 1, and the sequences that extend one at an information set add up to it.  All arithmetic is exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.analyse.knowledge.unfolding import PlayerDecisions, Unfolding

__all__ = ["Plan", "best_reply", "expected_goals", "from_choices", "regret"]

Plan = list[Fraction]
"""The weight of each sequence."""


def from_choices(player: PlayerDecisions, choices: Callable[[int], Sequence[Fraction]]) -> Plan:
    """Return the plan with the move probabilities `choices(k)` in information set k."""
    plan = [Fraction(0)] * player.sequences
    plan[0] = Fraction(1)
    for k, information_set in enumerate(player.sets):
        for i, chance in enumerate(choices(k)):
            plan[information_set.first + i] = plan[information_set.parent] * chance
    return plan


def expected_goals(tree: Unfolding, plans: Sequence[Plan]) -> list[Fraction]:
    """Return the expected payoff of each player when all play by these plans."""
    totals = [Fraction(0)] * len(tree.players)
    for leaf in tree.leaves:
        weight = leaf.weight
        for plan, sequence in zip(plans, leaf.sequences, strict=True):
            weight *= plan[sequence]
        if weight:
            for i, goal in enumerate(leaf.goals):
                totals[i] += weight * goal
    return totals


def best_reply(tree: Unfolding, place: int, plans: Sequence[Plan]) -> tuple[Fraction, Plan]:
    """Return a player's greatest payoff against the plans of the others, and a pure plan that achieves it.

    `plans[place]` is ignored.  Ties are broken in favour of the first move.
    """
    player = tree.players[place]
    worth = [Fraction(0)] * player.sequences
    for leaf in tree.leaves:
        weight = leaf.weight * leaf.goals[place]
        for i, (plan, sequence) in enumerate(zip(plans, leaf.sequences, strict=True)):
            if i != place and weight:
                weight *= plan[sequence]
        worth[leaf.sequences[place]] += weight
    best = [0] * len(player.sets)
    for k in reversed(range(len(player.sets))):
        information_set = player.sets[k]
        values = worth[information_set.first : information_set.first + len(information_set.moves)]
        best[k] = values.index(max(values))
        worth[information_set.parent] += values[best[k]]
    reply = from_choices(
        player, lambda k: [Fraction(int(i == best[k])) for i in range(len(player.sets[k].moves))]
    )
    return worth[0], reply


def regret(tree: Unfolding, plans: Sequence[Plan]) -> Fraction:
    """Return the sum of the players' gains by unilateral best replies; 0 in equilibrium."""
    gains = [best_reply(tree, i, plans)[0] for i in range(len(tree.players))]
    return sum(gains, Fraction(0)) - sum(expected_goals(tree, plans), Fraction(0))

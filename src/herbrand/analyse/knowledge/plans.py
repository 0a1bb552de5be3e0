"""Plans: what players do in their information sets, what that is worth, and the best reply to it.

A *plan* gives every sequence of a player the chance that the player plays along with it:
plan[0] = 1, and the sequences that go on from an information set add up to the one before it
(a realisation plan in the words of Koller, Megiddo and von Stengel).  All arithmetic here is
exact.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.analyse.knowledge.unfolding import PlayerDecisions, Unfolding

__all__ = ["Plan", "best_reply", "expected_goals", "from_choices", "regret", "uniform"]

Plan = list[Fraction]
"""The chance of each sequence."""


def from_choices(player: PlayerDecisions, choices: Callable[[int], Sequence[Fraction]]) -> Plan:
    """Return the plan that chooses in set k with the chances `choices(k)`, one for each move."""
    plan = [Fraction(0)] * player.sequences
    plan[0] = Fraction(1)
    for k, one in enumerate(player.sets):
        for i, chance in enumerate(choices(k)):
            plan[one.first + i] = plan[one.parent] * chance
    return plan


def uniform(player: PlayerDecisions) -> Plan:
    """Return the plan that chooses evenly among the legal moves."""
    return from_choices(
        player, lambda k: [Fraction(1, len(player.sets[k].moves))] * len(player.sets[k].moves)
    )


def expected_goals(tree: Unfolding, plans: Sequence[Plan]) -> list[Fraction]:
    """Return what each player gets on average when all play by these plans."""
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
    """Return the most that a player can get against the plans of the others, and a pure plan that does.

    `plans[place]` is not looked at.  Where several moves are equally good the first is taken.
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
        one = player.sets[k]
        values = worth[one.first : one.first + len(one.moves)]
        best[k] = values.index(max(values))
        worth[one.parent] += values[best[k]]
    reply = from_choices(
        player, lambda k: [Fraction(int(i == best[k])) for i in range(len(player.sets[k].moves))]
    )
    return worth[0], reply


def regret(tree: Unfolding, plans: Sequence[Plan]) -> Fraction:
    """Return what the players together could gain by each replying best alone; 0 in equilibrium."""
    gains = [best_reply(tree, i, plans)[0] for i in range(len(tree.players))]
    return sum(gains, Fraction(0)) - sum(expected_goals(tree, plans), Fraction(0))

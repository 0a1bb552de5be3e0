"""Turn orders, visibility and money."""

from __future__ import annotations

from dataclasses import dataclass

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import choice, span
from herbrand.evolve.numerals import count, times

__all__ = ["Alternating", "Bank", "Fog", "Several", "Simultaneous", "Turn"]


@dataclass(frozen=True)
class Turn(Block):
    """A turn order."""


@dataclass(frozen=True)
class Alternating(Turn):
    """One action in turn."""

    def in_words(self) -> str:
        """Say who begins."""
        return "White begins; the players act in turn."


@dataclass(frozen=True)
class Simultaneous(Turn):
    """Simultaneous actions; pieces that arrive on the same square are both lost."""

    def in_words(self) -> str:
        """Say what happens when they meet."""
        return "Both players act at the same time; pieces that come to the same square at once are both lost."


@dataclass(frozen=True)
class Several(Turn):
    """Several actions in a turn, which the player ends by an action of its own."""

    actions: int = span(2, 3)
    opening: int = span(1, 2)
    """Number of actions in the first turn; one compensates for moving first."""

    def in_words(self) -> str:
        """Say how many."""
        first = f" (at first {count(self.opening)})" if self.opening < self.actions else ""
        return (
            f"White begins. A turn has up to {times(self.actions, 'action')}{first}; "
            f"after the first one the player may end it."
        )


@dataclass(frozen=True)
class Fog(Block):
    """Players see their own pieces and the squares beside them, nothing else."""

    announces_captures: bool = choice(True, False)
    """Whether both players are informed of captures."""

    def in_words(self) -> str:
        """Describe what players see."""
        announcement = " Both hear when a piece is taken or turned." if self.announces_captures else ""
        return f"Players see only their own pieces and what stands beside these.{announcement}"


@dataclass(frozen=True)
class Bank(Block):
    """Money: placing costs coins, and every turn brings some."""

    start: int = span(0, 4, 2)
    income: int = span(1, 2)
    dice: bool = choice(False, True)
    """Whether the income of a turn is random: from none to twice the usual income."""
    most = 6
    """Maximum number of coins of a player."""

    def in_words(self) -> str:
        """Describe the money of the players."""
        brings = (
            f"the dice give a player from none to {times(2 * self.income, 'coin')} for its next turn"
            if self.dice
            else f"a player gets {times(self.income, 'coin')} for its next turn"
        )
        return (
            f"Each player has {times(self.start, 'coin')} at first; when a turn ends, {brings}, but nobody "
            f"can keep more than {count(self.most)}. A player may also pass, to save."
        )

"""Effects of a piece that arrives on a square on enemy pieces around it."""

from __future__ import annotations

from dataclasses import dataclass

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import choice

__all__ = ["Contagion", "Custodian", "Effect"]


@dataclass(frozen=True)
class Effect(Block):
    """The effect of an arriving piece on its surroundings."""

    turns: bool = choice(False, True)
    """Whether struck pieces change sides instead of leaving the board."""
    straight: bool = choice(False, True)
    """Whether diagonal lines and neighbours do not count."""

    @property
    def becomes(self) -> str:
        """The fate of struck pieces, as a verb phrase."""
        return "changes sides" if self.turns else "is taken"

    def rules(self, *, moves: bool) -> str:
        """Return the rule for `struck`: ?player strikes the enemy piece on ?x2 ?y2.

        `moves` says whether the game has pieces that move.
        """
        straight = "(orthogonal ?d)" if self.straight else ""
        return f"""(<= (struck ?player ?x2 ?y2)
            (lands ?player ?kind ?x1 ?y1) {straight} (toward ?d ?x1 ?y1 ?x2 ?y2) (enemy ?player ?x2 ?y2)
            {self._behind(moves=moves)})"""

    def _behind(self, *, moves: bool) -> str:
        """Return the conditions on the squares behind the struck piece, if there are any."""
        del moves
        return ""


@dataclass(frozen=True)
class Custodian(Effect):
    """Strikes an enemy piece between the arriving one and another one of its side, in a line."""

    def in_words(self) -> str:
        """Say what happens."""
        line = "straight line" if self.straight else "line"
        return (
            f"An enemy piece that stands, in a {line}, between the piece just put or moved and "
            f"another one of the same side {self.becomes}."
        )

    def _behind(self, *, moves: bool) -> str:
        stays = "(not (leaves ?x3 ?y3))" if moves else ""
        return f"(toward ?d ?x2 ?y2 ?x3 ?y3) (holds ?player ?x3 ?y3) {stays}"


@dataclass(frozen=True)
class Contagion(Effect):
    """Strikes enemy pieces beside the arriving one."""

    def in_words(self) -> str:
        """Say what happens."""
        beside = "straight beside" if self.straight else "beside"
        return f"Every enemy piece {beside} the piece just put or moved {self.becomes}."

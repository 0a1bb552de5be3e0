"""Games of tricks: hidden hands are dealt, cards meet in pairs, the better one takes the trick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.evolve.blocks.design import Design
from herbrand.evolve.blocks.grammar import choice, span
from herbrand.evolve.blocks.parameters import NamedNumber, Writing, named
from herbrand.evolve.blocks.texts import add_rules, numbers, phrase
from herbrand.evolve.numerals import count, times
from herbrand.evolve.sheet import SheetWriter

if TYPE_CHECKING:
    from typing import Self

__all__ = ["TrickGame"]


@dataclass(frozen=True)
class TrickGame(Design):
    """Two players with hidden hands, white and black, and chance that deals."""

    ranks: int = span(4, 8, 6)
    """The deck has one card of each number from 1 to this."""
    hand: int = span(2, 3, 3)
    """Cards that each player is dealt."""
    play: str = choice("at once", "in turn", "covered")
    """Both at the same time; or one after the other, the first card open or covered."""
    better: str = choice("high", "low", "spy")
    """The card that takes a trick; `spy`: the higher one, but 1 beats the highest of all."""
    worth: str = choice("trick", "sum", "loser")
    """The value of a trick: one point, the sum of both cards, or the number of the card beaten."""
    fewest: bool = choice(False, True)
    """Whether fewest points win."""
    leads: str = choice("winner", "loser", "other")
    """The next leader where players play in turn: determined by the last trick, or alternating."""

    @property
    def _in_turn(self) -> bool:
        return self.play != "at once"

    @property
    def _steps(self) -> int:
        return self.hand * (3 if self._in_turn else 2)

    @property
    def _most(self) -> int:
        """No player can have more points."""
        cards = sorted(range(1, self.ranks + 1), reverse=True)[: 2 * self.hand]
        return {"trick": self.hand, "sum": sum(cards), "loser": sum(cards[: self.hand])}[self.worth]

    def _problems(self) -> list[str]:
        return ["there are not enough cards for the hands"] if 2 * self.hand > self.ranks else []

    def paragraphs(self) -> list[str]:
        """Explain the game."""
        order, worth = phrase("play", self.play), phrase("worth", self.worth)
        better = phrase("better", self.better, ranks=self.ranks)
        lead = phrase("leads", self.leads) if self._in_turn else ""
        deal = f"Chance deals {times(self.hand, 'card')} to each player, who sees only its own."
        points = "fewer points" if self.fewest else "more points"
        end = f"After {times(self.hand, 'trick')}, the player with {points} wins; equal numbers are a draw."
        return [
            f"{self.name} is played with {count(self.ranks)} cards, numbered from 1. {deal}",
            f"{order} {better}, which is worth {worth}.{lead} {end}",
        ]

    def with_parameters(self) -> Self:
        """Return the game with the number of cards as a parameter, where no points depend on it."""
        if self.worth != "trick":
            return self
        return named(self, "ranks", "ranks", "Cards in the deck.")

    def writing(self) -> Writing:
        """Return the cards and the numbers."""
        most = f"{max(self._most, self._steps, 2 * self.ranks)}"
        if isinstance(self.ranks, NamedNumber):
            most = f"{max(self._most, self._steps)} + 2 * {self.ranks}"
        return Writing({"card": f"1 .. {self.ranks}"}, {}) | Writing.of_numbers(most)

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections."""
        legend = (
            "(hand white 3): White holds the card 3; (deck 4): 4 was dealt to nobody yet; (points white 2): "
            "White has two points; (step 1): one step was made, the first ones being deals. "
        )
        if self._in_turn:
            legend += "(led white 3): White has led the card 3; (control black): it is Black's turn. "
        legend += "(deal 3 4) deals 3 to White and 4 to Black; (play 3) plays the card 3."
        sheet = SheetWriter(self.name, [*self.paragraphs(), legend, "Author: evolved with herbrand."])
        add_rules(
            sheet,
            "trick_game",
            hand=self.hand,
            most=self._most,
            steps=self._steps,
            in_turn=self._in_turn,
            covered=self.play == "covered",
            worth=self.worth,
            leads=self.leads,
            fewest=self.fewest,
        )
        return sheet

    def helpers(self) -> dict[str, tuple[str, str]]:
        """Return the relations that rules may ask for."""
        cards = "The cards"
        better = phrase("better_rules", self.better, ranks=self.ranks)
        return {
            "rivals": ("The players", "(rivals white black)\n(rivals black white)"),
            "better": (cards, better),
            "card": (cards, "\n".join(f"(card {n})" for n in range(1, self.ranks + 1))),
        } | numbers(max(self._most, self._steps, 2 * self.ranks))

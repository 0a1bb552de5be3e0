"""Deck-building games: hands are dealt from hidden decks, their coins buy cards from the table.

A card can be bought by the player in control when its money, found by a variable that the state introduces,
is at least the price, and when the table has one left.  A turn may have any number of purchases; an action
of its own ends it.  Piles are counts, spelled out for every card.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.design import Design
from herbrand.evolve.blocks.grammar import choice, some, span
from herbrand.evolve.blocks.parameters import Writing, named
from herbrand.evolve.blocks.texts import add_rules, numbers
from herbrand.evolve.numerals import times
from herbrand.evolve.sheet import SheetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

__all__ = ["Card", "MarketGame"]

_NAMES = ("crown", "house", "field", "palace")


@dataclass(frozen=True)
class Card(Block):
    """A kind of card on the table."""

    cost: int = span(1, 5, 2)
    worth: int = span(0, 3, 0)
    """Coins that it is worth in the hand."""
    points: int = span(0, 3, 1)
    """Points for owning it at the end."""
    stock: int = span(1, 4, 3)
    """How many there are."""

    def in_words(self) -> str:
        """Describe its cost and its effect."""
        worth = (self.worth, "coin"), (self.points, "point")
        gives = " and ".join(times(number, noun) for number, noun in worth if number)
        return f"costs {times(self.cost, 'coin')} and is worth {gives}"


@dataclass(frozen=True)
class MarketGame(Design):
    """Two players with decks of their own, ann and ben, and chance that deals."""

    cards: tuple[Card, ...] = some(Card, least=2, most=3)
    pennies: int = span(3, 5, 4)
    """Cards of one coin that each player begins with."""
    hand: int = span(1, 3, 2)
    """Cards that are dealt in a turn."""
    turns: int = span(2, 4, 3)
    """Turns of each player."""
    hidden: bool = choice(True, False)
    """Whether players see only what they draw themselves."""

    @property
    def _kinds(self) -> list[tuple[str, Card]]:
        return list(zip(_NAMES, self.cards, strict=False))

    @property
    def _money(self) -> int:
        """No hand is worth more."""
        return self.hand * max([1, *(card.worth for card in self.cards)])

    @property
    def _points(self) -> int:
        return sum(card.points * card.stock for card in self.cards)

    @property
    def _limit(self) -> int:
        """The game is over after so many steps: deals, shuffles, purchases and ends of turns."""
        return 2 * self.turns * (self.hand + 2) + sum(card.stock for card in self.cards)

    @property
    def _highest(self) -> int:
        """The highest number that is ever needed, with more pennies as well."""
        pile = max(self.pennies, *(card.stock for card in self.cards)) + self.hand
        return max(self._limit, 2 * self._money, self._points + 3, pile)

    def _problems(self) -> Iterator[str]:
        if any(card.worth == card.points == 0 for card in self.cards):
            yield "a card is worth nothing"
        if not any(card.points for card in self.cards):
            yield "there are no points"
        if self.hand > self.pennies:
            yield "the first deck is smaller than a hand"
        if min(card.cost for card in self.cards) > self.hand:
            yield "nothing can be bought at first"
        if any(card.cost > self._money for card in self.cards):
            yield "a card is too dear for any hand"
        if len({(card.cost, card.worth, card.points) for card in self.cards}) < len(self.cards):
            yield "two cards are the same"

    def paragraphs(self) -> list[str]:
        """Explain the game."""
        cards = "; ".join(
            f"a {name} ({card.stock} on the table) {card.in_words()}" for name, card in self._kinds
        )
        seen = "only the player who draws a card sees it" if self.hidden else "all cards drawn are seen"
        pennies = times(self.pennies, "penny", "pennies")
        anew, even = "An empty deck is made anew from the discard pile.", "equal numbers are a draw"
        return [
            (
                f"{self.name} is about building decks. Each player begins with a deck of {pennies}, worth "
                f"a coin each. In a turn {times(self.hand, 'card')} of its deck are dealt to it: {seen}."
            ),
            (
                f"For the coins in its hand it may buy cards from the table: {cards}. What it buys "
                f"goes to its discard pile, and when it ends its turn, so does its hand. {anew}"
            ),
            f"After {times(self.turns, 'turn')} of each player, the one with more points wins; {even}.",
        ]

    def with_parameters(self) -> Self:
        """Return the game with the number of pennies as a parameter."""
        return named(self, "pennies", "pennies", "Pennies in a deck at first.")

    def writing(self) -> Writing:
        """Return the numbers."""
        return Writing.of_numbers(str(self._highest))

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections."""
        legend = (
            "Piles are counts: (deck ann penny 2), (hand ann penny 1) and (discard ann penny 0) are three "
            "pennies of Ann; (table 4 crown): four crowns can be bought; (control ann): it is Ann's turn; "
            "(money ann 2): she has two coins; (to_draw 2): two more cards are to be dealt; (points ann 1): "
            "her points; (turns 3): three turns are over; (step 9): nine steps were made."
        )
        sheet = SheetWriter(self.name, [*self.paragraphs(), legend, "Author: evolved with herbrand."])
        drew = (
            "(<= (sees ?player (drew ?player ?card)) (dealt ?player ?card))"
            if self.hidden
            else "(<= (sees ?player (drew ?who ?card)) (rivals ?player ?other) (dealt ?who ?card))"
        )
        add_rules(
            sheet,
            "market_game",
            total=2 * self.turns,
            hand=self.hand,
            money=self._money,
            pennies=self.pennies,
            points=self._points,
            limit=self._limit,
            drew=drew,
        )
        return sheet

    def helpers(self) -> dict[str, tuple[str, str]]:
        """Return the relations that rules may ask for."""
        cards = "Players and cards"
        kinds = self._kinds
        most = {"penny": self.pennies, **{name: card.stock for name, card in kinds}}
        worth = {"penny": 1, **{name: card.worth for name, card in kinds}}
        return {
            "rivals": (cards, "(rivals ann ben)\n(rivals ben ann)"),
            "card": (cards, "(<= (card ?card) (worth ?card ?coins))"),
            "most": (cards, "\n".join(f"(most {name} {n})" for name, n in most.items())),
            "stock": (cards, "\n".join(f"(stock {name} {card.stock})" for name, card in kinds)),
            "worth": (cards, "\n".join(f"(worth {name} {n})" for name, n in worth.items())),
            "cost": (cards, "\n".join(f"(cost {name} {card.cost})" for name, card in kinds)),
            "gives": (cards, "\n".join(f"(gives {name} {card.points})" for name, card in kinds)),
            "copy": (cards, "(<= (copy ?n ?m) (at_most ?n ?m) (distinct ?n 0))"),
        } | numbers(self._highest)
